// Which queue of a monitored port the program reads, and what is wrong with a port whose queue it cannot read
// (bpf/lib/detector/port-depth.h).
import type { Facts, LinkFact, QdiscFact } from './facts.ts';

/**
 * Qdiscs that keep their backlog as one number, which a program can read. pfifo_fast counts per CPU and reads 0; mq,
 * mqprio and noqueue have no queue themselves.
 */
export const READABLE_ROOTS: ReadonlySet<string> = new Set(['tbf', 'htb']);
/** Roots with a qdisc for each transmit queue. */
export const MULTIQUEUE_ROOTS: ReadonlySet<string> = new Set(['mq', 'mqprio']);
/**
 * At the root, and below one of those: kinds whose backlog is one number. What was compared with `tc`: test/kernels/.
 */
const READABLE: ReadonlySet<string> = new Set([...READABLE_ROOTS, 'fq_codel', 'fq', 'pfifo', 'bfifo']);
/** What a queue gets whose own qdisc cannot be read. */
const GIVEN = 'fq_codel';
/** Transmit queues that the program sums, at most: MOST_QUEUES. */
export const MOST_QUEUES = 256;

/** The kernel makes a new mq, with new queues below it, only under a handle that is not in use. */
const NEW_HANDLE = '6d71';

export type PortQueue =
  | { readonly readable: true; readonly root: QdiscFact; readonly multiqueue: boolean; readonly measured: string }
  | { readonly readable: false; readonly problem: string; readonly remedy: string };

/** @param tbf what gives the port a queue of its own */
export function portQueue(link: LinkFact, facts: Pick<Facts, 'links' | 'qdiscs'>, tbf: string): PortQueue {
  const root = facts.qdiscs.find(({ ifindex }) => ifindex === link.ifindex);
  if (root && MULTIQUEUE_ROOTS.has(root.rootKind)) return multiqueue(link.name, root, tbf);
  if (root && READABLE.has(root.rootKind))
    return { readable: true, root, multiqueue: false, measured: `its root, ${root.rootKind}` };
  return queueBelow(link, root?.rootKind, facts, tbf) ?? unreadable(link.name, root?.rootKind, tbf);
}

function multiqueue(name: string, root: QdiscFact, tbf: string): PortQueue {
  const { rootKind, queueKinds: kinds = [] } = root;
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const other = [...counts.keys()].filter((kind) => !READABLE.has(kind));
  if (kinds.length === 0 || other.length > 0)
    return {
      readable: false,
      problem:
        `the root qdisc of ${name} is ${rootKind} with ${other.join(', ') || 'no qdisc'} below it, ` +
        'whose queue depth cannot be read; the port is not monitored',
      remedy: `give each queue an ${GIVEN}: ${givenEach(name, root)}; or ${tbf}`,
    };
  if (kinds.length > MOST_QUEUES)
    return {
      readable: false,
      problem:
        `${name} has ${kinds.length} transmit queues below its ${rootKind}, and cnpd sums at most ${MOST_QUEUES}; ` +
        'the port is not monitored',
      remedy: `\`ethtool -L ${name} combined ${MOST_QUEUES}\` or fewer; or ${tbf}`,
    };
  const of = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  return {
    readable: true,
    root,
    multiqueue: true,
    measured:
      `the sum over ${kinds.length} transmit queues (${of}) below ${rootKind}, ` +
      `at most a kernel tick and ${kinds.length} packets of a CPU old`,
  };
}

/**
 * An mqprio has been given traffic classes, which it keeps: only what is below is replaced. An mq has nothing to lose,
 * and one that the kernel has made has no handle by which its queues could be named.
 */
const givenEach = (name: string, { rootKind, rootHandle, queueKinds = [] }: QdiscFact): string =>
  rootKind === 'mqprio' && rootHandle !== undefined && queueKinds.length > 0
    ? `\`for queue in $(seq ${queueKinds.length}); do tc qdisc replace dev ${name} ` +
      `parent ${rootHandle}:$(printf %x $queue) ${GIVEN}; done\``
    : `\`sysctl -w net.core.default_qdisc=${GIVEN}\`, then ` +
      `\`tc qdisc replace dev ${name} root handle ${NEW_HANDLE}: mq\``;

/** VLANs, bonds and bridges keep no packets: the interfaces below them do. */
function queueBelow(
  { name, kind, ifindex, lower }: LinkFact,
  rootKind: string | undefined,
  { links }: Pick<Facts, 'links'>,
  tbf: string,
): PortQueue | undefined {
  if (rootKind !== undefined && rootKind !== 'noqueue') return undefined;
  const below = links.filter((link) => link.ifindex === lower || link.master === ifindex).map((link) => link.name);
  if (below.length === 0) return undefined;
  const names = below.join(', ');
  return {
    readable: false,
    problem:
      `${name} (${kind ?? 'on top of another interface'}) has no queue of its own: its packets wait at ${names}; ` +
      'the port is not monitored',
    remedy: `declare ${names} under ports in place of ${name}; or ${tbf}`,
  };
}

const unreadable = (name: string, rootKind: string | undefined, tbf: string): PortQueue => ({
  readable: false,
  problem:
    `the root qdisc of ${name} is ${rootKind ?? 'none'}, whose queue depth cannot be read; ` +
    'the port is not monitored',
  remedy: tbf + (rootKind === 'netem' ? '; a delay that netem simulates can be at the other end of the link' : ''),
});
