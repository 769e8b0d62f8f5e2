// The agents of a lab whose nodes start them by themselves: asked over the northbound socket, through /proc. That costs
// a few milliseconds where cnpctl costs a quarter of a second of CPU, so whoever waits asks here.
import type { Lab } from '../../../src/lab/lab.ts';
import { type ProcessIdentity, commandLine, isAlive, namespaceOf, processesIn } from '../../../src/lab/processes.ts';
import { connectNorthbound } from '../../../src/northbound/client.ts';
import { cnpctlBeside, socketOf } from './cnpctl.ts';

/** Those found, by network namespace: to look at every process of the machine takes longer than to ask one. */
const found = new Map<string, ProcessIdentity>();
const isAgent = ({ pid }: ProcessIdentity): boolean => /^\S*node \S*\/cnpd\.js /.test(commandLine(pid));

/** Process of the agent in a node's network namespace; undefined when there is none. */
export function agentOf(lab: Lab, node: string): number | undefined {
  const namespace = namespaceOf('net', lab.netnsPath(node));
  if (namespace === undefined) return undefined;
  const known = found.get(namespace);
  if (known && isAlive(known) && isAgent(known)) return known.pid;
  const agent = processesIn(new Set([namespace])).find(isAgent);
  if (agent) found.set(namespace, agent);
  return agent?.pid;
}

/**
 * The JSON value at a path under `cnpd`, as cnpctl's views show it; undefined while no agent answers.
 * @throws NorthboundError when it refuses
 */
export async function askAgent<T>(lab: Lab, node: string, ...path: readonly string[]): Promise<T | undefined> {
  const pid = agentOf(lab, node);
  if (pid === undefined) return undefined;
  const client = connectNorthbound({ socket: socketOf(pid), timeoutMs: 10_000 });
  try {
    return (await client.get(['cnpd', ...path])) as T | undefined;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'unreachable') return undefined;
    throw error;
  } finally {
    client.close();
  }
}

/** What `cnpctl ARGS` prints at a node. @throws Error when it fails, or no agent runs there */
export async function cnpctlAt(lab: Lab, node: string, ...args: readonly string[]): Promise<string> {
  const pid = agentOf(lab, node);
  if (pid === undefined) throw new Error(`${node}: cnpd does not run`);
  const { code, stdout, stderr } = await cnpctlBeside(pid, args);
  if (code !== 0) throw new Error(`${node}: cnpctl ${args.join(' ')}: ${stderr}${stdout}`);
  return stdout;
}
