// Thousands of damaged notices with a right checksum, judged by the program and by cnpd's own decoder, which shares no
// code with it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { address, addressBytes, sameAddress } from '../../../src/model/address.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { decodeNotice, encodeNotice, invokingBth } from '../../../src/packet/notice/pnc.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import {
  A,
  A4,
  B,
  B4,
  DROP,
  NEXT,
  ProxyUnderTest,
  compileProxy,
  data,
  toProxy,
  tupleOf,
} from '../support/proxy-under-test.ts';

let compiled: { path: string; remove(): void };
let proxy: ProxyUnderTest;
beforeAll(() => {
  compiled = compileProxy();
  proxy = new ProxyUnderTest(compiled.path)
    .configure()
    .teach({ sender: A, receiver: B, senderQpn: 0x64, receiverQpn: 0xc8 });
  proxy.teach({ sender: A4, receiver: B4, senderQpn: 0x65, receiverQpn: 0xc8 });
});
afterAll(() => {
  proxy.close();
  compiled.remove();
});

const around = (next: number, payload: Uint8Array): Uint8Array =>
  ipv6([address('fc00::1'), address('fc00::2')], next, payload);
const plain = data({ from: A, to: B, qpn: 0xc8, psn: 1, size: 8 });
const plain4 = data({ from: A4, to: B4, qpn: 0xc8, psn: 1, size: 8 });
const SEEDS: readonly [string, Uint8Array][] = [
  ['IPv6', plain],
  ['IPv4', plain4],
  ['IPv6 in IPv6', around(41, plain)],
  [
    'IPv4 behind an SRH',
    around(43, Uint8Array.of(4, 2, 4, 0, 0, 0, 0, 0, ...addressBytes(address('fc00::2')), ...plain4)),
  ],
  ['IPv6 behind options', around(60, Uint8Array.of(41, 0, 1, 4, 0, 0, 0, 0, ...plain))],
];

describe('damaged notices', () => {
  test.each(SEEDS)(
    'about %s: a CNP goes out only where the decoder finds the same flow, and nothing else is done',
    (_, invoking) => {
      const whole = encodeNotice({ tuple: tupleOf(invoking), level: 1, invoking, family: 6 });
      let [sent, refused] = [0, 0];
      for (const payload of mutations(whole)) {
        const { verdict, packet, counted } = proxy.send(toProxy(payload));
        expect(Object.keys(counted), toHex(payload)).toHaveLength(2);
        if (counted['proxy.cnp.sent'] === undefined) {
          expect(verdict).toBe(DROP);
          refused++;
          continue;
        }
        sent++;
        expect(verdict).toBe(NEXT);
        const cnp = parseRocePacket(packet);
        const decoded = decodeNotice(payload);
        if (!cnp.ok || !decoded.ok)
          throw new Error(`${toHex(payload)}: ${JSON.stringify([cnp.ok, !decoded.ok && decoded.error])}`);
        const bth = invokingBth(decoded.value);
        expect(bth, toHex(payload)).toMatchObject({ ok: true, value: { destQpn: 0xc8 } });
        const v6 = cnp.value.family === 6;
        expect(sameAddress(cnp.value.source, v6 ? B : B4) && sameAddress(cnp.value.destination, v6 ? A : A4)).toBe(
          true,
        );
        expect(cnp.value).toMatchObject({
          icrcValid: true,
          sourcePort: decoded.value.tuple.sourcePort,
          bth: { opcode: 0x81, destQpn: v6 ? 0x64 : 0x65 },
        });
      }
      expect(sent).toBeGreaterThan(10);
      expect(refused).toBeGreaterThan(300);
    },
  );

  /** And the other way round: what the decoder accepts about a known flow becomes a CNP. */
  test.each(SEEDS)('about %s: cut anywhere behind the BTH they are still good', (_, invoking) => {
    const tuple = tupleOf(invoking);
    for (let length = invoking.length; length >= invoking.length - 12; length--) {
      const payload = encodeNotice({ tuple, level: 1, invoking: invoking.subarray(0, length), family: 6 });
      const { counted } = proxy.send(toProxy(payload));
      expect(counted['proxy.cnp.sent'], `${length}`).toBe(1);
    }
  });
});

/** Every byte set to four values, every length, and a few hundred double damages. */
function* mutations(whole: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < whole.length; at++) {
    for (const value of [0, 0xff, whole[at]! ^ 1, whole[at]! ^ 0x80]) {
      if (value === whole[at]) continue;
      const out = whole.slice();
      out[at] = value;
      yield out;
    }
  }
  for (let length = 0; length < whole.length; length++) yield whole.slice(0, length);
  for (let i = 0; i < 300; i++) {
    const out = whole.slice();
    out[(i * 7919) % whole.length]! ^= 1 << (i % 8);
    out[(i * 104729) % whole.length]! ^= 1 << ((i >> 3) % 8);
    yield out;
  }
}
