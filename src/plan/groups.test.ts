import { expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import { membersIn } from '../model/group.fixture.ts';
import { planGroups } from './groups.ts';
import { originated } from './origination.ts';

const SIDS =
  'srv6: { core-ports: [eth2], end-mt: { locator: 2001:db8:e::/48 }, replication: { locator: 2001:db8:e::/48 } }\n';
const GROUP =
  'groups:\n  - { name: g, proxy-address: 2001:db8:aa::1, designated-qpn: 4096, source: { address: 2001:db8:1::1 }, ' +
  'receivers: [{ address: 2001:db8:2::1, qpn: 201 }] }\n';

test('RMC-5.1-d: source and receivers of the file are advertised to the other routers', () => {
  expect(membersIn(originated(load(`${ROUTER}${SIDS}${GROUP}`)))).toEqual([
    'receiver 2001:db8:aa::1 2001:db8:2::1 2001:db8:e::c1:0:0 201 0',
    'source 2001:db8:aa::1 2001:db8:1::1 2001:db8:e::c2:0:0 4096 0',
  ]);
  expect(membersIn(originated(load(`${ROUTER}${SIDS}`)))).toEqual([]);
});

test('no SID for groups is advertised: packets to it would be lost', () => {
  const kinds = originated(load(`${ROUTER}${SIDS}${GROUP}`)).map(({ kind }) => kind);
  expect(kinds).not.toContain('sid');
});

test('a declared group is a problem, because nothing replicates its packets; without one there is none', () => {
  expect(planGroups(load(`${ROUTER}${SIDS}${GROUP}`)).problems.map(({ code }) => code)).toEqual([
    'groups.not-replicated',
  ]);
  expect(planGroups(load(`${ROUTER}${SIDS}`)).problems).toEqual([]);
});
