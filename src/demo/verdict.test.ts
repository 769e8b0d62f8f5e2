import { expect, test } from 'vitest';
import type { Learned, RunResult } from './results.ts';
import { verdict } from './verdict.ts';

const learned: Learned = { carrier: 'isis', prefix: '2001:db8:1::/64', proxy: '2001:db8:ffff::1', at: '', originator: 'L2 0000.0000.c001', since: '' };
const run = (mode: RunResult['mode'], change: Partial<RunResult> = {}): RunResult => ({
  mode, title: mode, durationMs: 1, peakQueueBytes: 1000, settledPeakQueueBytes: 0, firstFeedbackMs: mode === 'none' ? null : mode === 'receiver' ? 33 : 1, firstCnpAfterDataMs: 1,
  goodputBps: 1, drops: 0, retransmitted: 0, receiverCnps: mode === 'receiver' ? 5 : 0,
  cnp: mode === 'none' ? { count: 0, opcode: null, destQpn: null, expectedQpn: 7, icrcValid: false } : { count: 5, opcode: 0x81, destQpn: 7, expectedQpn: 7, icrcValid: true },
  series: { queueBytes: [], rateBps: [], sentBps: [], cnps: [] },
  ...change,
});
const good = run('cnpd').cnp;
const withCnpd = (change: Partial<RunResult>): RunResult[] => [run('none'), run('receiver'), run('cnpd', change)];

test('three good runs and a mapping from IS-IS pass', () => {
  expect(verdict(learned, withCnpd({}))).toEqual([]);
});

test.each<[string, Partial<RunResult>]>([
  ['opcode', { cnp: { ...good, opcode: 0x80 } }],
  ['opcode', { cnp: { ...good, opcode: null } }],
  ['Queue Pair', { cnp: { ...good, destQpn: 8 } }],
  ['ICRC', { cnp: { ...good, icrcValid: false } }],
  ['no CNP', { cnp: { ...good, count: 0 } }],
  ['not every CNP is cnpd', { receiverCnps: 1 }],
  ['queue reached', { peakQueueBytes: 500_000 }],
  ['dropped', { drops: 1 }],
  ['no less than', { firstFeedbackMs: 40 }],
])('a cnpd run fails by its %s: %j', (message, change) => {
  expect(verdict(learned, withCnpd(change)).join('\n')).toContain(message);
});

test.each<[Partial<Learned>]>([[{ carrier: 'bgp' }], [{ proxy: '2001:db8:ffff::9' }], [{ prefix: '::/0' }]])('a mapping with %j is not the one that was asked for', (change) => {
  expect(verdict({ ...learned, ...change }, withCnpd({}))).toHaveLength(1);
});

test('nothing learned, or a run missing, fails', () => {
  expect(verdict(null, withCnpd({}))[0]).toContain('no proxy');
  expect(verdict(learned, [run('none'), run('cnpd')])[0]).toContain('three runs');
});

test('CNPs in the run without congestion control fail it', () => {
  expect(verdict(learned, [run('none', { cnp: { ...good, count: 1 } }), run('receiver'), run('cnpd')])).toHaveLength(1);
});
