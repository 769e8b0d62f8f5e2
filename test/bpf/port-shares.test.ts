// What anybody can fill is divided among the ports: a flood at one port stops nothing from being learned at another.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_LEARNING_LIMITS, PROXY_PROGRAM } from '../../src/kernel/dataplane/proxy.ts';
import { type IpAddress, address } from '../../src/model/address.ts';
import { put24, put32 } from '../../src/packet/bytes.ts';
import { ICRC_LENGTH, icrc, writeIcrc } from '../../src/packet/roce/icrc.ts';
import { type Port, PortsScene } from './ports-scene.ts';
import { A, B, ProxyUnderTest, acknowledge, cm, compileProxy, context, data, ethernet } from './proxy-fixture.ts';

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

const none = { privateData: new Uint8Array() };
const request = (from: IpAddress, to: IpAddress, localQpn = 0x64, localCommId = 1): Uint8Array =>
  cm(from, to, {
    kind: 'req',
    localCommId,
    serviceId: 1n,
    localQpn,
    startingPsn: 1,
    transport: 0,
    responderResources: 1,
    initiatorDepth: 1,
    pkey: 0xffff,
    pathMtu: 3,
    retryCount: 7,
    rnrRetryCount: 7,
    localGid: from,
    remoteGid: to,
    ...none,
  });
const reply = (from: IpAddress, to: IpAddress, localQpn = 0xc8, remoteCommId = 1): Uint8Array =>
  cm(from, to, {
    kind: 'rep',
    localCommId: remoteCommId + 100,
    remoteCommId,
    localQpn,
    startingPsn: 9,
    responderResources: 1,
    initiatorDepth: 1,
    ...none,
  });

/** Behind the IPv6 header: UDP 8, BTH 12, DETH 8, MAD 24. */
const BTH = 14 + 40 + 8;
const BODY = BTH + 12 + 8 + 24;

/** Hosts of one port set up connections among themselves, or acknowledge each other's packets, by that port. */
function flood(
  kind: 'exchanges' | 'traffic',
  by: Port,
  [x, y]: readonly [IpAddress, IpAddress],
  count: number,
  first = 0,
): void {
  const program = proxy.object.program(PROXY_PROGRAM);
  const ctx = context({ ifindex: scene.index.get(by)! });
  const [there, back] = (
    kind === 'exchanges'
      ? [request(x, y), reply(y, x)]
      : [data({ from: x, to: y, qpn: 2, psn: 1 }), acknowledge({ from: y, to: x, qpn: 2, psn: 1 })]
  ).map(ethernet) as [Uint8Array, Uint8Array];
  const sign = (frame: Uint8Array): void =>
    writeIcrc(frame, frame.length - ICRC_LENGTH, icrc(frame.subarray(14), 40, frame.length - 14 - ICRC_LENGTH));
  scene.netns.run(() => {
    for (let i = first; i < first + count; i++) {
      const qpn = 0x10000 + i;
      if (kind === 'exchanges') {
        put32(there, BODY, i + 7);
        put24(there, BODY + 32, qpn);
        put32(back, BODY, i + 7);
        put32(back, BODY + 4, i + 7);
        put24(back, BODY + 12, qpn);
        sign(there);
        sign(back);
      } else {
        for (const frame of [there, back]) {
          put24(frame, BTH + 5, qpn);
          put24(frame, BTH + 9, i);
        }
      }
      for (const frame of [there, back]) program.testRun({ data: frame, ctx });
    }
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
      send('host1', request(A, B));
      flood('exchanges', by, [x, y], 90_000);
      send('core1', reply(B, A));
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
