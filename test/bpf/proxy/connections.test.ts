// How long a connection is believed: until it contradicts itself, remains unanswered or ages, however it was learned;
// and no flood can push it out of the table.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PROXY_MAPS, PROXY_PROGRAM } from '../../../src/kernel/dataplane/proxy.ts';
import { QUEUE_PAIR_SIZE, encodeFlowKey } from '../../../src/kernel/dataplane/queue-pairs.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { put24, put32 } from '../../../src/packet/bytes.ts';
import { ExchangeFrames, cmReply, cmRequest } from '../support/cm-messages.ts';
import { Flood } from '../support/flood.ts';
import { letTimePass } from '../support/queue-pair-time.ts';
import {
  A,
  B,
  type Outcome,
  ProxyUnderTest,
  UNCHECKED,
  acknowledge,
  compileProxy,
  context,
  data,
  ethernet,
  notice,
  testPort,
} from '../support/proxy-under-test.ts';

let compiled: { path: string; remove(): void };
let proxy: ProxyUnderTest;
beforeAll(() => void (compiled = compileProxy()));
afterAll(() => compiled.remove());
beforeEach(() => void (proxy = ProxyUnderTest.reused(compiled.path).configure()));
afterEach(() => proxy.close());

const MS = 1e6;
const PEER = 0xc8;
const there = { sender: A, receiver: B, receiverQpn: PEER };
const connect = (qpn = 0x64): void => {
  proxy.send(cmRequest(A, B, { localQpn: qpn }));
  proxy.send(cmReply(B, A, { localQpn: PEER }));
};
/** Silence alone makes nothing doubtful: the machine's own time passes as well. */
const HOUR = 3_600_000 * MS;
const PATIENT = { learning: { ...UNCHECKED, doubtNs: HOUR, silenceNs: HOUR, recentNs: HOUR } };
const TRANSPORTS = { RC: { send: OPCODE.sendOnly, ack: OPCODE.acknowledge }, XRC: { send: 0xa4, ack: 0xb1 } } as const;
const ask = (psn: number, opcode: number = OPCODE.sendOnly, qpn = PEER): Outcome =>
  proxy.send(data({ from: A, to: B, qpn, psn, opcode }));
const answer = (qpn: number, psn: number, opcode: number = OPCODE.acknowledge): Outcome =>
  proxy.send(acknowledge({ from: B, to: A, qpn, psn, opcode }));

