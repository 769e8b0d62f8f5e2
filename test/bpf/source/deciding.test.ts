// Which notifications the source's program believes, and what becomes of them, one run of the program each. Ports and
// routes are in live.test.ts.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type IpAddress, address, addressBytes } from '../../../src/model/address.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { buildCnp } from '../../../src/packet/roce/cnp.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { A, A4, B, B4, CONGESTED, DATA_SPORT, DROP, NEXT, context, testPort } from '../support/proxy-under-test.ts';
import {
  RECEIVER_QPN,
  SENDER_QPN,
  SourceUnderTest,
  fastCnp,
  longHaulIcmpv6,
  longHaulRoce,
  longHaulRoce4,
} from '../support/source-under-test.ts';

let source: SourceUnderTest;
beforeAll(() => void (source = new SourceUnderTest()));
afterAll(() => source.close());
beforeEach(() => void source.teach().configure('convert'));
afterEach(() => void source.records());

/** wire/tunnel-ended.h. */
const CB_TUNNEL_ENDED = 0x51d3ca7e;
const STRANGER = address('2001:db8:bad::1');
const outcome = (packet: Uint8Array): readonly [verdict: number, ...string[]] => {
  const { verdict, counted } = source.send(packet);
  return [verdict, ...Object.keys(counted).filter((name) => name !== 'source.received')];
};
const cnp = (from = B, to = A, sourcePort = DATA_SPORT): string =>
  toHex(buildCnp({ source: from, destination: to, destQpn: SENDER_QPN, sourcePort, hopLimit: 65 }));

describe('convert', () => {
  test.each([
    ['a Fast CNP', fastCnp(), cnp()],
    ['a Long-haul CNP in RoCEv2', longHaulRoce(), cnp()],
    ['a Long-haul CNP in RoCEv2 that pauses', longHaulRoce({ action: 'pause', parameter: 9 }), cnp()],
    ['a Long-haul CNP in RoCEv2 that only notifies', longHaulRoce({ action: 'notify', parameter: 0 }), cnp()],
    ['a Long-haul CNP in ICMPv6, which has no UDP source port', longHaulIcmpv6(), cnp(B, A, 0)],
  ])(
    'FCNP-4-n, LHCNP-5.6-d: %s becomes a standard CNP of the receiver for the sender’s Queue Pair',
    (_, packet, expected) => {
      const { verdict, counted, packet: after } = source.send(packet);
      expect([verdict, counted]).toEqual([NEXT, { 'source.received': 1, 'source.converted': 1 }]);
      expect(toHex(after)).toBe(expected);
    },
  );

  test('LHCNP-4-a: over IPv4 as well', () => {
    const { verdict, packet } = source.send(longHaulRoce4());
    expect(verdict).toBe(NEXT);
    expect(parseRocePacket(packet)).toMatchObject({
      ok: true,
      value: {
        source: B4,
        destination: A4,
        sourcePort: DATA_SPORT,
        trafficClass: 0xc0,
        icrcValid: true,
        bth: { opcode: 0x81, becn: true, destQpn: SENDER_QPN },
      },
    });
  });

  test('a P_Key other than the default is the flow’s', () => {
    const { packet } = source.send(fastCnp({ pkey: 0x8123 }));
    expect(toHex(packet.subarray(50, 52))).toBe('8123');
  });

  test('a Resume is not: a CNP would slow the sender down', () => {
    expect(outcome(longHaulRoce({ action: 'resume', parameter: 50 }))).toEqual([DROP, 'source.resume']);
  });

  test('a flow gets one CNP in its interval, whatever the format and the instruction', () => {
    source.configure('convert', { perFlowIntervalNs: 60e9 });
    expect(outcome(fastCnp())).toEqual([NEXT, 'source.converted']);
    for (const packet of [fastCnp(), longHaulRoce(), longHaulIcmpv6()])
      expect(outcome(packet)).toEqual([DROP, 'source.flow-limited']);
  });
});

