import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { decodeTrace } from '../ip/ioam.ts';
import { options } from '../ip/packets.fixture.ts';
import { buildFastCnp, parseFastCnp } from './fast-cnp.ts';
import { CNP6, FAST_CNP6, LONG_HAUL_CNP6 } from './vectors.fixture.ts';

const COVER = { option: 0x9e, ioamOption: 0x9e, icrc: 'cover' } as const;
const SKIP = { ...COVER, icrc: 'skip' } as const;
const FIELDS = {
  source: address('2001:db8:ffff::'),
  destination: address('2001:db8:a::1'),
  originalDestination: address('2001:db8:b::1'),
  trace: undefined,
  destQpn: 0xc8,
  sourcePort: 0xc000,
};
const trace = (() => {
  const decoded = decodeTrace(0, concat(fromHex('00010a00c0000000'), new Uint8Array(20).fill(9)));
  if (!decoded.ok) throw new Error(decoded.error.code);
  return decoded.value;
})();
const code = (bytes: Uint8Array, codes: typeof COVER | typeof SKIP = COVER): string => {
  const parsed = parseFastCnp(bytes, codes);
  return parsed.ok ? 'ok' : parsed.error.code;
};

test('FCNP-3-e, FCNP-4-c, FCNP-4-d, FCNP-4-g, FCNP-4-i: the packet of the vector, to the byte (V5)', () => {
  const vector = parseFastCnp(FAST_CNP6, COVER);
  if (!vector.ok) throw new Error(vector.error.code);
  expect(vector.value).toMatchObject({
    originalDestination: FIELDS.originalDestination,
    fromReceiver: false,
    packet: { icrcValid: true, bth: { destQpn: 0xc8, becn: true, psn: 0 } },
  });
  const { source, destination } = vector.value.packet;
  expect(toHex(buildFastCnp({ ...FIELDS, source, destination, trafficClass: 0, codes: COVER }))).toBe(toHex(FAST_CNP6));
});

test('FCNP-3-c: behind the option it is a CNP: BTH, 16 reserved octets, ICRC', () => {
  const packet = buildFastCnp({ ...FIELDS, codes: COVER });
  expect(packet).toHaveLength(CNP6.length + 24);
  expect(toHex(packet.subarray(72, 100))).toBe('8100ffff400000c800000000' + '00'.repeat(16));
});

test('FCNP-4-o, FCNP-4-s: with a trace it is option 2', () => {
  const packet = buildFastCnp({ ...FIELDS, trace, codes: COVER });
  expect(parseFastCnp(packet, COVER)).toMatchObject({
    ok: true,
    value: { trace, originalDestination: FIELDS.originalDestination },
  });
  expect({ optionType: packet[44] }).toEqual({ optionType: 0x9e });
});

test('FCNP-4-e: the sender distinguishes the receiver of its flow from a node on the way', () => {
  const from = (source: typeof FIELDS.source): unknown =>
    parseFastCnp(buildFastCnp({ ...FIELDS, source, codes: COVER }), COVER);
  expect(from(FIELDS.originalDestination)).toMatchObject({ ok: true, value: { fromReceiver: true } });
  expect(from(FIELDS.source)).toMatchObject({ ok: true, value: { fromReceiver: false } });
});

test('B2: the ICRC covers the option, or is that of the CNP without it; each end must do the same', () => {
  const covered = buildFastCnp({ ...FIELDS, codes: COVER });
  const skipped = buildFastCnp({ ...FIELDS, codes: SKIP });
  expect({
    coveredCover: code(covered, COVER),
    skippedSkip: code(skipped, SKIP),
    coveredSkip: code(covered, SKIP),
    skippedCover: code(skipped, COVER),
  }).toEqual({ coveredCover: 'ok', skippedSkip: 'ok', coveredSkip: 'bad-icrc', skippedCover: 'bad-icrc' });
  // A CNP of the same addresses and fields has the ICRC of `skip`.
  const plain = buildFastCnp({ ...FIELDS, source: address('2001:db8:b::1'), destQpn: 0x64, codes: SKIP });
  expect(toHex(plain.subarray(-4))).toBe(toHex(CNP6.subarray(-4)));
  const other = covered.with(59, covered[59]! ^ 1);
  expect({ otherByte: code(other, COVER), skippedByte: code(skipped.with(59, 7), SKIP) }).toEqual({
    otherByte: 'bad-icrc',
    skippedByte: 'ok',
  });
});

test('FCNP-3-d: there is none for IPv4', () => {
  expect(() =>
    buildFastCnp({ ...FIELDS, source: address('10.0.0.1'), destination: address('10.0.0.2'), codes: COVER }),
  ).toThrow(/IPv6 flows/);
});

test('FCNP-4-h: nothing but the option is between IPv6 and UDP', () => {
  const packet = buildFastCnp({ ...FIELDS, codes: COVER });
  const longer = concat(packet.subarray(0, 64), options(17, 0, packet.subarray(64)));
  longer[5] = longer[5]! + 8;
  expect(code(longer.with(40, 60))).toBe('not-udp');
  expect(code(CNP6)).toBe('no-fast-cnp-option');
});

test('what follows the option must be a CNP, and a standard one', () => {
  const packet = buildFastCnp({ ...FIELDS, codes: COVER });
  // The ICRC does not cover the byte of BECN and E.
  expect(code(packet.with(76, 0x00))).toBe('not-a-cnp');
  expect(code(packet.with(76, 0x60))).toBe('not-a-cnp');
  const longHaul = concat(LONG_HAUL_CNP6.subarray(0, 40), packet.subarray(40, 64), LONG_HAUL_CNP6.subarray(40));
  longHaul[5] = longHaul.length - 40;
  longHaul[6] = 60;
  expect(code(longHaul, SKIP)).toBe('not-a-cnp');
});

test('no packet harms the parser', () => {
  const packets = [buildFastCnp({ ...FIELDS, codes: COVER }), buildFastCnp({ ...FIELDS, trace, codes: COVER })];
  for (const codes of [COVER, SKIP]) {
    refusesTruncation((bytes) => parseFastCnp(bytes, codes), buildFastCnp({ ...FIELDS, codes }));
    fuzzDecoder((bytes) => parseFastCnp(bytes, codes), packets);
  }
});
