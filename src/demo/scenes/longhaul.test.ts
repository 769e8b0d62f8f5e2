import { expect, test } from 'vitest';
import { portResult, runsWith, summary } from '../runs.fixture.ts';
import type { NodeNotifications, RunResult } from '../results.ts';
import { portState } from '../routers.ts';
import { longhaul, thresholdEvidence } from './longhaul.ts';

const N1: NodeNotifications = {
  node: '2001:db8:ffff::2',
  count: 4,
  firstMs: 20,
  actions: { 'rate-reduce': 3, resume: 1 },
};
const N2: NodeNotifications = {
  node: '2001:db8:ffff::3',
  count: 9,
  firstMs: 60,
  actions: { 'rate-reduce': 6, pause: 1, resume: 2 },
};
const counted = { ceMarked: 9, triggers: 99, notifications: 7, deferred: 12 };
const slowing = ({ count, actions }: NodeNotifications): number => count - (actions.resume ?? 0);
/** Both count what they are seen to have sent; n2 holds back sometimes. */
const nodes = (...list: NodeNotifications[]): Pick<RunResult, 'ports' | 'notifications'> => ({
  ports: [N1, N2].map(({ node }, i) =>
    portResult(`n${i + 1} eth2`, {
      counted: {
        ...counted,
        notifications: list.filter((n) => n.node === node).reduce((sum, n) => sum + slowing(n), 0),
      },
    }),
  ),
  notifications: summary('long-haul-icmpv6', { nodes: list, count: list.reduce((sum, n) => sum + n.count, 0) }),
});
const { ports } = nodes(N1, N2);
const withCnpd = (change: Partial<RunResult>): string =>
  longhaul.verdict(runsWith(longhaul, 'long-haul-icmpv6', { ...nodes(N1, N2), ...change })).join('\n');

test('LHCNP-5.7-a LHCNP-5.7-d: n1 first, n2 holding back, Reduce and Resume: all is well, also when n2 never has to speak', () => {
  expect(withCnpd({})).toBe('');
  expect(withCnpd(nodes(N1))).toBe('');
});

test.each<[string, Partial<RunResult>]>([
  ['n1 sent nothing', nodes(N2)],
  ['n2 spoke first', nodes(N1, { ...N2, firstMs: 19 })],
  ['were seen besides Resume', { ports: ports.map((p) => ({ ...p, counted })) }],
  ['never held back', { ports: [ports[0]!, portResult('n2 eth2')] }],
  [
    'more than once in a round-trip time',
    nodes(N1, { ...N2, count: 2100, actions: { 'rate-reduce': 2100, resume: 2 } }),
  ],
  ['more than once in a round-trip time', { ports: [portResult('n1 eth2', { rttMs: null }), ports[1]!] }],
  ['no resume', nodes({ ...N1, actions: { 'rate-reduce': 4 } })],
  ['no rate-reduce', nodes({ ...N1, actions: { resume: 4 } })],
  [
    'less than 100 times fewer',
    { congestedMs: 10, notifications: summary('long-haul-icmpv6', { count: 40, nodes: [N1, N2] }) },
  ],
  ['expected long-haul-icmpv6', { notifications: summary('cnp', { nodes: [N1, N2] }) }],
  ['checksum', { notifications: summary('long-haul-icmpv6', { valid: false, nodes: [N1, N2] }) }],
  ['n2 eth2 dropped', { ports: [ports[0]!, portResult('n2 eth2', { counted, drops: 1 })] }],
])('a cnpd run fails when %s: %j', (message, change) => {
  expect(withCnpd(change)).toContain(message);
});

const [n1, n2] = [longhaul.watched[0], longhaul.watched[1]!];
const row = (over: object): Record<string, unknown> => ({
  'k-min': 45_000,
  'k-max': 90_000,
  'rtt-ms': 16,
  explanation: ['k-max: 90000 B = …', '  R: …', '  RTT: …', 'more'],
  'ce-marked': 0,
  triggers: 0,
  notifications: 0,
  deferred: 0,
  ...over,
});

test('LHCNP-5.3.2-a A1: K_max is the bandwidth-delay product of STAMP and the qdisc, or K_base where that is more; both are shown', () => {
  const { failures, sentences } = thresholdEvidence([
    { port: n1, state: portState(row({})) },
    { port: n2, state: portState(row({ 'k-min': 16_000, 'k-max': 32_000, 'rtt-ms': 1 })) },
  ]);
  expect(failures).toEqual([]);
  expect(sentences[0]).toBe('n1 eth2: k-max: 90000 B = …; R: …; RTT: …');
});

test.each([[{ 'k-max': 64_000 }], [{ 'k-max': 0 }], [{ 'rtt-ms': 20 }], [{ 'k-min': 90_000 }], [{ 'k-min': 0 }]])(
  'thresholds with %j are not those of the path',
  (change) => {
    expect(thresholdEvidence([{ port: n1, state: portState(row(change)) }]).failures.length).toBeGreaterThan(0);
  },
);
