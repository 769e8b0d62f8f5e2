import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat, put16, put32 } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { refusesTruncation } from '../hostile.fixture.ts';
import { arbitraryPacket, lsaOf } from './arbitrary.fixture.ts';
import { FRR_MD5_UPDATE, FRR_TRAILER_ADDRESSES, FRR_TRAILER_UPDATE } from './auth.fixture.ts';
import { decodeBody } from './lsa.ts';
import type { Version } from './numbers.ts';
import { type DecodeOptions, type ReceivedPacket, decodePacket, encodePacket } from './packet.ts';
import { type PacketAddresses, setChecksum } from './packet-header.ts';
import type { DatabaseDescription, Hello, LinkStateUpdate, OspfPacket } from './types.ts';
import { EXTENDED_PREFIX_LSA, E_INTRA_AREA_PREFIX_LSA } from './vectors.fixture.ts';

const ADDRESSES: Readonly<Record<Version, PacketAddresses>> = {
  2: { source: address('10.0.0.1'), destination: address('224.0.0.5') },
  3: { source: address('fe80::1'), destination: address('ff02::5') },
};
const VERSIONS = [2, 3] as const;
const ROUTER = 0xc0000201;
const header = { routerId: ROUTER, areaId: 0, instanceId: 0 };
const unknown = { kind: 'unknown' as const, content: fromHex('00000000') };

function decoded(
  version: Version,
  bytes: Uint8Array,
  options?: DecodeOptions,
  addresses = ADDRESSES[version],
): ReceivedPacket {
  const packet = decodePacket(version, bytes, addresses, options);
  if (!packet.ok) throw new Error(packet.error.code);
  return packet.value;
}

/** Encodes to exactly these bytes, and decodes from them to exactly this value. */
function expectPacket(version: Version, hex: string, packet: OspfPacket): void {
  const bytes = fromHex(hex);
  expect(toHex(encodePacket(version, packet, ADDRESSES[version]))).toBe(toHex(bytes));
  expect(decoded(version, bytes)).toEqual({ ...packet, raw: bytes, badLsas: [] });
}

const HELLO: Hello = {
  ...header,
  kind: 'hello',
  networkMask: 0,
  interfaceId: 0,
  options: 0x02,
  helloInterval: 10,
  priority: 1,
  deadInterval: 40,
  designatedRouter: 0,
  backupDesignatedRouter: 0,
  neighbors: [0xc0000202],
};
const DD: DatabaseDescription = {
  ...header,
  kind: 'database-description',
  mtu: 1500,
  options: 0x42,
  initialize: true,
  more: true,
  master: true,
  sequence: 0x12345678,
  headers: [],
};

test('hellos, both ways', () => {
  expectPacket(
    2,
    '02010030 c0000201 00000000 779a 0000 0000000000000000  fffffffc 000a 02 01 00000028 00000000 00000000 c0000202',
    {
      ...HELLO,
      networkMask: 0xfffffffc,
    },
  );
  expectPacket(3, '03010028 c0000201 00000000 747b 05 00  00000007 01 000013 000a 0028 00000000 00000000 c0000202', {
    ...HELLO,
    instanceId: 5,
    interfaceId: 7,
    options: 0x13,
  });
});

test('Database Descriptions, both ways', () => {
  expectPacket(2, '02020020 c0000201 00000000 8b4c 0000 0000000000000000  05dc 42 07 12345678', DD);
  expectPacket(3, '0302001c c0000201 00000000 ce3e 00 00  00 000013 05dc 00 07 12345678', { ...DD, options: 0x13 });
});

test('requests, both ways: the type has four bytes in OSPFv2 and two in OSPFv3', () => {
  const request = (type: number) => ({
    ...header,
    kind: 'link-state-request' as const,
    requests: [{ type, lsId: 0x07000001, advertisingRouter: ROUTER }],
  });
  expectPacket(2, '02030024 c0000201 00000000 72ca 0000 0000000000000000  0000000a 07000001 c0000201', request(10));
  expectPacket(3, '0303001c c0000201 00000000 d3b3 00 00  0000a029 07000001 c0000201', request(0xa029));
});

test('the type of a request: all four bytes in OSPFv2, the last two in OSPFv3, the others reserved (RFC 5340 §A.3.4)', () => {
  const request = (type: number): OspfPacket => ({
    ...header,
    kind: 'link-state-request',
    requests: [{ type, lsId: 1, advertisingRouter: 2 }],
  });
  const reserved = (version: Version): ReceivedPacket => {
    const bytes = encodePacket(version, request(0xa029), ADDRESSES[version]);
    bytes[version === 2 ? 25 : 17] = 1;
    setChecksum(version, bytes, ADDRESSES[version]);
    return decoded(version, bytes);
  };
  expect(reserved(2)).toMatchObject(request(0x1a029));
  expect(reserved(3)).toMatchObject(request(0xa029));
  expect(decoded(2, encodePacket(2, request(0x10001), ADDRESSES[2]))).toMatchObject(request(0x10001));
  expect(() => encodePacket(3, request(0x10001), ADDRESSES[3])).toThrow(/16 bits/);
});

