import { describe, expect, test } from 'vitest';
import { PSN_MODULUS } from '../../model/roce.ts';
import { OPCODE } from '../../packet/roce/opcodes.ts';
import { type Request, Responder, type ResponderOptions } from './responder.ts';

const ten = new Uint8Array(10);
const only = (psn: number, ackRequest = true): Request => ({ psn, opcode: OPCODE.sendOnly, ackRequest });
const packet = (psn: number, opcode: number): Request => ({ psn, opcode, ackRequest: true });
const responder = (startingPsn: number | undefined, opts: Partial<ResponderOptions> = {}): Responder =>
  new Responder({ startingPsn, ...opts });

test('a packet in order is acknowledged when it asks for it, with the count of whole messages', () => {
  const r = responder(7);
  expect(r.onRequest(only(7, false), ten)).toBeUndefined();
  expect(r.onRequest(only(8), ten)).toEqual({ psn: 8, aeth: { kind: 'ack', value: 31, msn: 2 } });
  expect({ packets: r.packets, bytes: r.bytes, messages: r.messages }).toEqual({ packets: 2, bytes: 20, messages: 2 });
});

test('a gap is answered with one NAK that names the awaited PSN, until it is filled', () => {
  const r = responder(7);
  expect(r.onRequest(only(9), ten)).toEqual({ psn: 7, aeth: { kind: 'nak', value: 0, msn: 0 } });
  expect(r.onRequest(only(10), ten)).toBeUndefined();
  expect(r.onRequest(only(7), ten)).toMatchObject({ psn: 7, aeth: { kind: 'ack' } });
  expect(r.onRequest(only(9), ten)).toMatchObject({ psn: 8, aeth: { kind: 'nak' } });
  expect(r.outOfOrder).toBe(3);
});

test('a repeated packet is acknowledged with what has arrived, also if it does not ask, also across the wrap of the PSN', () => {
  const r = responder(PSN_MODULUS - 1);
  r.onRequest(only(PSN_MODULUS - 1), ten);
  expect(r.onRequest(only(PSN_MODULUS - 1), ten)).toMatchObject({ psn: PSN_MODULUS - 1, aeth: { kind: 'ack' } });
  r.onRequest(only(0), ten);
  expect(r.onRequest(only(PSN_MODULUS - 1, false), ten)).toMatchObject({ psn: 0 });
  expect({ duplicates: r.duplicates, packets: r.packets }).toEqual({ duplicates: 2, packets: 2 });
});

test.each([
  ['a middle without its first', [OPCODE.sendMiddle]],
  ['a first inside a message', [OPCODE.sendFirst, OPCODE.sendFirst]],
  ['the middle of a WRITE inside a SEND', [OPCODE.sendFirst, OPCODE.writeMiddle]],
  ['a READ, which it does not know', [OPCODE.readRequest]],
])('%s is an invalid request, after which nothing is answered', (_, opcodes) => {
  const r = responder(0);
  const answers = opcodes.map((opcode, psn) => r.onRequest(packet(psn, opcode), ten));
  expect(answers.at(-1)).toMatchObject({ psn: opcodes.length - 1, aeth: { kind: 'nak', value: 1 } });
  expect(r.onRequest(only(opcodes.length - 1), ten)).toBeUndefined();
  expect({ invalid: r.invalid, error: r.error, afterError: r.afterError }).toEqual({
    invalid: 1,
    error: 1,
    afterError: 1,
  });
});

test('a packet of a message that is longer than its first, or a middle that is shorter, is an invalid request', () => {
  for (const [opcode, length] of [
    [OPCODE.sendLast, 11],
    [OPCODE.sendMiddle, 9],
    [OPCODE.sendLast, 0],
  ] as const) {
    const r = responder(0);
    r.onRequest(packet(0, OPCODE.sendFirst), ten);
    expect(r.onRequest(packet(1, opcode), new Uint8Array(length))).toMatchObject({ aeth: { kind: 'nak', value: 1 } });
  }
});