describe.each(['RC', 'XRC'] as const)(
  'a host that lost power and came back with another Queue Pair, %s',
  (transport) => {
    const { send, ack } = TRANSPORTS[transport];

    test.each([
      ['which the router sees answered', true],
      ['whose answers take another way', false],
    ])(
      'PNC-1-c: what the CM exchange showed is corrected within 3 s of traffic %s, after at most 25 wrong CNPs for notices 20 ms apart',
      (_, sees) => {
        connect();
        for (let psn = 1; psn <= 5; psn++) {
          ask(psn, send);
          answer(0x64, psn, ack);
        }
        expect(proxy.known(there)).toMatchObject({ senderQpn: 0x64, source: 'cm', confirmed: true });
        letTimePass(proxy, 20_000 * MS);
        // The same peer's Queue Pair, by an exchange that did not pass here: 0x99 in place of 0x64. A congested node
        // notices every 20 ms, answers take 2 ms.
        const notified: number[] = [];
        let psn = 0x4000;
        for (let time = 0; time < 3000; time += 20) {
          ask(++psn, send);
          letTimePass(proxy, 2 * MS);
          if (sees) answer(0x99, psn, ack);
          const { counted, packet } = proxy.send(notice(data({ from: A, to: B, qpn: PEER, psn })));
          if (counted['proxy.cnp.sent']) {
            const cnp = parseRocePacket(packet);
            if (cnp.ok) notified.push(cnp.value.bth.destQpn);
          }
          letTimePass(proxy, 18 * MS);
        }
        const wrong = notified.filter((qpn) => qpn === 0x64).length;
        expect(wrong).toBeLessThanOrEqual(25);
        if (sees) {
          expect(proxy.known(there)).toMatchObject({ senderQpn: 0x99 });
          expect(new Set(notified.slice(wrong))).toEqual(new Set([0x99]));
          expect(notified.length).toBeGreaterThan(100);
        } else {
          ask(psn + 1, send);
          letTimePass(proxy, 100 * MS);
          ask(psn + 2, send);
          expect(proxy.known(there)).toBeUndefined();
        }
      },
    );

    test.each([
      ['which the router sees answered', true],
      ['whose answers take another way', false],
    ])(
      'PNC-1-c, PNC-6: of traffic %s at most 25 CNPs are wrong for notices 50 µs apart, whatever the flow’s interval lets through',
      { timeout: 240_000 },
      (_, sees) => {
        proxy.configure(PATIENT);
        connect();
        for (let psn = 1; psn <= 5; psn++) {
          ask(psn, send);
          answer(0x64, psn, ack);
          // Some of the share is spent before the peer goes.
          proxy.send(notice(data({ from: A, to: B, qpn: PEER, psn })));
          proxy.send(notice(data({ from: A, to: B, qpn: PEER, psn })));
        }
        const notified: number[] = [];
        const notify = (psn: number): void => {
          const { counted, packet } = proxy.send(notice(data({ from: A, to: B, qpn: PEER, psn })));
          const cnp = counted['proxy.cnp.sent'] ? parseRocePacket(packet) : undefined;
          if (cnp?.ok) notified.push(cnp.value.bth.destQpn);
        };
        let psn = 0x4000;
        // A round trip of 2 ms: nothing that one waits for is answered before.
        for (let step = 0; step < 1000; step++) {
          ask(++psn, send);
          if (sees && step >= 40) answer(0x99, psn - 40, ack);
          notify(psn);
          letTimePass(proxy, 50_000);
        }
        expect(notified.filter((qpn) => qpn === 0x64).length).toBeLessThanOrEqual(25);
        expect(proxy.known(there)).toMatchObject(
          sees ? { senderQpn: 0x99, doubtful: false } : { senderQpn: 0x64, doubtful: true },
        );
        if (sees) expect(notified.filter((qpn) => qpn === 0x99).length).toBeGreaterThan(800);
      },
    );

    test('PNC-1-c: answers that contradict a CM exchange remove what it showed', () => {
      connect();
      ask(1, send);
      answer(0x64, 1, ack);
      const counted = [0, 1, 2].map((i) => {
        letTimePass(proxy, 20 * MS);
        return answer(0x64, 0x800000 + i, ack).counted;
      });
      expect(counted[2]).toEqual({ 'proxy.qp.removed.contradicted': 1 });
      expect(proxy.connections()).toEqual([]);
    });
  },
);

test('UC has no answers: silence proves nothing, and what the CM exchange showed stays', () => {
  proxy.send(cmRequest(A, B, { localQpn: 0x64, transport: 1 }));
  proxy.send(cmReply(B, A, { localQpn: PEER }));
  for (let psn = 1; psn < 200; psn++) {
    proxy.send(data({ from: A, to: B, qpn: PEER, psn: 16 * psn, opcode: 0x24 }));
    letTimePass(proxy, 50 * MS);
  }
  expect(proxy.known(there)).toMatchObject({ senderQpn: 0x64, doubtful: false });
  expect(proxy.send(notice(data({ from: A, to: B, qpn: PEER, psn: 1, opcode: 0x24 }))).counted).toMatchObject({
    'proxy.cnp.sent': 1,
  });
});

test('a request that waits for its answer for a long round trip is not doubted', () => {
  connect();
  for (let psn = 1; psn < 40; psn++) {
    ask(psn);
    letTimePass(proxy, 150 * MS);
    expect(ask(psn, OPCODE.sendOnly).counted).toEqual({});
    letTimePass(proxy, 150 * MS);
    answer(0x64, psn);
    expect(proxy.known(there)).toMatchObject({ senderQpn: 0x64, doubtful: false });
  }
});

test(
  'over a round trip of 100 ms a right connection has its CNPs: some until the first answer, then with each answer again, at once',
  { timeout: 240_000 },
  () => {
    proxy.configure(PATIENT);
    connect();
    const sent = (psn: number, notices: number): number => {
      let cnps = 0;
      for (let i = 0; i < notices; i++)
        cnps += proxy.send(notice(data({ from: A, to: B, qpn: PEER, psn }))).counted['proxy.cnp.sent'] ?? 0;
      return cnps;
    };
    const notified: number[] = [];
    for (let ms = 0; ms < 250; ms++) {
      ask(ms);
      if (ms >= 100) answer(0x64, ms - 100);
      // Ten a millisecond; twenty in the end.
      notified.push(sent(ms, ms < 200 ? 10 : 20));
      letTimePass(proxy, MS);
    }
    expect(notified.slice(0, 100).reduce((sum, n) => sum + n)).toBe(12);
    expect(notified.slice(100, 200)).toEqual(Array<number>(100).fill(10));
    for (const n of notified.slice(200)) expect(n).toBeGreaterThanOrEqual(12);
    expect(proxy.known(there)).toMatchObject({ senderQpn: 0x64, confirmed: true });
  },
);

