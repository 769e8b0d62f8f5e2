// Reads the facts about this router's kernel that plan needs (src/plan/facts.ts), and watches for changes.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Intent } from '../intent/intent.ts';
import { type KernelChange, openMonitor } from '../kernel/netlink/monitor.ts';
import type { InterfaceAddress } from '../kernel/netlink/address.ts';
import type { Link } from '../kernel/netlink/link.ts';
import type { Seg6LocalRoute } from '../kernel/netlink/seg6local.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { readTunnelSource } from '../kernel/netlink/seg6-tunnel-source.ts';
import { type Qdisc, TC_H } from '../kernel/netlink/traffic-control.ts';
import type { Poller } from '../kernel/poller.ts';
import type { KernelFeature } from '../kernel/probe.ts';
import type { Count, Log } from '../model/log.ts';
import { type Steps, type Work, finish } from '../model/work.ts';
import { prefixOf } from '../model/prefix.ts';
import type { Facts, LinkFact, OnLinkFact, QdiscFact, Seg6LocalFact } from '../plan/facts.ts';
import { MULTIQUEUE_ROOTS } from '../plan/port-queue.ts';

/** The loopback also has a hardware address, all zeros. */
const isEtherLike = ({ mac }: Link): boolean => mac.length === 6 && mac.some((byte) => byte !== 0);

const linkFact = (link: Link, speedBitPerS: number | undefined): LinkFact => ({
  name: link.name,
  ifindex: link.ifindex,
  up: link.up,
  kind: link.kind,
  etherLike: isEtherLike(link),
  mtu: link.mtu,
  ...(link.lower !== undefined && link.lower !== 0 && { lower: link.lower }),
  ...(link.master !== undefined && link.master !== 0 && { master: link.master }),
  ...(speedBitPerS !== undefined && { speedBitPerS }),
});

/** @param siblings all of its interface */
const qdiscFact = (qdisc: Qdisc, siblings: readonly Qdisc[], htbBytesPerS: bigint | undefined): QdiscFact => ({
  ifindex: qdisc.ifindex,
  rootKind: qdisc.kind,
  ...(MULTIQUEUE_ROOTS.has(qdisc.kind) && {
    queueKinds: queuesBelow(qdisc, siblings).map(({ kind }) => kind),
    ...(qdisc.handle !== 0 && { rootHandle: (qdisc.handle >>> 16).toString(16) }),
  }),
  ...(qdisc.tbf ? { limitBytes: qdisc.tbf.limit, rateBitPerS: Number(qdisc.tbf.rate) * 8 } : {}),
  ...(htbBytesPerS ? { rateBitPerS: Number(htbBytesPerS) * 8 } : {}),
});

/** Of an mq or mqprio, those of the queues in use. Their parents are its classes, whose major number is its own. */
const queuesBelow = (mq: Qdisc, siblings: readonly Qdisc[]): Qdisc[] =>
  siblings.filter(({ parent }) => parent >>> 16 === mq.handle >>> 16).toSorted((a, b) => a.parent - b.parent);

/** Rate of an HTB, bytes/s: the sum of its top-level classes. They cannot borrow, so their `ceil` has no effect. */
async function htbRate(rtnetlink: Rtnetlink, qdisc: Qdisc): Promise<bigint | undefined> {
  if (qdisc.kind !== 'htb') return undefined;
  const classes = await rtnetlink.htbClasses(qdisc.ifindex);
  return classes.filter((c) => c.parent === TC_H.ROOT).reduce((sum, c) => sum + c.rate, 0n);
}

/**
 * Maps a SID that decapsulates to a fact. If the lookup is in a VRF, or packets are counted, the kernel must
 * decapsulate itself: then `table` is null.
 */
function seg6LocalFact({ sid, length, action, table, counted }: Seg6LocalRoute): Seg6LocalFact[] {
  return action === undefined || action === 'end'
    ? []
    : [{ sid, length, behavior: action, table: counted ? null : (table ?? null) }];
}

const SYSFS = '/sys/class/net';

/**
 * Speed of a link as its driver reports it, bit/s. sysfs shows the network namespace in which it was mounted, which may
 * differ from this process's. So the speed is used only if sysfs shows the same hardware address. Undefined also if the
 * driver does not know, as without a carrier.
 */
