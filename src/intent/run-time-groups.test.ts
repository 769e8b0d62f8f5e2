import { describe, expect, test } from 'vitest';
import { formatAddress } from '../model/address.ts';
import type { GroupChange } from '../model/group-change.ts';
import { effectiveIntent } from './effective-groups.ts';
import { ROUTER, load } from './files.fixture.ts';
import { NO_GROUPS, type RunTimeGroups, changedGroups } from './run-time-groups.ts';

const GROUP = '2001:db8:aa::1';
const SIDS =
  'srv6: { core-ports: [eth2], end-mt: { locator: 2001:db8:e::/48 }, replication: { locator: 2001:db8:e::/48 } }\n';
const file = (receivers = '{ address: 2001:db8:2::1, qpn: 201 }', more = '') =>
  load(
    `${ROUTER}${SIDS}groups: [{ name: g, proxy-address: ${GROUP}, designated-qpn: 4096, receivers: [${receivers}]${more} }]`,
  );
const join = (
  address: string,
  value: object,
  { role = 'receiver', group = GROUP, operation = 'replace' as GroupChange['operation'] } = {},
): GroupChange => ({ operation, group, member: { role, address }, value });

function after(changes: readonly GroupChange[], before: RunTimeGroups = NO_GROUPS): RunTimeGroups {
  const result = changedGroups(before, changes);
  if (!result.ok) throw new Error(result.error.errors.join('\n'));
  return result.value;
}
const errors = (...changes: GroupChange[]): readonly string[] => {
  const result = changedGroups(NO_GROUPS, changes);
  return result.ok ? [] : result.error.errors;
};
const inForce = (groups: RunTimeGroups, intent = file()): string[] =>
  (effectiveIntent(intent, groups).intent.groups ?? []).flatMap(({ name, members }) =>
    members.map(({ role, address, qpn, node }) =>
      [name, role, formatAddress(address), qpn, formatAddress(node)].join(' '),
    ),
  );
const aside = (groups: RunTimeGroups, intent = file()): string[] =>
  effectiveIntent(intent, groups).aside.map(({ member, reason }) => `${member}: ${reason}`);

const EDGE = '2001:db8:e::c1:0:0';
const OF_FILE = `g receiver 2001:db8:2::1 201 ${EDGE}`;

describe('a change of members', () => {
  test('RMC-5.1-d: a receiver and a source join a group of the file, with its Queue Pair and this router’s SIDs', () => {
    const groups = after([join('2001:db8:2::2', { qpn: 202 }), join('2001:db8:1::1', {}, { role: 'source' })]);
    expect(inForce(groups)).toEqual([
      'g source 2001:db8:1::1 4096 2001:db8:e::c2:0:0',
      OF_FILE,
      `g receiver 2001:db8:2::2 202 ${EDGE}`,
    ]);
  });

  test('nothing at run time leaves the intent of the file as it is', () => {
    const intent = file();
    expect(effectiveIntent(intent, NO_GROUPS).intent).toBe(intent);
  });

  test('update keeps what is not named, replace does not', () => {
    const first = after([join('2001:db8:2::2', { qpn: 202, 'psn-delta': 7, persistent: true })]);
    const member = (groups: RunTimeGroups) => [...groups.get(GROUP)!.members.values()][0]!;
    const updated = member(after([join('2001:db8:2::2', { qpn: 9 }, { operation: 'update' })], first));
    expect([updated.values, updated.persistent]).toEqual([{ qpn: '9', 'psn-delta': '7' }, true]);
    const replaced = member(after([join('2001:db8:2::2', { qpn: 9 })], first));
    expect([replaced.values, replaced.persistent]).toEqual([{ qpn: '9' }, false]);
  });

  test('deletions come before replacements, replacements before updates, whatever their order', () => {
    const groups = after([
      join('2001:db8:2::2', { qpn: 5 }, { operation: 'update' }),
      join('2001:db8:2::2', { qpn: 4, 'psn-delta': 1 }),
      join('2001:db8:2::2', {}, { operation: 'delete' }),
    ]);
    expect([...groups.get(GROUP)!.members.values()][0]!.values).toEqual({ qpn: '5', 'psn-delta': '1' });
  });

  test('a group goes with its last member; deleting what is not there is no error; a new source replaces the old one', () => {
    const groups = after([join('2001:db8:1::1', {}, { role: 'source' })]);
    const other = after([join('2001:db8:1::2', {}, { role: 'source' })], groups);
    expect(inForce(other)[0]).toContain('source 2001:db8:1::2');
    const gone = after([join('2001:db8:1::2', {}, { role: 'source', operation: 'delete' })], other);
    expect(gone.size).toBe(0);
    expect(after([{ operation: 'delete', group: GROUP }], gone).size).toBe(0);
  });

  test('what was before is unchanged, also when a later change is refused', () => {
    const before = after([join('2001:db8:2::2', { qpn: 202 })]);
    expect(changedGroups(before, [{ operation: 'delete', group: GROUP }, join('2001:db8:2::3', { qpn: 0 })]).ok).toBe(
      false,
    );
    expect(before.get(GROUP)!.members.size).toBe(1);
  });

  test.each<readonly [string, GroupChange, RegExp]>([
    [
      'a Queue Pair over 24 bits',
      join('2001:db8:2::2', { qpn: 0x100_0000 }),
      /qpn: found "16777216"; allowed: a whole number/,
    ],
    ['no Queue Pair', join('2001:db8:2::2', {}), /qpn: missing; allowed/],
    ['an unknown leaf', join('2001:db8:2::2', { qpn: 9, qpm: 1 }), /unknown key "qpm"; allowed: qpn, edge/],
    [
      'a leaf of a receiver at a source',
      join('2001:db8:2::2', { edge: '2001:db8::9' }, { role: 'source' }),
      /unknown key "edge"/,
    ],
    ['an object for a number', join('2001:db8:2::2', { qpn: {} }), /found a mapping/],
    ['a list for the member', join('2001:db8:2::2', []), /found a list; allowed: an object/],
    ['a VA delta without an R_Key', join('2001:db8:2::2', { qpn: 9, 'va-delta': '1' }), /r-key: missing/],
    ['IPv4', join('192.0.2.1', { qpn: 9 }), /a unicast IPv6 address/],
    ['a role that there is not', join('2001:db8:2::2', {}, { role: 'king' }), /one of source, receiver/],
    ['a Proxy Address that is none', join('2001:db8:2::2', { qpn: 9 }, { group: 'ff02::1' }), /multicast/],
    [
      'another address than the path',
      join('2001:db8:2::2', { qpn: 9, address: '2001:db8:2::3' }),
      /differs from the path/,
    ],
  ])('refuses %s', (_, change, complaint) => expect(errors(change).join('\n')).toMatch(complaint));
});

