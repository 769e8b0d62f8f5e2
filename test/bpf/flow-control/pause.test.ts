// Real packets, ports and classes: what a neighbor has asked to pause stays at the port, in order, and nothing else.
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  FLOW_CONTROL_KEY,
  FLOW_CONTROL_MAPS,
  type FlowControlConfig,
  encodeFlowControlConfig,
} from '../../../src/kernel/dataplane/flow-control.ts';
import { address } from '../../../src/model/address.ts';
import type { FilledQueue, HeldTraffic } from '../../../src/model/flow-control.ts';
import { LONGEST_PAUSE_US } from '../../../src/model/notification.ts';
import { HeldClasses } from '../../../src/source/held-classes.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { silentLog } from '../../../src/model/log.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { FlowControl } from '../../../src/reconcile/flow-control.ts';
import { ip } from '../../support/netns.ts';
import { atLeast, is, until } from '../../support/until.ts';
import { countOf } from '../support/counters.ts';
import { CONFIG } from '../support/flow-control-under-test.ts';
import { HoldScene, RECEIVER } from '../support/hold-scene.ts';
import { QPN, data } from '../support/packets.ts';

let scene: HoldScene;
let flowControl: FlowControl;
let filled: FilledQueue[];
beforeEach(async () => {
  scene = await HoldScene.create('flow-control');
  const { object, ports, table, portTable, poller } = scene;
  flowControl = FlowControl.open(object, { netns: scene.router }, { ports, table, portTable, count: () => {} });
  filled = [];
  flowControl.onFilled((record) => void filled.push(record), { poller });
});
afterEach(() => {
  flowControl.close();
  scene.close();
});

const EGRESS_PE = RECEIVER['t-hold-a'];
const [PAUSED, OTHER] = [address('2001:db8:a::1'), address('2001:db8:a::2')];
/** Bytes per second. */
const LINE = { rate: 1_000_000_000n, burst: 100_000 };
const LIMIT = 10_000_000;
const HOUR_NS = 3_600_000_000_000n;
const [SLOT, COUNT, FRAME] = [1, 100, 14 + 40 + 40 + 8 + 12 + 1000 + 4];
const a = (): number => scene.ifindex('t-hold-a');
const heldBytes = async (): Promise<number> => (await flowControl.heldBytes(a())).total;
const inOrder = (count: number): number[] => Array.from({ length: count }, (_, psn) => psn);
const held = (): HeldTraffic => ({
  egress: a(),
  traffic: { mode: 'service', source: PAUSED, destination: EGRESS_PE, protocol: 41 },
});
const configure = (config: Partial<FlowControlConfig> = {}): void =>
  scene.object
    .map(FLOW_CONTROL_MAPS.config)
    .update(FLOW_CONTROL_KEY, encodeFlowControlConfig({ ...CONFIG, ...config }));

/** A packet of the service: its tunnel goes to the same egress PE as that of the other. */
const send = (psn: number, source = PAUSED): void =>
  scene.sendPacket(ipv6([source, EGRESS_PE], 41, data({ psn, qpn: source === PAUSED ? QPN : QPN + 1 })));

async function pause(): Promise<void> {
  configure();
  await scene.ports.prepare(a(), 'flow-control');
  await flowControl.classes.setClass(SLOT, { ...LINE, limit: LIMIT });
  await flowControl.classes.pause(SLOT, LONGEST_PAUSE_US);
  hold();
}

const hold = (): void =>
  flowControl.classes.setHold(SLOT, held(), {
    phase: 'held',
    drained: 0n,
    untilNs: process.hrtime.bigint() + HOUR_NS,
  });

test('FCN-4.1.2-e, FCN-4.1-a: a paused service stays at the port and goes on in order; another is untouched', async () => {
  const begin = process.hrtime.bigint();
  await pause();
  for (let psn = 0; psn < COUNT; psn++) {
    send(psn);
    send(psn, OTHER);
  }
  await until('the other service arrived', () => scene.psns(QPN + 1).length, is(COUNT));
  expect(scene.psns(QPN + 1)).toEqual(inOrder(COUNT));
  await until('the paused one was there', () => flowControl.classes.record(held())!.entered, is(BigInt(COUNT)));
  // A silence ends with a frame.
  const silences = Number(process.hrtime.bigint() - begin) / (1000 * LONGEST_PAUSE_US);
  const { sent } = await flowControl.classes.classCounters(SLOT);
  expect(Number(sent)).toBeLessThanOrEqual(1 + Math.ceil(silences));
  await flowControl.classes.changeRate(SLOT, LINE);
  const untilNs = process.hrtime.bigint() + HOUR_NS;
  for (let psn = COUNT; !flowControl.classes.record(held())!.released || psn < 2 * COUNT; psn++) {
    send(psn);
    const counters = await flowControl.classes.classCounters(SLOT);
    flowControl.classes.setHold(SLOT, held(), { phase: 'leaving', drained: counters.sent + counters.dropped, untilNs });
    await new Promise((resolve) => void setImmediate(resolve));
  }
  flowControl.classes.removeHold(held());
  const last = scene.psns(QPN).length;
  for (let psn = 0; psn < 5; psn++) send(1_000_000 + psn);
  await until('the last ones arrived', () => scene.psns(QPN).at(-1), is(1_000_004));
  const psns = scene.psns(QPN);
  expect(psns).toEqual([...inOrder(psns.length - 5), ...inOrder(5).map((n) => 1_000_000 + n)]);
  expect(last).toBeGreaterThan(0);
});

