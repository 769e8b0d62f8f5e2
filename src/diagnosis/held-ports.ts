// The ports that hold flows or traffic in `cnpctl doctor`: whether their queues have room for classes, and whether the
// neighbors of flow control can be asked and heard. Also beside a running cnpd, which reports what it was refused.
import type { Intent } from '../intent/intent.ts';
import type { KernelError } from '../kernel/errors.ts';
import { type IpAddress, formatAddress, isLinkLocal } from '../model/address.ts';
import { type Prefix, prefixContains, prefixOf } from '../model/prefix.ts';
import type { Check } from '../model/problem.ts';

export interface PortOfRouter {
  readonly name: string;
  /** Of the router itself, with the length of their prefixes. */
  readonly addresses: readonly { readonly address: IpAddress; readonly length: number }[];
  /** Handle 0 is the kernel's default. Absent: there is none. */
  readonly rootQdisc?: { readonly kind: string; readonly handle: number };
}

/** A port that does not exist has been reported. */
export function checkHeldPorts(intent: Intent, ports: readonly PortOfRouter[]): Check[] {
  const { source, flowControl } = intent;
  const named = (names: readonly string[]): PortOfRouter[] => ports.filter(({ name }) => names.includes(name));
  const queues = [
    ...named(source?.enforce?.ports ?? []).map((port) => queueCheck('source', port)),
    ...named(flowControl?.hold ?? []).map((port) => queueCheck('flow-control', port)),
  ];
  if (!flowControl) return queues;
  const { hold, interfaces, neighbors } = flowControl;
  const talking = named([...hold, ...interfaces, ...neighbors.map((neighbor) => neighbor.interface)]);
  return [
    ...queues,
    ...talking.map(linkLocalCheck),
    ...named(hold).map((port) => acceptCheck(port, flowControl.acceptFrom)),
    ...neighbors.flatMap((neighbor) =>
      named([neighbor.interface]).map((port) => neighborCheck(port, neighbor.address)),
    ),
  ];
}

function queueCheck(feature: 'source' | 'flow-control', { name, rootQdisc }: PortOfRouter): Check {
  const [id, what] = [`${feature}.queue.${name}`, feature === 'source' ? 'flows' : 'traffic'];
  if (!rootQdisc || rootQdisc.handle === 0 || rootQdisc.kind === 'htb')
    return { id, claim: `the queue of ${name} has room for classes of held ${what}`, state: 'ok' };
  return {
    id,
    claim: `the queue of ${name} has room for classes of held ${what}`,
    state: 'missing',
    problem: `the root qdisc of ${name} is ${rootQdisc.kind}, which is not cnpd's and is no HTB: nothing is held there`,
    remedy: `make an HTB the root of ${name}, or remove its qdisc: \`tc qdisc del dev ${name} root\``,
  };
}

/** ARNs go from one link-local address to another, unless a neighbor is declared with another one. */
function linkLocalCheck({ name, addresses }: PortOfRouter): Check {
  const [id, claim] = [`flow-control.address.${name}`, `${name} has a link-local address, from which ARNs are sent`];
  if (addresses.some(({ address }) => address.family === 6 && isLinkLocal(address))) return { id, claim, state: 'ok' };
  return {
    id,
    claim,
    state: 'missing',
    problem: `${name} has no IPv6 link-local address: no neighbor there can be asked, or can ask`,
    remedy: `\`sysctl -w net.ipv6.conf.${name}.disable_ipv6=0\`, \`ip link set ${name} up\``,
  };
}

const LINK_LOCAL = prefixOf({ family: 6, value: 0xfe80n << 112n }, 10);

function acceptCheck({ name, addresses }: PortOfRouter, acceptFrom: readonly Prefix[]): Check {
  const onLink = [
    LINK_LOCAL,
    ...addresses
      .filter(({ address }) => address.family === 6 && !isLinkLocal(address))
      .map(({ address, length }) => prefixOf(address, length)),
  ];
  const overlap = acceptFrom.some((accepted) =>
    onLink.some((link) => prefixContains(accepted, link.address) || prefixContains(link, accepted.address)),
  );
  const [id, claim] = [`flow-control.accept-from.${name}`, `neighbors at ${name} may ask`];
  if (overlap) return { id, claim, state: 'ok' };
  return {
    id,
    claim,
    state: 'missing',
    problem: `flow-control.accept-from has no address that a neighbor at ${name} could have`,
    remedy: 'add fe80::/10, or the addresses of these neighbors, to flow-control.accept-from in cnpd.yaml',
  };
}

function neighborCheck({ name, addresses }: PortOfRouter, neighbor: IpAddress): Check {
  const text = formatAddress(neighbor);
  const [id, claim] = [`flow-control.neighbor.${name}`, `${text} is on the link of ${name}`];
  const isOnLink =
    isLinkLocal(neighbor) ||
    addresses.some(({ address, length }) => prefixContains(prefixOf(address, length), neighbor));
  if (addresses.some(({ address }) => address.family === 6 && address.value === neighbor.value))
    return {
      ...{ id, claim, state: 'missing', problem: `${text}, the neighbor at ${name}, is this router's own address` },
      remedy: `name the router at the other end of ${name} under flow-control.neighbors in cnpd.yaml`,
    };
  if (isOnLink) return { id, claim, state: 'ok' };
  return {
    ...{
      id,
      claim,
      state: 'missing',
      problem: `${text}, the neighbor at ${name}, is not on that link: it obeys no ARN`,
    },
    remedy: `name its link-local address under flow-control.neighbors: \`ip -6 neigh show dev ${name}\` lists routers`,
  };
}

/** The kernel does not report ports. */
export const heldPortsUnknown = ({ message }: KernelError): Check => ({
  id: 'held-ports',
  claim: 'the ports that hold traffic can be examined',
  state: 'unknown',
  problem: message,
  remedy: 'run this as root',
});
