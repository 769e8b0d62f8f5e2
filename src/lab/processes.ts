// Processes by identity: a pid and its start time, so that a reused pid is not mistaken for the original; and processes
// by the namespaces they live in. The latter finds every descendant of a node, including detached daemons and leftovers
// of a crashed `up`. Ending is by pid only.
import { readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { LabError } from './error.ts';

export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: clock ticks since boot. */
  readonly startTime: string;
}

/** The start time of a process that lives (a zombie does not); undefined when there is none. */
export function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name, in parentheses, may hold anything: fields are counted from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

export const identify = (pid: number): ProcessIdentity | undefined => {
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime };
};

export const isAlive = (p: ProcessIdentity): boolean => startTimeOf(p.pid) === p.startTime;

/** Command line of a process for display. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** `net:[4026532000]` for a namespace file under /run; undefined when it does not exist. */
export function namespaceOf(kind: 'net', path: string): string | undefined {
  try {
    return `${kind}:[${statSync(path).ino}]`;
  } catch {
    return undefined;
  }
}

/** Every living process, but this one, that is in one of the namespaces (as namespaceOf writes them). */
export function processesIn(namespaces: ReadonlySet<string>): ProcessIdentity[] {
  const found: ProcessIdentity[] = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      if (!namespaces.has(readlinkSync(`/proc/${pid}/ns/net`)) && !namespaces.has(readlinkSync(`/proc/${pid}/ns/mnt`)))
        continue;
    } catch {
      continue; // ended meanwhile, or a kernel thread
    }
    const identity = identify(pid);
    if (identity) found.push(identity);
  }
  return found;
}

function signal(p: ProcessIdentity, name: 'SIGTERM' | 'SIGKILL'): void {
  if (!isAlive(p)) return;
  try {
    process.kill(p.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Ends all that `find` returns, asked again until it returns nothing: SIGTERM once to each, SIGKILL after the grace
 * time.
 * @throws LabError `processes-remain` when something survives SIGKILL
 */
export async function endProcesses(find: () => ProcessIdentity[], graceMs = 3000): Promise<void> {
  const start = performance.now();
  const asked = new Set<string>();
  for (;;) {
    const alive = find();
    if (alive.length === 0) return;
    const elapsed = performance.now() - start;
    if (elapsed > graceMs + 5000)
      throw new LabError(
        'processes-remain',
        `processes survive SIGKILL: ${alive.map((p) => `${p.pid} (${commandLine(p.pid)})`).join(', ')}`,
      );
    for (const p of alive) {
      const key = `${p.pid}/${p.startTime}`;
      if (elapsed > graceMs) signal(p, 'SIGKILL');
      else if (!asked.has(key)) signal(p, 'SIGTERM');
      asked.add(key);
    }
    await delay(20);
  }
}
