// How many control packets an episode of congestion costs: Long-haul CNPs, Resume included, counted on the wire of a
// sender that obeys them, against one CNP each 50 µs, which is what a receiver may send for as long as packets come
// marked (DCQCN). The time is measured too: from the first packet that reaches the receiver marked to the last, with
// cnpd and, in turns, with the receiver's CNPs instead, which end it sooner: a row each. The receiver's own CNPs are
// counted beside it; it cannot send more of them than packets arrive.
import type { Bench, Figure } from '../support/bench.ts';
import { type Counts, type Line, ROUTERS, SENDERS, onLine } from '../support/network/line-scene.ts';
import { type Row, number } from '../support/report.ts';
import { inTurns, summary } from '../support/statistics.ts';

/** One way: a round-trip time of 10 ms. p1 is half way. */
const DELAYS = { access: 2, wan: 3 } as const;
const RTT_MS = 2 * (DELAYS.access + DELAYS.wan);
const CNP_INTERVAL_MS = 0.05;
const EPISODES = 7;
const ATTEMPTS = 5;
/** Packets that come marked within so many ms of each other are one stretch of congestion. */
const GAP_MS = 2 * RTT_MS;
const TRAFFIC = ['--rate', '60mbit', '--duration', '300ms'];
const FEWER = 200;

const FORMATS = ['long-haul-icmpv6', 'long-haul-roce'] as const;

/**
 * One flow that overloads p1's port by half; another one when it did not, because the sender waited for a processor.
 * @throws Error when none does
 */
async function episode(
  bench: Bench,
  line: Line,
  sender: readonly string[],
  feedback: 'ofCnpd' | 'ofReceiver',
): Promise<Counts> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    bench.signal.throwIfAborted();
    line.wires.clear(GAP_MS);
    await line.send([...TRAFFIC, ...sender]);
    await new Promise((done) => setTimeout(done, 10 * RTT_MS)); // a Resume
    const counts = line.wires.counts();
    if (counts[feedback] > 0) return counts;
    bench.say('a flow that was too slow to make a queue is left out');
  }
  throw new Error(`none of ${ATTEMPTS} flows made a queue`);
}

const watchOf = (format: (typeof FORMATS)[number]): Parameters<Line['watch']> => [
  { 'k-max': 'auto', rtt: `${RTT_MS}ms` },
  { senders: [{ prefix: SENDERS, supports: [format], order: [format] }] },
];
/** p1 marks from the same depth on, and notifies no sender. */
const MARKING: Parameters<Line['watch']> = [{ 'k-min': '32kB' }];
const DCQCN = ['--reaction', 'dcqcn'];
const obeying = (format: string): string[] => [
  ...DCQCN,
  '--understands',
  format,
  '--known-nodes',
  ROUTERS,
  '--rtt',
  `${RTT_MS}ms`,
];

const total = (counts: readonly Counts[], of: (c: Counts) => number): number =>
  counts.reduce((sum, c) => sum + of(c), 0);

/**
 * Two rows: what an episode cost against a CNP each interval of the same time, and of the shorter time that it lasts
 * with the receiver's CNPs instead.
 */
function rowsOf(what: string, byNode: readonly Counts[], byReceiver: readonly Counts[]): Row[] {
  const [packets, congested] = [summary(byNode.map((c) => c.ofCnpd)), summary(byNode.map((c) => c.congestedMs))];
  const [cnps, byReceiverMs] = [
    summary(byReceiver.map((c) => c.ofReceiver)),
    summary(byReceiver.map((c) => c.congestedMs)),
  ];
  const row = (time: string, during: readonly Counts[], note: string): Row => {
    const each = summary(during.map((c) => c.congestedMs / CNP_INTERVAL_MS));
    const ratio = total(during, (c) => c.congestedMs / CNP_INTERVAL_MS) / total(byNode, (c) => c.ofCnpd);
    return {
      figure: 'control-packets',
      what: `${what}, by ${time}`,
      unit: 'packets',
      measured: packets.median,
      spread: packets,
      reference: `a CNP each ${CNP_INTERVAL_MS * 1000} µs of it`,
      referenceValue: each.median,
      referenceSpread: each,
      ratio,
      target: `≥ ${FEWER}×`,
      met: ratio >= FEWER,
      note,
    };
  };
  return [
    row(
      'its own time of congestion',
      byNode,
      `ratio of all ${byNode.length} flows together; packets came marked for ${number(congested.median)} ms ` +
        `[${number(congested.min)} … ${number(congested.max)}] a flow, in ` +
        `${total(byNode, (c) => c.episodes)} stretches`,
    ),
    row(
      "the time with the receiver's CNPs instead",
      byReceiver,
      `packets came marked for ${number(byReceiverMs.median)} ms a flow; ` +
        `there were ${number(cnps.median)} CNPs of the receiver's, ` +
        `${number(total(byReceiver, (c) => c.ofReceiver) / total(byNode, (c) => c.ofCnpd))} times as many as ` +
        "packets of cnpd's",
    ),
  ];
}

export const controlPackets: Figure = {
  name: 'control-packets',
  title: `control packets of an episode of congestion at a round-trip time of ${RTT_MS} ms`,
  measure: (bench) =>
    onLine(bench, DELAYS, async (line) => {
      const rows: Row[] = [];
      for (const format of FORMATS) {
        const [byNode, byReceiver]: [Counts[], Counts[]] = [[], []];
        const cnpd = async (): Promise<number> => {
          await line.watch(...watchOf(format));
          const stop = await line.listen('off');
          byNode.push(await episode(bench, line, obeying(format), 'ofCnpd'));
          await stop();
          return byNode.at(-1)!.ofCnpd;
        };
        const receiver = async (): Promise<number> => {
          await line.watch(...MARKING);
          const stop = await line.listen(`${CNP_INTERVAL_MS * 1000}us`);
          byReceiver.push(await episode(bench, line, DCQCN, 'ofReceiver'));
          await stop();
          return byReceiver.at(-1)!.ofReceiver;
        };
        await inTurns(EPISODES, { cnpd, receiver });
        rows.push(...rowsOf(`an episode, ${format}`, byNode, byReceiver));
      }
      return rows;
    }),
};
