import { describe, expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import { KernelError } from '../kernel/errors.ts';
import { type GroupsInKernel, checkGroups, groupsUnknown } from './groups.ts';

const [EDGE, REPLICATION, PROXY] = ['2001:db8:e::c1:0:0', '2001:db8:e::c2:0:0', '2001:db8:aa::1'];
const END_MT = 'end-mt: { locator: 2001:db8:e::/48 }';
const BOTH = `${END_MT}, replication: { locator: 2001:db8:e::/48 }`;
const file = (sids: string, more = '') => load(`${ROUTER}srv6: { core-ports: [eth1, eth2], ${sids} }\n${more}`);
const RECEIVER =
  'groups: [{ name: g, proxy-address: 2001:db8:aa::1, designated-qpn: 4096, ' +
  'receivers: [{ address: 2001:db8:2::1, qpn: 201 }] }]\n';

const ALL: GroupsInKernel = {
  mtus: new Map([
    ['eth1', 9000],
    ['eth2', 1500],
  ]),
  roots: [PROXY],
  hasDevice: true,
  hasRule: true,
  sids: new Set([EDGE, REPLICATION]),
  headEnds: new Set([PROXY]),
};
const check = (change: Partial<GroupsInKernel> = {}, intent = file(BOTH)) => checkGroups(intent, { ...ALL, ...change });
const found = (change: Partial<GroupsInKernel>, id: string) => check(change).find((one) => one.id === id);

test('a router that has everything: each check is passed', () => {
  expect(check().map(({ id, state }) => [id, state])).toEqual([
    ['groups.sizes', 'ok'],
    ['groups.sids', 'ok'],
    ['groups.trees', 'ok'],
  ]);
});

test('a router without SIDs for groups is not checked', () => {
  expect(check({}, load(ROUTER))).toEqual([]);
});

describe('what packets become', () => {
  test('at the core port with the smallest MTU', () => {
    expect(found({}, 'groups.sizes')!.claim).toBe(
      'eth2 passes 1500 octets, and a tree adds 104: connections with an MTU of up to 1024 fit ' +
        '(1108 octets become 1212, and TLVs with receivers have room for 288)',
    );
  });

  test('if no connection fits, the MTU that is needed is reported', () => {
    expect(found({ mtus: new Map([['eth1', 443]]) }, 'groups.sizes')).toMatchObject({
      state: 'missing',
      remedy: 'ip link set eth1 mtu 1212, or more, and so on every link of the core',
    });
    expect(found({ mtus: new Map([['eth1', 444]]) }, 'groups.sizes')).toMatchObject({ state: 'ok' });
  });

  test('a pure edge adds nothing, and a missing core port is reported elsewhere', () => {
    expect(check({}, file(END_MT)).map(({ id }) => id)).not.toContain('groups.sizes');
    expect(found({ mtus: new Map() }, 'groups.sizes')).toBeUndefined();
  });
});

test('a SID that is not installed is named with the command that shows why', () => {
  const one = found({ sids: new Set([EDGE]) }, 'groups.sids')!;
  expect(one.problem).toBe(`${REPLICATION}: not installed, so not advertised, and no packet of a group is taken there`);
  expect(one.remedy).toContain(`ip -6 route show ${REPLICATION} table all`);
});

test.each<[string, Partial<GroupsInKernel>, RegExp]>([
  ['the device', { hasDevice: false }, /^the pair of interfaces cnpd-mc and cnpd-mc-peer is missing or down/],
  ['the rule', { hasRule: false }, /^there is no rule for what arrives from cnpd-mc/],
  ['a route', { headEnds: new Set() }, /^there is no route from the Proxy Address 2001:db8:aa::1 into its tree/],
  ['two routes', { roots: [PROXY, 'a', 'b'] }, /^there is no route from the Proxy Address a and 1 more into/],
])('at a root %s is missed', (_what, change, problem) => {
  expect(found(change, 'groups.trees')).toMatchObject({ state: 'missing', problem: expect.stringMatching(problem) });
});

test('without a running cnpd nothing is to be there; a router that is no root needs no device', () => {
  const ids = (change: Partial<GroupsInKernel>): string[] => check(change).map(({ id }) => id);
  expect(ids({ roots: undefined, hasDevice: false, sids: new Set() })).toEqual(['groups.sizes']);
  expect(ids({ roots: [], hasDevice: false, hasRule: false })).toEqual(['groups.sizes', 'groups.sids']);
});

test('where receivers are declared, what hosts must allow is a warning, since IPv6 has no rp_filter', () => {
  const hosts = check({}, file(BOTH, RECEIVER)).at(-1);
  expect(hosts).toMatchObject({ id: 'groups.hosts', state: 'warning', problem: expect.stringContaining('fib saddr') });
});

test('without privileges the routes are unknown, not missing', () => {
  expect(groupsUnknown(new KernelError('list routes', 1))).toMatchObject({ state: 'unknown' });
});
