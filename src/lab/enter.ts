// How a program gets into a node: nsenter(1) with the node's three namespaces, which it then replaces by exec, so that
// the pid of the child is the program's own.
import { type NodeState, mountNamespacePath, netnsPath, utsNamespacePath } from './state.ts';

export const enterArguments = (lab: string, node: NodeState): string[] => [
  'nsenter',
  `--net=${netnsPath(node.container)}`,
  `--mount=${mountNamespacePath(lab, node.name)}`,
  `--uts=${utsNamespacePath(lab, node.name)}`,
  '--',
];

/** The environment of a program in a node: the caller's, the node's own, and the variables that name the node. */
export const nodeEnvironment = (lab: string, node: NodeState): Record<string, string> => ({
  CNPD_LAB: lab,
  CNPD_LAB_NODE: node.name,
  ...node.env,
});
