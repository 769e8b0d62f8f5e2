// What a congested node does about packets of groups: before an edge through the END.CON SID of the router that made
// the copy, behind it by Fast CNP alone.
import { describe, expect, test } from 'vitest';
import type { Intent } from '../intent/intent.ts';
import type { SidEntry } from '../learned/routers.ts';
import { address, formatAddress } from '../model/address.ts';
import type { GroupMember } from '../model/group.ts';
import { planReplicationEndCons, withAggregated, withGroups } from './copies.ts';
import { NOTHING_ABOUT_GROUPS } from './group-view.ts';
import { intentOf } from './inputs.fixture.ts';
import type { MulticastPlan } from './multicast-plan.ts';
import { planPolicies } from './policy.ts';

const PORT = 'ports: [{ interface: wan, k-max: 100kB }]\n';
const senders = (...lines: readonly string[]): string =>
  `notifications:\n  senders:\n${lines.map((line) => `    - { ${line} }\n`).join('')}`;
const DIRECT = PORT + senders('prefix: "::/0", order: [fast-cnp]');
const OWN =
  'srv6: { core-ports: [wan], replication: { locator: 2001:db8:e::/48 }, end-con: [' +
  '{ sid: 2001:db8:e::64, locator: 2001:db8:e::/48, table: 100, interfaces: [eth1] }, ' +
  '{ sid: 2001:db8:e::1, locator: 2001:db8:e::/48 }] }\n';

const sid = (text: string, kind: 'end-con' | 'replication', originator: string, { codePoints }: Intent): SidEntry => ({
  ...{ sid: address(text), behavior: codePoints[`${kind}-behavior`], carrier: 'isis', originator },
});
const pairs = (text: string, entries: readonly (readonly [string, 'end-con' | 'replication', string])[]): string[] => {
  const intent = intentOf(text);
  const sids = entries.map(([at, kind, originator]) => sid(at, kind, originator, intent));
  return planReplicationEndCons(intent, { ...NOTHING_ABOUT_GROUPS, sids: () => sids }).map(
    ({ id, endConSid }) => `${id} ${formatAddress(endConSid)}`,
  );
};

describe('FCN-4.2.2-d: the END.CON SID for copies of a router', () => {
  test('is the one that it advertises beside its replication SID', () => {
    expect(
      pairs(DIRECT, [
        ['2001:db8:a::2', 'replication', 'r2'],
        ['2001:db8:a::1', 'end-con', 'r2'],
        ['2001:db8:b::1', 'end-con', 'r3'],
        ['2001:db8:c::2', 'replication', 'r4'],
      ]),
    ).toEqual(['2001:db8:a::2 2001:db8:a::1']);
  });

  test('is not chosen among several: nothing tells their tables', () => {
    expect(
      pairs(DIRECT, [
        ['2001:db8:a::2', 'replication', 'r2'],
        ['2001:db8:a::1', 'end-con', 'r2'],
        ['2001:db8:a::64', 'end-con', 'r2'],
      ]),
    ).toEqual([]);
  });

  const both = (replication: string, endCon: string, originator: string) =>
    [
      [replication, 'replication', originator],
      [endCon, 'end-con', originator],
    ] as const;

  test('is none of those that different routers advertise beside it: no router takes the notifications of another', () => {
    const claims = [...both('2001:db8:a::2', '2001:db8:a::1', 'r2'), ...both('2001:db8:a::2', '2001:db8:9::1', 'r9')];
    const third = both('2001:db8:a::2', '2001:db8:a::1', 'r3');
    expect(pairs(DIRECT, claims)).toEqual([]);
    expect(pairs(DIRECT, [...claims].reverse())).toEqual([]);
    expect(pairs(DIRECT, [...claims, ...third]), 'nor by majority').toEqual([]);
  });

  test('is the same one if the router advertises both twice, as in two carriers', () => {
    const twice = ['r2', '2001:db8::2'].flatMap((name) => both('2001:db8:a::2', '2001:db8:a::1', name));
    expect(pairs(DIRECT, twice)).toEqual(['2001:db8:a::2 2001:db8:a::1']);
  });

  test('is not what another router advertises beside its own replication SID', () => {
    const claim = both('2001:db8:e::c2:0:0', '2001:db8:9::1', 'r9');
    expect(pairs(DIRECT + OWN, claim)).toEqual(['2001:db8:e::c2:0:0 2001:db8:e::1']);
    const withoutEndCon = 'srv6: { core-ports: [wan], replication: { locator: 2001:db8:e::/48 } }\n';
    expect(pairs(DIRECT + withoutEndCon, claim)).toEqual([]);
  });

  test('is, for copies of its own, that of the main table', () => {
    expect(pairs(DIRECT + OWN, [])).toEqual(['2001:db8:e::c2:0:0 2001:db8:e::1']);
  });

  test('is not looked for if nobody is notified directly', () => {
    expect(pairs(PORT + OWN, [])).toEqual([]);
  });
});

const PROXY = address('2001:db8:aa::1');
const member = (role: GroupMember['role'], host: string): GroupMember => ({
  ...{ group: PROXY, role, address: address(host), qpn: 300, node: address('2001:db8:a::1'), psnDelta: 0 },
});
const GROUPS = {
  ...NOTHING_ABOUT_GROUPS,
  members: () => [member('source', '2001:db8:1::1'), member('receiver', '2001:db8:2::1')],
};
const rows = (text: string): string[] => {
  const intent = intentOf(text);
  return withGroups(planPolicies(intent), intent, GROUPS).map(({ id, order }) => `${id} ${order.join(' ')}`);
};

describe('RMC-1.1-b: formats for the copies behind an edge', () => {
  test('of those of the longest match, only Fast CNP', () => {
    const all = ['prefix: "::/0", order: [proxy]', 'prefix: 2001:db8:aa::/64, order: [proxy, fast-cnp]'];
    const expected = ['::/0 proxy', '2001:db8:aa::/64 proxy fast-cnp', '2001:db8:aa::1/128 fast-cnp'];
    expect(rows(PORT + senders(...all))).toEqual(expected);
    expect(rows(PORT + senders(...[...all].reverse()))).toEqual([expected[1], expected[0], expected[2]]);
  });

  test('PNC-1-a: a proxy is never asked about a Proxy Address, whose Queue Pair nobody has', () => {
    expect(rows(PORT)).toEqual(['0.0.0.0/0 proxy', '::/0 proxy', '2001:db8:aa::1/128 ']);
    expect(rows(PORT + senders('prefix: 2001:db8:aa::1/128, order: [proxy]'))).toEqual(['2001:db8:aa::1/128 ']);
  });

  test('none where no prefix covers it', () => {
    expect(rows(PORT + senders('prefix: 2001:db8:1::/64, order: [fast-cnp]'))).toEqual(['2001:db8:1::/64 fast-cnp']);
    expect(rows('')).toEqual([]);
  });
});

test('an edge is the destination of what is sent to the Proxy Addresses of its groups', () => {
  const group = (id: string) => ({ id, proxyAddress: address(id) });
  const plan = {
    groups: [group('2001:db8:aa::1'), group('2001:db8:aa::2')],
    lists: [
      { role: 'edge', group: '2001:db8:aa::1' },
      { role: 'branching', group: '2001:db8:aa::2' },
    ],
  } as unknown as MulticastPlan;
  const own = [{ id: '2001:db8::1', address: address('2001:db8::1') }];
  expect(withAggregated(own, plan).map(({ id }) => id)).toEqual(['2001:db8::1', '2001:db8:aa::1']);
  expect(withAggregated(own, undefined)).toEqual(own);
});
