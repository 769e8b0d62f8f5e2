// A topology as the page draws it, and where the cnpds of a running lab are reached.
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isAlive } from '../lab/processes.ts';
import { run } from '../lab/run.ts';
import { type NodeState, readState } from '../lab/state.ts';
import type { NodeSpec, Topology } from '../lab/topology.ts';
import { CONFIG_FILE, GNMI_SOCKET } from '../model/paths.ts';
import { layout } from './layout.ts';
import type { Kind, LabView } from './model.ts';

const forwards = ({ sysctls }: NodeSpec): boolean =>
  Object.entries(sysctls).some(([name, value]) => /forward/.test(name) && value === '1');

function kindOf(node: NodeSpec): Kind {
  if (node.binds.some(({ target }) => target === CONFIG_FILE)) return 'cnpd';
  return forwards(node) ? 'router' : 'host';
}

export function labView({ name, file, nodes, links }: Topology): LabView {
  const ends = links.map(({ a, b, delayMs }) => ({
    a: a.node,
    aInterface: a.interface,
    b: b.node,
    bInterface: b.interface,
    delayMs,
  }));
  const { width, height, places } = layout(
    nodes.map((node) => node.name),
    ends,
  );
  return {
    ...{ name, file, width, height },
    nodes: places.map((place, i) => ({ ...place, kind: kindOf(nodes[i]!) })),
    links: ends,
  };
}

const stateOf = (lab: string, node: string): NodeState | undefined =>
  readState(lab)?.nodes.find(({ name }) => name === node);

/** `gnmi.socket` of the node's file; cnpd's default where it says nothing, or cannot be read. */
function socketIn(root: string): string {
  try {
    const file = parse(readFileSync(`${root}${CONFIG_FILE}`, 'utf8')) as { gnmi?: { socket?: unknown } } | null;
    const socket = file?.gnmi?.socket;
    return typeof socket === 'string' && socket.startsWith('/') ? socket : GNMI_SOCKET;
  } catch {
    return GNMI_SOCKET;
  }
}

/**
 * The socket of a node's cnpd, through the root of the process that holds the node's mounts: the same file that a
 * program in the node opens.
 */
export function socketOf(lab: string, node: string): { readonly path: string } | { readonly why: string } {
  const holder = stateOf(lab, node)?.holder;
  if (!holder || !isAlive(holder)) return { why: `the lab ${lab} is not up` };
  const root = `/proc/${holder.pid}/root`;
  const path = `${root}${socketIn(root)}`;
  return existsSync(path) ? { path } : { why: 'cnpd is not running: its gNMI socket is not there' };
}

/** Others wait for the answer. */
const ROUTE_MS = 2000;

/**
 * The interface by which a node's kernel sends to an address; undefined: it has no route, or the node is down.
 * @throws Error when there is no answer in time
 */
export async function outgoing(lab: string, node: string, address: string): Promise<string | undefined> {
  const container = stateOf(lab, node)?.container;
  if (container === undefined) return undefined;
  const signal = AbortSignal.timeout(ROUTE_MS);
  const { code, stdout } = await run(['ip', '-n', container, '-j', 'route', 'get', address], { signal });
  if (code !== 0) return undefined;
  const [route] = JSON.parse(stdout || '[]') as readonly { readonly dev?: string }[];
  return route?.dev;
}

interface IpAddresses {
  readonly addr_info: readonly { readonly local: string; readonly scope: string }[];
}

/** Global addresses of a node's interfaces; empty while it is down. */
export async function addressesOf(lab: string, node: string): Promise<readonly string[]> {
  const container = stateOf(lab, node)?.container;
  if (container === undefined) return [];
  const { code, stdout } = await run(['ip', '-n', container, '-j', 'address', 'show']);
  if (code !== 0) return [];
  const interfaces = JSON.parse(stdout || '[]') as IpAddresses[];
  return interfaces.flatMap(({ addr_info: all }) => all.filter(({ scope }) => scope === 'global').map((a) => a.local));
}
