// What the IOAM trace of a Fast CNP makes of a held flow's rate.
import { beforeEach, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import type { SourceNotification } from '../model/source.ts';
import { microtaskWork } from '../model/work.fixture.ts';
import { fromHex } from '../packet/hex.ts';
import { FLOW, FakeClasses, LINE, RTT } from './enforcement.fixture.ts';
import { Enforcement } from './enforcement.ts';
import { defaultHoldOptions } from './hold.ts';
import { defaultHpcc } from './hpcc.ts';

let classes: FakeClasses;
let counts: Record<string, number>;
let enforcement: Enforcement;
const settings = { options: { ...defaultHoldOptions(LINE), rttMs: RTT, rateIntervalMs: 0 }, buffer: 1_000_000 };
beforeEach(() => {
  classes = new FakeClasses();
  counts = {};
  enforcement = new Enforcement(settings, {
    ...{ dataplane: classes, clock: manualClock(1000), work: microtaskWork(), log: silentLog },
    monotonicNs: () => 0n,
    count: (name) => void (counts[name] = (counts[name] ?? 0) + 1),
    isReady: () => true,
    onHolding: () => {},
  });
});

/** One node: queue depth of so many bytes; `remaining` 0. */
const trace = (queueBytes: number): SourceNotification['trace'] => ({
  kind: 0,
  bytes: fromHex(`0000 0800 020000 00 ${queueBytes.toString(16).padStart(8, '0')}`),
});
const notify = async (of: SourceNotification['trace']): Promise<void> => {
  enforcement.onNotification({
    ...{ atNs: 0n, format: 'fast-cnp', action: 'enforce', node: address('2001:db8:ffff::2'), flow: FLOW },
    ...{ senderQpn: 0x64, ifindex: 1, instruction: null, metric: null, trace: of },
  });
  for (let i = 0; i < 40; i++) await Promise.resolve();
};
const withIoam = { ...settings, options: { ...settings.options, hpcc: defaultHpcc(LINE) } };

test('FCNP-4-t: the IOAM trace of a Fast CNP sets the reduction: 200 kB at 80 Mbit/s are 20 ms, one round trip, so U is 2', async () => {
  enforcement.configure(withIoam);
  await notify(trace(200_000));
  // η / U of the line: 0.95 / 2.
  expect(classes.calls[0]).toEqual(['class', 1, 4_750_000n, 1_000_000]);
});

test('a trace is ignored where the operator has not asked for it', async () => {
  await notify(trace(200_000));
  expect(classes.calls[0]).toEqual(['class', 1, 5_000_000n, 1_000_000]);
});

test('a trace that cannot be read is counted, and the default response holds', async () => {
  enforcement.configure(withIoam);
  await notify({ kind: 0, bytes: fromHex('0000 1000 020000 00 00000001') });
  expect(counts['source.hold.trace-unreadable']).toBe(1);
  expect(classes.calls[0]).toEqual(['class', 1, 5_000_000n, 1_000_000]);
});
