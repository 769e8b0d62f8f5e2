import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { toHex } from '../hex.ts';
import { buildCnp, isCnp } from './cnp.ts';
import { type RocePacket, parseRocePacket } from './packet.ts';
import { CNP6, LONG_HAUL_CNP6, SEND6 } from './vectors.fixture.ts';

const parsed = (packet: Uint8Array): RocePacket => {
  const result = parseRocePacket(packet);
  if (!result.ok) throw new Error(result.error.code);
  return result.value;
};

const FIELDS = {
  source: address('2001:db8:b::1'),
  destination: address('2001:db8:a::1'),
  destQpn: 0x64,
  sourcePort: 0xc000,
};

test('FCNP-3-c: a CNP is 80 bytes on IPv6 and 60 on IPv4', () => {
  expect(toHex(buildCnp({ ...FIELDS, trafficClass: 0x88 }))).toBe(toHex(CNP6));
  const cnp4 = buildCnp({ ...FIELDS, source: address('10.2.0.1'), destination: address('10.1.0.1') });
  expect(cnp4).toHaveLength(60);
  expect(isCnp(parsed(cnp4))).toBe(true);
  expect(parsed(cnp4)).toMatchObject({
    trafficClass: 0xc0,
    bth: { opcode: 0x81, becn: true, destQpn: 0x64, psn: 0, pkey: 0xffff },
  });
});

test('a CNP has the partition key of the connection; the default one when none is given', () => {
  expect(parsed(buildCnp({ ...FIELDS, pkey: 0x8001 })).bth.pkey).toBe(0x8001);
  expect(parsed(buildCnp({ ...FIELDS, pkey: 0 })).bth.pkey).toBe(0);
  expect(parsed(buildCnp(FIELDS)).bth.pkey).toBe(0xffff);
});

test('what is no CNP is not taken for one', () => {
  expect(isCnp(parsed(CNP6))).toBe(true);
  expect(isCnp(parsed(SEND6))).toBe(false);
  expect(isCnp(parsed(LONG_HAUL_CNP6))).toBe(false);
  const wrongIcrc = new Uint8Array(CNP6);
  wrongIcrc[79] = wrongIcrc[79]! ^ 1;
  expect(isCnp(parsed(wrongIcrc))).toBe(false);
  const noBecn = new Uint8Array(CNP6);
  noBecn[52] = 0;
  expect(isCnp(parsed(noBecn))).toBe(false);
});
