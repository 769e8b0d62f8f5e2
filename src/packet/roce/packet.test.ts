import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type IpAddress, address } from '../../model/address.ts';
import { concat, put16 } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { ipv6 } from '../ip/packets.fixture.ts';
import { OPCODES } from './opcodes.ts';
import { type ExtendedHeaders, type RocePacket, buildRocePacket, parseRocePacket } from './packet.ts';
import { ACK6, CNP6, FAST_CNP6, LONG_HAUL_CNP4, LONG_HAUL_CNP6, NAK6, SEND6 } from './vectors.fixture.ts';

const SENDER = address('2001:db8:a::1');
const RECEIVER = address('2001:db8:b::1');
const NO_BITS = {
  solicited: false,
  migration: false,
  padCount: 0,
  version: 0,
  pkey: 0xffff,
  fecn: false,
  becn: false,
  reserved: 0,
  ackRequest: false,
};

function parsed(packet: Uint8Array): RocePacket {
  const result = parseRocePacket(packet);
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.detail}`);
  return result.value;
}

const code = (packet: Uint8Array): string => {
  const result = parseRocePacket(packet);
  return result.ok ? 'ok' : result.error.code;
};

test('FCNP-3-c: a CNP is a BTH, 16 reserved bytes and the ICRC', () => {
  expect(parsed(CNP6)).toEqual({
    family: 6,
    source: RECEIVER,
    destination: SENDER,
    trafficClass: 0x88,
    hopLimit: 64,
    sourcePort: 0xc000,
    udpChecksum: 0,
    bth: { ...NO_BITS, opcode: 0x81, becn: true, destQpn: 0x64, psn: 0 },
    ext: {},
    payload: new Uint8Array(16),
    icrc: 0xdfaabdbc,
    icrcValid: true,
  });
  const ends = { source: RECEIVER, destination: SENDER, sourcePort: 0xc000, trafficClass: 0x88 };
  const built = buildRocePacket({
    ...ends,
    bth: { opcode: 0x81, becn: true, destQpn: 0x64, psn: 0 },
    payload: new Uint8Array(16),
  });
  expect(toHex(built)).toBe(toHex(CNP6));
});

test('FCNP-3-b: transport headers are a BTH and what its opcode calls for', () => {
  const ends = { source: RECEIVER, destination: SENDER, sourcePort: 0xc000 };
  const send = {
    source: SENDER,
    destination: RECEIVER,
    sourcePort: 0xc000,
    trafficClass: 2,
    bth: { opcode: 0x04, destQpn: 0xc8, psn: 0x123, ackRequest: true },
    payload: fromHex('0001020304050607'),
  };
  expect(parsed(SEND6)).toMatchObject({ ext: {}, payload: send.payload, bth: send.bth, icrcValid: true });
  expect(toHex(buildRocePacket(send))).toBe(toHex(SEND6));
  const ack = (kind: 'ack' | 'nak', value: number, psn: number): Uint8Array =>
    buildRocePacket({ ...ends, bth: { opcode: 0x11, destQpn: 0x64, psn }, ext: { aeth: { kind, value, msn: 5 } } });
  expect(parsed(ACK6).ext).toEqual({ aeth: { kind: 'ack', value: 31, msn: 5 } });
  expect(toHex(ack('ack', 31, 0x123))).toBe(toHex(ACK6));
  expect(parsed(NAK6).ext).toEqual({ aeth: { kind: 'nak', value: 0, msn: 5 } });
  expect(toHex(ack('nak', 0, 0x124))).toBe(toHex(NAK6));
});

test('extension headers between IPv6 and UDP are passed and covered', () => {
  expect(parsed(FAST_CNP6)).toMatchObject({ bth: { opcode: 0x81, destQpn: 0xc8 }, icrcValid: true });
  const changed = new Uint8Array(FAST_CNP6);
  changed[59] = 2;
  expect(parsed(changed).icrcValid).toBe(false);
});

test('a Long-haul CNP is read as a CNP of twelve bytes, on both families', () => {
  for (const packet of [LONG_HAUL_CNP6, LONG_HAUL_CNP4]) {
    expect(parsed(packet)).toMatchObject({
      bth: { opcode: 0x81, reserved: 0x20 },
      payload: fromHex('b480001e000000640101fbd0'),
      icrcValid: true,
    });
  }
});

const anAddress = (family: 4 | 6): fc.Arbitrary<IpAddress> =>
  fc.bigInt(0n, family === 4 ? 2n ** 32n - 1n : 2n ** 128n - 1n).map((value) => ({ family, value }));
const word = fc.nat(0xffffffff);
const FIELD: Readonly<Record<string, fc.Arbitrary<ExtendedHeaders>>> = {
  deth: fc.record({ qkey: word, sourceQpn: fc.nat(0xffffff) }).map((deth) => ({ deth })),
  reth: fc
    .record({ virtualAddress: fc.bigInt(0n, 2n ** 64n - 1n), rkey: word, length: word })
    .map((reth) => ({ reth })),
  aeth: fc
    .record({ kind: fc.constantFrom('ack', 'rnr-nak', 'nak'), value: fc.nat(31), msn: fc.nat(0xffffff) })
    .map((aeth) => ({ aeth })),
  immediate: word.map((immediate) => ({ immediate })),
  ieth: word.map((ieth) => ({ ieth })),
  xrceth: fc.nat(0xffffff).map((xrceth) => ({ xrceth })),
  atomic: fc.uint8Array({ minLength: 28, maxLength: 28 }).map((atomic) => ({ atomic })),
  'atomic-ack': fc.uint8Array({ minLength: 8, maxLength: 8 }).map((atomicAck) => ({ atomicAck })),
};

test('every packet of every opcode, on both families, comes back as it was, its ICRC valid', () => {
  const arbitrary = fc
    .tuple(
      fc.constantFrom(...OPCODES.values()),
      fc.constantFrom(4 as const, 6 as const),
      fc.uint8Array({ maxLength: 300 }),
    )
    .chain(([opcode, family, payload]) =>
      fc.record({
        source: anAddress(family),
        destination: anAddress(family),
        sourcePort: fc.nat(65535),
        trafficClass: fc.nat(255),
        hopLimit: fc.nat(255),
        bth: fc.record({
          opcode: fc.constant(opcode.code),
          destQpn: fc.nat(0xffffff),
          psn: fc.nat(0xffffff),
          ackRequest: fc.boolean(),
        }),
        ext: fc
          .tuple(...opcode.headers.map((name) => FIELD[name]!))
          .map((parts): ExtendedHeaders => Object.assign({}, ...parts) as ExtendedHeaders),
        payload: fc.constant(payload),
      }),
    );
  fc.assert(
    fc.property(arbitrary, (fields) => {
      const packet = buildRocePacket(fields);
      const { bth, icrc: _icrc, ...rest } = parsed(packet);
      expect(rest).toEqual({
        family: fields.source.family,
        source: fields.source,
        destination: fields.destination,
        trafficClass: fields.trafficClass,
        hopLimit: fields.hopLimit,
        sourcePort: fields.sourcePort,
        udpChecksum: 0,
        ext: fields.ext,
        payload: fields.payload,
        icrcValid: true,
      });
      expect(bth).toEqual({ ...NO_BITS, ...fields.bth, padCount: -fields.payload.length & 3 });
    }),
    { numRuns: 500 },
  );
});

test('in XRC the requests name the receive queue first, responses do not', () => {
  expect(OPCODES.get(0xab)).toEqual({
    code: 0xab,
    name: 'XRC_RDMA_WRITE_ONLY_IMMEDIATE',
    headers: ['xrceth', 'reth', 'immediate'],
  });
  expect(OPCODES.get(0xb1)).toEqual({ code: 0xb1, name: 'XRC_ACKNOWLEDGE', headers: ['aeth'] });
});

test('FCNP-3-a: only UDP to port 4791 is RoCEv2', () => {
  const other = new Uint8Array(SEND6);
  put16(other, 42, 4792);
  expect(code(other)).toBe('not-roce');
  expect(code(ipv6([SENDER, RECEIVER], 6, new Uint8Array(20)))).toBe('not-udp');
  expect(code(ipv6([SENDER, RECEIVER], 41, SEND6))).toBe('not-udp');
});

test('what is broken has a code of its own', () => {
  const broken = (at: number, value: number, packet = SEND6): string => {
    const bytes = new Uint8Array(packet);
    bytes[at] = value;
    return code(bytes);
  };
  expect(broken(48, 0x15)).toBe('unknown-opcode');
  expect(broken(48, 0x80)).toBe('unknown-opcode');
  expect(broken(49, 0x01)).toBe('bad-bth-version');
  expect(broken(49, 0x30, ACK6)).toBe('bad-padding');
  expect(broken(45, 7)).toBe('bad-udp-length');
  expect(broken(45, 15)).toBe('truncated');
  expect(broken(45, 255)).toBe('truncated');
  expect(broken(48, 0x0a)).toBe('truncated');
  expect(broken(6, 0x60, LONG_HAUL_CNP4)).toBe('fragment');
  expect(broken(7, 0x01, LONG_HAUL_CNP4)).toBe('fragment');
});

test('what follows the UDP datagram is not part of it', () => {
  const longer = concat(SEND6, fromHex('deadbeef'));
  expect(parsed(longer)).toEqual(parsed(SEND6));
});

test('no packet harms the parser, cut or not', () => {
  const all = [CNP6, SEND6, ACK6, NAK6, FAST_CNP6, LONG_HAUL_CNP4];
  for (const packet of all) refusesTruncation(parseRocePacket, packet);
  fuzzDecoder(parseRocePacket, all, { runs: 3000 });
});
