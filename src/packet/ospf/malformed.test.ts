// Bodies of LSAs that are malformed, one flaw each: an error that names the place, or, in a TLV of its own, the TLV
// kept as unknown while the LSA around it is used (RFC 3630 §2.3.2; RFC 5340 §A.4; RFC 7770 §2.3; RFC 9513 §7).
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { concat } from '../bytes.ts';
import { fromHex } from '../hex.ts';
import { lsaOf } from './arbitrary.fixture.ts';
import { type DecodedBody, decodeBody } from './lsa.ts';
import { LSA_HEADER_LENGTH } from './lsa-header.ts';
import { opaqueLsId } from './lsa-type.ts';
import { extendedLsaPrefixLength } from './lsa/extended-lsa.ts';
import type { ExtendedLsaPrefix, LsaBody } from './lsa/types.ts';
import type { Version } from './numbers.ts';

type Type = readonly [version: Version, type: number, lsId: number];
const ROUTER_V2: Type = [2, 1, 1];
const NETWORK_V2: Type = [2, 2, 1];
const ROUTER_INFORMATION: Type = [2, 10, opaqueLsId(4, 0)];
const EXTENDED_PREFIX: Type = [2, 10, opaqueLsId(7, 0)];
const ROUTER_V3: Type = [3, 0x2001, 0];
const NETWORK_V3: Type = [3, 0x2002, 0];
const LINK: Type = [3, 0x0008, 7];
const INTRA_AREA_PREFIX: Type = [3, 0x2009, 0];
const E_INTER_AREA_PREFIX: Type = [3, 0xa023, 0];
const E_INTRA_AREA_PREFIX: Type = [3, 0xa029, 0];
const LOCATOR: Type = [3, 0xa02a, 0];
const PRIVATE: Type = [3, 0xbff8, 0];

const decode = ([version, type, lsId]: Type, hex: string): ReturnType<typeof decodeBody> =>
  decodeBody(version, {
    type,
    lsId,
    advertisingRouter: 1,
    raw: concat(new Uint8Array(LSA_HEADER_LENGTH), fromHex(hex)),
  });
const used = (type: Type, hex: string): DecodedBody => {
  const decoded = decode(type, hex);
  if (!decoded.ok) throw new Error(decoded.error.code);
  return decoded.value;
};

const ID = '0a000001';
const FE80 = 'fe80'.padEnd(32, '0');
const LINK_V3 = `01000001${ID.repeat(3)}`;
const SID = '20010db8000c'.padEnd(31, '0') + '1';

describe('the whole LSA is malformed, and the error says where from its start', () => {
  test.each<[what: string, type: Type, hex: string, code: string, offset: number, detail: RegExp]>([
    ['a Router-LSA without its fixed part', ROUTER_V2, '000000', 'truncated', 23, /fixed part/],
    ['a link cut short', ROUTER_V2, `00000001${ID.repeat(2)}0300`, 'link-overrun', 24, /link/],
    ['TOS metrics beyond the end', ROUTER_V2, `00000001${ID.repeat(2)}03010001`, 'link-overrun', 24, /link/],
    ['bytes behind the last link', ROUTER_V2, '00000000' + '00000000', 'trailing-bytes', 24, /^4 bytes/],
    ['a Network-LSA without its mask', NETWORK_V2, 'ffff', 'truncated', 22, /fixed part/],
    ['half a router ID', NETWORK_V2, 'ffffff00' + ID + '0a00', 'bad-length', 24, /^6 bytes/],
    ['half a router ID', NETWORK_V3, '00000013' + '0a00', 'bad-length', 24, /^2 bytes/],
    ['no options', NETWORK_V3, '0000', 'truncated', 22, /fixed part/],
    ['a Router-LSA without its fixed part', ROUTER_V3, '0000', 'truncated', 22, /fixed part/],
    ['less than a link', ROUTER_V3, `00000013${LINK_V3}010000`, 'link-overrun', 24, /^19 bytes/],
    ['no count of prefixes', LINK, `01000013${FE80}`, 'truncated', 40, /fixed part/],
    ['a prefix declared and none there', LINK, `01000013${FE80}00000001`, 'prefix-overrun', 44, /exceeds/],
    ['the head of a prefix cut short', LINK, `01000013${FE80}00000001` + '4000', 'prefix-overrun', 44, /exceeds/],
    ['a prefix beyond the end', LINK, `01000013${FE80}00000001` + '21000000' + ID, 'prefix-overrun', 44, /33 bits/],
    ['128 bits beyond the end', LINK, `01000013${FE80}00000001` + '80000000' + ID, 'prefix-overrun', 44, /128 bits/],
    ['129 bits', LINK, `01000013${FE80}00000001` + '81000000' + ID.repeat(5), 'bad-prefix-length', 44, /129 bits/],
    ['bytes behind the last prefix', LINK, `01000013${FE80}00000000` + ID, 'trailing-bytes', 44, /^4 bytes/],
    ['no referenced router', INTRA_AREA_PREFIX, `00002001${ID}`, 'truncated', 28, /fixed part/],
    [
      'the second of two prefixes',
      INTRA_AREA_PREFIX,
      `00022001${ID.repeat(2)}00000000`,
      'prefix-overrun',
      36,
      /exceeds/,
    ],
    ['no referenced router', E_INTRA_AREA_PREFIX, `00002001${ID}`, 'truncated', 28, /fixed part/],
    ['a TLV cut short', EXTENDED_PREFIX, '0001', 'tlv-overrun', 20, /TLV/],
  ])('%s', (_what, type, hex, code, offset, detail) => {
    expect(decode(type, hex)).toMatchObject({
      ok: false,
      error: { code, offset, detail: expect.stringMatching(detail) as string },
    });
  });

  test.each<[what: string, type: Type, hex: string]>([
    ['a sub-TLV of a prefix', E_INTER_AREA_PREFIX, '0003000a' + '0000000a' + '00000000' + '0025' + '0000'],
    ['a sub-TLV of a locator', LOCATOR, '00010010' + '01002000' + '00000000' + '20010db8' + '00010014'],
    ['a sub-TLV of a SID', LOCATOR, `00010028${'01002000'}00000000${'20010db8'}00010018${'00008002'}${SID}000a0004`],
  ])('%s that exceeds what it is in', (_what, type, hex) => {
    expect(decode(type, hex)).toMatchObject({ ok: false, error: { code: 'tlv-overrun' } });
  });
});

