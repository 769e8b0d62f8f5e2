// Fast CNPs about copies behind an edge: the copy has the Proxy Address as its source, so that is where a congested
// router sends them. The edge counts them as CNPs of the receivers that they name.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import { openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { EGRESS_PROGRAMS, MARK_TRIGGER } from '../../../src/kernel/dataplane/egress.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { buildFastCnp } from '../../../src/packet/roce/fast-cnp.ts';
import { buildRocePacket, parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { CODES, NoticeBuilder, TRACE, orderWords } from '../support/builder-under-test.ts';
import { compileBpf } from '../support/compile.ts';
import { object } from '../support/congested-router.ts';
import { receiver, receiverAddress } from '../support/multicast-branches.ts';
import { DESIGNATED, EDGE, PARENT, PROXY, changed, inner, tunnel } from '../support/multicast-packets.ts';
import { MulticastRouter } from '../support/multicast-scene.ts';
import { context, frame } from '../support/packets.ts';

/** A congested switch in front of the first receivers, and a host there. */
const SWITCH = address('2001:db8:1::5');
const HOST = address('2001:db8:1::66');
/** A router behind the core port. */
const FAR = address('2001:db8:c00::5');

let router: MulticastRouter;
beforeAll(async () => {
  router = await MulticastRouter.create();
});
afterAll(() => router.close());
beforeEach(async () => {
  router.reset();
  router.group({ cnpWindowNs: 0 });
  router.notifier(SWITCH);
  router.notifier(FAR);
  router.members([receiver(0, { psnDelta: 0 }), receiver(2, { psnDelta: 0 })], { joined: true });
  await router.exchange(() => router.arrive('p', tunnel(inner({ psn: 1 }))));
});

interface About {
  readonly of?: IpAddress;
  readonly receiver?: IpAddress;
  readonly qpn?: number;
  readonly trace?: { readonly kind: 0; readonly bytes: Uint8Array };
}
const fastCnp = ({ of = SWITCH, receiver: about = receiverAddress(2), qpn = receiver(2).qpn, trace }: About = {}) =>
  buildFastCnp({
    source: of,
    destination: PROXY,
    sourcePort: 0xc456,
    destQpn: qpn,
    originalDestination: about,
    trace,
    codes: { ...CODES, icrc: 'cover' },
    hopLimit: 64,
  });
/** With a window of 0 the first CNP opens one, the second closes it. */
const up = async (from: 'h1' | 'p', ...packets: Uint8Array[]): Promise<Uint8Array[]> =>
  (await router.exchange(() => packets.forEach((packet) => router.arrive(from, packet)))).p;

const asCnpOf = (of: IpAddress) => [
  {
    ok: true,
    value: {
      source: of,
      destination: PROXY,
      sourcePort: 0xc456,
      icrcValid: true,
      bth: { opcode: 0x81, destQpn: DESIGNATED, becn: true },
    },
  },
];

describe('a Fast CNP to the Proxy Address', () => {
  test.each<[string, About]>([
    ['with option 1', {}],
    ['with the trace of option 2', { trace: { kind: 0, bytes: TRACE.slice(6, 30) } }],
  ])('RMC-1.1-b: FCNP-3-e: %s goes up as a CNP of the receiver that it names', async (_, about) => {
    const one = fastCnp(about);
    const left = await up('h1', one, one);
    expect(left.map((packet) => packet.subarray(8, 40))).toEqual([tunnelAddresses(EDGE, PARENT)]);
    expect(left.map((packet) => parseRocePacket(packet.subarray(40)))).toMatchObject(asCnpOf(receiverAddress(2)));
    expect(router.counts()).toMatchObject({ notices: 2, cnps: 2, 'up.cnp': 1 });
  });

  test('RMC-5.3.3-b: it counts like the CNPs of receivers: the branch with more of both goes up', async () => {
    const own = buildRocePacket({
      ...{ source: receiverAddress(0), destination: PROXY, sourcePort: 0xc123, trafficClass: 0xc0, hopLimit: 64 },
      ...{ bth: { opcode: 0x81, destQpn: DESIGNATED, psn: 0, becn: true }, payload: new Uint8Array(16) },
    });
    router.group({ cnpWindowNs: 4_000_000_000 });
    expect(await up('h1', fastCnp(), own, fastCnp())).toEqual([]);
    expect([0, 1].map((i) => router.record(11 * 64 + i).cnps)).toEqual([1n, 2n]);
  });

  test.each<[string, string, () => Uint8Array]>([
    ['of a host', 'notices.foreign', () => fastCnp({ of: HOST })],
    ['of a router that is routed elsewhere', 'notices.foreign', () => fastCnp({ of: FAR })],
    ['about a stranger', 'answers.stranger', () => fastCnp({ receiver: receiverAddress(30) })],
    ['about another Queue Pair', 'answers.stranger', () => fastCnp({ qpn: 9 })],
    ['with another option', 'proxy.malformed', () => changed(fastCnp(), 42, 0x3e)],
    ['with a length of its option that is wrong', 'proxy.malformed', () => changed(fastCnp(), 43, 15)],
    ['with other lengths', 'proxy.malformed', () => changed(fastCnp(), 5, 63)],
    ['that is no CNP', 'proxy.malformed', () => changed(fastCnp(), 72, 4)],
    ['to another UDP port', 'proxy.malformed', () => changed(fastCnp(), 66, 0)],
    ['with another header behind its options', 'proxy.malformed', () => changed(fastCnp(), 40, 6)],
  ])('FCNP-5-c: RMC-9-b: %s is dropped and counted', async (_, counter, packet) => {
    expect(await up('h1', packet(), packet())).toEqual([]);
    expect(router.count(counter)).toBe(2);
    expect(router.count('cnps')).toBe(0);
  });

  test('of a router behind the core comes by the core port', async () => {
    expect(await up('p', fastCnp({ of: FAR }), fastCnp({ of: FAR }))).toHaveLength(1);
  });
});

const tunnelAddresses = (from: IpAddress, to: IpAddress): Uint8Array => fastCnpBetween(from, to).slice(8, 40);
const fastCnpBetween = (source: IpAddress, destination: IpAddress): Uint8Array =>
  buildRocePacket({
    ...{ source, destination, sourcePort: 1, trafficClass: 0, hopLimit: 64 },
    ...{ bth: { opcode: 0x81, destQpn: 1, psn: 0 }, payload: new Uint8Array(16) },
  });

describe('the edge is congested itself', () => {
  const order = compileBpf('test/bpf/support/programs/order.bpf.c');
  const program = openBpfObject(order.path);
  const closing: (() => void)[] = [];
  afterEach(() => closing.splice(0).forEach((close) => close()));
  afterAll(() => {
    program.close();
    order.remove();
  });

  /** A copy for receiver 2, as it would leave. */
  const copy = inner({ source: PROXY, destination: receiverAddress(2), qpn: receiver(2).qpn });
  const trigger = (): void =>
    void program.program('order').testRun({
      data: frame(copy),
      ctx: context({ ifindex: router.ifindex.c1, mark: MARK_TRIGGER, cb: orderWords({ format: 'fast-cnp' }) }),
      netns: router.netns,
    });

  test.each(['before', 'behind'])(
    'RMC-1.1-b: its own Fast CNP about a copy goes up, though no route leads to the Proxy Address; attached %s the builder',
    async (place) => {
      const builder = new NoticeBuilder(object('egress'));
      const notice = {
        program: builder.object.program(EGRESS_PROGRAMS.notice),
        ifindex: 1,
        direction: 'ingress',
      } as const;
      closing.push(() => builder.close());
      if (place === 'before') closing.push(router.attachLoopback());
      const link = attachTcx({ ...notice, netns: router.netns });
      closing.push(() => link.close());
      if (place === 'behind') closing.push(router.attachLoopback());
      const { p } = await router.exchange(() => {
        trigger();
        trigger();
      });
      expect(p.map((packet) => parseRocePacket(packet.subarray(40)))).toMatchObject([
        { ok: true, value: { source: receiverAddress(2), destination: PROXY, icrcValid: true } },
      ]);
      expect(router.counts()).toMatchObject({ notices: 2, 'up.cnp': 1 });
    },
  );

  test('FCNP-5-c: on the loopback interface, a packet that no builder has made is left alone', async () => {
    closing.push(router.attachLoopback());
    router.notifier(address('2001:db8:1::1'));
    await router.exchange(() => {
      for (let i = 0; i < 2; i++)
        program.program('order').testRun({
          data: frame(fastCnp({ of: address('2001:db8:1::1') }), { macs: new Uint8Array(12) }),
          ctx: context({ ifindex: router.ifindex.c1 }),
          netns: router.netns,
        });
    });
    expect(['notices', 'notices.foreign', 'cnps'].map((name) => router.count(name))).toEqual([0, 0, 0]);
  });
});
