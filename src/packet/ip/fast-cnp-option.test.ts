import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import {
  type FastCnpOption,
  MAX_TRACE,
  decodeFastCnpOption,
  encodeFastCnpOption,
  findFastCnpOption,
} from './fast-cnp-option.ts';
import { type IoamTrace, decodeTrace, findIoamTrace } from './ioam.ts';
import { encodeOptionHeader } from './options.ts';
import { ipv6, udp } from './packets.fixture.ts';

const CODES = { option: 0x9e, ioamOption: 0x9e };
const DESTINATION = address('2001:db8:b::1');
const ENDS = [address('2001:db8:ffff::2'), address('2001:db8:a::1')] as const;
const UDP = udp(0xc000, 4791);
const OPTION_1: FastCnpOption = { originalDestination: DESTINATION, trace: undefined };

/**
 * A pre-allocated trace in namespace 1, three words a node, type hop limit and node ID plus interfaces plus …; `words`
 * words of node data.
 */
function trace(words: number, kind = 0): IoamTrace {
  const bytes = concat(
    fromHex('0001' + '1800' + 'c00000' + '00'),
    Uint8Array.from({ length: words * 4 }, (_, i) => i),
  );
  const decoded = decodeTrace(kind, bytes);
  if (!decoded.ok) throw new Error(decoded.error.code);
  return decoded.value;
}
const packetWith = (header: Uint8Array): Uint8Array => ipv6(ENDS, 60, concat(header, UDP));
const find = (packet: Uint8Array, codes = CODES): ReturnType<typeof findFastCnpOption> =>
  findFastCnpOption(packet, codes);
const code = (packet: Uint8Array, codes = CODES): string => {
  const found = find(packet, codes);
  return found.ok ? 'ok' : found.error.code;
};

test('A12: option 1 has 18 octets, its header 24; type 0x9E, length 16, then PadN', () => {
  const header = encodeFastCnpOption(17, OPTION_1, CODES);
  expect(toHex(header)).toBe('1102' + '9e10' + '20010db8000b00000000000000000001' + '01020000');
  expect(find(packetWith(header))).toEqual({ ok: true, value: { option: OPTION_1, offset: 42 } });
});

test('FCNP-4-j, FCNP-4-k, FCNP-4-p, FCNP-4-q: types other than 10 0 are refused, for both options', () => {
  for (const type of [0x1e, 0x5e, 0xde, 0xbe, 0xfe, 0x3e]) {
    expect(() => encodeFastCnpOption(17, OPTION_1, { ...CODES, option: type })).toThrow(/option type/);
    expect(() => encodeFastCnpOption(17, { ...OPTION_1, trace: trace(3) }, { ...CODES, ioamOption: type })).toThrow(
      /option type/,
    );
  }
  expect(encodeFastCnpOption(17, OPTION_1, { ...CODES, option: 0x9d })[2]! & 0xe0).toBe(0x80);
});

test('FCNP-4-l, FCNP-4-m: Opt Data Len 16, and the data are the destination of the data packet', () => {
  const header = encodeFastCnpOption(17, OPTION_1, CODES);
  expect(header[3]).toBe(16);
  expect(find(packetWith(header))).toMatchObject({ ok: true, value: { option: { originalDestination: DESTINATION } } });
});

test('FCNP-4-o, FCNP-4-r, FCNP-4-s: option 2 on a multiple of four: reserved, IOAM type, trace as it is, destination; its length counts them', () => {
  for (const words of [0, 1, 3, 6, 57]) {
    const copied = trace(words, words % 2);
    const header = encodeFastCnpOption(17, { ...OPTION_1, trace: copied }, CODES);
    expect(header.length % 8).toBe(0);
    expect(toHex(header.subarray(2, 8))).toBe(
      '0100' + '9e' + (26 + 4 * words).toString(16).padStart(2, '0') + '00' + (words % 2 ? '01' : '00'),
    );
    expect(toHex(header.subarray(8, 16 + 4 * words))).toBe(toHex(copied.bytes));
    expect(find(packetWith(header))).toEqual({
      ok: true,
      value: { option: { originalDestination: DESTINATION, trace: copied }, offset: 44 },
    });
  }
});

