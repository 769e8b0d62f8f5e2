import { describe, expect, test } from 'vitest';
import { loadIntent } from '../intent/load.ts';
import type { Intent } from '../intent/intent.ts';
import { plan } from './plan.ts';
import { planLearning } from './port-roles.ts';

function intentOf(text: string, router = 'router: { name: r1 }\n'): Intent {
  const loaded = loadIntent(`${router}${text}`, 'cnpd.yaml');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return loaded.value;
}
const LOOPBACK = 'router: { name: r1, loopback: { ipv6: 2001:db8:ffff::1 } }\n';
const PROXY =
  'proxy: { address: "2001:db8::1", senders: [{ prefix: "2001:db8:1::/64", format: standard-cnp }], ' +
  'accept-from: ["2001:db8::/32"] }\n';
const link = (name: string, ifindex: number, fields = {}) => ({
  name,
  ifindex,
  up: true,
  kind: 'veth',
  etherLike: true,
  ...fields,
});
const LINKS = [
  link('eth1', 1),
  link('eth2', 2),
  link('eth9', 9),
  link('br0', 4, { kind: 'bridge' }),
  link('eth5', 5, { master: 4 }),
];
const facts = (gateways: number[]) => ({ links: LINKS, qdiscs: [], features: [], gatewayPorts: new Set(gateways) });
const core = (intent: Intent, gateways: number[]): string[] =>
  planLearning(intent, facts(gateways))
    .learning!.ports.filter((p) => p.isCore)
    .map((p) => p.id);

test('core ports are those with a route through a gateway, and never a border port', () => {
  expect(core(intentOf(PROXY), [2, 9])).toEqual(['eth2', 'eth9']);
  expect(core(intentOf(`${PROXY}border-ports: [eth9]\n`), [2, 9])).toEqual(['eth2']);
});

test('the operator can name them instead', () => {
  const named = intentOf(`${PROXY}border-ports: [eth9]\n`, 'router: { name: r1, core-ports: [eth1, eth9] }\n');
  expect(core(named, [2])).toEqual(['eth1']);
});

test('PNC-6-b: the agent’s own checks need them also without a proxy', () => {
  const stamp = intentOf('stamp: { reflector: on, accept-from: ["2001:db8::/32"] }\n', LOOPBACK);
  const nobody = { routers: { sidsOf: () => [] } } as never;
  expect(plan(stamp, nobody, facts([2])).learning?.ports.filter((p) => p.isCore)).toMatchObject([{ id: 'eth2' }]);
  expect(plan(intentOf(''), nobody, facts([2])).learning).toBeUndefined();
});

test('ports of a bridge are one link, and each port has its own share', () => {
  const { ports } = planLearning(intentOf(PROXY), facts([])).learning!;
  expect(ports.map(({ id, link: group }) => [id, group])).toEqual([
    ['eth1', 1],
    ['eth2', 2],
    ['eth9', 9],
    ['br0', 4],
    ['eth5', 4],
  ]);
  expect(new Set(ports.map((p) => p.share)).size).toBe(5);
});

test('PNC-6-b: ports of a VRF are separate links: a host at one cannot impersonate a host at another', () => {
  const joinedBy = (kind: string, above = {}): number[] => {
    const links = [
      link('eth1', 1, { master: 7 }),
      link('eth2', 2, { master: 7 }),
      link('above', 7, { kind, ...above }),
      link('br0', 8, { kind: 'bridge' }),
    ];
    return planLearning(intentOf(PROXY), { links, qdiscs: [], features: [], gatewayPorts: new Set() })
      .learning!.ports.slice(0, 2)
      .map((p) => p.link);
  };
  for (const kind of ['bridge', 'bond', 'team'])
    expect({ kind, joinedBy: joinedBy(kind) }).toEqual({ kind, joinedBy: [7, 7] });
  for (const kind of ['vrf', 'openvswitch', ''])
    expect({ kind, joinedBy: joinedBy(kind) }).toEqual({ kind, joinedBy: [1, 2] });
  expect(joinedBy('bond', { master: 8 })).toEqual([8, 8]);
});

test('PNC-6-a: nothing is learned at border ports unless they are named, and the proxy’s program is not attached there', () => {
  const interfaces = (text: string): string[] =>
    plan(intentOf(text), { routers: { sidsOf: () => [] } } as never, facts([])).proxy!.interfaces.map(
      (i) => i.interface,
    );
  expect(interfaces(`${PROXY}border-ports: [eth9]\n`)).toEqual(['eth1', 'eth2', 'br0', 'eth5']);
  expect(
    interfaces(`${PROXY.replace('accept-from', 'interfaces: [eth1, eth9], accept-from')}border-ports: [eth9]\n`),
  ).toEqual(['eth1', 'eth9']);
});

describe('PNC-6-a: while a border port is missing, and may be here under another name,', () => {
  const planned = (text: string, links = LINKS) =>
    plan(
      intentOf(text, 'router: { name: r1, loopback: { ipv6: 2001:db8:ffff::1 } }\n'),
      { routers: { sidsOf: () => [] } } as never,
      { ...facts([2]), links },
    );
  const LONG_HAUL =
    'ports: [{ interface: eth2, k-max: 20kB }]\n' +
    'notifications: { senders: [{ prefix: 2001:db8:1::/64, order: [long-haul-icmpv6] }] }\n';
  const MISSING = 'border-ports: [eth8, eth9]\n';

  test('by default nothing is learned and no notice accepted, and the problem names the port; once it exists, all is as before', () => {
    const { proxy, queuePairs, learning, problems } = planned(`${PROXY}${LONG_HAUL}${MISSING}`);
    expect({ interfaces: proxy!.interfaces, queuePairs }).toEqual({ interfaces: [], queuePairs: undefined });
    expect(learning!.ports.map((p) => p.id)).not.toContain('eth1');
    expect(problems.filter(({ problem }) => problem.includes('border port eth8')).map((p) => p.feature)).toEqual([
      'notifications',
      'proxy',
    ]);
    const there = planned(`${PROXY}${LONG_HAUL}${MISSING}`, [...LINKS, link('eth8', 8)]);
    expect(there.proxy!.interfaces.map((i) => i.interface)).toEqual(['eth1', 'eth2', 'br0', 'eth5']);
    expect(there.problems.filter(({ problem }) => problem.includes('border port'))).toEqual([]);
  });

  test('Queue Pairs are learned at proxy.interfaces only', () => {
    const named = PROXY.replace('accept-from', 'interfaces: [eth1], accept-from');
    const { proxy, queuePairs, problems } = planned(`${named}${LONG_HAUL}${MISSING}`);
    expect([proxy, queuePairs].map((part) => part!.interfaces.map((i) => i.interface))).toEqual([['eth1'], ['eth1']]);
    expect(problems.filter(({ problem }) => problem.includes('nothing'))).toEqual([]);
  });
});

test('the age of connections and the reverse-path check come from the file', () => {
  expect(planLearning(intentOf(PROXY), facts([])).learning).toMatchObject({ ageingNs: 300e9, reversePathCheck: true });
  const other = intentOf(`${PROXY}queue-pairs: { ageing: 30s }\n`, 'router: { name: r1, reverse-path-check: off }\n');
  expect(planLearning(other, facts([])).learning).toMatchObject({ ageingNs: 30e9, reversePathCheck: false });
});
