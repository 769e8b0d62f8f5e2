// A real queue that grows while a flow's arrival rate falls. A node upstream of p may have notified the sender already,
// so p waits first, and then gets stricter (LHCNP §5.7). The test's packets fill the queue, and next to nothing leaves
// it, so its depth depends on the packets sent, not on the time.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CongestedLine, congestedNode } from './support/congested.ts';
import type { Row } from './support/network.ts';
import type { Flow } from './support/port.ts';
import { moreThan, until } from '../support/until.ts';

const ICMP = '2001:db8:1::10';
/** Sender of a flow whose congestion is not notified. */
const UNLISTED = '198.51.100.77';
const POLICIES = [
  { prefix: '2001:db8:1::/64', order: ['long-haul-icmpv6'] },
  { prefix: '198.51.100.0/24', order: ['proxy'] },
];
const FLOWING = '20mbit';
/** One packet a second. */
const FROZEN = '8kbit';
const WINDOW_MS = 500;
const STRICTEST = 255;

let line: CongestedLine;
beforeAll(async () => {
  line = await CongestedLine.up();
  await line.silentSenders(ICMP, UNLISTED);
  await line.p.start(congestedNode(POLICIES, { 'k-max': '100kB', rtt: `${WINDOW_MS}ms` }));
});
afterAll(() => line?.down());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(line.net.logs());
  expect(await line.p.counter('daemon.unexpected-error')).toBe(0);
});

const drained = (): Promise<unknown> =>
  until(
    'the queue is empty',
    async () => {
      // A TBF looks at its new rate when the next packet comes.
      line.flow(UNLISTED).send(1);
      return Number((await line.p.get('ports'))[0]!['queue-bytes']);
    },
    (bytes) => bytes < 3000,
  );
/** What p reports that it has sent about a flow, the oldest first. */
const shown = async (f: Flow): Promise<Row[]> =>
  (await line.p.get('notifications')).filter((row) => row['destination-qpn'] === f.ends.receiverQpn).toReversed();

/**
 * A flow fills a queue from which next to nothing leaves, then sends less, while the queue gets deeper all the same.
 * @returns its sender's notifications, the oldest first; how often p held back, and what it sent meanwhile. Undefined:
 * the port saw nothing for half a window, and may have taken the congestion for over.
 */
async function worsening() {
  await line.rate(FLOWING);
  await drained();
  const [flow, others] = [await line.connected(ICMP), line.flow(UNLISTED, 16)];
  await line.rate(FROZEN);
  const [heldBefore, held] = [
    await line.p.counter('egress.suppressed.deferral'),
    () => line.p.counter('egress.suppressed.deferral'),
  ];
  let [seenAt, gap] = [performance.now(), 0];
  /** Packets of the flow, and then a window in which the port sees others. */
  const step = async (packets: number): Promise<void> => {
    flow.send(packets);
    const end = performance.now() + WINDOW_MS + 20;
    await until(
      'a window later',
      () => {
        others.send(1);
        gap = Math.max(gap, performance.now() - seenAt);
        return (seenAt = performance.now());
      },
      moreThan(end),
    );
  };
  // The first packet of a step ends the window before it: the third one shows that the second had less than the first.
  for (const packets of [110, 1]) await step(packets);
  const before = line.notificationsOf(flow).length;
  await step(4);
  const sentMeanwhile = line.notificationsOf(flow).length - before;
  const heldBack = (await held()) - heldBefore;
  for (let i = 0; i < 8 && !line.notificationsOf(flow).some(({ longHaul }) => longHaul!.level === STRICTEST); i++)
    await step(4);
  if (gap > WINDOW_MS / 2) return undefined;
  const rows = await until(
    'all of it is shown',
    () => shown(flow),
    (all) => all.length >= line.notificationsOf(flow).length && all,
  );
  const received = rows.map((row) => ({
    depth: Number(row['queue-bytes']),
    level: Number(row['level']),
    action: row['action'],
    reason: row['reason'],
  }));
  return { flow, received, held: heldBack, sentMeanwhile };
}

test('A9 LHCNP-5.7-c LHCNP-5.7-d LHCNP-5.7-e LHCNP-5.5.1-d: while the arrival rate falls p holds back; about a deeper queue it is then stricter each time, up to the strictest', async () => {
  const { received, held, sentMeanwhile, flow } = await until(
    'a sequence that the machine has not torn apart',
    () => worsening(),
    120_000,
  );
  expect({ held: held > 0, sentMeanwhile }).toEqual({ held: true, sentMeanwhile: 0 });
  expect(received.length).toBeGreaterThan(3);
  for (const [i, { depth, level, reason }] of received.slice(1).entries()) {
    const last = received[i]!;
    if (depth > last.depth)
      expect({ received, reason, stricter: level > last.level || last.level === STRICTEST }).toMatchObject({
        reason: 'escalation',
        stricter: true,
      });
  }
  expect(received.findIndex(({ action }) => action === 'pause')).toBe(
    received.findIndex(({ level }) => level === STRICTEST),
  );
  expect(
    line
      .notificationsOf(flow)
      .map(({ longHaul }) => longHaul!.level)
      .slice(0, received.length),
  ).toEqual(received.map(({ level }) => level));
});