describe('confirmed and unconfirmed connections', () => {
  test('PNC-1-c: an answer that fits a request confirms what the CM exchange showed; until then it waits in a table of its own', () => {
    connect();
    expect(proxy.known(there)).toMatchObject({ confirmed: false });
    ask(1);
    ask(2);
    expect(proxy.known(there)).toMatchObject({ confirmed: false });
    expect(answer(0x64, 2).counted).toEqual({ 'proxy.qp.confirmed': 1 });
    expect(proxy.known(there)).toMatchObject({ confirmed: true, senderQpn: 0x64, packets: 2n });
    expect(proxy.known({ sender: B, receiver: A, receiverQpn: 0x64 })).toMatchObject({
      confirmed: true,
      senderQpn: PEER,
    });
    expect([...proxy.object.map(PROXY_MAPS.unconfirmedQueuePairs).keys()]).toEqual([]);
  });

  /** Frames of an exchange and two data packets, of which only the numbers change. */
  function flood(count: number): void {
    const exchange = new ExchangeFrames(A, B);
    const packet = ethernet(data({ from: A, to: B, qpn: 2, psn: 1 }));
    const { netns, ifindex } = testPort();
    const flood = new Flood(proxy.object.program(PROXY_PROGRAM), context({ ifindex }));
    netns.run(() => {
      for (let i = 0; i < count; i++) {
        const qpn = 0x10000 + i;
        put24(packet, 14 + 40 + 8 + 5, qpn);
        for (const frame of [...exchange.numbered(i + 1, qpn), packet, packet]) flood.send(frame);
      }
    });
  }

  test(
    'PNC-6-b: 90,000 forged exchanges with two data packets each do not evict a confirmed connection that is idle',
    { timeout: 300_000 },
    () => {
      connect();
      ask(1);
      answer(0x64, 1);
      flood(90_000);
      expect(proxy.counters().get('proxy.qp.learned.cm')).toBe(90_001n);
      expect(proxy.known(there)).toMatchObject({ senderQpn: 0x64, confirmed: true });
      expect(proxy.send(notice(data({ from: A, to: B, qpn: PEER, psn: 2 }))).counted).toMatchObject({
        'proxy.cnp.sent': 1,
      });
      // The flood has the share of one port.
      expect([...proxy.object.map(PROXY_MAPS.unconfirmedQueuePairs).keys()]).toHaveLength(2 * 256);
      expect(proxy.counters().get('proxy.qp.removed.displaced')).toBe(90_000n - 256n);
    },
  );

  test.each([
    ['full', 65_536],
    ['full but for one half', 65_535],
  ])(
    'a table of confirmed connections that is %s takes no more, and loses none: what comes is known as unconfirmed, and counted',
    { timeout: 120_000 },
    (_, others) => {
      const map = proxy.object.map(PROXY_MAPS.queuePairs);
      const value = new Uint8Array(QUEUE_PAIR_SIZE);
      const key = new Uint8Array(40);
      map.updateBatch(
        (function* () {
          for (let i = 0; i < others; i++) {
            const k = key.slice();
            put32(k, 0, i + 1);
            yield [k, value] as const;
          }
        })(),
      );
      connect();
      ask(1);
      expect(answer(0x64, 1).counted).toEqual({ 'proxy.qp.full': 1 });
      expect(proxy.known(there)).toMatchObject({ senderQpn: 0x64, confirmed: false });
      // Both halves: one alone would outlive the place of the other.
      expect(proxy.known({ sender: B, receiver: A, receiverQpn: 0x64 })).toMatchObject({
        senderQpn: PEER,
        confirmed: false,
      });
      expect(map.lookup(encodeFlowKey(there))).toBeUndefined();
      for (let psn = 1; psn <= 3; psn++) {
        ask(psn, OPCODE.sendOnly, 0xd1);
        answer(0x71, psn);
      }
      expect(proxy.known({ ...there, receiverQpn: 0xd1 })).toMatchObject({
        senderQpn: 0x71,
        confirmed: false,
        source: 'reverse-traffic',
      });
      expect(proxy.send(notice(data({ from: A, to: B, qpn: 0xd1, psn: 2 }))).counted).toMatchObject({
        'proxy.cnp.sent': 1,
      });
    },
  );
});