test('pass: the host gets the notification as it came, also about a connection that cnpd does not know', () => {
  source.configure('pass');
  for (const packet of [fastCnp(), fastCnp({ destQpn: 0xeee }), longHaulRoce(), longHaulIcmpv6({ sourceQpn: 0xeee })]) {
    const { verdict, counted, packet: after } = source.send(packet);
    expect([verdict, counted, toHex(after)]).toEqual([
      NEXT,
      { 'source.received': 1, 'source.passed': 1 },
      toHex(packet),
    ]);
  }
});

test.each(['pass', 'convert', 'enforce'] as const)(
  'LHCNP-5.6-b, LHCNP-9-a, FCNP-5-c: %s: of a node outside the allow-list nothing is taken, and nothing reaches the host',
  (action) => {
    source.configure(action);
    for (const packet of [
      fastCnp({ source: STRANGER }),
      longHaulRoce({}, { source: STRANGER }),
      longHaulIcmpv6({}, { source: STRANGER }),
    ])
      expect(outcome(packet)).toEqual([DROP, 'source.not-allowed']);
    expect(source.records()).toEqual([]);
  },
);

test('FCNP-4-e: the receiver of the flow need not be on the allow-list, and speaks of its own flow only', () => {
  expect(outcome(fastCnp({ source: B }))).toEqual([NEXT, 'source.converted']);
  const other = address('2001:db8:b::9');
  expect(outcome(fastCnp({ source: B, originalDestination: other }))).toEqual([DROP, 'source.not-allowed']);
  expect(outcome(fastCnp({ source: other, originalDestination: other }))).toEqual([DROP, 'source.qp-unknown']);
});

test.each(['convert', 'enforce'] as const)(
  'LHCNP-5.6-a, FCNP-4-n: %s: a Queue Pair of no known connection of this sender is refused',
  (action) => {
    source.configure(action);
    for (const packet of [
      fastCnp({ destQpn: RECEIVER_QPN + 1 }),
      fastCnp({ originalDestination: address('2001:db8:b::9') }),
      fastCnp({ destination: address('2001:db8:a::9') }),
      longHaulRoce({ sourceQpn: SENDER_QPN + 1 }),
      longHaulIcmpv6({ sourceQpn: 0 }),
      longHaulIcmpv6({}, { destination: address('2001:db8:a::9') }),
    ])
      expect(outcome(packet)).toEqual([DROP, 'source.qp-unknown']);
  },
);

test('LHCNP-5.6-a: a connection that has moved to another Queue Pair of the sender is not the old one’s', () => {
  source.teach([{ sender: A, receiver: B, senderQpn: 0x65, receiverQpn: RECEIVER_QPN }]);
  expect(outcome(longHaulRoce())).toEqual([DROP, 'source.qp-unknown']);
  expect(outcome(longHaulRoce({ sourceQpn: 0x65 }))).toEqual([NEXT, 'source.converted']);
  expect(toHex(source.send(fastCnp()).packet.subarray(53, 56))).toBe('000065');
});

test('FCN-4.2.2-d: what END.CON has decapsulated counts only from the tunnel of a router on the allow-list', () => {
  const through = (tunnel: IpAddress, packet: Uint8Array): readonly string[] => {
    const words = new Uint32Array(Uint8Array.from(addressBytes(tunnel)).buffer);
    const ctx = context({ cb: [CB_TUNNEL_ENDED, ...words], ifindex: testPort().ifindex });
    return Object.keys(source.send(packet, { ctx }).counted).filter((name) => name !== 'source.received');
  };
  expect(through(CONGESTED, fastCnp())).toEqual(['source.converted']);
  expect(through(STRANGER, fastCnp())).toEqual(['source.not-allowed']);
});

test('the longest prefix decides what becomes of a notification', () => {
  source.configure('pass');
  source.configure('convert', {}, { senders: ['2001:db8::/32'] });
  expect(outcome(fastCnp())).toEqual([NEXT, 'source.converted']);
  expect(outcome(longHaulRoce4())).toEqual([NEXT]);
});