test('without a buffer a SEND is answered with an RNR NAK, what follows it with nothing, and the SEND when it comes again is accepted', () => {
  const r = responder(5, { notReady: (n) => (n === 1 ? 14 : undefined) });
  r.onRequest(only(5), ten);
  expect(r.onRequest(only(6), ten)).toEqual({ psn: 6, aeth: { kind: 'rnr-nak', value: 14, msn: 1 } });
  expect(r.onRequest(only(7), ten)).toBeUndefined();
  expect(r.onRequest(only(6), ten)).toMatchObject({ psn: 6, aeth: { kind: 'ack' } });
  expect({ messages: r.messages, notReady: r.notReady }).toEqual({ messages: 2, notReady: 1 });
});

test('a receiver that knows no starting PSN begins with the first packet that begins a message', () => {
  const r = responder(undefined);
  expect(r.onRequest(packet(40, OPCODE.sendMiddle), ten)).toBeUndefined();
  expect(r.onRequest(packet(41, OPCODE.sendLast), ten)).toBeUndefined();
  expect(r.onRequest(packet(42, OPCODE.sendFirst), ten)).toMatchObject({ psn: 42, aeth: { kind: 'ack' } });
  expect({ packets: r.packets, outOfOrder: r.outOfOrder }).toEqual({ packets: 1, outOfOrder: 2 });
});

describe('WRITE', () => {
  const memory = { virtualAddress: 0x1000n, rkey: 77, length: 100 };
  const write = (psn: number, virtualAddress: bigint, length: number, opcode: number, rkey = 77): Request => ({
    ...packet(psn, opcode),
    reth: { virtualAddress, rkey, length },
  });

  test('each packet goes behind the one before, from the address that the first one names', () => {
    const places: unknown[] = [];
    const r = new Responder({ startingPsn: 0, memory }, (payload, at) => places.push([payload.length, at]));
    r.onRequest(write(0, 0x1010n, 25, OPCODE.writeFirst), ten);
    r.onRequest(packet(1, OPCODE.writeMiddle), ten);
    expect(r.onRequest(packet(2, OPCODE.writeLast), new Uint8Array(5))).toMatchObject({ aeth: { msn: 1 } });
    r.onRequest(write(3, 0x105an, 10, OPCODE.writeOnly), ten);
    expect(places).toEqual([
      [10, 0x1010n],
      [10, 0x101an],
      [5, 0x1024n],
      [10, 0x105an],
    ]);
    expect(r.error).toBeUndefined();
  });

  test.each([
    ['another R_Key', write(0, 0x1000n, 10, OPCODE.writeOnly, 78)],
    ['an address below the memory', write(0, 0xfffn, 10, OPCODE.writeOnly)],
    ['an end behind the memory', write(0, 0x105bn, 10, OPCODE.writeOnly)],
  ])('%s is a remote access error, and nothing is written', (_, request) => {
    const places: unknown[] = [];
    const r = new Responder({ startingPsn: 0, memory }, (...args) => places.push(args));
    expect(r.onRequest(request, ten)).toMatchObject({ aeth: { kind: 'nak', value: 2 } });
    expect(places).toEqual([]);
  });

  test('a message shorter or longer than its first packet says is an invalid request', () => {
    const long = responder(0, { memory });
    expect(long.onRequest(write(0, 0x1000n, 9, OPCODE.writeOnly), ten)).toMatchObject({ aeth: { value: 1 } });
    const short = responder(0, { memory });
    short.onRequest(write(0, 0x1000n, 30, OPCODE.writeFirst), ten);
    expect(short.onRequest(packet(1, OPCODE.writeLast), ten)).toMatchObject({ aeth: { kind: 'nak', value: 1 } });
  });

  test('who has no memory for WRITEs refuses them', () => {
    expect(responder(0).onRequest(write(0, 0n, 10, OPCODE.writeOnly), ten)).toMatchObject({ aeth: { value: 2 } });
  });
});
