import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { fromHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { TRACE, decodeTrace, findIoamTrace } from './ioam.ts';
import { encodeOptionHeader } from './options.ts';
import { ipv6, options, udp } from './packets.fixture.ts';

const ENDS = [address('2001:db8:a::1'), address('2001:db8:b::1')] as const;
const DATAGRAM = udp(0xc000, 4791);
/** Namespace 1, nodes of 8 bytes, overflow, 12 bytes left, type 0xc00000; two words of data. */
const HEADER = fromHex('0001' + '1403' + 'c00000' + '00');
const DATA = fromHex('4000000140000002');
const BYTES = concat(HEADER, DATA);
const option = (kind: number, trace = BYTES, type = 0x31): Uint8Array =>
  encodeOptionHeader(17, 0, type, concat(Uint8Array.of(0, kind), trace));
const found = (hopByHop: Uint8Array): ReturnType<typeof findIoamTrace> =>
  findIoamTrace(ipv6(ENDS, 0, concat(hopByHop, DATAGRAM)));

test('FCNP-4-o: a trace is found in the Hop-by-Hop header of the packet, both kinds, and is kept as it came', () => {
  const facts = { namespace: 1, nodeLength: 8, flags: 8, remaining: 12, traceType: 0xc00000, bytes: BYTES };
  expect(found(option(TRACE.preallocated))).toEqual({ ...facts, kind: TRACE.preallocated });
  expect(found(option(TRACE.incremental))).toEqual({ ...facts, kind: TRACE.incremental });
});

test('of a packet inside another the trace is found where its header is', () => {
  const packet = ipv6(ENDS, 0, concat(option(TRACE.preallocated), DATAGRAM));
  expect(findIoamTrace(concat(new Uint8Array(14), packet), 14)).toEqual(findIoamTrace(packet));
  expect(findIoamTrace(concat(new Uint8Array(14), packet))).toBeUndefined();
});

test.each([
  ['another IOAM type', option(2)],
  ['another option', option(0, BYTES, 0x3e)],
  ['only padding', options(17, 1, new Uint8Array())],
  ['an option without its IOAM type', encodeOptionHeader(17, 0, 0x31, Uint8Array.of(0))],
  ['a trace that is no multiple of four', option(0, BYTES.subarray(0, 14))],
  ['a trace shorter than its header', option(0, HEADER.subarray(0, 4))],
])('%s is no trace', (_, hopByHop) => {
  expect(found(hopByHop)).toBeUndefined();
});

test('of several options the first that is a trace counts', () => {
  const one = (data: Uint8Array): Uint8Array => concat(Uint8Array.of(0x31, data.length), data);
  const second = concat(HEADER.with(1, 2), DATA);
  const list = concat(
    one(Uint8Array.of(0)),
    one(concat(Uint8Array.of(0, 3), HEADER)),
    one(concat(Uint8Array.of(0, 1), second)),
    one(concat(Uint8Array.of(0, 0), BYTES)),
  );
  const used = 2 + list.length;
  expect(found(concat(Uint8Array.of(17, (used + (-used & 7)) / 8 - 1), list, new Uint8Array(-used & 7)))).toMatchObject(
    { kind: 1, namespace: 2 },
  );
});

test('a trace is nowhere but in a Hop-by-Hop header next to the IPv6 header, whole', () => {
  expect(findIoamTrace(ipv6(ENDS, 60, concat(option(0), DATAGRAM)))).toBeUndefined();
  expect(findIoamTrace(ipv6(ENDS, 0, option(0)).subarray(0, 60))).toBeUndefined();
  expect(findIoamTrace(new Uint8Array(20))).toBeUndefined();
});

test('codes of what is no trace', () => {
  const code = (kind: number, bytes: Uint8Array): string => {
    const trace = decodeTrace(kind, bytes);
    return trace.ok ? 'ok' : trace.error.code;
  };
  expect([
    code(2, BYTES),
    code(0, BYTES.subarray(0, 7)),
    code(0, BYTES.subarray(0, 4)),
    code(1, BYTES.subarray(0, 10)),
    code(0, HEADER),
  ]).toEqual(['not-a-trace', 'bad-trace-length', 'bad-trace-length', 'bad-trace-length', 'ok']);
});

test('every field is where RFC 9197 §4.4 has it', () => {
  expect(decodeTrace(0, fromHex('fffe' + 'ffff' + 'abcdef' + '00'))).toMatchObject({
    ok: true,
    value: { namespace: 0xfffe, nodeLength: 124, flags: 15, remaining: 508, traceType: 0xabcdef },
  });
  expect(decodeTrace(0, fromHex('0000' + '0880' + '000001' + '00'))).toMatchObject({
    ok: true,
    value: { namespace: 0, nodeLength: 4, flags: 1, remaining: 0, traceType: 1 },
  });
});

test('no packet harms the search', () =>
  fuzzDecoder((packet) => findIoamTrace(packet), [ipv6(ENDS, 0, concat(option(0), DATAGRAM))], { runs: 500 }));
