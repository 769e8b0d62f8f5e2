// Queue Pairs learned from connection set-up.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mappedAddress, viewOf } from '../../../src/kernel/dataplane/layout.ts';
import { DEFAULT_LEARNING_LIMITS, PROXY_MAPS } from '../../../src/kernel/dataplane/proxy.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { put16, u16 } from '../../../src/packet/bytes.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { COMM_ID, cm, cmDisconnect, cmReply, cmRequest, withIcrc } from '../support/cm-messages.ts';
import { A, A4, B, B4, NEXT, ProxyUnderTest, compileProxy, data, notice } from '../support/proxy-under-test.ts';

let compiled: { path: string; remove(): void };
let proxy: ProxyUnderTest;
beforeAll(() => void (compiled = compileProxy()));
afterAll(() => compiled.remove());
beforeEach(() => void (proxy = ProxyUnderTest.reused(compiled.path).configure()));
afterEach(() => proxy.close());

/** Of struct cm_side: when the message came. */
const SEEN_AT = 16;

function connect(a = A, b = B): void {
  proxy.send(cmRequest(a, b));
  proxy.send(cmReply(b, a));
  proxy.send(cm(a, b, { kind: 'rtu', localCommId: COMM_ID.active, remoteCommId: COMM_ID.passive }));
}

describe.each([
  ['IPv6', A, B],
  ['IPv4', A4, B4],
])('a CM exchange over %s', (_, a, b) => {
  test('PNC-1-c: REQ and REP name both Queue Pairs and starting PSNs, for data in either direction', () => {
    expect(proxy.send(cmRequest(a, b)).counted).toEqual({ 'proxy.cm.request': 1 });
    expect(proxy.connections()).toEqual([]);
    expect(proxy.send(cmReply(b, a)).counted).toEqual({ 'proxy.cm.reply': 1, 'proxy.qp.learned.cm': 1 });
    expect(proxy.known({ sender: a, receiver: b, receiverQpn: 0xc8 })).toMatchObject({
      senderQpn: 0x64,
      source: 'cm',
      startingPsn: 0x123456,
      lastPsn: null,
      cnps: 0n,
    });
    expect(proxy.known({ sender: b, receiver: a, receiverQpn: 0x64 })).toMatchObject({
      senderQpn: 0xc8,
      source: 'cm',
      startingPsn: 0x654321,
    });
    expect(proxy.connections()).toHaveLength(2);
  });

  test('PNC-1-c: a message that reaches beyond its packet, or ends before it, is not believed', () => {
    for (const by of [-4, 4]) {
      const message = cmRequest(a, b);
      const at = a.family === 6 ? 4 : 2;
      put16(message, at, u16(message, at) + by);
      // A datagram beyond its packet is no RoCEv2 packet (A6).
      expect(proxy.send(withIcrc(message)).counted).toEqual(by < 0 ? {} : { 'proxy.cm.malformed': 1 });
    }
  });

  test('PNC-3-a: a notice right after the set-up becomes a CNP for the sender, whichever side that is', () => {
    proxy.configure({}, ['2001:db8::/32', '10.0.0.0/8']);
    connect(a, b);
    const there = proxy.send(notice(data({ from: a, to: b, qpn: 0xc8, psn: 1 })));
    expect(parseRocePacket(there.packet)).toMatchObject({
      ok: true,
      value: { destination: a, source: b, bth: { opcode: 0x81, destQpn: 0x64 } },
    });
    const back = proxy.send(notice(data({ from: b, to: a, qpn: 0x64, psn: 1 })));
    expect(parseRocePacket(back.packet)).toMatchObject({
      ok: true,
      value: { destination: b, source: a, bth: { opcode: 0x81, destQpn: 0xc8 } },
    });
    expect(proxy.known({ sender: a, receiver: b, receiverQpn: 0xc8 })).toMatchObject({ cnps: 1n });
  });

  test.each([
    [
      'a DREQ of the active side',
      () => cmDisconnect(a, b, 0xc8, { localCommId: COMM_ID.active, remoteCommId: COMM_ID.passive }),
    ],
    [
      'a DREQ of the passive side',
      () => cmDisconnect(b, a, 0x64, { localCommId: COMM_ID.passive, remoteCommId: COMM_ID.active }),
    ],
    [
      'a DREP whose DREQ took another way',
      () => cm(b, a, { kind: 'drep', localCommId: COMM_ID.passive, remoteCommId: COMM_ID.active }),
    ],
    [
      'a REJ of the REP',
      () =>
        cm(a, b, { kind: 'rej', localCommId: COMM_ID.active, remoteCommId: COMM_ID.passive, rejected: 1, reason: 28 }),
    ],
    ['a DREQ whose communication IDs were never seen, by its Queue Pair', () => cmDisconnect(a, b, 0xc8)],
  ])('PNC-1-c: %s removes both directions', (_name, message) => {
    connect(a, b);
    expect(proxy.send(message()).counted).toMatchObject({ 'proxy.qp.removed.disconnected': 1 });
    expect(proxy.connections()).toEqual([]);
    expect(proxy.send(notice(data({ from: a, to: b, qpn: 0xc8, psn: 1 }))).counted).toMatchObject({
      'proxy.notice.qp-unknown': 1,
    });
  });
});

