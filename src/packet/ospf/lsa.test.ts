import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { put16, put32 } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { refusesTruncation } from '../hostile.fixture.ts';
import { decodeSidContainer, encodeSidContainer } from '../sid-container.ts';
import { BODIES, arbitraryLsa, lsaOf } from './arbitrary.fixture.ts';
import { decodeBody, decodeLsa, encodeLsa } from './lsa.ts';
import { lsaChecksum } from './lsa-header.ts';
import { opaqueLsId } from './lsa-type.ts';
import type { LsaBody } from './lsa/types.ts';
import { INITIAL_SEQUENCE, type Version } from './numbers.ts';
import { extendedFlags } from './prefix-sub-tlvs.ts';
import type { Lsa } from './types.ts';
import { EXTENDED_PREFIX_LSA, E_INTRA_AREA_PREFIX_LSA, SRV6_LOCATOR_LSA } from './vectors.fixture.ts';

const P_FLAG = 2;
const ROUTER = 0x01010101;
const VERSIONS = [2, 3] as const;

function decoded(version: Version, bytes: Uint8Array): Lsa {
  const lsa = decodeLsa(version, bytes);
  if (!lsa.ok) throw new Error(lsa.error.detail);
  return lsa.value;
}

/** Encodes to exactly these bytes, and decodes from them to exactly this body. */
function expectLsa(version: Version, bytes: Uint8Array, header: Parameters<typeof encodeLsa>[1], body: LsaBody): void {
  expect(toHex(encodeLsa(version, header, body))).toBe(toHex(bytes));
  const lsa = decoded(version, bytes);
  expect(lsa).toMatchObject(header);
  expect(decodeBody(version, lsa)).toEqual({ ok: true, value: { body, badTlvs: [] } });
}

test('PNC-5.2-a PNC-5.2-d: an OSPFv2 Extended Prefix LSA carries the P-flag, bit 2, and the address of the proxy', () => {
  const header = {
    age: 1,
    options: 0x42,
    type: 10,
    lsId: opaqueLsId(7, 1),
    advertisingRouter: ROUTER,
    sequence: INITIAL_SEQUENCE,
  };
  expectLsa(2, EXTENDED_PREFIX_LSA, header, {
    kind: 'extended-prefix-lsa',
    tlvs: [
      {
        kind: 'extended-prefix',
        routeType: 1,
        flags: 0,
        prefix: prefix('10.1.0.0/24'),
        subTlvs: [
          { kind: 'prefix-extended-flags', flags: extendedFlags(P_FLAG) },
          { kind: 'source-router-id', routerId: ROUTER },
          { kind: 'source-router-address', address: address('192.0.2.1') },
        ],
      },
    ],
  });
});

test('PNC-5.3-a PNC-5.3-d: an OSPFv3 E-Intra-Area-Prefix LSA carries the P-flag, bit 2, and the address of the proxy', () => {
  const header = { age: 1, options: 0, type: 0xa029, lsId: 1, advertisingRouter: ROUTER, sequence: INITIAL_SEQUENCE };
  expectLsa(3, E_INTRA_AREA_PREFIX_LSA, header, {
    kind: 'e-intra-area-prefix',
    referenced: { type: 0xa021, lsId: 0, advertisingRouter: ROUTER },
    tlvs: [
      {
        kind: 'intra-area-prefix-tlv',
        flags: 0,
        metric: 10,
        prefixOptions: 0,
        prefix: prefix('2001:db8:a::/64'),
        subTlvs: [
          { kind: 'prefix-extended-flags', flags: extendedFlags(P_FLAG) },
          { kind: 'source-router-id', routerId: ROUTER },
          { kind: 'source-router-address', address: address('2001:db8::1') },
        ],
      },
    ],
  });
});

test('an SRv6 Locator LSA carries a SID with its behavior', () => {
  const header = { age: 1, options: 0, type: 0xa02a, lsId: 1, advertisingRouter: ROUTER, sequence: INITIAL_SEQUENCE };
  const structure = { kind: 'sid-structure' as const, locatorBlock: 32, locatorNode: 16, function: 16, argument: 0 };
  expectLsa(3, SRV6_LOCATOR_LSA, header, {
    kind: 'srv6-locator-lsa',
    tlvs: [
      {
        kind: 'srv6-locator',
        routeType: 1,
        algorithm: 0,
        prefixOptions: 0,
        metric: 0,
        locator: prefix('fc00:1:1::/48'),
        subTlvs: [{ kind: 'end-sid', flags: 0, behavior: 0x8001, sid: address('fc00:1:1::1'), subTlvs: [structure] }],
      },
    ],
  });
});

