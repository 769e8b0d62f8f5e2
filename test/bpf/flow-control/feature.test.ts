// The feature of held flows and traffic in the kernel: its programs, its ports by what they are for, and its maps after
// an upgrade.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mountBpffs, unmountBpffs } from '../../../src/kernel/bpf/bpffs.ts';
import { keptDirectory } from '../../../src/kernel/bpf/kept-object.ts';
import { openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { encodeFlowControlConfig } from '../../../src/kernel/dataplane/flow-control.ts';
import { HOLD_MAPS, decodeHoldPort, holdPortKey } from '../../../src/kernel/dataplane/holds.ts';
import { interfaceIndex } from '../../../src/kernel/ffi/libc.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { silentLog } from '../../../src/model/log.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import type { SourcePlan } from '../../../src/plan/source-plan.ts';
import type { FlowControlPlan } from '../../../src/plan/flow-control-plan.ts';
import { FeatureSupervisor } from '../../../src/reconcile/feature-supervisor.ts';
import { type Hold, hold } from '../../../src/reconcile/hold.ts';
import { inNetns, ipLines } from '../../support/netns.ts';
import { object } from '../support/congested-router.ts';
import { PRIORITIES } from '../support/flow-control-under-test.ts';

const PORTS = ['t-fcf-a', 't-fcf-b', 't-fcf-c'] as const;
type PortName = (typeof PORTS)[number];
const netns = Netns.create();
const directory = mkdtempSync(join(tmpdir(), 'cnpd-flow-control-'));
const bpfDir = join(directory, 'bpffs');
const counted = new Map<string, number>();
const dependencies = {
  clock: systemClock,
  work: eventLoopWork(),
  log: silentLog,
  count: (name: string) => void counted.set(name, (counted.get(name) ?? 0) + 1),
};
let feature: Hold;
let close: () => void;

beforeAll(() => {
  ipLines(netns, PORTS.map((name) => `link add ${name} type veth peer name ${name}-far`).join('\n'));
});
afterAll(() => {
  netns.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  mountBpffs(bpfDir);
  counted.clear();
});
afterEach(() => {
  close();
  unmountBpffs(bpfDir);
});

const port = (name: PortName) => ({ id: name, interface: name, ifindex: netns.run(() => interfaceIndex(name)) });
const ifindex = (name: PortName): number => port(name).ifindex;
const plan = (change: Partial<FlowControlPlan> = {}): FlowControlPlan => ({
  ...{ bitOrder: 'msb-first', mode: 'service', udpPort: 1022 },
  ...{ interfaces: [], watch: [], hold: [], above: 1, below: 1, lineRate: 1e9 },
  ...{ buffer: 1e6, neighbors: [], acceptFrom: [], pauseUs: 10_000, longestPauseUs: 60_000, watchdogMs: 100 },
  ...{ perSecond: 1000, burst: 10, priorities: PRIORITIES },
  ...change,
});
const enforcing = (...names: PortName[]): { source: SourcePlan } => ({
  source: { enforce: { ports: names.map(port), queueing: 'auto', buffer: 4_000_000 } } as unknown as SourcePlan,
});

/** As the dataplane opens it. */
function open(): void {
  const supervisor = new FeatureSupervisor(hold, { bpfDir, objectDir: join(object('hold'), '..') }, dependencies);
  netns.run(() => supervisor.openFor({ flowControl: plan() } as never));
  if (supervisor.problem) throw new Error(supervisor.problem.problem);
  feature = supervisor.feature!;
  close = () => feature.close();
}

async function apply(desired: Parameters<Hold['apply']>[0]): Promise<void> {
  feature.apply(desired);
  await feature.settled;
}

const CLASS = { rate: 1_000_000n, burst: 10_000, limit: 100_000 };
const classes = (name: PortName): string[] =>
  inNetns(netns, 'tc', 'class', 'show', 'dev', name)
    .split('\n')
    .flatMap((line) => /6e70:\w+/.exec(line) ?? []);
const known = (name: PortName) => {
  const value = feature.object.map(HOLD_MAPS.ports).lookup(holdPortKey(ifindex(name)));
  return value && decodeHoldPort(value);
};

test('the programs are where the plan has them; the arrival is seen before another program forwards the packet', () => {
  open();
  const flowControl = plan({
    interfaces: [port('t-fcf-a')],
    watch: [{ ...port('t-fcf-b'), above: 5, below: 4 }],
    hold: [port('t-fcf-b'), port('t-fcf-a')],
  });
  expect(feature.attachments({ flowControl, ...enforcing('t-fcf-c') }).map(({ id, first }) => [id, first])).toEqual([
    ['hold@t-fcf-c/egress', false],
    ['flow_control_arrival@t-fcf-a/ingress', true],
    ['flow_control_egress@t-fcf-b/egress', false],
    ['flow_control_egress@t-fcf-a/egress', false],
  ]);
  expect(hold.desired({ flowControl } as never)).toBe(true);
  expect(hold.desired({} as never)).toBe(false);
});

test('classes are at the ports of their purpose alone, also of a port that changes it', async () => {
  open();
  await apply({ flowControl: plan({ hold: [port('t-fcf-a')] }), ...enforcing('t-fcf-b') });
  await feature.classes.setClass(1, CLASS);
  await feature.flowControl.classes.setClass(1, CLASS);
  expect([classes('t-fcf-a'), classes('t-fcf-b')]).toEqual([['6e70:5000'], ['6e70:1000']]);
  expect(feature.flowControl.ports()).toEqual([ifindex('t-fcf-a')]);
  expect(await feature.flowControl.classes.classCounters(1)).toMatchObject({ sent: 0n, backlogBytes: 0 });
  await apply({ flowControl: plan({ hold: [port('t-fcf-b'), port('t-fcf-c')] }), ...enforcing('t-fcf-a') });
  expect(PORTS.map(classes)).toEqual([['6e70:1000'], ['6e70:5000'], ['6e70:5000']]);
  await apply({});
  expect(PORTS.map(classes)).toEqual([[], [], []]);
  expect([feature.flowControl.ports(), known('t-fcf-b')]).toEqual([[], undefined]);
});

test('a port that two features want holds single flows', async () => {
  open();
  await apply({ flowControl: plan({ hold: [port('t-fcf-a')] }), ...enforcing('t-fcf-a') });
  expect(feature.flowControl.ports()).toEqual([]);
});

test('configuration and thresholds follow the plan, and end with it', async () => {
  open();
  const map = feature.object.map('flow_control_config');
  const watch = (above: number) => [{ ...port('t-fcf-b'), above, below: 1 }];
  await apply({ flowControl: plan({ mode: 'priority', watch: watch(7000) }) });
  expect(map.lookup(new Uint8Array(4))).toEqual(
    encodeFlowControlConfig({
      ...{ mode: 'priority', intervalNs: 5_000_000 },
      ...{ perSecond: 1000, burst: 10, priorities: PRIORITIES },
    }),
  );
  expect(known('t-fcf-b')).toMatchObject({ handle: 0, above: 7000 });
  await apply({ flowControl: plan({ watch: watch(8000), hold: [port('t-fcf-b')] }) });
  expect(known('t-fcf-b')).toMatchObject({ handle: 0x6e70_0000, above: 8000 });
  await apply({ flowControl: plan({ hold: [port('t-fcf-b')] }) });
  expect(known('t-fcf-b')).toMatchObject({ handle: 0x6e70_0000, above: 0 });
  const bucket = feature.object.map('flow_control_bucket');
  bucket.update(new Uint8Array(4), new Uint8Array(8).fill(1));
  await apply({ flowControl: plan({ pauseUs: 20_000 }) });
  expect(bucket.lookup(new Uint8Array(4))).toEqual(new Uint8Array(8).fill(1));
  await apply({ flowControl: plan({ perSecond: 5 }) });
  expect(bucket.lookup(new Uint8Array(4))).toEqual(new Uint8Array(8));
  await apply({});
  expect(map.lookup(new Uint8Array(4))).toEqual(new Uint8Array(96));
});

test('a port whose queue is taken is a problem of the section that wants it', async () => {
  open();
  inNetns(netns, 'tc', ...'qdisc add dev t-fcf-c root handle 1: tbf rate 8mbit burst 3000 limit 10000'.split(' '));
  await apply({ flowControl: plan({ hold: [port('t-fcf-c')] }) });
  expect(feature.problems()).toMatchObject([{ code: 'flow-control.queue-taken', feature: 'flow-control' }]);
  await apply(enforcing('t-fcf-c'));
  expect(feature.problems()).toMatchObject([{ code: 'source.queue-taken', feature: 'source' }]);
  inNetns(netns, 'tc', ...'qdisc del dev t-fcf-c root'.split(' '));
  await apply({});
  expect(feature.problems()).toEqual([]);
});

describe('maps of an earlier run', () => {
  const traffic = { mode: 'priority', priority: 3 } as const;
  const untilNs = process.hrtime.bigint() + 3_600_000_000_000n;

  test('what it held is let go; what the programs have counted stays', async () => {
    open();
    await apply({
      flowControl: plan({ hold: [port('t-fcf-a')], watch: [{ ...port('t-fcf-a'), above: 9, below: 1 }] }),
    });
    feature.flowControl.classes.setHold(
      1,
      { traffic, egress: ifindex('t-fcf-a') },
      { phase: 'held', drained: 0n, untilNs },
    );
    feature.object.map(HOLD_MAPS.portBytes).update(holdPortKey(ifindex('t-fcf-a')), new Uint8Array(8).fill(1));
    feature.flowControl.setPortHeld(ifindex('t-fcf-a'), 77, 5n);
    feature.close();
    open();
    expect([...feature.object.map(HOLD_MAPS.holds).keys()]).toEqual([]);
    // Its classes are prepared anew, and nothing is in them.
    expect(known('t-fcf-a')).toMatchObject({ above: 9, handle: 0, held: 0n, entered: 0x0101_0101_0101_0101n });
    expect(feature.flowControl.enteredBytes(ifindex('t-fcf-a'))).toBe(0x0101_0101_0101_0101n);
    await apply({ flowControl: plan({ hold: [port('t-fcf-a')] }) });
    expect(known('t-fcf-a')).toMatchObject({ above: 0, held: 0n, entered: 0n });
    await apply({});
    expect(known('t-fcf-a')).toBeUndefined();
  });

  test('of another size are replaced, counted, and empty', () => {
    const old = openBpfObject(object('hold'), { pinDir: bpfDir, maxEntries: { [HOLD_MAPS.holds]: 16_384 } });
    old.map(HOLD_MAPS.holds).update(new Uint8Array(48).fill(1), new Uint8Array(24).fill(1));
    old.close();
    open();
    expect(counted.get('dataplane.state-replaced')).toBe(1);
    expect([...feature.object.map(HOLD_MAPS.holds).keys()]).toEqual([]);
  });

  test('what has been told lives on with the programs, which use it for one interval; those of another file begin without', () => {
    const told = (): number => [...feature.object.map('flow_control_told').keys()].length;
    open();
    feature.object.map('flow_control_told').update(new Uint8Array(56), new Uint8Array(8).fill(1));
    feature.close();
    open();
    expect(told()).toBe(1);
    feature.close();
    rmSync(keptDirectory(bpfDir), { recursive: true });
    open();
    expect(told()).toBe(0);
  });
});
