// A6: what is a RoCEv2 packet by its lengths and its BTH version, at the congested node, at the proxy and in the
// decoder of src/packet alike.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { put16 } from '../../../src/packet/bytes.ts';
import { ipv6, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { CongestedRouter } from '../support/congested-router.ts';
import { H1, H1V4, H2, H2V4, NEXT, data, frame } from '../support/packets.ts';
import {
  A,
  A4,
  B,
  B4,
  ProxyUnderTest,
  acknowledge,
  compileProxy,
  data as asked,
  notice,
  tupleOf,
} from '../support/proxy-under-test.ts';

/** The packet with another UDP length, BTH flags, or both; what its IP header says stays. */
function changed(packet: Uint8Array, { length, version }: { length?: number; version?: number }): Uint8Array {
  const copy = packet.slice();
  const udp = copy[0]! >> 4 === 6 ? 40 : 20;
  if (length !== undefined) put16(copy, udp + 4, length);
  if (version !== undefined) copy[udp + 9] = (copy[udp + 9]! & 0xf0) | version;
  return copy;
}
/** A UDP length for every reason; `whole` is the right one. 23: a BTH and not all of the ICRC. */
const wrong = (whole: number): (readonly [string, { length?: number; version?: number }])[] => [
  ...[0, 4, 7, 8, 19, 20, 23, whole + 1, 0xffff].map(
    (length) =>
      [`UDP length ${length === whole + 1 ? 'of one byte more than the packet has' : length}`, { length }] as const,
  ),
  ...[1, 8, 15].map((version) => [`TVer ${version}`, { version }] as const),
];
const FAMILIES = [
  ['IPv6', H1, H2, A, B],
  ['IPv4', H1V4, H2V4, A4, B4],
] as const;

describe.each(FAMILIES)('A6: over %s', (_, source, destination, sender, receiver) => {
  const good = data({ source, destination, size: 64 });
  const whole = good.length - (source.family === 6 ? 40 : 20);

  describe('at the congested node', () => {
    let r: CongestedRouter;
    beforeAll(async () => {
      r = await CongestedRouter.create();
      await r.fill(100_000);
    });
    afterAll(() => r.close());
    beforeEach(() => {
      r.clear();
      r.port({ kMin: 0, kMax: 0 });
    });
    const inSrv6 = (packet: Uint8Array): Uint8Array =>
      ipv6([H1, H2], 43, srh(packet[0]! >> 4 === 6 ? 41 : 4, 0, [H1], packet));

    test.each(wrong(whole))('%s: no RoCEv2 packet: passed, not marked, in no table', (_, change) => {
      for (const packet of [changed(good, change), inSrv6(changed(good, change))])
        expect(r.send(frame(packet))).toMatchObject({ retval: NEXT, data: frame(packet) });
      expect(r.send(frame(changed(good, change), { tags: [[0x8100, 5]] })).retval).toBe(NEXT);
      expect(r.flows()).toEqual([]);
      expect(r.stats()).toMatchObject({ packets: 0n, triggers: 0n });
    });

    test('the right length is one, and so is a datagram shorter than its packet', () => {
      r.send(frame(good));
      r.send(frame(changed(good, { length: whole - 4 })));
      r.send(frame(inSrv6(good)));
      expect(r.stats().packets).toBe(3n);
    });
  });

  describe('at the proxy', () => {
    const compiled = compileProxy();
    afterAll(() => compiled.remove());
    const proxy = (): ProxyUnderTest =>
      ProxyUnderTest.reused(compiled.path).configure().teach({ sender, receiver, receiverQpn: 0x123, senderQpn: 0x64 });
    const invoking = asked({ from: sender, to: receiver, qpn: 0x123, psn: 7 });
    const size = invoking.length - (sender.family === 6 ? 40 : 20);

    test.each(wrong(size))('%s: a notice about it sends no CNP', (_, change) => {
      const p = proxy();
      const { verdict, counted } = p.send(notice(changed(invoking, change)));
      expect(verdict).toBe(2);
      expect(counted['proxy.cnp.sent']).toBeUndefined();
      expect(counted['proxy.notice.not-roce'] ?? counted['proxy.notice.not-data']).toBe(1);
      p.close();
    });

    test('PNC-4-e: a notice that cuts the packet behind its BTH is still one about a RoCEv2 packet', () => {
      const p = proxy();
      expect(
        p.send(notice(invoking.subarray(0, (sender.family === 6 ? 40 : 20) + 20), { tuple: tupleOf(invoking) }))
          .counted['proxy.cnp.sent'],
      ).toBe(1);
      p.close();
    });

    test.each(wrong(size))('%s: it teaches no Queue Pair', (_, change) => {
      const p = ProxyUnderTest.reused(compiled.path).configure();
      for (let psn = 1; psn < 10; psn++) {
        p.send(changed(asked({ from: sender, to: receiver, qpn: 0x123, psn }), change));
        p.send(acknowledge({ from: receiver, to: sender, qpn: 0x64, psn }));
      }
      expect(p.connections()).toEqual([]);
      p.close();
    });
  });

  test.each(wrong(whole))('%s: the decoder refuses it', (_, change) => {
    const parsed = parseRocePacket(changed(good, change));
    expect(parsed.ok).toBe(false);
  });
});