describe('the file wins', () => {
  test.each<readonly [string, GroupChange[], string]>([
    ['its receiver', [join('2001:db8:2::1', { qpn: 9 })], 'receiver 2001:db8:2::1: cnpd.yaml declares it'],
    [
      'its Designated Queue Pair',
      [join('2001:db8:2::2', { qpn: 9 }), { operation: 'update', group: GROUP, value: { 'designated-qpn': 5 } }],
      'receiver 2001:db8:2::2: designated-qpn is 4096 in cnpd.yaml',
    ],
    [
      'an unknown group without a Queue Pair',
      [join('2001:db8:2::2', { qpn: 9 }, { group: '2001:db8:aa::2' })],
      'receiver 2001:db8:2::2: designated-qpn: missing: no group of cnpd.yaml has this Proxy Address',
    ],
    [
      'a Proxy Address of the file as a receiver of it',
      [join(GROUP, { qpn: 9 })],
      `receiver ${GROUP}: ${GROUP} is also a receiver: a Proxy Address belongs to no host`,
    ],
  ])('%s', (_, changes, reason) => {
    expect(aside(after(changes))).toEqual([reason]);
    expect(inForce(after(changes))).toEqual([OF_FILE]);
  });

  test('its source', () => {
    const intent = file(undefined, ', source: { address: 2001:db8:1::9 }');
    expect(aside(after([join('2001:db8:1::1', {}, { role: 'source' })]), intent)).toEqual([
      'source 2001:db8:1::1: the source is 2001:db8:1::9 in cnpd.yaml',
    ]);
  });

  test('the Queue Pair of a source that the file leaves open comes at run time, and goes again', () => {
    const open = file(undefined, ', source: { address: 2001:db8:1::9, qpn: learned }');
    const groups = after([join('2001:db8:1::9', { qpn: 500 }, { role: 'source' })]);
    expect(aside(groups, open)).toEqual([]);
    expect(effectiveIntent(open, groups).intent.groups![0]!.source).toMatchObject({ qpn: 500 });
    expect(inForce(groups, open), 'the source is one member').toEqual(inForce(NO_GROUPS, open));
    expect(effectiveIntent(open, NO_GROUPS).intent.groups![0]!.source).not.toHaveProperty('qpn');
  });

  test('a Queue Pair that the file has stays, and so does an open source of another address', () => {
    const known = file(undefined, ', source: { address: 2001:db8:1::9, qpn: 7 }');
    const groups = after([join('2001:db8:1::9', { qpn: 500 }, { role: 'source' })]);
    expect(aside(groups, known)).toEqual(['source 2001:db8:1::9: cnpd.yaml declares it']);
    expect(effectiveIntent(known, groups).intent.groups![0]!.source).toMatchObject({ qpn: 7 });
    const open = file(undefined, ', source: { address: 2001:db8:1::8 }');
    expect(aside(groups, open)).toEqual(['source 2001:db8:1::9: the source is 2001:db8:1::8 in cnpd.yaml']);
  });

  test('without an End.MT SID the edge of a receiver that names none is left to the network', () => {
    const intent = load(ROUTER);
    const groups = after([
      join('2001:db8:2::2', { qpn: 9 }),
      join('2001:db8:2::3', { qpn: 9, edge: '2001:db8:f::1' }),
      { operation: 'update', group: GROUP, value: { 'designated-qpn': 5 } },
    ]);
    expect(aside(groups, intent)).toEqual([]);
    expect(inForce(groups, intent)).toEqual([
      `${GROUP} receiver 2001:db8:2::2 9 ::`,
      `${GROUP} receiver 2001:db8:2::3 9 2001:db8:f::1`,
    ]);
    const [group] = effectiveIntent(intent, groups).intent.groups!;
    expect(group!.nearest!.map(formatAddress)).toEqual(['2001:db8:2::2']);
  });

  test('4,096 members of one router, those of the file included; cost of one more', () => {
    const many = after(
      Array.from({ length: 4096 }, (_, i) =>
        join(`2001:db8:3::${(i + 1).toString(16)}`, { qpn: 9, edge: `2001:db8:f::${(i % 100) + 1}` }),
      ),
    );
    const before = process.cpuUsage();
    const over = aside(many);
    const { user } = process.cpuUsage(before);
    console.log(`4,096 members put together: ${user / 1000} ms`);
    expect(over).toEqual(['receiver 2001:db8:3::1000: one router declares at most 4096 members']);
    expect(inForce(many)).toHaveLength(4096);
  });
});