describe('one TLV is malformed: it is kept as unknown, and reported with its path', () => {
  test.each<[what: string, type: Type, hex: string, path: number[], code: string, offset: number, detail: RegExp]>([
    ['capabilities of no word', ROUTER_INFORMATION, '00010000', [1], 'bad-length', 24, /0 bytes/],
    ['capabilities of half a word', ROUTER_INFORMATION, '0001000220000000', [1], 'bad-length', 24, /2 bytes/],
    ['a hostname of nothing', ROUTER_INFORMATION, '00070000', [7], 'bad-hostname', 24, /printable/],
    ['a hostname with a line feed', ROUTER_INFORMATION, '00070002610a0000', [7], 'bad-hostname', 24, /printable/],
    ['SRv6 Capabilities of 2 bytes', ROUTER_INFORMATION, '0014000240000000', [20], 'truncated', 26, /fixed part/],
    ['a prefix TLV of 7 bytes', E_INTER_AREA_PREFIX, '000300070000000a00000000', [3], 'truncated', 31, /fixed part/],
    [
      '129 bits',
      E_INTER_AREA_PREFIX,
      `0003001c0000000a81000000${ID.repeat(5)}`,
      [3],
      'bad-prefix-length',
      28,
      /129 bits/,
    ],
    [
      'a prefix beyond the TLV',
      E_INTER_AREA_PREFIX,
      `0003000c0000000a21000000${ID}`,
      [3],
      'prefix-overrun',
      28,
      /33 bits in 12/,
    ],
    ['128 bits beyond it', E_INTER_AREA_PREFIX, `0003000c0000000a80000000${ID}`, [3], 'prefix-overrun', 28, /128 bits/],
    ['a locator of 7 bytes', LOCATOR, '000100070100300000000000', [1], 'truncated', 31, /fixed part/],
    ['a locator of no bits', LOCATOR, '000100080100000000000000', [1], 'bad-prefix-length', 26, /0 bits in 8/],
    [
      'a locator beyond the TLV',
      LOCATOR,
      `0001000c0100210000000000${ID}`,
      [1],
      'bad-prefix-length',
      26,
      /33 bits in 12/,
    ],
    [
      'an End SID of 19 bytes',
      LOCATOR,
      `00010024${'01002000'}00000000${'20010db8'}00010013${'00008002'}${SID}`,
      [1, 1],
      'truncated',
      59,
      /fixed part/,
    ],
  ])('%s', (_what, type, hex, path, code, offset, detail) => {
    const { badTlvs, body } = used(type, hex);
    expect(badTlvs).toMatchObject([{ path, error: { code, offset, detail: expect.stringMatching(detail) as string } }]);
    expect(body).toHaveProperty('tlvs');
  });
});

describe('what just fits is read', () => {
  test('::/0 takes no word, in the last eight bytes of an E-Inter-Area-Prefix-LSA', () => {
    expect(used(E_INTER_AREA_PREFIX, '00030008' + '0000000a' + '00000000')).toMatchObject({
      badTlvs: [],
      body: { tlvs: [{ kind: 'inter-area-prefix-tlv', metric: 10, prefix: prefix('::/0') }] },
    });
  });

  test('a prefix of four bytes, the head alone, ends a Link-LSA', () => {
    expect(used(LINK, `01000013${FE80}00000001` + '00000000').body).toMatchObject({
      prefixes: [{ prefix: prefix('::/0') }],
    });
  });

  test('128 bits', () => {
    expect(used(LINK, `01000013${FE80}00000001` + '80000000' + SID).body).toMatchObject({
      prefixes: [{ prefix: prefix('2001:db8:c::1/128') }],
    });
  });

  test('a hostname of 255 characters, and not of 256', () => {
    const hostname = (length: number): number =>
      used(ROUTER_INFORMATION, `0007${length.toString(16).padStart(4, '0')}${'61'.repeat(256)}`).badTlvs.length;
    expect({ longest: hostname(255), tooLong: hostname(256) }).toEqual({ longest: 0, tooLong: 1 });
  });
});

