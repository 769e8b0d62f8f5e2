import { expect, test } from 'vitest';
import { PSN_MODULUS } from '../../model/roce.ts';
import { Responder } from './responder.ts';

const only = (psn: number, ackRequest = true): { psn: number; opcode: number; ackRequest: boolean } => ({
  psn,
  opcode: 0x04,
  ackRequest,
});

test('a packet in order is acknowledged when it asks for it, with the count of whole messages', () => {
  const r = new Responder(7);
  expect(r.onData(only(7, false), 10)).toBeUndefined();
  expect(r.onData(only(8), 10)).toEqual({ psn: 8, aeth: { kind: 'ack', value: 31, msn: 2 } });
  expect({ packets: r.packets, bytes: r.bytes, messages: r.messages }).toEqual({ packets: 2, bytes: 20, messages: 2 });
});

test('a gap is answered with one NAK that names the awaited PSN, until it is filled', () => {
  const r = new Responder(7);
  expect(r.onData(only(9), 1)).toEqual({ psn: 7, aeth: { kind: 'nak', value: 0, msn: 0 } });
  expect(r.onData(only(10), 1)).toBeUndefined();
  expect(r.onData(only(7), 1)).toMatchObject({ psn: 7, aeth: { kind: 'ack' } });
  expect(r.onData(only(9), 1)).toMatchObject({ psn: 8, aeth: { kind: 'nak' } });
  expect(r.outOfOrder).toBe(3);
});

test('a repeated packet is acknowledged with what has arrived, also across the wrap of the PSN', () => {
  const r = new Responder(PSN_MODULUS - 1);
  r.onData(only(PSN_MODULUS - 1), 1);
  expect(r.onData(only(PSN_MODULUS - 1), 1)).toMatchObject({ psn: PSN_MODULUS - 1, aeth: { kind: 'ack' } });
  r.onData(only(0), 1);
  expect(r.onData(only(PSN_MODULUS - 1), 1)).toMatchObject({ psn: 0 });
  expect({ duplicates: r.duplicates, packets: r.packets }).toEqual({ duplicates: 2, packets: 2 });
});

test('a middle without its first, a first inside a message, and an operation it does not know are invalid requests', () => {
  const r = new Responder(0);
  expect(r.onData({ psn: 0, opcode: 0x01, ackRequest: true }, 1)).toMatchObject({ aeth: { kind: 'nak', value: 1 } });
  r.onData({ psn: 0, opcode: 0x00, ackRequest: false }, 1);
  expect(r.onData({ psn: 1, opcode: 0x00, ackRequest: true }, 1)).toMatchObject({ aeth: { kind: 'nak', value: 1 } });
  expect(r.onData({ psn: 1, opcode: 0x0c, ackRequest: true }, 1)).toMatchObject({ aeth: { kind: 'nak', value: 1 } });
  expect(r.invalid).toBe(3);
});
