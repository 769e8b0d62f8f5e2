import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { Reassembly } from '../ip/reassembly.ts';
import { ALL_SPF_ROUTERS_MAC, decodeFrame, encodeFrames } from './frame.ts';

const MAC = fromHex('020000000001');
const PAYLOAD = fromHex('0102030405');
const ADDRESSES = {
  2: { source: address('10.0.0.1'), destination: address('224.0.0.5') },
  3: { source: address('fe80::1'), destination: address('ff02::5') },
} as const;
const VERSIONS = [2, 3] as const;
const flaw = (version: 2 | 3, bytes: Uint8Array): string => {
  const decoded = decodeFrame(version, bytes);
  return decoded.ok ? 'ok' : `${decoded.error.code} at ${decoded.error.offset}`;
};
const frame = (version: 2 | 3): Uint8Array => encodeFrames(version, MAC, ADDRESSES[version], PAYLOAD, 1500, 0)[0]!;

test.each(VERSIONS)('OSPFv%d: a frame to AllSPFRouters, TTL 1, CS6, both ways; Ethernet padding is cut', (version) => {
  const bytes = frame(version);
  expect(toHex(bytes.subarray(0, 12))).toBe(toHex(ALL_SPF_ROUTERS_MAC[version]) + '020000000001');
  expect([
    bytes[14 + (version === 2 ? 8 : 7)],
    version === 2 ? bytes[15] : ((bytes[14]! << 4) | (bytes[15]! >> 4)) & 0xff,
  ]).toEqual([1, 0xc0]);
  const expected = { ok: true, value: { addresses: ADDRESSES[version], payload: PAYLOAD } };
  expect(decodeFrame(version, bytes)).toEqual(expected);
  expect(decodeFrame(version, concat(bytes, new Uint8Array(20)))).toEqual(expected);
});

test.each(VERSIONS)('OSPFv%d: a frame cut anywhere is refused', (version) => {
  refusesTruncation((bytes) => decodeFrame(version, bytes), frame(version));
});

test('what is not OSPF is distinguished from what is malformed', () => {
  const code = (version: 2 | 3, at: number, value: number): string => {
    const bytes = frame(version);
    bytes[at] = value;
    return flaw(version, bytes);
  };
  expect([code(2, 13, 6), code(3, 12, 8), code(2, 23, 17), code(3, 20, 17)]).toEqual([
    'not-ospf at 12',
    'not-ospf at 12',
    'not-ospf at 23',
    'not-ospf at 20',
  ]);
  expect([code(2, 24, 0), code(2, 14, 0x44), code(3, 14, 0x40)]).toEqual([
    'bad-ip-checksum at 24',
    'bad-header-length at 14',
    'bad-version at 14',
  ]);
  expect(VERSIONS.map((version) => flaw(version, frame(version).subarray(0, -1)))).toEqual([
    'truncated at 16',
    'truncated at 18',
  ]);
  // An EtherType cut in the middle says nothing; a whole one says that there should be an IP header.
  expect(VERSIONS.map((version) => flaw(version, frame(version).subarray(0, 13)))).toEqual([
    'not-ospf at 12',
    'not-ospf at 12',
  ]);
  expect(VERSIONS.map((version) => flaw(version, frame(version).subarray(0, 14)))).toEqual([
    'truncated at 14',
    'truncated at 14',
  ]);
});

test('OSPFv3: a fragment is one of OSPF only if its own header says so (RFC 8200 §4.5)', () => {
  const fragment = (nextHeader: number, inner: number, bytes: number): string => {
    const [plain] = encodeFrames(3, MAC, ADDRESSES[3], new Uint8Array(bytes), 1500, 0);
    plain![20] = nextHeader;
    plain![54] = inner;
    return flaw(3, plain!);
  };
  expect({ length8: fragment(44, 89, 8), length16: fragment(44, 89, 16) }).toEqual({ length8: 'ok', length16: 'ok' });
  expect([fragment(44, 17, 16), fragment(17, 89, 16), fragment(44, 89, 7), fragment(17, 17, 16)]).toEqual([
    'not-ospf at 20',
    'not-ospf at 20',
    'not-ospf at 20',
    'not-ospf at 20',
  ]);
});

test.each([
  [2, 20, 96],
  [3, 40, 88],
] as const)(
  'OSPFv%d: a datagram of the MTU goes whole, and fragments that fill it end where it ends',
  (version, ip, room) => {
    const more = (bytes: number): (boolean | undefined)[] =>
      encodeFrames(version, MAC, ADDRESSES[version], new Uint8Array(bytes), ip + 96, 1).map((bytesOut) => {
        const decoded = decodeFrame(version, bytesOut);
        if (!decoded.ok) throw new Error(decoded.error.code);
        expect(bytesOut.length).toBeLessThanOrEqual(14 + ip + 96);
        return decoded.value.fragment?.more;
      });
    expect({ at95: more(95), at96: more(96), at97: more(97) }).toEqual({
      at95: [undefined],
      at96: [undefined],
      at97: [true, false],
    });
    expect([more(2 * room), more(2 * room + 1)]).toEqual([
      [true, false],
      [true, true, false],
    ]);
  },
);

test.each(VERSIONS)(
  'OSPFv%d: what is larger than the link goes in fragments that fit it, and comes back whole',
  (version) => {
    const payload = Uint8Array.from({ length: 4001 }, (_, i) => i & 255);
    const frames = encodeFrames(version, MAC, ADDRESSES[version], payload, 1500, 77);
    expect(frames.map(({ length }) => length - 14)).toEqual(version === 2 ? [1500, 1500, 1061] : [1496, 1496, 1153]);
    const reassembly = new Reassembly(1);
    const results = frames.map((bytes) => {
      const decoded = decodeFrame(version, bytes);
      if (!decoded.ok) throw new Error(decoded.error.code);
      expect(decoded.value.fragment!.identification).toBe(77);
      return reassembly.add('k', { ...decoded.value.fragment!, payload: decoded.value.payload });
    });
    expect(results).toEqual([undefined, undefined, payload]);
    refusesTruncation((bytes) => decodeFrame(version, bytes), frames[2]!);
  },
);

test('no frame harms the decoder', () => {
  for (const version of VERSIONS)
    fuzzDecoder(
      (bytes) => decodeFrame(version, bytes),
      [frame(version), ...encodeFrames(version, MAC, ADDRESSES[version], new Uint8Array(90), 80, 1)],
      { runs: 500 },
    );
});