test.each(['pass', 'convert', 'enforce'] as const)(
  '%s: a storm is limited to the rate of the section, and counted',
  (action) => {
    source.configure(action, { perSecond: 1, burst: 3 });
    const storm = Array.from({ length: 10 }, () => outcome(fastCnp()));
    expect(storm.filter(([, ...why]) => why.includes('source.rate-limited'))).toHaveLength(7);
    expect(source.records()).toHaveLength(3);
  },
);

test('records that nobody reads are lost, and counted; the host gets its CNPs all the same', () => {
  const counted: Record<string, number> = {};
  for (let i = 0; i < 4000; i++)
    for (const [name, times] of Object.entries(source.send(fastCnp()).counted))
      counted[name] = (counted[name] ?? 0) + times;
  expect(counted).toMatchObject({ 'source.received': 4000, 'source.converted': 4000 });
  const lost = counted['source.record-lost'] ?? 0;
  expect(lost).toBeGreaterThan(0);
  expect(source.records()).toHaveLength(4000 - lost);
});

test('FCNP-4-e: a stranger is not believed because it claims to be the receiver of a connection that nobody knows', () => {
  source.configure('pass');
  const claim = fastCnp({ source: STRANGER, originalDestination: STRANGER, destQpn: 0xeee });
  expect(outcome(claim)).toEqual([DROP, 'source.qp-unknown']);
  expect(outcome(fastCnp({ source: B }))).toEqual([NEXT, 'source.passed']);
  expect(outcome(fastCnp({ destQpn: 0xeee }))).toEqual([NEXT, 'source.passed']);
});

describe('a standard CNP', () => {
  const packet = (from = B, qpn = SENDER_QPN): Uint8Array =>
    buildCnp({ source: from, destination: A, destQpn: qpn, sourcePort: DATA_SPORT });

  test.each(['pass', 'convert'] as const)('%s: is the host’s, and not even counted', (action) => {
    source.configure(action);
    expect(source.send(packet())).toMatchObject({ verdict: NEXT, counted: {} });
  });

  test('enforce: of the flow’s receiver is obeyed in place of the host', () => {
    source.configure('enforce');
    expect(outcome(packet())).toEqual([DROP, 'source.enforced', 'source.peer']);
    expect(source.records()).toMatchObject([
      { format: 'standard-cnp', node: B, senderQpn: SENDER_QPN, flow: { receiver: B }, instruction: null },
    ]);
  });

  test('enforce: while the agent reads nothing, it and what nodes send are soon the host’s, which nobody obeys for', () => {
    source.configure('enforce');
    source.send(packet(), { repeat: 10_000 });
    expect(source.send(packet())).toMatchObject({ verdict: NEXT, counted: { 'source.record-lost': 1 } });
    for (const notification of [fastCnp(), longHaulRoce(), longHaulIcmpv6()])
      expect(outcome(notification)).toEqual([NEXT, 'source.converted', 'source.record-lost']);
    expect(source.send(longHaulRoce({ action: 'resume', parameter: 50 }))).toMatchObject({ verdict: DROP });
  });

  test('enforce: what is converted since the agent reads nothing has the interval of its flow', () => {
    source.configure('enforce', { perFlowIntervalNs: 60e9 });
    source.send(packet(), { repeat: 10_000 });
    const fates = [fastCnp(), longHaulRoce(), fastCnp({ source: B })].map(outcome);
    expect(fates).toEqual([
      [NEXT, 'source.converted', 'source.record-lost'],
      [DROP, 'source.flow-limited', 'source.record-lost'],
      [DROP, 'source.flow-limited', 'source.record-lost'],
    ]);
    expect(outcome(packet())).toEqual([NEXT, 'source.record-lost']);
  });

  test('enforce: of anybody else, and about an unknown Queue Pair, is left to the host', () => {
    source.configure('enforce');
    for (const other of [packet(STRANGER), packet(CONGESTED), packet(B, 0xeee)])
      expect(outcome(other)).toEqual([NEXT, 'source.peer-unknown']);
    expect(source.records()).toEqual([]);
  });
});
