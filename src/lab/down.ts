// Takes a lab down: ends every process in its namespaces and its helpers, then removes namespaces, mounts and files.
// Works on whatever a crash left, and twice. It finds them by the state file, and by the namespaces that hold the lab's
// files if the state is gone.
import { existsSync, readFileSync } from 'node:fs';
import { type ProcessIdentity, endProcesses, isAlive, namespaceOf, processesIn } from './processes.ts';
import { mustRun, run } from './run.ts';
import { type LabState, labDirectory, netnsPath, readState, removeLabDirectory } from './state.ts';

export async function takeDown(lab: string): Promise<void> {
  const directory = labDirectory(lab);
  if (!existsSync(directory)) return;
  const state = readState(lab);
  const namespaces = namespacesOf(state);
  const helpers: readonly ProcessIdentity[] = state?.helpers ?? [];
  await endProcesses(() => unique([...processesIn(namespaces), ...helpers.filter(isAlive)]));
  for (const { container } of state?.nodes ?? []) {
    if (existsSync(netnsPath(container))) await mustRun(['ip', 'netns', 'delete', container]);
  }
  // More than once when an `up` was killed between two mounts and run again.
  while (isMountPoint(directory)) await mustRun(['umount', '-l', '-R', directory]);
  // Only a state that was never mounted over is left in the directory itself.
  await run(['rm', '-rf', '--one-file-system', directory]);
  removeLabDirectory(lab);
}

function namespacesOf(state: LabState | undefined): Set<string> {
  const found = (state?.nodes ?? []).flatMap(({ container, holder }) => [
    namespaceOf('net', netnsPath(container)),
    // A process that has left the network namespace.
    holder && isAlive(holder) ? namespaceOf('mnt', `/proc/${holder.pid}/ns/mnt`) : undefined,
  ]);
  return new Set(found.filter((f) => f !== undefined));
}

function isMountPoint(path: string): boolean {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[4] === path);
}

const unique = (list: readonly ProcessIdentity[]): ProcessIdentity[] => [
  ...new Map(list.map((p) => [p.pid, p])).values(),
];
