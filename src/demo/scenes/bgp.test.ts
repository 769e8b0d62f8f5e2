import { expect, test } from 'vitest';
import { portResult, runsWith, summary } from '../runs.fixture.ts';
import type { RunResult } from '../results.ts';
import { MAPPINGS, bgp, mappingsEvidence } from './bgp.ts';

const rows = MAPPINGS.map((mapping) => ({ ...mapping, best: true, originator: '2001:db8:ffff::1' }));
const withCnpd = (change: Partial<RunResult>): string => bgp.verdict(runsWith(bgp, 'cnp', change)).join('\n');

test('three good runs and two mappings from BGP pass', () => {
  expect(withCnpd({})).toBe('');
  expect(mappingsEvidence(rows)).toMatchObject({
    failures: [],
    sentences: [expect.stringContaining('leaf2 has learned over bgp'), expect.stringContaining('198.51.100.0/24')],
  });
});

test.each<[string, Partial<RunResult>]>([
  ['no notification', { notifications: summary('cnp', { count: 0 }) }],
  ['expected cnp', { notifications: summary('fast-cnp') }],
  ['Queue Pair', { notifications: summary('cnp', { queuePair: 8 }) }],
  ['dropped', { ports: [portResult('leaf2 eth2', { drops: 1 })] }],
  ['no less than', { firstFeedbackMs: 40 }],
])('a cnpd run fails by its %s: %j', (message, change) => {
  expect(withCnpd(change)).toContain(message);
});

test.each([[{ carrier: 'isis' }], [{ proxy: '192.0.2.1' }], [{ prefix: '::/0' }]])(
  'mappings of which one has %j are not those that were asked for',
  (change) => {
    expect(mappingsEvidence([rows[0]!, { ...rows[1], ...change }]).failures).toHaveLength(1);
    expect(mappingsEvidence([{ ...rows[0], ...change }, rows[1]!]).failures).toHaveLength(1);
  },
);

test('a mapping that is missing, or a run, fails it', () => {
  expect(mappingsEvidence([rows[0]!]).failures.length).toBeGreaterThan(0);
  expect(bgp.verdict(runsWith(bgp, 'cnp', {}).slice(1))[0]).toContain('three runs');
});
