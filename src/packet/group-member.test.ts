import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address, ipv6FromWords } from '../model/address.ts';
import { type GroupMember, isUsableMember, memberKey, sameMember } from '../model/group.ts';
import { decodeGroupMember, encodeGroupMember } from './group-member.ts';
import { fromHex, toHex } from './hex.ts';

const RECEIVER: GroupMember = {
  group: address('2001:db8:aa::1'),
  role: 'receiver',
  address: address('2001:db8:b::1'),
  qpn: 0x12_3456,
  node: address('2001:db8:e1::1'),
  psnDelta: 0xfe_dcba,
  write: { vaDelta: 0x0102_0304_0506_0708n, rKey: 0x8765_4321 },
};
const HEX =
  '01800000' +
  '20010db800aa00000000000000000001' +
  '20010db8000b00000000000000000001' +
  '20010db800e100000000000000000001' +
  '00123456' +
  '00fedcba' +
  '0102030405060708' +
  '87654321';

test('RMC-5.1-d: a receiver’s unicast address and Queue Pair, byte for byte, and back', () => {
  expect(toHex(encodeGroupMember(RECEIVER))).toBe(HEX);
  expect(decodeGroupMember(fromHex(HEX), 0)).toEqual({ ok: true, value: RECEIVER });
});

test('RMC-5.1-c: a source is declared with the Designated Queue Pair', () => {
  const source: GroupMember = { ...RECEIVER, role: 'source', psnDelta: 0, write: undefined };
  const bytes = encodeGroupMember(source);
  expect(toHex(bytes.subarray(0, 4))).toBe('02000000');
  expect(decodeGroupMember(bytes, 0)).toEqual({ ok: true, value: source });
});

const ipv6 = fc.tuple(...[0, 1, 2, 3].map(() => fc.integer({ min: 0, max: 0xffff_ffff }))).map((words) => {
  const [a, b, c, d] = words as [number, number, number, number];
  return ipv6FromWords(a, b, c, d);
});
const bits = (n: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: 2 ** n - 1 });
const member: fc.Arbitrary<GroupMember> = fc.record(
  {
    group: ipv6,
    role: fc.constantFrom('source' as const, 'receiver' as const),
    address: ipv6,
    qpn: bits(24),
    node: ipv6,
    psnDelta: bits(24),
    write: fc.record({ vaDelta: fc.bigInt(0n, 2n ** 64n - 1n), rKey: bits(32) }),
  },
  { requiredKeys: ['group', 'role', 'address', 'qpn', 'node', 'psnDelta'] },
);

test('every member comes back as it was, also with octets behind it that a newer version may add', () => {
  fc.assert(
    fc.property(member, fc.uint8Array({ maxLength: 8 }), (one, more) => {
      const bytes = Uint8Array.from([...encodeGroupMember(one), ...more]);
      expect(decodeGroupMember(bytes, 0)).toEqual({ ok: true, value: one });
    }),
  );
});

test('each part has its own octets: a change of one changes no other', () => {
  const other = { group: 'aa::1', address: 'bb::2', node: 'cc::3' };
  for (const part of ['group', 'address', 'node'] as const) {
    const changed = { ...RECEIVER, [part]: address(other[part]) };
    expect(decodeGroupMember(encodeGroupMember(changed), 0), part).toEqual({ ok: true, value: changed });
  }
});

test('a cut is refused at each length; an unknown role is no member; reserved octets are ignored', () => {
  for (let length = 0; length < HEX.length / 2; length++)
    expect(decodeGroupMember(fromHex(HEX).subarray(0, length), 7), `cut at ${length}`).toMatchObject({
      ok: false,
      error: { code: 'bad-tlv-length', offset: 7 },
    });
  expect(decodeGroupMember(fromHex(HEX).with(0, 3), 0)).toEqual({ ok: true, value: undefined });
  const noise = fromHex(HEX).with(1, 0xff).with(2, 1).with(3, 2).with(52, 3).with(56, 4);
  expect(decodeGroupMember(noise, 0)).toEqual({ ok: true, value: RECEIVER });
});

test.each([
  ['an IPv4 group', { group: address('10.0.0.1') }],
  ['an IPv4 host', { address: address('10.0.0.1') }],
  ['an IPv4 node', { node: address('10.0.0.1') }],
  ['a Queue Pair of 25 bits', { qpn: 1 << 24 }],
  ['a PSN delta of 25 bits', { psnDelta: 1 << 24 }],
  ['an R_Key of 33 bits', { write: { vaDelta: 0n, rKey: 2 ** 32 } }],
])('%s is not encoded', (_what, change) => {
  expect(() => encodeGroupMember({ ...RECEIVER, ...change })).toThrow();
});

test('a VA delta may be negative: it is added modulo 2^64', () => {
  const bytes = encodeGroupMember({ ...RECEIVER, write: { vaDelta: -1n, rKey: 0 } });
  expect(decodeGroupMember(bytes, 0)).toMatchObject({ value: { write: { vaDelta: 2n ** 64n - 1n } } });
});

test('usable is a member to which packets can be sent', () => {
  const usable = (change: Partial<GroupMember>): boolean => isUsableMember({ ...RECEIVER, ...change });
  expect(usable({})).toBe(true);
  expect(usable({ qpn: 2 })).toBe(true);
  for (const qpn of [0, 1, 0xff_ffff]) expect(usable({ qpn }), `Queue Pair ${qpn}`).toBe(false);
  for (const bad of ['ff02::1', '::', '::1', 'fe80::1', '10.0.0.1'])
    for (const part of ['group', 'address', 'node'] as const)
      expect(usable({ [part]: address(bad) }), `${part} ${bad}`).toBe(false);
  expect(usable({ address: RECEIVER.group }), 'a host with the Proxy Address').toBe(false);
  expect(usable({ node: RECEIVER.group }), 'a node with the Proxy Address').toBe(false);
});

test('a key is of the group, the role and the host; all else makes another member of the same key', () => {
  const others: Partial<GroupMember>[] = [
    { qpn: 9 },
    { node: address('::9') },
    { psnDelta: 9 },
    { write: undefined },
    { write: { vaDelta: 0x0102_0304_0506_0708n, rKey: 1 } },
    { write: { vaDelta: 1n, rKey: 0x8765_4321 } },
  ];
  for (const change of others) {
    expect(memberKey({ ...RECEIVER, ...change })).toBe(memberKey(RECEIVER));
    expect(sameMember({ ...RECEIVER, ...change }, RECEIVER), JSON.stringify(Object.keys(change))).toBe(false);
  }
  expect(sameMember({ ...RECEIVER }, RECEIVER)).toBe(true);
  const keys = [{}, { role: 'source' as const }, { group: address('::9') }, { address: address('::9') }].map((change) =>
    memberKey({ ...RECEIVER, ...change }),
  );
  expect(new Set(keys).size).toBe(4);
});
