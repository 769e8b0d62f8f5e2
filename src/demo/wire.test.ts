import { expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { DEFAULT_CODE_POINTS } from '../model/code-points.ts';
import { concat } from '../packet/bytes.ts';
import { buildLongHaulIcmpv6 } from '../packet/icmpv6/long-haul-cnp.ts';
import { ipv6 } from '../packet/ip/packets.fixture.ts';
import { UNDISCLOSED } from '../packet/long-haul/body.ts';
import { buildCnp } from '../packet/roce/cnp.ts';
import { buildFastCnp } from '../packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../packet/roce/long-haul-cnp.ts';
import { OPCODE } from '../packet/roce/opcodes.ts';
import { buildRocePacket } from '../packet/roce/packet.ts';
import { readNotification, sameNotifications, tunneledNotification } from './wire.ts';

const NODE = '2001:db8:ffff::2';
const END_CON = '2001:db8:c1::c';
const [h1, h2, node] = [address('2001:db8:1::2'), address('2001:db8:2::2'), address(NODE)];
const ETHERNET = Uint8Array.of(2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd);
const frame = (packet: Uint8Array): Uint8Array => concat(ETHERNET, packet);

const codes = {
  option: DEFAULT_CODE_POINTS['fast-cnp-option'],
  ioamOption: DEFAULT_CODE_POINTS['fast-cnp-ioam-option'],
  icrc: 'cover',
} as const;
const fast = buildFastCnp({
  source: node,
  destination: h1,
  sourcePort: 0xc123,
  destQpn: 0x22,
  originalDestination: h2,
  trace: undefined,
  codes,
});
const cnp = buildCnp({ source: h2, destination: h1, sourcePort: 0xc123, destQpn: 0x11 });
const instruction = { level: 180, action: 'rate-reduce', parameter: 30 } as const;
const longHaul = { ...instruction, sourceQpn: 0x11, metric: UNDISCLOSED, objects: [] };
const objectClass = DEFAULT_CODE_POINTS['long-haul-object-class'];
const icmpv6 = buildLongHaulIcmpv6({
  source: node,
  destination: h1,
  cnp: longHaul,
  codes: { type: DEFAULT_CODE_POINTS['long-haul-icmpv6-type'], objectClass },
});
const roce = buildLongHaulRoce({ source: node, destination: h1, sourcePort: 0xc123, cnp: longHaul, objectClass });

test.each([
  [
    'a CNP',
    cnp,
    { kind: 'cnp', source: '2001:db8:2::2', opcode: 0x81, queuePair: 0x11, valid: true, instruction: null },
  ],
  [
    'a Fast CNP',
    fast,
    { kind: 'fast-cnp', source: NODE, opcode: 0x81, queuePair: 0x22, valid: true, instruction: null },
  ],
  [
    'a Long-haul CNP',
    icmpv6,
    { kind: 'long-haul-icmpv6', source: NODE, opcode: null, queuePair: 0x11, valid: true, instruction },
  ],
  [
    'a Long-haul CNP in RoCEv2 form',
    roce,
    { kind: 'long-haul-roce', source: NODE, opcode: 0x81, queuePair: 0x11, valid: true, instruction },
  ],
])('%s is read as what it is, and is not valid with a bit turned over', (_name, packet, expected) => {
  expect(readNotification(frame(packet))).toEqual(expected);
  const last = packet.length - 1;
  expect(readNotification(frame(packet.with(last, packet[last]! ^ 1)))).toMatchObject({
    kind: expected.kind,
    valid: false,
  });
});

test('data, and frames that are too short for anything, are no notifications', () => {
  const data = buildRocePacket({
    source: h1,
    destination: h2,
    sourcePort: 0xc123,
    bth: { opcode: OPCODE.sendOnly, destQpn: 0x22, psn: 1 },
    payload: new Uint8Array(64),
  });
  expect(readNotification(frame(data))).toBeUndefined();
  for (const length of [14, 20, 54, 60]) expect(readNotification(frame(data).subarray(0, length))).toBeUndefined();
});

const wrapped = (inner: Uint8Array, to = END_CON): Uint8Array => frame(ipv6([node, address(to)], 41, inner));

test('A17: what is inside a packet to END.CON counts, what goes elsewhere or is no notification does not', () => {
  expect(tunneledNotification(wrapped(fast), END_CON)).toEqual(fast);
  expect(tunneledNotification(wrapped(fast, '2001:db8:c2::c'), END_CON)).toBeUndefined();
  expect(tunneledNotification(wrapped(cnp), END_CON)).toBeUndefined();
  expect(tunneledNotification(frame(fast), END_CON)).toBeUndefined();
});

test('A17: notifications are the same whatever their hop limits and order, and differ by any other byte or by one of them missing', () => {
  const HOP_LIMIT = 7;
  expect(sameNotifications([fast, icmpv6], [icmpv6, fast.with(HOP_LIMIT, 1)])).toBe(true);
  expect(sameNotifications([fast], [fast.with(50, 99)])).toBe(false);
  expect(sameNotifications([fast, fast], [fast])).toBe(false);
});
