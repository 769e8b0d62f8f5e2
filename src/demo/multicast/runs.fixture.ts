// Endpoint reports and counters of the scene `multicast` for the tests of its verdict and report: what each run looks
// like when all is well. The numbers of the unicast run are those of a real one; the transfer has 3,907 packets.
import type { EndpointEvent } from '../endpoints.ts';
import { type LinkCount, type MulticastObservations, evaluateMulticast } from './evaluate.ts';
import type { MulticastResult } from './results.ts';
import { type MulticastRun, RECEIVERS, RUNS, SOURCE, TREE } from './scene.ts';

export const PACKETS = 3907;
export const HASH = 'a'.repeat(64);
const ACKS = 245;
const T0 = 1_000_000;
const FRAME = 1102;

const at = (ms: number, event: string, fields: object): EndpointEvent => ({ event, t: T0 + ms, ...fields });
/** Every 16 packets one more millisecond; what is on its way takes one. */
const confirmations = (delayMs: number): (readonly [number, number])[] =>
  Array.from({ length: ACKS }, (_, i) => [T0 + i + 1 + delayMs, Math.min((i + 1) * 16, PACKETS)] as const);

const flow = (qpn: number, fields: object = {}): object => ({
  qpn,
  done: true,
  completionMs: ACKS + 1,
  sent: PACKETS,
  retransmitted: 0,
  acks: ACKS,
  naks: 0,
  timeouts: 0,
  cnps: 0,
  ...fields,
});

const isUnicast = (run: MulticastRun): boolean => run.name === 'unicast';

export function observations(run: MulticastRun): MulticastObservations {
  const qpns = isUnicast(run) ? RECEIVERS.map((_, i) => SOURCE.qpn + i) : [SOURCE.qpn];
  const lossy = run.loss ? { naks: 70, sent: PACKETS + 900, retransmitted: 900 } : {};
  const source = [
    ...qpns.map((qpn) => at(300, 'confirmations', { qpn, list: confirmations(1) })),
    at(300, 'summary', { ok: true, startedAt: T0, foreign: 0, hash: HASH, flows: qpns.map((q) => flow(q, lossy)) }),
  ];
  const receivers = new Map(
    RECEIVERS.map(({ node }) => {
      const victim = node === run.loss?.receiver;
      return [
        node,
        [
          at(310, 'confirmations', { list: confirmations(0) }),
          at(310, 'summary', {
            complete: true,
            bytes: 4_000_000,
            hash: HASH,
            strangers: 0,
            otherQueuePair: 0,
            duplicates: 0,
            naks: victim ? 70 : 0,
          }),
          at(311, 'port', { bad: {}, lost: victim ? 80 : 0 }),
        ],
      ] as const;
    }),
  );
  return { source, receivers, ...counters(run) };
}

/** A link carries a copy of each packet, or one for each receiver behind it. */
function counters(run: MulticastRun): Pick<MulticastObservations, 'before' | 'after'> {
  const behind = (node: string): number =>
    Math.max(
      1,
      TREE.filter(({ from }) => from.node === node).reduce((sum, { to }) => sum + behind(to.node), 0),
    );
  const before = new Map<string, LinkCount>();
  const after = new Map<string, LinkCount>();
  for (const { from, to } of TREE) {
    const copies = isUnicast(run) ? behind(to.node) : 1;
    for (const [port, packets] of [
      [from, PACKETS],
      [to, ACKS],
    ] as const) {
      before.set(`${port.node} ${port.interface}`, { packets: 50, bytes: 5000 });
      after.set(`${port.node} ${port.interface}`, {
        packets: 50 + packets * copies,
        bytes: 5000 + packets * copies * FRAME,
      });
    }
  }
  return { before, after };
}

export const goodResults = (): MulticastResult[] =>
  RUNS.map((run) => evaluateMulticast(run, PACKETS, observations(run)));
