// Detector and builder together: a data packet at a congested port, and on the uplink's wire the notification that its
// sender's policy asks for.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type IpAddress, address } from '../../../src/model/address.ts';
import type { NotificationFormat } from '../../../src/model/notification.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { buildLongHaulIcmpv6 } from '../../../src/packet/icmpv6/long-haul-cnp.ts';
import { ipv6, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { buildFastCnp } from '../../../src/packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../../../src/packet/roce/long-haul-cnp.ts';
import { decapsulate } from '../../../src/packet/srv6/encapsulation.ts';
import { CongestedRouter, LOOPBACK4, LOOPBACK6 } from '../support/congested-router.ts';
import { CODES, configureFormats } from '../support/notifier-plan.ts';
import { H1, H1V4, H2, H2V4, QPN, data, ecnOf, frame } from '../support/packets.ts';
import { until } from '../../support/until.ts';

const END_CON = address('2001:db8:c::1');
const SOURCE_QPN = 100;
const DEPTH = 150_000;
const CS6 = 48 << 2;

let r: CongestedRouter;
beforeAll(async () => {
  r = await CongestedRouter.create();
  await r.fill(DEPTH);
  configureFormats(r.egress);
  r.endCon(END_CON);
});
afterAll(() => r.close());
beforeEach(() => {
  r.configure({ disclose: true });
  r.port({
    kMax: 100_000,
    instructions: [
      { fromBytes: 0, level: 100, action: 'notify', parameter: 0 },
      { fromBytes: 100_000, level: 180, action: 'rate-reduce', parameter: 30 },
    ],
  });
  r.queuePairs(
    [{ sender: H1, receiver: H2, receiverQpn: QPN }, SOURCE_QPN],
    [{ sender: H1V4, receiver: H2V4, receiverQpn: QPN }, SOURCE_QPN],
  );
  r.clear();
});
afterEach(() => r.clear());

const isNotice = (f: Uint8Array): boolean => (f[14]! >> 4 === 6 ? ((f[14]! & 15) << 4) | (f[15]! >> 4) : f[15]) === CS6;

/** The one notification that the packet brings about, on the wire. */
async function built(format: NotificationFormat, packet: Uint8Array): Promise<Uint8Array> {
  r.policies(['::/0', [format]], ['0.0.0.0/0', [format]]);
  r.send(frame(packet));
  await until(
    'the notification',
    () => r.collected,
    (all) => all.some(isNotice),
    30_000,
  );
  expect(r.collected.filter(isNotice)).toHaveLength(1);
  return r.collected.find(isNotice)!.subarray(14);
}

const cnp = {
  level: 180,
  action: 'rate-reduce' as const,
  parameter: 30,
  sourceQpn: SOURCE_QPN,
  metric: { type: 1, value: DEPTH / 1000 },
  objects: [],
};
const from = (family: 4 | 6): { source: IpAddress; destination: IpAddress } => ({
  source: family === 6 ? LOOPBACK6 : LOOPBACK4,
  destination: family === 6 ? H1 : H1V4,
});
const fastCnp = (): Uint8Array =>
  buildFastCnp({
    ...from(6),
    sourcePort: 0xc001,
    destQpn: QPN,
    originalDestination: H2,
    trace: undefined,
    codes: CODES,
  });
const icmpv6 = (): Uint8Array => buildLongHaulIcmpv6({ ...from(6), cnp, codes: { type: 200, objectClass: 247 } });
const roce = (family: 4 | 6): Uint8Array =>
  buildLongHaulRoce({ ...from(family), sourcePort: 0xc001, cnp, objectClass: 247 });
const inTunnel = (inner: Uint8Array): Uint8Array =>
  ipv6(
    [END_CON, address('2001:db8:d::1')],
    43,
    srh(inner[0]! >> 4 === 4 ? 4 : 41, 0, [address('2001:db8:e::1')], inner),
  );

const V4 = { source: H1V4, destination: H2V4 };
const CASES: readonly (readonly [string, NotificationFormat, Uint8Array, () => Uint8Array])[] = [
  ['Fast CNP', 'fast-cnp', data(), fastCnp],
  ['Long-haul CNP in ICMPv6', 'long-haul-icmpv6', data(), icmpv6],
  ['Long-haul CNP in RoCEv2', 'long-haul-roce', data(), () => roce(6)],
  ['Long-haul CNP in RoCEv2 over IPv4', 'long-haul-roce', data(V4), () => roce(4)],
];

describe.each(CASES)('%s', (_, format, packet, expected) => {
  test('FCNP-4-c, FCNP-4-d, FCNP-4-g, LHCNP-5.5-c, LHCNP-5.5-d, LHCNP-5.5-e, LHCNP-5.5-f: straight to the sender, hop limit 64', async () => {
    expect(toHex(await built(format, packet))).toBe(toHex(expected()));
  });

  test('A17, FCN-4.2.2-d: from inside a tunnel, to its END.CON', async () => {
    const outer = await built(format, inTunnel(packet));
    const inner = decapsulate(outer);
    if (!inner.ok) throw new Error(inner.error.detail);
    expect(inner.value.outer).toMatchObject({
      source: LOOPBACK6,
      destination: END_CON,
      hopLimit: 64,
      trafficClass: CS6,
    });
    expect(toHex(inner.value.inner)).toBe(toHex(expected()));
  });
});

test('A11, FCNP-4-b: a sender that gets a Fast CNP finds no CE on that packet', async () => {
  r.port({ kMin: 50_000, kMax: 100_000, perFlowIntervalNs: 60e9 });
  r.policies(['::/0', ['fast-cnp']]);
  expect(ecnOf(r.send(frame(data({ ecn: 2 }))).data)).toBe(2);
  await until(
    'the notification',
    () => r.collected,
    (all) => all.some(isNotice),
    30_000,
  );
});

test('LHCNP-6.1-n, LHCNP-9-g: what is not to be disclosed is not: metric type and value are 0', async () => {
  r.configure({ disclose: false });
  expect(toHex((await built('long-haul-icmpv6', data())).subarray(52))).toBe('00000000');
});
