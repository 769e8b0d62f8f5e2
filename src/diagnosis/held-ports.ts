// The ports that hold flows or traffic in `cnpctl doctor`: whether their queues have room for classes, and whether the
// neighbors of flow control can be asked and heard. Also beside a running cnpd, which reports what it was refused.
import type { Intent } from '../intent/intent.ts';
import type { EnforceIntent } from '../intent/source.ts';
import type { KernelError } from '../kernel/errors.ts';
import {
  FQ_ROOT,
  type FqPort,
  NO_FQ_REMEDY,
  flowLimitFor,
  givesWay,
  isScant,
  shortHorizon,
} from '../kernel/netlink/fq.ts';
import { HOLD_ROOT } from '../kernel/netlink/hold-tree.ts';
import { type IpAddress, formatAddress, isLinkLocal } from '../model/address.ts';
import { type Prefix, prefixContains, prefixOf } from '../model/prefix.ts';
import type { Check } from '../model/problem.ts';

export interface PortOfRouter {
  readonly name: string;
  /** Of the router itself, with the length of their prefixes. */
  readonly addresses: readonly { readonly address: IpAddress; readonly length: number }[];
  /** Handle 0 is the kernel's default. Absent: there is none. */
  readonly rootQdisc?: { readonly kind: string; readonly handle: number };
  /** Absent: its queues are no fq. */
  readonly fq?: FqPort;
}

/**
 * A port that does not exist has been reported.
 * @param makesFq whether this kernel can make an fq
 */
export function checkHeldPorts(intent: Intent, ports: readonly PortOfRouter[], makesFq: boolean): Check[] {
  const { source, flowControl } = intent;
  const named = (names: readonly string[]): PortOfRouter[] => ports.filter(({ name }) => names.includes(name));
  const queues = [
    ...named(source?.enforce?.ports ?? []).map((port) => flowsCheck(port, source!.enforce!, makesFq)),
    ...named(flowControl?.hold ?? []).map(trafficCheck),
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

type Root = PortOfRouter['rootQdisc'];
const hasRoom = (root: Root): boolean => !root || root.handle === 0 || root.kind === 'htb' || isOwnFq(root);
const isOwnFq = (root: Root): boolean => root?.kind === 'fq' && root.handle === FQ_ROOT;
const remedyOf = (name: string, wanted: string): string =>
  `make ${wanted} the root of ${name}, or remove its qdisc: \`tc qdisc del dev ${name} root\``;
const taken = (name: string, root: Root, wanted: string): string =>
  `the root qdisc of ${name} is ${root!.kind}, which is not cnpd's and is no ${wanted}: nothing is held there`;

function trafficCheck({ name, rootQdisc }: PortOfRouter): Check {
  const check = {
    id: `flow-control.queue.${name}`,
    claim: `the queue of ${name} has room for classes of held traffic`,
  };
  if (hasRoom(rootQdisc)) return { ...check, state: 'ok' };
  return {
    ...{ ...check, state: 'missing', problem: taken(name, rootQdisc, 'HTB'), remedy: remedyOf(name, 'an HTB') },
  };
}

/** What holds single flows at a port, why that, and what else could. */
function flowsCheck(port: PortOfRouter, { queueing, buffer }: EnforceIntent, makesFq: boolean): Check {
  const { name, rootQdisc, fq } = port;
  const id = `source.queue.${name}`;
  const flowLimit = flowLimitFor(buffer);
  const scant = fq && givesWay(fq, flowLimit) ? fq : undefined;
  if (queueing !== 'htb' && fq && !scant && (!fq.own || queueing === 'fq')) return fqCheck(id, port, fq, flowLimit);
  const wanted = { auto: 'HTB or fq', htb: 'HTB', fq: 'fq' }[queueing];
  // An HTB of cnpd's own gives way.
  const isFree =
    hasRoom(rootQdisc) && (queueing !== 'fq' || rootQdisc?.kind !== 'htb' || rootQdisc.handle === HOLD_ROOT);
  if (!isFree)
    return {
      ...{ id, claim: `the queue of ${name} can hold flows`, state: 'missing' },
      ...{ problem: taken(name, rootQdisc, wanted), remedy: remedyOf(name, `an ${wanted.replace(' or ', ' or an ')}`) },
    };
  if (queueing === 'fq' && !makesFq)
    return {
      ...{ id, claim: `the queue of ${name} can hold flows`, state: 'missing' },
      problem: `this kernel has no fq: nothing is held at ${name}`,
      remedy: NO_FQ_REMEDY,
    };
  if (queueing === 'fq')
    return { id, state: 'ok', claim: `flows are held at ${name} by departure times: cnpd makes an fq its root` };
  const why = whyClasses(port, scant);
  const other = queueing === 'auto' && makesFq && why !== HAS_HTB ? '; `queueing: fq` would use departure times' : '';
  const because = queueing === 'htb' ? 'as source.enforce.queueing says' : why;
  return { id, state: 'ok', claim: `flows are held at ${name} in classes of an HTB: ${because}${other}` };
}

const HAS_HTB = 'it has an HTB';

/** @param scant its fq, where that gives way */
function whyClasses({ rootQdisc }: PortOfRouter, scant: FqPort | undefined): string {
  if (scant) return `its fq is the kernel's default, which keeps only ${scant.options.flowLimit} packets of a flow`;
  return rootQdisc?.kind === 'htb' && rootQdisc.handle !== HOLD_ROOT ? HAS_HTB : 'it has no fq';
}

/** Of others' fqs: whether they keep what the program lets wait, and one flow apart from another. */
function fqCheck(id: string, { name }: PortOfRouter, fq: FqPort, flowLimit: number): Check {
  const { own, options } = fq;
  const whose = own ? "the fq is cnpd's" : 'it has an fq';
  const claim = `flows are held at ${name} by departure times: ${whose}`;
  const unfit = shortHorizon(name, fq);
  if (unfit) return { id, claim, state: 'missing', ...unfit };
  if (own || !isScant(options, flowLimit)) return { id, claim, state: 'ok' };
  return {
    ...{ id, claim, state: 'warning' },
    problem:
      `the fq of ${name} keeps ${options.flowLimit} packets of a flow, of ${flowLimit} that may wait, and has ` +
      `${options.orphanMask + 1} queues, in which other flows can be behind held ones`,
    remedy: `\`tc qdisc change dev ${name} root fq flow_limit ${flowLimit} limit 1000000 orphan_mask 1048575\``,
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