test('FCNP-4-i, FCNP-4-r: a trace that is too long for the option is left out: option 1', () => {
  expect(MAX_TRACE).toBe(8 + 228);
  expect(encodeFastCnpOption(17, { ...OPTION_1, trace: trace(57) }, CODES)[5]).toBe(254);
  expect(encodeFastCnpOption(17, { ...OPTION_1, trace: trace(58) }, CODES)).toEqual(
    encodeFastCnpOption(17, OPTION_1, CODES),
  );
});

test('with two code points each option has its own', () => {
  const codes = { option: 0x9e, ioamOption: 0x9d };
  const one = encodeFastCnpOption(17, OPTION_1, codes);
  const two = encodeFastCnpOption(17, { ...OPTION_1, trace: trace(2) }, codes);
  expect({ one: code(packetWith(one), codes), two: code(packetWith(two), codes) }).toEqual({ one: 'ok', two: 'ok' });
  expect(code(packetWith(one.with(2, 0x9d)), codes)).toBe('bad-option-length');
  expect(code(packetWith(two.with(4, 0x9e)), codes)).toBe('bad-option-length');
});

test('FCNP-4-h: exactly one option in one Destination Options header', () => {
  const one = encodeFastCnpOption(17, OPTION_1, CODES);
  // Tunnel Encapsulation Limit (RFC 2473) in the place of the padding.
  expect(code(packetWith(concat(one.subarray(0, 20), fromHex('04010500'))))).toBe('not-alone');
  expect(code(packetWith(encodeOptionHeader(17, 0, 0x1e, new Uint8Array(16))))).toBe('no-fast-cnp-option');
  expect(code(ipv6(ENDS, 17, UDP))).toBe('no-fast-cnp-option');
  expect(code(ipv6(ENDS, 0, concat(one, UDP)))).toBe('no-fast-cnp-option');
});

test('impossible lengths are refused', () => {
  const one = encodeFastCnpOption(17, OPTION_1, CODES);
  expect(code(packetWith(one.with(3, 15).with(19, 0)))).toBe('bad-option-length');
  expect(code(packetWith(one.with(3, 21)))).toBe('option-overrun');
  expect(code(packetWith(one).subarray(0, 63))).toBe('truncated');
  const two = encodeFastCnpOption(17, { ...OPTION_1, trace: trace(2) }, CODES);
  expect(decodeFastCnpOption(0x9e, two.subarray(6, 39), CODES)).toMatchObject({
    ok: false,
    error: { code: 'bad-trace-length' },
  });
  expect(code(packetWith(two.with(7, 4)))).toBe('not-a-trace');
  expect(() => encodeFastCnpOption(17, { originalDestination: address('10.0.0.1'), trace: undefined }, CODES)).toThrow(
    /IPv6 flows/,
  );
});

test('an error names its place in the packet: the option, or its length', () => {
  const one = encodeFastCnpOption(17, OPTION_1, CODES);
  expect(find(packetWith(one.with(3, 15).with(19, 0)))).toMatchObject({
    ok: false,
    error: { code: 'bad-option-length', offset: 43 },
  });
  const behindAnother = concat(fromHex('1103' + '04010500'), one.subarray(2, 20), fromHex('010600000000' + '0000'));
  expect(find(packetWith(behindAnother))).toMatchObject({ ok: false, error: { code: 'not-alone', offset: 46 } });
  expect(decodeFastCnpOption(0x1e, new Uint8Array(16), CODES)).toMatchObject({
    ok: false,
    error: { code: 'no-fast-cnp-option' },
  });
});

test('no header harms the decoders', () => {
  const seeds = [
    packetWith(encodeFastCnpOption(17, OPTION_1, CODES)),
    packetWith(encodeFastCnpOption(17, { ...OPTION_1, trace: trace(5) }, CODES)),
    ipv6(ENDS, 0, concat(encodeOptionHeader(17, 2, 0x31, new Uint8Array(30)), UDP)),
  ];
  fuzzDecoder((bytes) => [find(bytes), findIoamTrace(bytes)], seeds, { runs: 3000 });
});