test.each(VERSIONS)('OSPFv%d: every body comes back from its encoding as it was', (version) => {
  for (const arbitrary of BODIES[version]) {
    fc.assert(
      fc.property(arbitrary, ({ type, lsId, body }) => {
        const lsa = lsaOf(version, { type, lsId, advertisingRouter: ROUTER }, body);
        expect(decodeBody(version, lsa)).toEqual({ ok: true, value: { body, badTlvs: [] } });
      }),
      { numRuns: 200 },
    );
  }
});

test.each(VERSIONS)(
  'OSPFv%d: a decoded LSA encodes to the bytes it came from, unknown types, TLVs and sub-TLVs included',
  (version) => {
    fc.assert(
      fc.property(arbitraryLsa(version), (lsa) => {
        const { body } = (decodeBody(version, lsa) as { value: { body: LsaBody } }).value;
        expect(toHex(encodeLsa(version, lsa, body))).toBe(toHex(lsa.raw));
      }),
      { numRuns: 500 },
    );
  },
);

/** The vector with one sub-TLV's length changed; lengths and checksum around it are right. */
function withLength(vector: Uint8Array, at: number, length: number): Uint8Array {
  const out = new Uint8Array(vector);
  put16(out, at + 2, length);
  put16(out, 16, lsaChecksum(out));
  return out;
}

test.each([
  [2, EXTENDED_PREFIX_LSA, 32],
  [3, E_INTRA_AREA_PREFIX_LSA, 52],
] as const)(
  'RFC 9792 §2, OSPFv%d: Prefix Extended Flags whose length is not a multiple of 4 make the whole LSA malformed',
  (version, vector, at) => {
    for (const length of [1, 2, 3]) {
      const lsa = decoded(version, withLength(vector, at, length));
      const error = { code: 'bad-flags-length', offset: at + 4, malformsLsa: true };
      expect(decodeBody(version, lsa)).toMatchObject({ ok: false, error });
    }
  },
);

test('of other sub-TLVs a bad length makes only that one bad: it is reported and keeps its bytes', () => {
  const lsa = decoded(2, withLength(EXTENDED_PREFIX_LSA, 40, 3));
  const body = decodeBody(2, lsa);
  expect(body).toMatchObject({
    ok: true,
    value: { badTlvs: [{ path: [1, 4], error: { code: 'bad-length', offset: 44 } }] },
  });
  expect(body.ok && body.value.body).toMatchObject({
    tlvs: [{ subTlvs: [{}, { kind: 'unknown', type: 4, value: fromHex('010101') }, {}] }],
  });
});

test('a TLV that exceeds its LSA, or a sub-TLV its TLV, makes the LSA malformed', () => {
  expect(decodeBody(2, decoded(2, withLength(EXTENDED_PREFIX_LSA, 20, 33)))).toMatchObject({
    ok: false,
    error: { code: 'tlv-overrun', offset: 20 },
  });
  expect(decodeBody(2, decoded(2, withLength(EXTENDED_PREFIX_LSA, 48, 5)))).toMatchObject({
    ok: false,
    error: { code: 'tlv-overrun', offset: 48 },
  });
});

test('a bad prefix makes its TLV bad, and the others of the LSA are used', () => {
  const tlv = (hex: string) => ({ kind: 'unknown' as const, type: 1, value: fromHex(hex) });
  const good = {
    kind: 'extended-prefix' as const,
    routeType: 1,
    flags: 0x40,
    prefix: prefix('192.0.2.1/32'),
    subTlvs: [],
  };
  const tlvs = [tlv('01210000 0a010000'), tlv('01180100 0a010000'), tlv('0118'), good];
  const lsa = lsaOf(
    2,
    { type: 10, lsId: opaqueLsId(7, 0), advertisingRouter: ROUTER },
    { kind: 'extended-prefix-lsa', tlvs },
  );
  const body = decodeBody(2, lsa);
  expect(body.ok && body.value.body).toEqual({ kind: 'extended-prefix-lsa', tlvs });
  expect(body.ok && body.value.badTlvs.map(({ error }) => error.code)).toEqual([
    'bad-prefix-length',
    'bad-address-family',
    'truncated',
  ]);
});

test('a default route and host bits: IPv4 keeps four bytes, IPv6 none', () => {
  const entry = { kind: 'extended-prefix' as const, routeType: 5, flags: 0, prefix: prefix('0.0.0.0/0'), subTlvs: [] };
  const v2 = lsaOf(
    2,
    { type: 10, lsId: opaqueLsId(7, 0), advertisingRouter: ROUTER },
    { kind: 'extended-prefix-lsa', tlvs: [entry] },
  );
  expect(toHex(v2.raw.subarray(20))).toBe('000100080500000000000000');
  const external = {
    kind: 'external-prefix-tlv' as const,
    flags: 4,
    metric: 1,
    prefixOptions: 0,
    prefix: prefix('::/0'),
    subTlvs: [],
  };
  const v3 = lsaOf(
    3,
    { type: 0xc025, lsId: 1, advertisingRouter: ROUTER },
    { kind: 'e-as-external', tlvs: [external] },
  );
  expect(toHex(v3.raw.subarray(20))).toBe('000500080400000100000000');
});