export function linkSpeed(link: Pick<Link, 'name' | 'mac'>, sysfs = SYSFS): number | undefined {
  try {
    const read = (file: string): string => readFileSync(join(sysfs, link.name, file), 'utf8').trim();
    if (read('address') !== [...link.mac].map((byte) => byte.toString(16).padStart(2, '0')).join(':')) return undefined;
    const megabits = Number(read('speed'));
    return Number.isInteger(megabits) && megabits > 0 ? megabits * 1e6 : undefined;
  } catch (error) {
    // EINVAL: the driver reports no speed. ENOENT: sysfs of another namespace, or the interface was just removed.
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/**
 * Facts that are read only if the intent needs them: the speed of ports that are watched or hold traffic, the tunnels'
 * source, and local SIDs. For the SIDs the kernel's whole IPv6 table is read.
 */
export type FactsNeeded = Partial<Pick<Intent, 'ports' | 'source' | 'flowControl' | 'srv6'>>;

/** Where `bandwidth` is by default that of the link. */
const portsWithSpeed = ({ ports, source, flowControl }: FactsNeeded): ReadonlySet<string> =>
  new Set([
    ...(ports ?? []).map((port) => port.interface),
    ...(source?.enforce?.ports ?? []),
    ...(flowControl?.hold ?? []),
  ]);

export interface FactsDependencies {
  readonly rtnetlink: Rtnetlink;
  readonly work: Work;
  /** From the kernel probe, which runs once. */
  readonly features: readonly KernelFeature[];
  /** For tests. */
  readonly sysfs?: string;
}

/** Time for facts in one turn of the event loop. */
const BUDGET_MS = 2;

/** Reads links, root qdiscs and addresses. */
export async function readKernelFacts(dependencies: FactsDependencies, needed: FactsNeeded = {}): Promise<Facts> {
  const { rtnetlink, work, features, sysfs = SYSFS } = dependencies;
  const [links, qdiscs, addresses] = await Promise.all([rtnetlink.links(), rtnetlink.qdiscs(), rtnetlink.addresses()]);
  const roots = qdiscs.filter((q) => q.parent === TC_H.ROOT);
  const rates = await Promise.all(roots.map((root) => htbRate(rtnetlink, root)));
  return {
    links: await finish(work, linkFacts(links, portsWithSpeed(needed), sysfs), BUDGET_MS),
    qdiscs: await finish(work, qdiscFacts(qdiscs, roots, rates), BUDGET_MS),
    features,
    addresses: addresses.map((a) => a.address),
    onLink: await finish(work, onLinkFacts(addresses), BUDGET_MS),
    forwarding: { 4: isOn('net/ipv4/ip_forward'), 6: isOn('net/ipv6/conf/all/forwarding') },
    ...(needed.srv6 && {
      seg6Local: (await rtnetlink.seg6LocalRoutes()).flatMap(seg6LocalFact),
      tunnelSource: readTunnelSource() ?? null,
    }),
  };
}

/** One link a step. The speed of one is two files, and the driver may have to ask the device for it. */
export function* linkFacts(links: readonly Link[], asked: ReadonlySet<string>, sysfs: string): Steps<LinkFact[]> {
  const facts: LinkFact[] = [];
  for (const link of links) {
    facts.push(linkFact(link, asked.has(link.name) ? linkSpeed(link, sysfs) : undefined));
    yield;
  }
  return facts;
}

/** Adapters with many queues have a qdisc for each: thousands. */
function* qdiscFacts(
  qdiscs: readonly Qdisc[],
  roots: readonly Qdisc[],
  rates: readonly (bigint | undefined)[],
): Steps<QdiscFact[]> {
  const ofInterface = new Map<number, Qdisc[]>();
  for (const qdisc of qdiscs) {
    const siblings = ofInterface.get(qdisc.ifindex);
    if (siblings) siblings.push(qdisc);
    else ofInterface.set(qdisc.ifindex, [qdisc]);
  }
  const facts: QdiscFact[] = [];
  for (const [i, root] of roots.entries()) {
    facts.push(qdiscFact(root, ofInterface.get(root.ifindex) ?? [], rates[i]));
    yield;
  }
  return facts;
}

function* onLinkFacts(addresses: readonly InterfaceAddress[]): Steps<OnLinkFact[]> {
  const facts: OnLinkFact[] = [];
  for (const { ifindex, address, length } of addresses) {
    facts.push({ ifindex, prefix: prefixOf(address, length) });
    yield;
  }
  return facts;
}

/** A sysctl of the process's network namespace. A missing one (a kernel without IPv6) is off. */
function isOn(sysctl: string): boolean {
  const path = join('/proc/sys', sysctl);
  return existsSync(path) && readFileSync(path, 'utf8').trim() !== '0';
}

export interface KernelWatch {
  close(): void;
}

/** A queue below another one says nothing of its port. cnpd makes one for each flow that it holds: thousands. */
const isNewBelow = (change: KernelChange): boolean =>
  change.kind === 'qdisc' && !change.removed && change.qdisc.parent !== TC_H.ROOT;

/** Calls `onChange` when the kernel announces a change of links, addresses or root qdiscs, or lost announcements. */
export function watchKernel({ poller, log, count, onChange }: KernelWatchDependencies): KernelWatch {
  return openMonitor(
    {},
    {
      poller,
      onChange: (change) => {
        if (!isNewBelow(change)) onChange();
      },
      onResync: () => {
        count('kernel.monitor.resync');
        onChange();
      },
      onError: (error) => {
        count('kernel.monitor.error');
        log.error({ error: error.message, code: error.code }, 'cannot read kernel announcements');
      },
    },
  );
}

export interface KernelWatchDependencies {
  readonly poller: Poller;
  readonly log: Log;
  readonly count: Count;
  readonly onChange: () => void;
}
