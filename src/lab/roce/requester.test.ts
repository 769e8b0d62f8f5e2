import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PSN_MODULUS } from '../../model/roce.ts';
import { Requester, type RequesterOptions } from './requester.ts';
import { Responder } from './responder.ts';

const OPTS: RequesterOptions = {
  startingPsn: 100,
  packetsPerMessage: 4,
  window: 8,
  ackEvery: 100,
  timeoutMs: 1000,
  retries: 2,
};
const requester = (opts: Partial<RequesterOptions> = {}): Requester => new Requester({ ...OPTS, ...opts });

function drain(r: Requester, now = 0): { psn: number; opcode: number; ackRequest: boolean; retransmission: boolean }[] {
  const out = [];
  for (let p = r.next(now); p; p = r.next(now)) out.push(p);
  return out;
}

test('a message is SEND first, middle, last; the last one asks for an acknowledgement', () => {
  const packets = drain(requester()).slice(0, 5);
  expect(packets.map((p) => p.opcode)).toEqual([0x00, 0x01, 0x01, 0x02, 0x00]);
  expect(packets.map((p) => p.ackRequest)).toEqual([false, false, false, true, false]);
  expect(drain(requester({ packetsPerMessage: 1 }))[0]).toMatchObject({ opcode: 0x04, ackRequest: true });
});

test('the window bounds what is in flight, and its last packet asks to be acknowledged', () => {
  const r = requester({ window: 6, packetsPerMessage: 100 });
  const packets = drain(r);
  expect(packets.map((p) => p.psn)).toEqual([100, 101, 102, 103, 104, 105]);
  expect(packets.at(-1)!.ackRequest).toBe(true);
  r.onAck(102, 1);
  expect(drain(r).map((p) => p.psn)).toEqual([106, 107, 108]);
});

test('a NAK acknowledges what is below it and sends the rest again, from there', () => {
  const r = requester();
  drain(r);
  r.onNak(103, 5);
  expect(r.acknowledged).toBe(3);
  const again = drain(r, 5);
  expect(again.map((p) => [p.psn, p.retransmission]).slice(0, 6)).toEqual([
    [103, true],
    [104, true],
    [105, true],
    [106, true],
    [107, true],
    [108, false],
  ]);
  expect(again[0]!.opcode).toBe(0x02); // the place in the message is kept
});

test('silence for the timeout sends from the first unacknowledged packet again; too many in a row lose the connection', () => {
  const r = requester();
  drain(r, 0);
  expect(r.checkTimeout(999)).toBe(false);
  expect(r.checkTimeout(1000)).toBe(true);
  expect(drain(r, 1000)[0]).toMatchObject({ psn: 100, retransmission: true });
  expect({ checkTimeout: r.checkTimeout(2000), lost: r.lost }).toEqual({ checkTimeout: true, lost: false });
  drain(r, 2000);
  expect({ checkTimeout: r.checkTimeout(3000), lost: r.lost }).toEqual({ checkTimeout: true, lost: true });
});

test('progress restarts the timeout and forgives earlier ones', () => {
  const r = requester();
  drain(r, 0);
  r.checkTimeout(1000);
  drain(r, 1000);
  r.onAck(100, 1500);
  expect(r.checkTimeout(2400)).toBe(false);
  expect(r.lost).toBe(false);
});

test('an acknowledgement outside what is in flight changes nothing and is counted', () => {
  const r = requester();
  drain(r);
  for (const psn of [99, 108, 5_000_000]) r.onAck(psn, 1);
  r.onNak(99, 1);
  expect({ acknowledged: r.acknowledged, strayAcks: r.strayAcks, naks: r.naks }).toEqual({
    acknowledged: 0,
    strayAcks: 4,
    naks: 0,
  });
});

test('the PSN wraps at 2²⁴', () => {
  const r = requester({ startingPsn: PSN_MODULUS - 2 });
  expect(
    drain(r)
      .map((p) => p.psn)
      .slice(0, 4),
  ).toEqual([PSN_MODULUS - 2, PSN_MODULUS - 1, 0, 1]);
  r.onAck(0, 1);
  expect(r.acknowledged).toBe(3);
});