test('OSPFv2 has no instances, OSPFv3 no AuType: the byte of the one is not read, nor written, in the other', () => {
  expect(toHex(encodePacket(2, { ...HELLO, instanceId: 5 }, ADDRESSES[2]))).toBe(
    toHex(encodePacket(2, HELLO, ADDRESSES[2])),
  );
  const v2 = encodePacket(2, HELLO, ADDRESSES[2]);
  v2[14] = 5;
  setChecksum(2, v2, ADDRESSES[2]);
  expect(decoded(2, v2).instanceId).toBe(0);
  const v3 = encodePacket(3, HELLO, ADDRESSES[3]);
  v3[15] = 2;
  expect(decodePacket(3, v3, ADDRESSES[3])).toMatchObject({ ok: false, error: { code: 'bad-checksum' } });
});

test('the details of an error tell how many bytes are too many', () => {
  const lengthened = (packet: OspfPacket): unknown => {
    const bytes = concat(encodePacket(2, packet, ADDRESSES[2]), new Uint8Array(3));
    put16(bytes, 2, bytes.length);
    return decodePacket(2, bytes, ADDRESSES[2], { authenticated: true });
  };
  const update: OspfPacket = { ...header, kind: 'link-state-update', lsas: [] };
  const error = (detail: RegExp): object => ({ ok: false, error: { detail: expect.stringMatching(detail) as string } });
  expect(lengthened(HELLO)).toMatchObject(error(/^7 bytes are not whole router IDs/));
  expect(lengthened(update)).toMatchObject(error(/^3 bytes after the last LSA/));
});

test.each(VERSIONS)('OSPFv%d: a payload of nothing is truncated, and not of another version', (version) => {
  const nothing = decodePacket(version, new Uint8Array(), ADDRESSES[version]);
  expect(nothing).toMatchObject({ ok: false, error: { code: 'truncated', offset: 0 } });
});

test('updates and acknowledgments of FRR', () => {
  const addresses = [ADDRESSES[2], FRR_TRAILER_ADDRESSES];
  const [v2, v3] = (
    [
      [2, FRR_MD5_UPDATE],
      [3, FRR_TRAILER_UPDATE],
    ] as const
  ).map(([version, bytes], i) => {
    const update = decoded(version, bytes, { authenticated: true }, addresses[i]) as LinkStateUpdate & ReceivedPacket;
    expect(update.badLsas).toEqual([]);
    const acknowledgment = {
      ...header,
      kind: 'link-state-acknowledgment' as const,
      headers: update.lsas.map(({ raw: _raw, ...rest }) => rest),
    };
    const bytesOut = encodePacket(version, acknowledgment, ADDRESSES[version]);
    expect(decoded(version, bytesOut)).toEqual({ ...acknowledgment, raw: bytesOut, badLsas: [] });
    return update.lsas.map((lsa) => decodeBody(version, lsa));
  });
  expect(v2).toEqual([
    {
      ok: true,
      value: {
        body: {
          kind: 'router-v2',
          flags: 0,
          links: [
            { type: 3, linkId: ROUTER, linkData: 0xffffffff, metric: 0, tosMetrics: new Uint8Array() },
            { type: 3, linkId: 0x0a000000, linkData: 0xfffffffc, metric: 10, tosMetrics: new Uint8Array() },
          ],
        },
        badTlvs: [],
      },
    },
  ]);
  expect(v3!.map((body) => body.ok && body.value.body)).toMatchObject([
    { kind: 'link', priority: 1, options: 0x13, linkLocalAddress: FRR_TRAILER_ADDRESSES.source, prefixes: [] },
    { kind: 'router-v3', options: 0x13, links: [] },
    {
      kind: 'intra-area-prefix',
      referenced: { type: 0x2001, lsId: 0, advertisingRouter: ROUTER },
      prefixes: [{ options: 0, metric: 10 }],
    },
  ]);
});

test.each(VERSIONS)('OSPFv%d: every packet comes back from its encoding as it was', (version) => {
  fc.assert(
    fc.property(arbitraryPacket(version), (packet) => {
      const bytes = encodePacket(version, packet, ADDRESSES[version]);
      expect(decoded(version, bytes)).toEqual({ ...packet, raw: bytes, badLsas: [] });
      expect(toHex(encodePacket(version, decoded(version, bytes), ADDRESSES[version]))).toBe(toHex(bytes));
    }),
    { numRuns: 400 },
  );
});

test.each(VERSIONS)('OSPFv%d: a packet cut anywhere is rejected', (version) => {
  fc.assert(
    fc.property(arbitraryPacket(version), (packet) => {
      refusesTruncation(
        (bytes) => decodePacket(version, bytes, ADDRESSES[version]),
        encodePacket(version, packet, ADDRESSES[version]),
      );
    }),
    { numRuns: 30 },
  );
});

test('what follows the packet, such as an LLS block, is not part of it; the packet is a copy', () => {
  const buffer = Buffer.from(concat(encodePacket(2, HELLO, ADDRESSES[2]), fromHex('fff60003 00010004 00000001')));
  const packet = decoded(2, buffer);
  buffer.fill(0);
  expect(packet).toMatchObject(HELLO);
  expect(packet.raw).toHaveLength(48);
});