describe('what would be malformed is not encoded', () => {
  const encode =
    ([version, type, lsId]: Type, body: LsaBody) =>
    (): unknown =>
      lsaOf(version, { type, lsId, advertisingRouter: 1 }, body);
  const v4 = address('192.0.2.1');
  const ipv4Entry = { flags: 0, metric: 1, prefixOptions: 0, prefix: prefix('10.0.0.0/8'), subTlvs: [] };
  const locator = { routeType: 1, algorithm: 0, prefixOptions: 0, metric: 0, subTlvs: [] };
  const endSid = { kind: 'end-sid' as const, flags: 0, behavior: 1, sid: v4, subTlvs: [] };
  const capabilities = (bytes: number): LsaBody => ({
    kind: 'router-information',
    tlvs: [{ kind: 'informational-capabilities', flags: new Uint8Array(bytes) }],
  });

  test.each<[what: string, type: Type, body: LsaBody, error: RegExp]>([
    [
      'TOS metrics that are not whole',
      ROUTER_V2,
      {
        kind: 'router-v2',
        flags: 0,
        links: [{ type: 3, linkId: 1, linkData: 1, metric: 1, tosMetrics: new Uint8Array(3) }],
      },
      /3 bytes are not whole TOS metrics/,
    ],
    [
      'an IPv6 prefix in OSPFv2',
      EXTENDED_PREFIX,
      {
        kind: 'extended-prefix-lsa',
        tlvs: [{ kind: 'extended-prefix', routeType: 1, flags: 0, prefix: prefix('2001:db8::/32'), subTlvs: [] }],
      },
      /an IPv6 prefix in an Extended Prefix TLV/,
    ],
    ['no capabilities', ROUTER_INFORMATION, capabilities(0), /0 bytes, not whole words/],
    ['half a word of capabilities', ROUTER_INFORMATION, capabilities(6), /6 bytes, not whole words/],
    [
      'a hostname that is not printable',
      ROUTER_INFORMATION,
      { kind: 'router-information', tlvs: [{ kind: 'hostname', name: 'é' }] },
      /printable ASCII/,
    ],
    [
      'an IPv6 router address in OSPFv2',
      [2, 10, opaqueLsId(1, 0)],
      { kind: 'traffic-engineering-v2', tlvs: [{ kind: 'te-router-address', address: address('2001:db8::1') }] },
      /an IPv6 address in TLV 1/,
    ],
    [
      'an IPv4 address of a link',
      LINK,
      { kind: 'link', priority: 0, options: 0, linkLocalAddress: v4, prefixes: [] },
      /an IPv4 address in a Link-LSA/,
    ],
    [
      'an IPv4 prefix in OSPFv3',
      E_INTER_AREA_PREFIX,
      { kind: 'e-inter-area-prefix', tlvs: [{ kind: 'inter-area-prefix-tlv', ...ipv4Entry }] },
      /an IPv4 prefix in an LSA of OSPFv3/,
    ],
    [
      'a locator of no bits',
      LOCATOR,
      { kind: 'srv6-locator-lsa', tlvs: [{ kind: 'srv6-locator', ...locator, locator: prefix('::/0') }] },
      /1 to 128 bits/,
    ],
    [
      'an IPv4 address as a SID',
      LOCATOR,
      {
        kind: 'srv6-locator-lsa',
        tlvs: [{ kind: 'srv6-locator', ...locator, locator: prefix('2001:db8::/48'), subTlvs: [endSid] }],
      },
      /a SID is an IPv6 address/,
    ],
    [
      'a container of half a word',
      PRIVATE,
      { kind: 'private', container: new Uint8Array(6) },
      /6 bytes, not whole words/,
    ],
  ])('%s', (_what, type, body, error) => {
    expect(encode(type, body)).toThrow(error);
  });

  test('an LSA ends at 65535 bytes, because its length has two', () => {
    const unknown = (bytes: number) => encode(PRIVATE, { kind: 'unknown', content: new Uint8Array(bytes) });
    expect(unknown(0xffff - LSA_HEADER_LENGTH)).not.toThrow();
    expect(unknown(0xffff - LSA_HEADER_LENGTH + 1)).toThrow(/an LSA of 65536 bytes/);
  });

  test('only a prefix TLV has the size of one', () => {
    const entry = { kind: 'unknown', type: 9, value: new Uint8Array() } as unknown as ExtendedLsaPrefix;
    expect(() => extendedLsaPrefixLength(entry)).toThrow(/unknown is no prefix TLV/);
  });
});
