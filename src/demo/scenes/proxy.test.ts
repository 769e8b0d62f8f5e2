import { expect, test } from 'vitest';
import { goodRun, portResult, runsWith, summary } from '../runs.fixture.ts';
import type { RunResult } from '../results.ts';
import { mappingEvidence } from '../mapping.ts';
import { MAPPING, proxy } from './proxy.ts';

const row = { ...MAPPING, best: true, originator: 'L2 0000.0000.c001' };
const withCnpd = (change: Partial<RunResult>): string => proxy.verdict(runsWith(proxy, 'cnp', change)).join('\n');

test('three good runs and a mapping from IS-IS pass', () => {
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
  ['reached', { ports: [portResult('p1 eth2', { peakQueueBytes: 500_000 })] }],
  ['dropped', { ports: [portResult('p1 eth2', { drops: 1 })] }],
  ['no less than', { firstFeedbackMs: 40 }],
])('a cnpd run fails by its %s: %j', (message, change) => {
  expect(withCnpd(change)).toContain(message);
});

test('an upper bound of the feedback time fails nothing: it is no measurement', () => {
  expect(withCnpd({ firstFeedbackMs: 40, feedbackIsBound: true })).toBe('');
});

test.each([[{ carrier: 'bgp' }], [{ proxy: '2001:db8:ffff::9' }], [{ prefix: '::/0' }]])(
  'a mapping with %j is not the one that was asked for',
  (change) => {
    expect(mappingEvidence('p1', { ...row, ...change }, MAPPING).failures).toHaveLength(1);
  },
);

test('a run that is missing, or notifications in the run without congestion control, fail it', () => {
  expect(proxy.verdict([goodRun(proxy, 'none', 'cnp'), goodRun(proxy, 'cnpd', 'cnp')])[0]).toContain('three runs');
  const [, receiver, cnpd] = runsWith(proxy, 'cnp', {});
  expect(
    proxy.verdict([goodRun(proxy, 'none', 'cnp', { notifications: summary('cnp', { count: 1 }) }), receiver!, cnpd!]),
  ).toHaveLength(1);
});