describe('CM exchanges', () => {
  test('are distinguished by their communication IDs, however they interleave', () => {
    proxy.send(cmRequest(A, B, { localCommId: 1, localQpn: 0x101 }));
    proxy.send(cmRequest(A, B, { localCommId: 2, localQpn: 0x102 }));
    proxy.send(cmRequest(B, A, { localCommId: 1, localQpn: 0x901 }));
    proxy.send(cmReply(B, A, { localCommId: 72, remoteCommId: 2, localQpn: 0x202 }));
    proxy.send(cmReply(A, B, { localCommId: 73, remoteCommId: 1, localQpn: 0x801 }));
    proxy.send(cmReply(B, A, { localCommId: 71, remoteCommId: 1, localQpn: 0x201 }));
    expect(proxy.known({ sender: A, receiver: B, receiverQpn: 0x201 })!.senderQpn).toBe(0x101);
    expect(proxy.known({ sender: A, receiver: B, receiverQpn: 0x202 })!.senderQpn).toBe(0x102);
    expect(proxy.known({ sender: A, receiver: B, receiverQpn: 0x901 })!.senderQpn).toBe(0x801);
    expect(proxy.connections()).toHaveLength(6);
  });

  test('a Queue Pair that is connected anew takes the place of the old connection, whose other half goes', () => {
    connect();
    proxy.send(cmRequest(A, B, { localCommId: 5, localQpn: 0x65 }));
    expect(proxy.send(cmReply(B, A, { localCommId: 6, remoteCommId: 5, localQpn: 0xc8 })).counted).toMatchObject({
      'proxy.qp.replaced': 1,
    });
    expect(proxy.known({ sender: A, receiver: B, receiverQpn: 0xc8 })!.senderQpn).toBe(0x65);
    expect(proxy.known({ sender: B, receiver: A, receiverQpn: 0x64 })).toBeUndefined();
    expect(proxy.connections()).toHaveLength(2);
  });

  test('a repeated REQ and REP change nothing, and keep the flow’s count of CNPs', () => {
    connect();
    proxy.send(notice(data({ from: A, to: B, qpn: 0xc8, psn: 1 })));
    connect();
    expect(proxy.connections()).toHaveLength(2);
    expect(proxy.known({ sender: A, receiver: B, receiverQpn: 0xc8 })).toMatchObject({ senderQpn: 0x64, cnps: 1n });
  });

  test('a REQ that is rejected is forgotten: a REP after it belongs to none', () => {
    proxy.send(cmRequest(A, B));
    proxy.send(cm(B, A, { kind: 'rej', localCommId: 0, remoteCommId: COMM_ID.active, rejected: 0, reason: 8 }));
    expect(proxy.send(cmReply(B, A)).counted).toEqual({ 'proxy.cm.reply': 1, 'proxy.cm.unmatched': 1 });
    expect(proxy.connections()).toEqual([]);
  });

  test('a REP from another host, for another ID, or too late teaches nothing', () => {
    proxy.send(cmRequest(A, B));
    for (const stray of [
      cmReply(address('2001:db8:b::2'), A),
      cmReply(B, address('2001:db8:a::2')),
      cmReply(B, A, { remoteCommId: 3 }),
      cmReply(A, B),
    ]) {
      expect(proxy.send(stray).counted).toMatchObject({ 'proxy.cm.unmatched': 1 });
    }
    const pending = proxy.object.map(PROXY_MAPS.cmConnections);
    for (const [key, value] of pending.entries()) {
      const long = viewOf(value).getBigUint64(SEEN_AT, true) - BigInt(DEFAULT_LEARNING_LIMITS.handshakeNs) - 1n;
      viewOf(value).setBigUint64(SEEN_AT, long, true);
      pending.update(key, value);
    }
    expect(proxy.send(cmReply(B, A)).counted).toMatchObject({ 'proxy.cm.unmatched': 1 });
    expect(proxy.connections()).toEqual([]);
  });

  test.each([
    ['IPv6', A, B, address('2001:db8:a::7'), address('2001:db8:b::7')],
    ['IPv4', A4, B4, address('10.0.0.7'), address('10.0.1.7')],
  ])(
    'PNC-1-c: over %s, two hosts that collude cannot teach the Queue Pairs of others: a REQ whose GIDs are not the packet’s addresses is counted and teaches nothing',
    (_, a, b, s, d) => {
      connect(s, d);
      for (const gids of [
        { localGid: s, remoteGid: d },
        { localGid: a, remoteGid: d },
        { localGid: s, remoteGid: b },
        { localGid: b, remoteGid: a },
      ]) {
        expect(proxy.send(cmRequest(a, b, { localCommId: 7, localQpn: 0x666, ...gids })).counted).toEqual({
          'proxy.cm.request': 1,
          'proxy.cm.other-host': 1,
        });
        expect(proxy.send(cmReply(b, a, { localCommId: 8, remoteCommId: 7 })).counted).toEqual({
          'proxy.cm.reply': 1,
          'proxy.cm.unmatched': 1,
        });
      }
      expect(proxy.known({ sender: s, receiver: d, receiverQpn: 0xc8 })!.senderQpn).toBe(0x64);
      expect(proxy.connections()).toHaveLength(2);
    },
  );

  test.each([
    ['IPv6', A, B],
    ['IPv4', A4, B4],
  ])('over %s, GIDs that a stack leaves empty are the packet’s addresses', (_, a, b) => {
    const none = address('::');
    for (const [i, gids] of [{ localGid: none, remoteGid: none }, { localGid: none }, { remoteGid: none }].entries()) {
      proxy.send(cmRequest(a, b, { localCommId: 9 + i, localQpn: 0x99 + i, ...gids }));
      proxy.send(cmReply(b, a, { localCommId: 20 + i, remoteCommId: 9 + i, localQpn: 0xcc + i }));
      expect(proxy.known({ sender: a, receiver: b, receiverQpn: 0xcc + i })!.senderQpn).toBe(0x99 + i);
    }
  });

  test('a LAP or APR teaches nothing; a LAP whose alternate path is between other hosts is counted', () => {
    connect();
    /** An attribute and GIDs (offsets of IBTA vol. 1 §12.6.13) in a message that is otherwise a REQ's. */
    const path = (attribute: number, local: IpAddress, remote: IpAddress): Uint8Array => {
      const message = cmRequest(A, B);
      const mad = 40 + 8 + 12 + 8;
      put16(message, mad + 16, attribute);
      message.fill(0, mad + 24, mad + 256);
      message.set(mappedAddress(local), mad + 24 + 24);
      message.set(mappedAddress(remote), mad + 24 + 40);
      return withIcrc(message);
    };
    const LAP = 0x19;
    const APR = 0x1a;
    expect(proxy.send(path(LAP, A, B)).counted).toEqual({ 'proxy.cm.other': 1 });
    expect(proxy.send(path(APR, A, B)).counted).toEqual({ 'proxy.cm.other': 1 });
    expect(proxy.send(path(LAP, address('2001:db8:a::7'), B)).counted).toEqual({ 'proxy.cm.other-host': 1 });
    expect(proxy.send(path(LAP, A, address('2001:db8:b::7'))).counted).toEqual({ 'proxy.cm.other-host': 1 });
    expect(proxy.connections()).toHaveLength(2);
    expect(proxy.known({ sender: A, receiver: B, receiverQpn: 0xc8 })!.senderQpn).toBe(0x64);
  });

  test('between hosts outside the declared prefixes are not learned', () => {
    const [a, b] = [address('2001:db8:c::1'), address('2001:db8:d::1')];
    expect(proxy.send(cmRequest(a, b)).counted).toEqual({ 'proxy.cm.foreign': 1 });
    expect(proxy.send(cmReply(b, a)).counted).toEqual({ 'proxy.cm.foreign': 1 });
    expect([...proxy.object.map(PROXY_MAPS.cmConnections).entries()]).toEqual([]);
  });

  test('inside a tunnel are seen as well', () => {
    const tunneled = (inner: Uint8Array): Uint8Array =>
      ipv6([address('::'), address('::1')], inner[0]! >> 4 === 6 ? 41 : 4, inner);
    for (const [a, b] of [
      [A, B],
      [A4, B4],
    ] as const) {
      expect(proxy.send(tunneled(cmRequest(a, b))).counted).toEqual({ 'proxy.cm.request': 1 });
      expect(proxy.send(tunneled(cmReply(b, a))).counted).toMatchObject({ 'proxy.qp.learned.cm': 1 });
      expect(proxy.known({ sender: a, receiver: b, receiverQpn: 0xc8 })!.senderQpn).toBe(0x64);
    }
  });

  test('a damaged message is counted and teaches nothing, whichever bit was flipped', () => {
    proxy.send(cmRequest(A, B));
    const whole = cmReply(B, A);
    const wrong = new Set<string>();
    for (let at = 48 + 12; at < whole.length; at += 3) {
      const damaged = whole.slice();
      damaged[at]! ^= 0x10;
      const { verdict, counted, packet } = proxy.send(damaged);
      expect(verdict).toBe(NEXT);
      expect(packet).toEqual(damaged);
      Object.keys(counted).forEach((name) => wrong.add(name));
    }
    expect([...wrong].sort()).toEqual(['proxy.cm.bad-icrc', 'proxy.cm.malformed']);
    for (const length of [60, 70, 100, 327])
      expect(proxy.send(whole.subarray(0, length)).counted).toEqual({ 'proxy.cm.malformed': 1 });
    expect(proxy.connections()).toEqual([]);
  });

  test('impossible Queue Pairs are counted and not learned', () => {
    for (const localQpn of [0, 1, 0xffffff]) {
      expect(proxy.send(cmRequest(A, B, { localQpn })).counted).toMatchObject({ 'proxy.cm.malformed': 1 });
      proxy.send(cmRequest(A, B));
      expect(proxy.send(cmReply(B, A, { localQpn })).counted).toMatchObject({ 'proxy.cm.malformed': 1 });
    }
    expect(proxy.connections()).toEqual([]);
  });
});
