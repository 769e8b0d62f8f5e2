// How a proxy notifies senders that understand more than a standard CNP (PNC §1), in a real network: the notice comes
// from the core, what the sender hears is compared with what the agent's codec builds. The proxy's program orders it,
// the congested node's builder on the loopback interface builds it.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import type { TcxLink } from '../../../src/kernel/bpf/tc-attachment.ts';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import { EGRESS_MAPS, EGRESS_PROGRAMS, encodeEgressConfig } from '../../../src/kernel/dataplane/egress.ts';
import { prefixKey, u32Key } from '../../../src/kernel/dataplane/layout.ts';
import {
  PROXY_CONFIG_KEY,
  PROXY_MAPS,
  type SenderFormat,
  encodeProxyInstructions,
  encodeProxySender,
} from '../../../src/kernel/dataplane/proxy.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { buildLongHaulIcmpv6 } from '../../../src/packet/icmpv6/long-haul-cnp.ts';
import { ipv6, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { UNDISCLOSED } from '../../../src/packet/long-haul/body.ts';
import { buildFastCnp } from '../../../src/packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../../../src/packet/roce/long-haul-cnp.ts';
import { instructionsByLevel } from '../../../src/plan/notifier.ts';
import { intentOf } from '../../../src/plan/inputs.fixture.ts';
import { ip } from '../../support/netns.ts';
import { object } from '../support/congested-router.ts';
import { clearCounters, countOf } from '../support/counters.ts';
import { CODES, configureFormats } from '../support/notifier-plan.ts';
import {
  A,
  A4,
  B,
  B4,
  CONGESTED,
  CONGESTED4,
  DATA_SPORT,
  PROXY,
  PROXY4,
  SENDERS,
  data,
  notice,
} from '../support/proxy-under-test.ts';
import { ProxyScene } from '../support/proxy-scene.ts';
import { is, moreThan, until } from '../../support/until.ts';

const RECEIVER_QPN = 0xc8;
const SENDER_QPN = 0x64;
const PKEY = 0x8123;
const CS6 = 48 << 2;
/** Of the levels 0 … 7. */
const SAID = instructionsByLevel(intentOf(''));

let scene: ProxyScene;
let egress: BpfObject;
let builder: TcxLink;

beforeAll(() => {
  egress = openBpfObject(object('egress'));
  egress
    .map(EGRESS_MAPS.config)
    .update(
      u32Key(0),
      encodeEgressConfig({ source4: PROXY4, source6: PROXY, udpPort: 1021, flowAgeingNs: 1, flowSeed: 1n }),
    );
  configureFormats(egress);
});
afterAll(() => egress.close());
beforeEach(async () => {
  scene = await ProxyScene.create();
  ip(scene.r, 'route add 192.0.2.2/32 via 10.9.0.2');
  clearCounters(egress);
  builder = attachTcx({
    program: egress.program(EGRESS_PROGRAMS.notice),
    ifindex: 1,
    direction: 'ingress',
    netns: scene.r,
    first: true,
  });
  scene.proxy.object.map(PROXY_MAPS.instructions).update(PROXY_CONFIG_KEY, encodeProxyInstructions(SAID));
  for (const [sender, receiver] of [
    [A, B],
    [A4, B4],
  ] as const)
    scene.proxy.teach({ sender, receiver, receiverQpn: RECEIVER_QPN, senderQpn: SENDER_QPN });
});
afterEach(() => {
  builder.close();
  scene.close();
  expect(scene.errors).toEqual([]);
});

const understands = (format: SenderFormat): void => {
  for (const text of SENDERS)
    scene.proxy.object
      .map(PROXY_MAPS.senders)
      .update(prefixKey(prefix(text)), encodeProxySender({ prefix: prefix(text), format }));
};
const counted = (name: string): number => Number(scene.proxy.counters().get(name) ?? 0n);
const built = (name: string): number => countOf(egress, name);
const packetOf = (a: IpAddress, b: IpAddress, size = 1024): Uint8Array =>
  data({ from: a, to: b, qpn: RECEIVER_QPN, psn: 6, size, pkey: PKEY });
const sourceOf = (a: IpAddress): IpAddress => (a.family === 6 ? PROXY : PROXY4);

const EXPECTED = {
  'fast-cnp': (a: IpAddress, b: IpAddress) =>
    buildFastCnp({
      source: sourceOf(a),
      destination: a,
      sourcePort: DATA_SPORT,
      destQpn: RECEIVER_QPN,
      originalDestination: b,
      trace: undefined,
      codes: { ...CODES, icrc: 'cover' },
      pkey: PKEY,
      hopLimit: 64,
    }),
  'long-haul-icmpv6': (a: IpAddress, _b: IpAddress, level = 3) =>
    buildLongHaulIcmpv6({
      source: sourceOf(a),
      destination: a,
      cnp: { ...SAID[level]!, sourceQpn: SENDER_QPN, metric: UNDISCLOSED, objects: [] },
      codes: { type: 200, objectClass: 247 },
      hopLimit: 64,
      trafficClass: CS6,
    }),
  'long-haul-roce': (a: IpAddress, _b: IpAddress, level = 3) =>
    buildLongHaulRoce({
      source: sourceOf(a),
      destination: a,
      sourcePort: DATA_SPORT,
      pkey: PKEY,
      cnp: { ...SAID[level]!, sourceQpn: SENDER_QPN, metric: UNDISCLOSED, objects: [] },
      objectClass: 247,
      // An IPv4 notice's ID is that of any other: it is not fragmented.
      hopLimit: 64,
    }),
} as const;
type Direct = keyof typeof EXPECTED;

/** What arrives at the sender after a notice. */
async function heard(packet: Uint8Array): Promise<Uint8Array> {
  scene.fromCore(packet);
  const [only] = await until(
    'the sender hears of it, once',
    () => scene.atHost.map(toHex),
    (all) => all.length === 1 && scene.atHost,
  );
  return only!;
}

describe.each([
  ['fast-cnp', A, B],
  ['long-haul-icmpv6', A, B],
  ['long-haul-roce', A, B],
  ['long-haul-roce', A4, B4],
] as const)('PNC-1-a: a prefix whose senders understand %s', (format: Direct, a, b) => {
  beforeEach(() => understands(format));

  test.each([
    ['IPv6', CONGESTED, PROXY],
    ['IPv4', CONGESTED4, PROXY4],
  ] as const)('hears it, from the loopback of the proxy, after a notice over %s', async (_, source, destination) => {
    scene.proxy.configure({ address: destination });
    understands(format);
    const got = await heard(notice(packetOf(a, b), { source, destination }));
    expect(toHex(got)).toBe(toHex(EXPECTED[format](a, b)));
    expect({
      ordered: counted(`proxy.${format}.ordered`),
      cnpsSent: counted('proxy.cnp.sent'),
      built: built(`notice.built.${format}`),
    }).toEqual({ ordered: 1, cnpsSent: 0, built: 1 });
  });

  test('also about a packet that was cut, and about one in an SRv6 tunnel: to the sender itself', async () => {
    expect(toHex(await heard(notice(packetOf(a, b, 4000))))).toBe(toHex(EXPECTED[format](a, b)));
    scene.atHost.length = 0;
    const tunnel = ipv6(
      [address('2001:db8:ffff::2'), address('2001:db8:d::1')],
      43,
      srh(a.family === 6 ? 41 : 4, 0, [address('2001:db8:e::1')], packetOf(a, b)),
    );
    expect(toHex(await heard(notice(tunnel)))).toBe(toHex(EXPECTED[format](a, b)));
  });

  test('PNC-6-b: hears it as rarely as a CNP, and nothing about a connection that the proxy does not know', async () => {
    scene.proxy.configure({ perFlowIntervalNs: 3_600_000_000_000 });
    understands(format);
    await heard(notice(packetOf(a, b)));
    for (let i = 0; i < 5; i++) scene.fromCore(notice(packetOf(a, b)));
    scene.fromCore(notice(data({ from: a, to: b, qpn: 77, psn: 1 })));
    await until('all notices came', () => counted('proxy.notice.received'), is(7));
    expect({
      flowLimited: counted('proxy.notice.flow-limited'),
      qpUnknown: counted('proxy.notice.qp-unknown'),
      ordered: counted(`proxy.${format}.ordered`),
      atHost: scene.atHost.length,
    }).toEqual({ flowLimited: 5, qpUnknown: 1, ordered: 1, atHost: 1 });
  });

  test('hears it about a notice of the router itself, on its loopback interface', async () => {
    scene.onLoopback(notice(packetOf(a, b)));
    await until('the sender hears of it', () => scene.atHost.length, is(1));
    expect(toHex(scene.atHost[0]!)).toBe(toHex(EXPECTED[format](a, b)));
  });

  test('without a builder nothing reaches anybody: neither sender nor receiver sees the packet that the notice carried', async () => {
    builder.close();
    scene.fromCore(notice(packetOf(a, b, 64)));
    scene.onLoopback(notice(packetOf(a, b, 64)));
    await until('both are ordered', () => counted(`proxy.${format}.ordered`), is(2));
    // What comes behind has come alone.
    scene.fromHost(packetOf(a, b, 8));
    await until('the packet behind', () => scene.atCore.length, moreThan(0));
    expect({ atHost: scene.atHost.length, atCore: scene.atCore.map((packet) => packet.length) }).toEqual({
      atHost: 0,
      atCore: [packetOf(a, b, 8).length],
    });
  });
});

test('a Long-haul CNP has what the table has for the level of the notice', async () => {
  understands('long-haul-icmpv6');
  for (let level = 0; level < 8; level++) {
    scene.atHost.length = 0;
    expect(toHex(await heard(notice(packetOf(A, B), { level }))), `level ${level}`).toBe(
      toHex(EXPECTED['long-haul-icmpv6'](A, B, level)),
    );
  }
  expect(SAID.map(({ level, parameter }) => [level, parameter])).toEqual([
    [180, 30],
    [180, 30],
    [205, 40],
    [205, 40],
    [230, 50],
    [230, 50],
    [230, 50],
    [230, 50],
  ]);
});
