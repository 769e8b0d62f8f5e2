import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { fromHex, toHex } from '../hex.ts';
import { icrc, readIcrc, writeIcrc } from './icrc.ts';
import { buildRocePacket } from './packet.ts';
import { ACK6, CNP6, FAST_CNP6, LONG_HAUL_CNP4, LONG_HAUL_CNP6, NAK6, SEND6 } from './vectors.fixture.ts';

const VECTORS: readonly (readonly [name: string, packet: Uint8Array, udpOffset: number])[] = [
  ['CNP', CNP6, 40],
  ['SEND_ONLY', SEND6, 40],
  ['ACK', ACK6, 40],
  ['NAK', NAK6, 40],
  ['Fast CNP, option covered', FAST_CNP6, 64],
  ['Long-haul CNP', LONG_HAUL_CNP6, 40],
  ['Long-haul CNP on IPv4', LONG_HAUL_CNP4, 20],
];

test.each(VECTORS)('the ICRC of %s', (_name, packet, udpOffset) => {
  const end = packet.length - 4;
  expect(icrc(packet, udpOffset, end).toString(16)).toBe(readIcrc(packet, end).toString(16));
});

test('the ICRC that a ConnectX-4 Lx put on an IPv4 CNP', () => {
  const packet = buildRocePacket({
    source: address('10.0.17.1'),
    destination: address('10.0.18.1'),
    sourcePort: 0,
    trafficClass: 0xc2,
    identification: 0x718c,
    dontFragment: true,
    bth: { opcode: 0x81, destQpn: 0x118, psn: 0, becn: true },
    payload: new Uint8Array(16),
  });
  expect(toHex(packet.subarray(-4))).toBe('82fd002a');
});

test('the ICRC of a captured UC SEND_ONLY with padding', () => {
  const packet = buildRocePacket({
    source: address('192.168.0.7'),
    destination: address('192.168.0.7'),
    sourcePort: 49152,
    trafficClass: 1,
    identification: 1144,
    dontFragment: true,
    bth: { opcode: 0x24, destQpn: 211, psn: 13571856, migration: true },
    payload: fromHex('4630818be28935d90e9a95505401be885e50'),
  });
  expect(toHex(packet.subarray(-4))).toBe('78f353f3');
});

test('what routers change does not change the ICRC: ECN, DSCP, hop limit, flow label, checksums, FECN and BECN', () => {
  const changed = new Uint8Array(SEND6);
  changed[0] = 0x6f;
  changed[1] = 0xb3;
  changed[7] = 1;
  changed[46] = 0xab;
  changed[52] = 0xff;
  expect(icrc(changed, 40, changed.length - 4)).toBe(readIcrc(SEND6, SEND6.length - 4));
  const changed4 = new Uint8Array(LONG_HAUL_CNP4);
  for (const at of [1, 8, 10, 11, 26, 27, 32]) changed4[at] = 0x5a;
  expect(icrc(changed4, 20, changed4.length - 4)).toBe(readIcrc(LONG_HAUL_CNP4, LONG_HAUL_CNP4.length - 4));
});

test('every other byte of the packet changes it', () => {
  const free = new Set([0, 1, 2, 3, 7, 46, 47, 52]);
  for (let at = 4; at < SEND6.length - 4; at++) {
    const changed = new Uint8Array(SEND6);
    changed[at] = changed[at]! ^ 0x10;
    expect(icrc(changed, 40, changed.length - 4) === readIcrc(SEND6, SEND6.length - 4), `byte ${at}`).toBe(
      free.has(at),
    );
  }
});

test('the ICRC is little-endian on the wire', () => {
  const bytes = new Uint8Array(4);
  writeIcrc(bytes, 0, 0x01020304);
  expect(toHex(bytes)).toBe('04030201');
  expect(readIcrc(bytes, 0)).toBe(0x01020304);
});
