// What anybody can fill is divided among the ports: a flood at one port stops nothing from being learned at another.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_LEARNING_LIMITS, PROXY_PROGRAM } from '../../../src/kernel/dataplane/proxy.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { put24 } from '../../../src/packet/bytes.ts';
import { ExchangeFrames, cmReply, cmRequest } from '../support/cm-messages.ts';
import { Flood } from '../support/flood.ts';
import { type Port, PortsScene } from '../support/ports-scene.ts';
import {
  A,
  B,
  ProxyUnderTest,
  acknowledge,
  compileProxy,
  context,
  data,
  ethernet,
} from '../support/proxy-under-test.ts';

let compiled: { path: string; remove(): void };
let scene: PortsScene;
let proxy: ProxyUnderTest;
beforeAll(() => {
  compiled = compileProxy();
  scene = new PortsScene();
});
afterAll(() => {
  compiled.remove();
  scene.close();
});
const HOUR = 3_600_000_000_000;
beforeEach(() => {
  // However long the flood takes here.
  proxy = new ProxyUnderTest(compiled.path, { learning: DEFAULT_LEARNING_LIMITS }).configure(
    { learning: { ...DEFAULT_LEARNING_LIMITS, recentNs: HOUR, handshakeNs: HOUR, ageingNs: HOUR } },
    ['2001:db8::/32'],
  );
  scene.describe(proxy);
});
afterEach(() => proxy.close());

/** Of a frame over IPv6. */
const BTH = 14 + 40 + 8;

/** Hosts of one port set up connections among themselves, or acknowledge each other's packets, by that port. */
function flood(
  kind: 'exchanges' | 'traffic',
  by: Port,
  [x, y]: readonly [IpAddress, IpAddress],
  count: number,
  first = 0,
): void {
  const program = proxy.object.program(PROXY_PROGRAM);
  const packets = new Flood(program, context({ ifindex: scene.index.get(by)! }));
  const exchange = new ExchangeFrames(x, y);
  const traffic = [data({ from: x, to: y, qpn: 2, psn: 1 }), acknowledge({ from: y, to: x, qpn: 2, psn: 1 })].map(
    ethernet,
  );
  const frames = (i: number, qpn: number): readonly Uint8Array[] => {
    if (kind === 'exchanges') return exchange.numbered(i + 7, qpn);
    for (const frame of traffic) {
      put24(frame, BTH + 5, qpn);
      put24(frame, BTH + 9, i);
    }
    return traffic;
  };
  scene.netns.run(() => {
    for (let i = first; i < first + count; i++) for (const frame of frames(i, 0x10000 + i)) packets.send(frame);
  });
}

describe.each([
  ['a host port', 'host2', address('2001:db8:a2::1'), address('2001:db8:a2::2')],
  ['the core’s port by which the answers come', 'core1', address('2001:db8:c::1'), address('2001:db8:c::2')],
] as const)('PNC-6-b: a flood at %s', (_, by, x, y) => {
  const send = (port: Port, packet: Uint8Array): void => void scene.send(proxy, port, packet);
  const known = (): unknown => proxy.known({ sender: A, receiver: B, receiverQpn: 0xc8 });

  test(
    'of 90,000 exchanges neither keeps the exchange of a host at another port from being learned, nor pushes it out',
    { timeout: 300_000 },
    () => {
      send('host1', cmRequest(A, B));
      flood('exchanges', by, [x, y], 90_000);
      send('core1', cmReply(B, A));
      expect(known()).toMatchObject({ senderQpn: 0x64, confirmed: false });
      flood('exchanges', by, [x, y], 2000, 90_000);
      expect(known()).toMatchObject({ senderQpn: 0x64, confirmed: false });
      expect(proxy.counters().get('proxy.qp.removed.displaced')).toBe(92_000n - 256n);
    },
  );

  test(
    'of 130,000 packets and their answers does not keep the traffic of a host at another port from teaching its connection',
    { timeout: 300_000 },
    () => {
      const more = [90_000, 20_000, 20_000];
      for (let psn = 1; psn <= 3; psn++) {
        send('host1', data({ from: A, to: B, qpn: 0xc8, psn: 0xf00000 + psn }));
        flood('traffic', by, [x, y], more[psn - 1]!, psn * 100_000);
        send('core1', acknowledge({ from: B, to: A, qpn: 0x64, psn: 0xf00000 + psn }));
      }
      expect(known()).toMatchObject({ senderQpn: 0x64, source: 'reverse-traffic' });
      expect(proxy.counters().get('proxy.qp.sent.displaced')).toBe(130_000n - 2048n);
      expect(proxy.counters().get('proxy.qp.candidate.displaced')).toBeGreaterThan(100_000n);
    },
  );
});
