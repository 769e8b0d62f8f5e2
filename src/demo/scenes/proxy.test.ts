import { expect, test } from 'vitest';
import { goodRun, portResult, summary } from '../runs.fixture.ts';
import type { Mode, RunResult } from '../results.ts';
import { mappingEvidence } from '../mapping.ts';
import { MAPPING, proxy } from './proxy.ts';

const row = { ...MAPPING, best: true, originator: 'L2 0000.0000.c001' };
const MODES: readonly Mode[] = ['none', 'receiver', 'paced', 'cnpd'];
const verdictOf = (changes: Partial<Record<Mode, Partial<RunResult>>>): string =>
  proxy.verdict(MODES.map((mode) => goodRun(proxy, mode, 'cnp', changes[mode]))).join('\n');
const withCnpd = (change: Partial<RunResult>): string => verdictOf({ cnpd: change });

test('four good runs and a mapping from IS-IS pass', () => {
  expect(withCnpd({})).toBe('');
  expect(mappingEvidence('p1', row, MAPPING).failures).toEqual([]);
});

test.each<[string, Partial<RunResult>]>([
  ['opcode', { notifications: summary('cnp', { opcode: 0x80 }) }],
  ['opcode', { notifications: summary('cnp', { opcode: null }) }],
  ['Queue Pair', { notifications: summary('cnp', { queuePair: 8 }) }],
  ['Queue Pair', { notifications: summary('cnp', { queuePair: null, expectedQueuePair: null }) }],
  ['ICRC', { notifications: summary('cnp', { valid: false }) }],
  ['no notification', { notifications: summary('cnp', { count: 0 }) }],
  ['expected cnp', { notifications: summary('fast-cnp') }],
  ['several kinds', { notifications: summary('cnp', { kind: null }) }],
  ["not every notification is cnpd's", { receiverCnps: 1 }],
  ['dropped', { ports: [portResult('p1 eth2', { drops: 1 })] }],
])('a cnpd run fails by its %s: %j', (message, change) => {
  expect(withCnpd(change)).toContain(message);
});

test('load spoils runs and improves none: late feedback fails nothing, and the queue has to be bounded in one run', () => {
  expect(withCnpd({ firstFeedbackMs: 40 })).toBe('');
  const deep = { ports: [portResult('p1 eth2', { peakQueueBytes: 500_000 })] };
  expect(withCnpd(deep)).toContain('reached 500000 bytes');
  const good = MODES.map((mode) => goodRun(proxy, mode, 'cnp'));
  expect(proxy.verdict([...good, goodRun(proxy, 'cnpd', 'cnp', deep)])).toEqual([]);
});

test.each(['receiver', 'paced'] as const)('a CNP of the %s that is sooner than the WAN, or unsound, fails', (mode) => {
  expect(verdictOf({ [mode]: { firstNotificationMs: 19 } })).toContain('sooner than the WAN allows');
  expect(verdictOf({ [mode]: { notifications: summary('cnp', { valid: false }) } })).toContain('ICRC');
});

test.each([[{ carrier: 'bgp' }], [{ proxy: '2001:db8:ffff::9' }], [{ prefix: '::/0' }]])(
  'a mapping with %j is not the one that was asked for',
  (change) => {
    expect(mappingEvidence('p1', { ...row, ...change }, MAPPING).failures).toHaveLength(1);
  },
);

test('a run that is missing, or notifications in the run without congestion control, fail it', () => {
  expect(proxy.verdict([goodRun(proxy, 'none', 'cnp'), goodRun(proxy, 'cnpd', 'cnp')])).toEqual([
    'receiver: the run was not made',
    'paced: the run was not made',
  ]);
  expect(verdictOf({ none: { notifications: summary('cnp', { count: 1 }) } })).toBe('none: 1 notifications were seen');
});