test('what a machine asks for of its classes is done: nothing goes on before it says so, and all has left then', async () => {
  configure();
  await scene.ports.prepare(a(), 'flow-control');
  const drained: HeldTraffic[] = [];
  const refused: number[] = [];
  const classes = new HeldClasses<HeldTraffic>(
    { lineRate: 8 * Number(LINE.rate), minimumRate: 1, buffer: LIMIT, silenceUs: () => LONGEST_PAUSE_US },
    {
      dataplane: flowControl.classes,
      clock: systemClock,
      work: eventLoopWork(),
      monotonicNs: () => process.hrtime.bigint(),
      log: silentLog,
    },
    { onDrained: (held) => drained.push(held), onRefused: () => refused.push(SLOT), onError: () => refused.push(0) },
  );
  const begin = process.hrtime.bigint();
  const flow = held();
  classes.apply([{ kind: 'hold', flow, slot: SLOT, rate: 0, untilMs: systemClock.now() + 3_600_000 }]);
  await until('it is held', () => flowControl.classes.record(flow)?.entered, is(0n));
  for (let psn = 0; psn < COUNT; psn++) send(psn);
  await until('it was there', () => flowControl.classes.record(flow)!.entered, is(BigInt(COUNT)));
  const silences = Number(process.hrtime.bigint() - begin) / (1000 * LONGEST_PAUSE_US);
  expect(COUNT - (await heldBytes()) / FRAME).toBeLessThanOrEqual(1 + Math.ceil(silences));
  classes.apply([{ kind: 'leave', flow, slot: SLOT, rate: 8 * Number(LINE.rate) }]);
  await until('it has left', () => drained.length, is(1));
  expect([drained, refused, await heldBytes()]).toEqual([[flow], [], 0]);
  classes.apply([{ kind: 'free', flow, slot: SLOT }]);
  send(COUNT);
  await until(
    'all arrived',
    () => scene.psns(QPN),
    (psns) => psns.length > COUNT,
  );
  expect(scene.psns(QPN)).toEqual(inOrder(COUNT + 1));
  await classes.stop();
});

test('what is held is known in bytes, and does not make the other service be paused', async () => {
  await pause();
  scene.portTable.setWatched(new Map([[a(), 10 * FRAME]]));
  for (let psn = 0; psn < COUNT; psn++) send(psn);
  await until('it was there', () => flowControl.classes.record(held())!.entered, is(BigInt(COUNT)));
  const entered = flowControl.enteredBytes(a());
  expect(entered).toBe(BigInt(COUNT * FRAME));
  const bytes = await heldBytes();
  expect([flowControl.ports(), bytes % FRAME]).toEqual([[a()], 0]);
  expect(bytes).toBeGreaterThan(50 * FRAME);
  expect(flowControl.queueBytes(a())).toBeLessThanOrEqual(bytes);
  flowControl.setPortHeld(a(), bytes, entered);
  send(0, OTHER);
  await until('it arrived', () => scene.psns(QPN + 1).length, is(1));
  expect(filled).toEqual([]);
  // As if nothing of the queue were held.
  flowControl.setPortHeld(a(), 0, entered);
  send(1, OTHER);
  await until('it was reported', () => filled.length, is(1));
  expect(filled[0]).toMatchObject({
    traffic: { mode: 'service', source: OTHER, destination: EGRESS_PE, protocol: 41 },
    ingress: scene.ifindex('t-hold-up'),
    egress: a(),
    reason: 'queue',
  });
  expect(filled[0]!.depth).toBeGreaterThan(10 * FRAME);
  flowControl.classes.removeHold(held());
  expect(await heldBytes()).toBeGreaterThan(0);
  await flowControl.classes.changeRate(SLOT, LINE);
  await until('its class is empty', heldBytes, is(0));
});

test('a packet takes along how it arrived, also through a bridge, which hides the interface', async () => {
  configure();
  scene.portTable.setWatched(new Map([[a(), 1]]));
  scene.tc('qdisc add dev t-hold-a root tbf rate 8kbit burst 1600 limit 10000000');
  for (const line of ['add t-hold-br type bridge', 'set t-hold-up master t-hold-br', 'set t-hold-br up'])
    ip(scene.router, `link ${line}`);
  await until(
    'the queue is filled, and it is reported',
    () => {
      send(0);
      return filled.length;
    },
    atLeast(1),
  );
  expect(filled[0]).toMatchObject({ ingress: scene.ifindex('t-hold-up'), cameFrom: PAUSED });
  expect(countOf(scene.object, 'flow-control.other-arrival')).toBe(0);
});

test('FCN-4.1.2-d: the priority of a tag that the kernel has taken off is that with which a packet arrived', async () => {
  await pause();
  scene.portTable.setWatched(new Map([[a(), FRAME]]));
  for (let psn = 0; psn < COUNT; psn++) send(psn);
  await until('it was there', () => flowControl.classes.record(held())!.entered, is(BigInt(COUNT)));
  flowControl.setPortHeld(a(), 0, flowControl.enteredBytes(a()));
  configure({ mode: 'priority' });
  scene.sendPacket(data({ destination: EGRESS_PE }), [[0x8100, 0x6000]]);
  await until('it was reported', () => filled.length, is(1));
  expect(filled[0]!.traffic).toEqual({ mode: 'priority', priority: 3 });
});