test('what makes FRR crash or reset is never encoded: AS scope of opaque types 4 and 7, OSPFv3 types without U-bit', () => {
  const unknown = { kind: 'unknown' as const, content: new Uint8Array(4) };
  const encode = (version: Version, type: number, lsId: number) => () =>
    encodeLsa(
      version,
      { age: 0, options: 0, type, lsId, advertisingRouter: ROUTER, sequence: INITIAL_SEQUENCE },
      unknown,
    );
  for (const opaqueType of [4, 7]) expect(encode(2, 11, opaqueLsId(opaqueType, 1))).toThrow(/must not have AS scope/);
  expect(encode(2, 11, opaqueLsId(240, 1))).not.toThrow();
  expect(encode(3, 11, opaqueLsId(4, 1))).not.toThrow();
  for (const type of [0x3ff8, 0x202a, 0x2029, 0x200c]) expect(encode(3, type, 0)).toThrow(/needs the U-bit/);
  for (const type of [0xbff8, 0xa02a, 0x2001, 0x0008]) expect(encode(3, type, 0)).not.toThrow();
});

test('at most 71 TLVs an Extended Prefix LSA', () => {
  const entry = { kind: 'extended-prefix' as const, routeType: 1, flags: 0, prefix: prefix('10.0.0.0/8'), subTlvs: [] };
  const lsa = (count: number) => () =>
    lsaOf(
      2,
      { type: 10, lsId: opaqueLsId(7, 0), advertisingRouter: ROUTER },
      { kind: 'extended-prefix-lsa', tlvs: Array.from({ length: count }, () => entry) },
    );
  expect(lsa(71)).not.toThrow();
  expect(lsa(72)).toThrow(/72 TLVs/);
});

test('a body goes only into its own type', () => {
  const header = { age: 0, options: 0, lsId: opaqueLsId(7, 0), advertisingRouter: ROUTER, sequence: INITIAL_SEQUENCE };
  expect(() => encodeLsa(2, { ...header, type: 1 }, { kind: 'extended-prefix-lsa', tlvs: [] })).toThrow(
    /extended-prefix-lsa in 0x1/,
  );
  expect(() => encodeLsa(3, { ...header, type: 0xa02a }, { kind: 'e-as-external', tlvs: [] })).toThrow(
    /e-as-external in 0xa02a/,
  );
});

test('the private types are configurable: what is not one of them keeps its bytes', () => {
  const privateTypes = { opaqueType: 200, functionCode: 8190 };
  const content = [
    { tlv: 'sid', sid: address('fc00:1:1::1'), locator: prefix('fc00:1:1::/48'), behavior: 0x8002 },
  ] as const;
  const body = { kind: 'private' as const, container: encodeSidContainer(content) };
  for (const [version, type, lsId] of [
    [2, 10, opaqueLsId(200, 1)],
    [3, 0xbffe, 1],
  ] as const) {
    const header = { age: 0, options: 0, type, lsId, advertisingRouter: ROUTER, sequence: INITIAL_SEQUENCE };
    const lsa = decoded(version, encodeLsa(version, header, body, privateTypes));
    expect(decodeBody(version, lsa, privateTypes)).toMatchObject({ ok: true, value: { body } });
    expect(decodeSidContainer(lsa.raw.subarray(20))).toMatchObject({ ok: true, value: content });
    expect(decodeBody(version, lsa)).toMatchObject({ ok: true, value: { body: { kind: 'unknown' } } });
  }
});

test('a wrong checksum, length or an LSA cut anywhere is refused', () => {
  for (const [version, vector] of [
    [2, EXTENDED_PREFIX_LSA],
    [3, SRV6_LOCATOR_LSA],
  ] as const) {
    refusesTruncation((bytes) => decodeLsa(version, bytes), vector);
    const changed = new Uint8Array(vector);
    changed[25] = changed[25]! ^ 1;
    expect(decodeLsa(version, changed)).toMatchObject({ ok: false, error: { code: 'bad-checksum', offset: 16 } });
    const long = new Uint8Array([...vector, 0]);
    expect(decodeLsa(version, long)).toMatchObject({ ok: false, error: { code: 'bad-lsa-length' } });
  }
});

test('the age is not covered by the checksum; the sequence number is signed', () => {
  const aged = new Uint8Array(EXTENDED_PREFIX_LSA);
  put16(aged, 0, 3600);
  expect(decoded(2, aged)).toMatchObject({ age: 3600, sequence: INITIAL_SEQUENCE });
  put32(aged, 12, 0x7fffffff);
  put16(aged, 16, lsaChecksum(aged));
  expect(decoded(2, aged).sequence).toBe(0x7fffffff);
});
