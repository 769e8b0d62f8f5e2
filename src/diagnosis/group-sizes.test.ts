import { expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import { groupSizeNotes } from './group-sizes.ts';

const SIDS = 'end-mt: { locator: 2001:db8:e::/48 }, replication: { locator: 2001:db8:e::/48 }';
const RECEIVERS = 'receivers: [{ address: 2001:db8:2::1, qpn: 201 }, { address: 2001:db8:2::2, qpn: 202 }]';
const groups = (more: string): string =>
  `groups: [{ name: g, proxy-address: 2001:db8:aa::1, designated-qpn: 4096, ${more} }]\n`;
const notes = (more: string, sids = SIDS) =>
  groupSizeNotes(load(`${ROUTER}srv6: { core-ports: [eth1], ${sids} }\n${more}`)).map(({ problem }) => problem);
const NEEDS = 'a connection with an MTU of 4096 needs 4284 octets or more, 2048 2236, 1024 1212';

test('what a tree adds, and what the links of the core must pass for it', () => {
  expect(notes(groups('source: { address: 2001:db8:1::1, qpn: 100 }'))).toEqual([
    `a tree adds 104 octets to each packet: ${NEEDS}`,
  ]);
});

test('and what the receivers of the file add', () => {
  expect(notes(groups(RECEIVERS))).toEqual([
    `a tree adds 104 octets to each packet, and up to 64 where there is room for the receivers of this file: ${NEEDS}`,
  ]);
});

test('all or none: receivers that exceed the limit add nothing', () => {
  const many = Array.from({ length: 64 }, (_, n) => `{ address: 2001:db8:2::${n + 1}, qpn: ${200 + n} }`).join(', ');
  expect(notes(groups(`receivers: [${many}]`))).toEqual([`a tree adds 104 octets to each packet: ${NEEDS}`]);
});

test.each([
  ['no group', '', SIDS],
  ['an edge, which only takes packets out of trees', groups(RECEIVERS), 'end-mt: { locator: 2001:db8:e::/48 }'],
])('%s: no note', (_, more, sids) => expect(notes(more, sids)).toEqual([]));
