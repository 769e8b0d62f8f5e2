// A link of 1 Mbit/s, as the slowest that holds are meant for: a class owes the time of its last frame, so its rate
// decides when a flow that has recovered is let go.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/model/clock.ts';
import { silentLog } from '../../../src/model/log.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { address } from '../../../src/model/address.ts';
import { HOLD_FIRST_MINOR } from '../../../src/kernel/dataplane/holds.ts';
import type { HeldFlow } from '../../../src/kernel/dataplane/hold-key.ts';
import { drainMs } from '../../../src/source/class-rate.ts';
import { Enforcement } from '../../../src/source/enforcement.ts';
import type { HoldDataplane } from '../../../src/source/hold-dataplane.ts';
import { defaultHoldOptions } from '../../../src/source/hold.ts';
import { ip } from '../../support/netns.ts';
import { atLeast, is, until } from '../../support/until.ts';
import { HoldScene, RECEIVER } from '../support/hold-scene.ts';
import { H1, QPN } from '../support/packets.ts';

const LINE = 1e6;
const BUFFER = 100_000;
const FLOW = { sender: H1, receiver: RECEIVER['t-hold-a'], receiverQpn: QPN };

let scene: HoldScene;
let enforcement: Enforcement;
let counts: Record<string, number>;
beforeEach(async () => {
  scene = await HoldScene.create();
  for (const [netns, port] of [
    [scene.router, 't-hold-up'],
    [scene.router, 't-hold-a'],
    [scene.far, 'far-t-hold-up'],
    [scene.far, 'far-t-hold-a'],
  ] as const)
    ip(netns, `link set ${port} mtu 5000`);
  await scene.ports.prepare(scene.ifindex('t-hold-a'));
  counts = {};
  const minor = (slot: number): number => HOLD_FIRST_MINOR + slot - 1;
  const dataplane: HoldDataplane = {
    setClass: (slot, wanted) => scene.ports.setClass(minor(slot), wanted),
    changeRate: (slot, wanted) => scene.ports.changeRate(minor(slot), wanted),
    pause: (slot, microseconds) => scene.ports.pause(minor(slot), microseconds),
    classCounters: (slot) => scene.ports.classCounters(minor(slot)),
    setHold: (slot, flow, hold) => scene.table.set(flow, { ...hold, minor: minor(slot) }),
    removeHold: (flow: HeldFlow) => void scene.table.remove(flow),
    record: (flow: HeldFlow) => scene.table.record(flow),
  };
  enforcement = new Enforcement(
    { options: { ...defaultHoldOptions(LINE), rttMs: 20, drainMs: drainMs(LINE, BUFFER) }, buffer: BUFFER },
    {
      ...{ dataplane, clock: systemClock, work: eventLoopWork(), log: silentLog },
      monotonicNs: () => process.hrtime.bigint(),
      count: (name) => void (counts[name] = (counts[name] ?? 0) + 1),
      isReady: () => true,
      onHolding: () => {},
    },
  );
});
afterEach(async () => {
  await enforcement.stop();
  scene.close();
});

test('a flow that was reduced to the least rate recovers, and is let go soon after its last packet, with all in order', async () => {
  enforcement.onNotification({
    ...{ atNs: 0n, format: 'long-haul-roce', action: 'enforce', node: address('2001:db8:ffff::2'), flow: FLOW },
    ...{ senderQpn: 1, ifindex: 1, metric: null, trace: null },
    instruction: { level: 1, action: 'rate-reduce', parameter: 99 },
  });
  await until('it is held', () => scene.table.size, is(1));
  expect(scene.tc('class show dev t-hold-a')).toContain('rate 335840bit ceil 335840bit');
  // Two leave at once, the third makes the class owe.
  for (let psn = 0; psn < 6; psn++) scene.send({ psn, size: 4096 });
  await until('it is let go', () => enforcement.views().length, is(0));
  await until('all have left', () => scene.psns(QPN).length, is(6));
  expect(scene.psns(QPN)).toEqual([0, 1, 2, 3, 4, 5]);
  const times = scene.arrivals.map(({ at }) => Number(at / 1_000_000n));
  const longest = Math.max(...times.slice(1).map((at, i) => at - times[i]!));
  // At one percent of the line a frame would have taken 3.3 s.
  expect(longest).toBeLessThan(3000);
  expect(counts['source.hold.drain-overdue']).toBeUndefined();
  await until('its hold is gone', () => scene.table.size, is(0));
  scene.send({ psn: 6 });
  await until('it goes straight', () => scene.psns(QPN).length, atLeast(7));
});
