// Takes a lab down: ends every process in its namespaces and its helpers, then removes namespaces, mounts and files.
// Works on whatever a crash left, and twice. It finds them by the state file, and by the namespaces that hold the lab's
// files if the state is gone.
import { closeSync, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { type ProcessIdentity, endProcesses, isAlive, namespaceOf, processesIn } from './processes.ts';
import { mustRun, run } from './run.ts';
import { type LabState, labDirectory, netnsPath, readState, removeLabDirectory } from './state.ts';

export async function takeDown(lab: string): Promise<void> {
  const directory = labDirectory(lab);
  if (!existsSync(directory)) return;
  const state = readState(lab);
  const mounts = openMounts(state);
  try {
    const namespaces = new Set([...networksOf(state), ...mounts.map((fd) => `mnt:[${fstatSync(fd).ino}]`)]);
    const helpers: readonly ProcessIdentity[] = state?.helpers ?? [];
    await endProcesses(() => unique([...processesIn(namespaces), ...helpers.filter(isAlive)]));
  } finally {
    mounts.forEach(closeSync);
  }
  for (const { container } of state?.nodes ?? []) {
    if (existsSync(netnsPath(container))) await mustRun(['ip', 'netns', 'delete', container]);
  }
  // More than once when an `up` was killed between two mounts and run again.
  while (isMountPoint(directory)) await mustRun(['umount', '-l', '-R', directory]);
  // Only a state that was never mounted over is left in the directory itself.
  await run(['rm', '-rf', '--one-file-system', directory]);
  removeLabDirectory(lab);
}

const networksOf = (state: LabState | undefined): string[] =>
  (state?.nodes ?? []).flatMap(({ container }) => namespaceOf('net', netnsPath(container)) ?? []);

/**
 * The mount namespaces of the nodes, for processes that have left the network namespace. While a file is open, its
 * namespace stays: the kernel gives the number of one that is gone to the next, which may be anybody's.
 * @returns file descriptors
 */
function openMounts(state: LabState | undefined): number[] {
  const opened: number[] = [];
  for (const { holder } of state?.nodes ?? []) {
    if (!holder) continue;
    try {
      const fd = openSync(`/proc/${holder.pid}/ns/mnt`, 'r');
      if (isAlive(holder)) opened.push(fd);
      else closeSync(fd);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // it has ended
    }
  }
  return opened;
}

function isMountPoint(path: string): boolean {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[4] === path);
}

const unique = (list: readonly ProcessIdentity[]): ProcessIdentity[] => [
  ...new Map(list.map((p) => [p.pid, p])).values(),
];
