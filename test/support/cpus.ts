// The CPUs on which this process may run: a container's cpuset may lack the first ones, or have one only.
import { readFileSync } from 'node:fs';

/** Numbers of a list as the kernel writes it, such as `0-3,8`. @throws Error for anything else */
export function parseCpuList(list: string): number[] {
  return list
    .trim()
    .split(',')
    .flatMap((range) => {
      const [, from, to = from] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
      if (from === undefined) throw new Error(`no list of CPUs: ${list}`);
      return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i);
    });
}

/** Ascending. */
export function allowedCpus(status = readFileSync('/proc/self/status', 'utf8')): number[] {
  const [, list] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status) ?? [];
  if (list === undefined) throw new Error('/proc/self/status has no Cpus_allowed_list');
  return parseCpuList(list);
}
