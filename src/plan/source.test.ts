import { expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import { FACTS, intentOf, learnedTable } from './inputs.fixture.ts';
import { plan } from './plan.ts';

const SOURCE =
  'source: { senders: [{ prefix: 2001:db8:1::/64, action: convert }, { prefix: 10.0.0.0/8, action: pass }], ' +
  'accept-from: [2001:db8:ffff::/48], rate: 50/s, per-flow-interval: 1ms }\n';
const planned = (file: string, facts = FACTS): ReturnType<typeof plan> => plan(intentOf(file), learnedTable(), facts);

test('LHCNP-5.6-a: the connections of its senders are learned, at every port that may have RoCEv2', () => {
  const { source, queuePairs, learning, problems } = planned(SOURCE);
  expect(problems).toEqual([]);
  expect(source).toMatchObject({
    senders: [
      { id: '2001:db8:1::/64', action: 'convert' },
      { id: '10.0.0.0/8', action: 'pass' },
    ],
    acceptFrom: [{ id: '2001:db8:ffff::/48', prefix: prefix('2001:db8:ffff::/48') }],
    fastCnpOption: 0x9e,
    fastCnpIoamOption: 0x9e,
    longHaulIcmpv6Type: 200,
    icrc: 'cover',
    perFlowIntervalNs: 1e6,
    perSecond: 50,
    burst: 5,
  });
  expect(queuePairs!.senders.map(({ id }) => id)).toEqual(['2001:db8:1::/64', '10.0.0.0/8']);
  expect(source!.interfaces).toEqual(queuePairs!.interfaces);
  expect(learning).toBeDefined();
});

test('its own notifications are accepted where this router is a congested node too', () => {
  const { source } = planned(`${SOURCE}ports: [{ interface: wan, k-max: 100kB }]\n`);
  expect(source!.acceptFrom.map(({ id }) => id)).toContain('2001:db8:ffff::1/128');
});

test('senders that are notified here and acted for are learned once', () => {
  const notified =
    'notifications: { senders: [{ prefix: 2001:db8:1::/64, supports: [long-haul-roce], order: [long-haul-roce] }] }\n';
  const { queuePairs } = planned(`${SOURCE}${notified}ports: [{ interface: wan, k-max: 100kB }]\n`);
  expect(queuePairs!.senders.map(({ id }) => id)).toEqual(['2001:db8:1::/64', '10.0.0.0/8']);
});

test('named interfaces, and what is wrong with them', () => {
  const named = SOURCE.replace('rate:', 'interfaces: [eth2, eth7], rate:');
  const { source, problems } = planned(named);
  expect(source!.interfaces.map(({ id }) => id)).toEqual(['eth2']);
  expect(problems.map(({ code, feature }) => [code, feature])).toContainEqual([
    'interface.missing',
    'source.interfaces',
  ]);
});

test('without an interface, without forwarding, without a border port that is declared: each is a problem', () => {
  const codes = (file: string, facts = FACTS): string[] =>
    planned(file, facts)
      .problems.filter(({ feature }) => feature === 'source')
      .map(({ code }) => code);
  expect(codes(SOURCE, { ...FACTS, links: [] })).toContain('source.no-interface');
  expect(codes(SOURCE, { ...FACTS, forwarding: { 4: false, 6: true } })).toEqual(['router.not-forwarding']);
  expect(codes(`${SOURCE}border-ports: [far]\n`)).toContain('border-ports.missing');
  const features = ['tcx', 'clsact'].map((name) => ({ name, ok: false, detail: 'EINVAL', remedy: 'boot Linux 6.6' }));
  expect(codes(SOURCE, { ...FACTS, features })).toContain('kernel.feature-missing');
  expect(planned(SOURCE, { ...FACTS, features }).source).toBeUndefined();
});

test('the loopback address of a router that sends no notifications is nobody to be believed', () => {
  expect(planned(SOURCE).source!.acceptFrom.map(({ prefix: { address: a } }) => a)).not.toContainEqual(
    address('2001:db8:ffff::1'),
  );
});

const HELD =
  'source: { senders: [{ prefix: 2001:db8:1::/64, action: enforce }, { prefix: 10.0.0.0/8, action: pass }], ' +
  'accept-from: [2001:db8:ffff::/48], enforce: { ports: [eth1, eth2], response: 30%, bandwidth: 10Gbit } }\n';

test('LHCNP-5.6-d: flows are held at the ports that are declared, at their rate', () => {
  const { source, problems } = planned(HELD);
  expect(problems).toEqual([]);
  expect(source!.enforce).toEqual({
    ports: [
      { id: 'eth1', interface: 'eth1', ifindex: 2 },
      { id: 'eth2', interface: 'eth2', ifindex: 3 },
    ],
    lineRate: 10e9,
    queueing: 'auto',
    rttMs: 20,
    response: 30,
    buffer: 4_000_000,
    flows: 4096,
  });
});

test('on a kernel whose verifier refuses the programs that hold, hosts hear of their notifications instead', () => {
  const features = [{ name: 'stack-memory', ok: false, detail: 'EINVAL', remedy: 'boot Linux 6.3' }];
  const { source, problems } = planned(HELD, { ...FACTS, features });
  expect(source).toMatchObject({ senders: [{ action: 'convert' }, { action: 'pass' }] });
  expect(source!.enforce).toBeUndefined();
  expect(problems).toEqual([
    {
      ...{ code: 'kernel.feature-missing', feature: 'source', remedy: 'boot Linux 6.3' },
      problem: 'this kernel lacks stack-memory, required for enforce: EINVAL',
    },
  ]);
});

test('without a declared rate it is that of the slowest link; if one is not known, nothing is held', () => {
  const undeclared = HELD.replace(', bandwidth: 10Gbit', '');
  const links = (speeds: Readonly<Record<string, number>>): typeof FACTS => ({
    ...FACTS,
    links: FACTS.links.map((link) => (speeds[link.name] ? { ...link, speedBitPerS: speeds[link.name]! } : link)),
  });
  expect(planned(undeclared, links({ eth1: 25e9, eth2: 10e9 })).source!.enforce!.lineRate).toBe(10e9);
  const { source, problems } = planned(undeclared, links({ eth1: 25e9 }));
  expect(problems.map(({ code }) => code)).toEqual(['source.rate-unknown']);
  // The hosts hear of their notifications.
  expect(source!.enforce).toBeUndefined();
  expect(source!.senders.map(({ action }) => action)).toEqual(['convert', 'pass']);
});

test('a port that is not there is a problem, and the others hold', () => {
  const { source, problems } = planned(HELD.replace('eth1, eth2', 'eth2, eth7'));
  expect(problems.map(({ code, feature }) => [code, feature])).toEqual([['interface.missing', 'source.enforce.ports']]);
  expect(source!.enforce!.ports.map(({ id }) => id)).toEqual(['eth2']);
});