test('the round trip is measured from a packet that asked for its acknowledgement, never from one sent twice', () => {
  const r = requester();
  drain(r, 0);
  r.onAck(103, 25);
  expect(r.rttMs).toBe(25);
  drain(r, 30);
  r.onNak(104, 40);
  drain(r, 40);
  r.onAck(107, 41);
  expect(r.rttMs).toBe(25);
});

test('finishing completes the message under way and begins no other', () => {
  const r = requester({ window: 100 });
  for (let i = 0; i < 6; i++) r.next(0);
  const rest = [];
  for (let p = r.next(0, true); p; p = r.next(0, true)) rest.push(p.opcode);
  expect(rest).toEqual([0x01, 0x02]);
});

test('a WRITE is WRITE first, middle, last; what there is to send ends the last message, however short', () => {
  const r = requester({ operation: 'write', packets: 6 });
  const packets = drain(r);
  expect(packets.map((p) => p.opcode)).toEqual([0x06, 0x07, 0x07, 0x08, 0x06, 0x08]);
  expect(packets.at(-1)!.ackRequest).toBe(true);
  r.onAck(104, 1);
  expect(r.done).toBe(false);
  r.onAck(105, 1);
  expect({ done: r.done, idle: r.idle }).toEqual({ done: true, idle: true });
  expect(drain(requester({ operation: 'write', packets: 1 }))[0]!.opcode).toBe(0x0a);
});

test('an RNR NAK acknowledges what is below it, stops sending for its time, and is no timeout', () => {
  const r = requester();
  drain(r);
  // Code 14: 1.28 ms; the longest, code 0: 655.36 ms.
  r.onAnswer(103, { kind: 'rnr-nak', value: 14 }, 10);
  expect({ acknowledged: r.acknowledged, rnrNaks: r.rnrNaks }).toEqual({ acknowledged: 3, rnrNaks: 1 });
  expect(drain(r, 11.27)).toEqual([]);
  expect(drain(r, 11.28)[0]).toMatchObject({ psn: 103, retransmission: true });
  r.onAnswer(103, { kind: 'rnr-nak', value: 0 }, 20);
  expect(r.checkTimeout(1600)).toBe(false);
  expect(drain(r, 676)[0]!.psn).toBe(103);
});

test('any other NAK ends it: the Queue Pair sends nothing more', () => {
  const r = requester();
  drain(r);
  r.onAnswer(101, { kind: 'nak', value: 2 }, 1);
  expect({ error: r.error, lost: r.lost, acknowledged: r.acknowledged }).toEqual({
    error: 2,
    lost: true,
    acknowledged: 1,
  });
  expect(drain(r, 2)).toEqual([]);
});

test('over a network that loses packets and acknowledgements everything arrives, in order and once', () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 50, maxLength: 400 }),
      fc.nat(PSN_MODULUS - 1),
      (losses, startingPsn) => {
        const sender = requester({ startingPsn, ackEvery: 3, retries: 1e9 });
        const receiver = new Responder({ startingPsn });
        let step = 0;
        const lost = (): boolean => losses[step++ % losses.length]! && step < 5000;
        let now = 0;
        while (sender.acknowledged < 40 && now < 1e6) {
          now += 1;
          sender.checkTimeout(now);
          for (let p = sender.next(now); p && sender.acknowledged < 40; p = sender.next(now)) {
            const answer = lost() ? undefined : receiver.onRequest(p, new Uint8Array(10));
            if (!answer || lost()) continue;
            if (answer.aeth.kind === 'ack') sender.onAck(answer.psn, now);
            else sender.onNak(answer.psn, now);
          }
        }
        expect(sender.acknowledged).toBeGreaterThanOrEqual(40);
        expect(receiver.packets).toBeGreaterThanOrEqual(sender.acknowledged);
        expect(receiver.invalid).toBe(0);
        expect(receiver.bytes).toBe(receiver.packets * 10);
      },
    ),
    { numRuns: 50 },
  );
});
