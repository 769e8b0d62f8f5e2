// How a program gets into a node: nsenter(1) with the node's three namespaces, which it then replaces by exec, so that
// the pid of the child is the program's own.
import { LabError } from './error.ts';
import { isAlive } from './processes.ts';
import type { NodeState } from './state.ts';

/** @throws LabError `not-up` when the process that holds the namespaces is gone */
export function enterArguments({ name, holder }: NodeState): string[] {
  if (!holder || !isAlive(holder))
    throw new LabError('not-up', `node ${name} has lost the process that holds its mounts: take the lab down`);
  return ['nsenter', `--target=${holder.pid}`, '--net', '--mount', '--uts', '--'];
}

/** The environment of a program in a node: the caller's, the node's own, and the variables that name the node. */
export const nodeEnvironment = (lab: string, node: NodeState): Record<string, string> => ({
  CNPD_LAB: lab,
  CNPD_LAB_NODE: node.name,
  ...node.env,
});
