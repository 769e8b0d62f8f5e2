// A checksum that computes to 0. UDP sends it as 0xffff, because 0 says that there is none (RFC 768; RFC 8200 §8.1),
// and so do extension objects (RFC 4884 §7); ICMPv6 sends the 0 (RFC 4443 §2.3). One packet in 65,536 has it: each
// format is made to have it by one 16-bit word, set to the checksum that the packet has without.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EGRESS_PROGRAMS, MARK_TRIGGER } from '../../../src/kernel/dataplane/egress.ts';
import { address } from '../../../src/model/address.ts';
import { put16, u16 } from '../../../src/packet/bytes.ts';
import { decodeExtensions } from '../../../src/packet/icmpv6/objects.ts';
import { parseIcmpv6 } from '../../../src/packet/icmpv6/message.ts';
import type { Compiled } from '../support/compile.ts';
import { LONG_HAUL, NoticeBuilder, type Order, orderWords } from '../support/builder-under-test.ts';
import { H1, H1V4, H2, H2V4, QPN, context, data, frame } from '../support/packets.ts';
import { DROP, NEXT, ProxyUnderTest, compileProxy } from '../support/proxy-under-test.ts';

const PROXY4 = address('192.0.2.1');
const PROXY6 = address('2001:db8:ffff::3');
const NOTIFY: Order = { format: 'long-haul-icmpv6', level: 100, sourceQpn: 100 };

let builder: NoticeBuilder;
let proxyObject: Compiled;
beforeAll(() => {
  builder = NoticeBuilder.compiled();
  proxyObject = compileProxy();
});
afterAll(() => {
  builder.close();
  proxyObject.remove();
});

describe.each([
  ['an IPv6 flow to an IPv6 proxy', H1, H2, PROXY6],
  ['an IPv4 flow to an IPv6 proxy', H1V4, H2V4, PROXY6],
  ['an IPv6 flow to an IPv4 proxy', H1, H2, PROXY4],
  ['an IPv4 flow to an IPv4 proxy', H1V4, H2V4, PROXY4],
] as const)('RFC 768: a notice about %s', (_, source, destination, proxy) => {
  const at = proxy.family === 6 ? 46 : 26;
  /** A word of the data packet's payload, in all notices. */
  const word = source.family === 6 ? 70 : 50;

  test('PNC-4-a: has the UDP checksum 0xffff where it computes to 0, and the proxy takes it', () => {
    const packet = data({ source, destination, size: 400 });
    builder.configure({});
    builder.proxyOf(source.family === 6 ? '::/0' : '0.0.0.0/0', proxy);
    const notice = (payload: number): Uint8Array => {
      put16(packet, word, payload);
      return builder.build(packet, { format: 'proxy', pncLevel: 3 }).packet;
    };
    const zero = notice(u16(notice(0), at));
    expect(u16(zero, at)).toBe(0xffff);
    // Neither before nor behind it is a checksum 0xffff: the word was right.
    expect(u16(notice(u16(packet, word) ^ 1), at)).not.toBe(0xffff);

    const agent = new ProxyUnderTest(proxyObject.path).configure(
      { address: proxy },
      ['::/0', '0.0.0.0/0'],
      ['2001:db8:ffff::/48', '10.0.0.254/32'],
    );
    try {
      agent.teach({ sender: source, receiver: destination, receiverQpn: QPN, senderQpn: 0x64 });
      const { verdict, counted } = agent.send(zero);
      expect(verdict).toBe(NEXT);
      expect(counted).toMatchObject({ 'proxy.notice.received': 1, 'proxy.cnp.sent': 1 });
      // As it was without the rule: over IPv6 no receiver may take it.
      if (proxy.family === 4) return;
      put16(zero, at, 0);
      expect(agent.send(zero)).toMatchObject({ verdict: DROP, counted: { 'proxy.notice.no-checksum': 1 } });
    } finally {
      agent.close();
    }
  });
});

test('RFC 4443: an ICMPv6 checksum that computes to 0 is sent as 0', () => {
  builder.configure({});
  const message = (value: number): Uint8Array =>
    builder.build(data(), { ...NOTIFY, metric: { type: 0, value } }).packet;
  const zero = message(u16(message(0), 42));
  expect(u16(zero, 42)).toBe(0);
  expect(parseIcmpv6(zero)).toMatchObject({ ok: true });
});

test('the UDP of Fast CNP and Long-haul CNP has no checksum at all (annex A17)', () => {
  builder.configure({});
  expect(u16(builder.build(data(), { format: 'fast-cnp' }).packet, 40 + 24 + 6)).toBe(0);
  expect(u16(builder.build(data(), { ...NOTIFY, format: 'long-haul-roce' }).packet, 46)).toBe(0);
  expect(
    u16(builder.build(data({ source: H1V4, destination: H2V4 }), { ...NOTIFY, format: 'long-haul-roce' }).packet, 26),
  ).toBe(0);
});

describe('RFC 4884: the checksum of extension objects', () => {
  const EXTENSION = 40 + 16;
  const DATA = frame(data());
  const extension = (): Uint8Array =>
    builder.object
      .program(EGRESS_PROGRAMS.notice)
      .testRun({ data: DATA, ctx: context({ mark: MARK_TRIGGER, cb: orderWords(NOTIFY) }) })
      .data.subarray(14 + EXTENSION);
  const isZero = (objects: Uint8Array): boolean => u16(objects, 2) === 0 || u16(objects, 2) === 0xffff;

  test('LHCNP-6.1.1-e: is 0xffff where the agent computes 0', () => {
    const objects = (pathId: number): Uint8Array => {
      builder.configure({ longHaul: { ...LONG_HAUL, pathId } });
      return extension();
    };
    const zero = objects(u16(objects(0), 2));
    expect(u16(zero, 2)).toBe(0xffff);
    expect(decodeExtensions(zero, 0, zero.length)).toMatchObject({ ok: true });
  });

  test('LHCNP-6.1.1-e: is 0xffff where the program computes 0, with the time in it', () => {
    builder.configure({ longHaul: { ...LONG_HAUL, timestamp: true, pathId: 7 } }, 5n);
    // The fraction of a second is as good as random: of so many one is right but for a chance of e^-32.
    let objects = extension();
    for (let run = 0; run < 1 << 21 && !isZero(objects); run++) objects = extension();
    expect(u16(objects, 2)).toBe(0xffff);
    expect(decodeExtensions(objects, 0, objects.length)).toMatchObject({ ok: true });
  });
});