test("OSPFv2's checksum leaves out the authentication field, OSPFv3's covers addresses", () => {
  const v2 = encodePacket(2, HELLO, ADDRESSES[2]);
  v2.fill(0x5a, 16, 24);
  expect(decodePacket(2, v2, ADDRESSES[3]).ok).toBe(true);
  const v3 = encodePacket(3, HELLO, ADDRESSES[3]);
  expect(decodePacket(3, v3, { ...ADDRESSES[3], source: address('fe80::2') })).toMatchObject({
    ok: false,
    error: { code: 'bad-checksum' },
  });
});

test('an LSA with a wrong checksum is left out and recorded with its place, the others are used (RFC 2328 §13 step 1)', () => {
  const good = lsaOf(2, { type: 10, lsId: 1, advertisingRouter: ROUTER }, unknown);
  const bytes = encodePacket(
    2,
    { ...header, kind: 'link-state-update', lsas: [{ ...good, raw: EXTENDED_PREFIX_LSA }, good, good] },
    ADDRESSES[2],
  );
  bytes[24 + 4 + 21] = 9;
  setChecksum(2, bytes, ADDRESSES[2]);
  const update = decoded(2, bytes);
  expect(update.badLsas).toEqual([
    { code: 'bad-checksum', offset: 28 + 16, detail: 'checksum 0x8b15 of 0xa 7.0.0.1 1.1.1.1 is wrong' },
  ]);
  expect(update.kind === 'link-state-update' && update.lsas).toEqual([good, good]);
});

test.each(VERSIONS)('OSPFv%d: a bad packet is rejected, under a code of its own', (version) => {
  const code = (packet: OspfPacket, change: (bytes: Uint8Array, body: number) => Uint8Array | void): string => {
    const bytes = encodePacket(version, packet, ADDRESSES[version]);
    const changed = change(bytes, version === 2 ? 24 : 16) ?? bytes;
    const result = decodePacket(version, changed, ADDRESSES[version], { authenticated: true });
    return result.ok ? 'ok' : result.error.code;
  };
  const lengthened = (bytes: Uint8Array): Uint8Array => {
    const out = concat(bytes, new Uint8Array(3));
    put16(out, 2, out.length);
    return out;
  };
  const lsa = lsaOf(version, { type: version === 2 ? 1 : 0x2003, lsId: 1, advertisingRouter: ROUTER }, unknown);
  const update: OspfPacket = { ...header, kind: 'link-state-update', lsas: [lsa] };
  const request: OspfPacket = { ...header, kind: 'link-state-request', requests: [] };
  const cases: readonly [string, OspfPacket, (bytes: Uint8Array, body: number) => Uint8Array | void][] = [
    ['ok', HELLO, () => {}],
    ['bad-version', HELLO, (b) => void (b[0] = 5 - version)],
    ['unknown-packet-type', HELLO, (b) => void (b[1] = 0)],
    ['unknown-packet-type', HELLO, (b) => void (b[1] = 6)],
    ['bad-packet-length', HELLO, (b, body) => put16(b, 2, body - 1)],
    ['truncated', HELLO, (b) => put16(b, 2, b.length + 1)],
    ['truncated', HELLO, (b, body) => put16(b, 2, body + 19)],
    ['bad-body-length', HELLO, lengthened],
    ['truncated', DD, (b) => put16(b, 2, b.length - 1)],
    ['bad-body-length', DD, lengthened],
    ['bad-body-length', request, lengthened],
    ['bad-body-length', { ...header, kind: 'link-state-acknowledgment', headers: [] }, lengthened],
    ['truncated', update, (b, body) => put16(b, 2, body + 3)],
    ['lsa-overrun', update, (b, body) => put32(b, body, 2)],
    ['lsa-overrun', update, (b, body) => put32(b, body, 0xffffffff)],
    ['lsa-overrun', update, (b, body) => put16(b, body + 4 + 18, 19)],
    ['lsa-overrun', update, (b, body) => put16(b, body + 4 + 18, 25)],
    ['trailing-bytes', update, (b, body) => put32(b, body, 0)],
  ];
  for (const [expected, packet, change] of cases)
    expect(code(packet, change), `${packet.kind} ${String(change)}`).toBe(expected);
});

test('a field that does not fit is refused when encoding', () => {
  const encode = (version: Version, packet: OspfPacket) => () => encodePacket(version, packet, ADDRESSES[version]);
  expect(encode(2, { ...HELLO, options: 0x100 })).toThrow(/options 256 does not fit 8 bits/);
  expect(encode(3, { ...HELLO, deadInterval: 65536 })).toThrow(/16 bits/);
  expect(encode(2, { ...HELLO, routerId: -1 })).toThrow(/router ID/);
  const lsa = { ...lsaOf(3, { type: 0xa029, lsId: 1, advertisingRouter: 1 }, unknown), raw: E_INTRA_AREA_PREFIX_LSA };
  expect(encode(3, { ...header, kind: 'link-state-update', lsas: Array.from({ length: 800 }, () => lsa) })).toThrow(
    /packet length/,
  );
});
