// The border guard: what it drops in either direction, and that it drops nothing else.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import {
  GUARD_MAPS,
  GUARD_PORT_SIZE,
  GUARD_PROGRAMS,
  decodeGuardPort,
  encodeGuardPort,
  guardPortKey,
} from '../../../src/kernel/dataplane/guard.ts';
import { concat, put16 } from '../../../src/packet/bytes.ts';
import { fragment, ipv4, ipv6, options, srh, udp } from '../../../src/packet/ip/packets.fixture.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { Rtnetlink } from '../../../src/kernel/netlink/rtnetlink.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { isKernelError } from '../../../src/kernel/errors.ts';
import { openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import { PNC_PORT, PROXY4, PROXY6, object } from '../support/congested-router.ts';
import { countOf } from '../support/counters.ts';
import { BORDER, type Direction, GuardUnderTest, NODE, NODE4, notice4, notice6 } from '../support/guard-under-test.ts';
import { DROP, H1V4, H2V4, NEXT, data, frame } from '../support/packets.ts';
import { until } from '../../support/until.ts';

let guard: GuardUnderTest;
beforeAll(() => void (guard = new GuardUnderTest()));
afterAll(() => guard.close());
beforeEach(() => {
  guard.configure({ udpPort: PNC_PORT });
  guard.clearCounters();
});

const count = (name: string): number => guard.count(name);
const verdict = (direction: Direction, bytes: Uint8Array): number => guard.verdict(direction, bytes);

const ends = [NODE, PROXY6] as const;
const ends4 = [NODE4, PROXY4] as const;
const datagram = notice6.subarray(40);
const withOptions = concat(notice4.subarray(0, 20), Uint8Array.of(1, 1, 1, 0), notice4.subarray(20));
withOptions[0] = 0x46;
const firstFragment4 = notice4.slice();
put16(firstFragment4, 6, 0x2000);

const NOTICES: [string, Uint8Array][] = [
  ['plain IPv6', frame(notice6)],
  ['plain IPv4', frame(notice4)],
  ['behind a VLAN tag', frame(notice6, { tags: [[0x8100, 100]] })],
  [
    'behind two VLAN tags',
    frame(notice4, {
      tags: [
        [0x88a8, 100],
        [0x8100, 100],
      ],
    }),
  ],
  ['behind IPv4 options', frame(withOptions)],
  ['behind hop-by-hop and destination options', frame(ipv6(ends, 0, options(60, 0, options(17, 2, datagram))))],
  ['behind an SRH', frame(ipv6(ends, 43, srh(17, 1, [PROXY6], datagram)))],
  ['in an atomic IPv6 fragment', frame(ipv6(ends, 44, fragment(17, 0, false, datagram)))],
  ['in a first IPv6 fragment', frame(ipv6(ends, 44, fragment(17, 0, true, datagram.subarray(0, 64))))],
  ['in a first IPv4 fragment', frame(firstFragment4)],
  ['in an IPv6 tunnel', frame(ipv6(ends, 41, notice6))],
  ['in SRv6', frame(ipv6(ends, 43, srh(41, 0, [PROXY6], notice6)))],
  ['IPv4 in SRv6', frame(ipv6(ends, 43, srh(4, 0, [PROXY6], notice4)))],
  ['IPv6 in IPv4', frame(ipv4(ends4, 41, notice6))],
  ['truncated behind its UDP header', frame(notice6).subarray(0, 14 + 40 + 8)],
  ['truncated and tagged', frame(notice4, { tags: [[0x8100, 100]] }).subarray(0, 18 + 20 + 8)],
];

const OTHERS: [string, Uint8Array][] = [
  ['RoCEv2 over IPv6', frame(data())],
  ['RoCEv2 over IPv4', frame(data({ source: H1V4, destination: H2V4 }))],
  ['RoCEv2 in SRv6', frame(ipv6(ends, 43, srh(41, 0, [PROXY6], data())))],
  ['UDP from the port of notices', frame(ipv6(ends, 17, udp(PNC_PORT, 4000)))],
  ['UDP to the next port', frame(ipv4(ends4, 17, udp(4000, PNC_PORT + 1)))],
  ['TCP to the port of notices', frame(ipv6(ends, 6, udp(4000, PNC_PORT, new Uint8Array(20))))],
  ['a later fragment', frame(ipv6(ends, 44, fragment(17, 8, false, datagram)))],
  [
    'ARP',
    (() => {
      const f = frame(data());
      put16(f, 12, 0x0806);
      return f;
    })(),
  ],
  [
    'IS-IS',
    (() => {
      const f = frame(data());
      put16(f, 12, 1000);
      return f;
    })(),
  ],
  ['IPv6 cut within its options', frame(ipv6(ends, 0, options(17, 8, new Uint8Array(0)))).subarray(0, 14 + 40 + 20)],
  [
    'IPv4 that claims to be IPv6',
    (() => {
      const f = frame(notice6);
      put16(f, 12, 0x0800);
      return f;
    })(),
  ],
];

describe.each([
  ['PNC-6-c: notices from outside', 'ingress', 'guard.ingress.dropped'],
  ['PNC-6-d: notices that would leave', 'egress', 'guard.egress.dropped'],
] as const)('%s', (_, direction, counter) => {
  test.each(NOTICES)(`${direction === 'ingress' ? 'PNC-6-c' : 'PNC-6-d'}: %s: dropped and counted`, (_name, bytes) => {
    expect(verdict(direction, bytes)).toBe(DROP);
    expect(count(counter)).toBe(1);
  });

  test.each(OTHERS)('%s: passed on, unchanged', (_name, bytes) => {
    const result = guard.run(direction, bytes);
    expect(result.retval).toBe(NEXT);
    expect(result.data).toEqual(bytes);
  });
});

describe('PNC-6-c: hiding places', () => {
  test('PNC-6-c: a first fragment that ends within its header chain is dropped, under a name of its own', () => {
    expect(
      verdict(
        'ingress',
        frame(ipv6(ends, 44, fragment(60, 0, true, options(17, 3, new Uint8Array(0)).subarray(0, 24)))),
      ),
    ).toBe(DROP);
    expect(count('guard.ingress.evasive')).toBe(1);
  });

  test('PNC-6-d: a chain of more headers than anybody uses is dropped', () => {
    const chain = (length: number): Uint8Array =>
      Array.from({ length }).reduce<Uint8Array>((inner, _, i) => options(i === 0 ? 17 : 60, 0, inner), datagram);
    expect(verdict('egress', frame(ipv6(ends, 60, chain(11))))).toBe(DROP);
    expect(count('guard.egress.dropped')).toBe(1);
    expect(verdict('egress', frame(ipv6(ends, 60, chain(12))))).toBe(DROP);
    expect(count('guard.egress.evasive')).toBe(1);
  });
});

describe('the port of notices', () => {
  test('PNC-6-c: is the configured one', () => {
    guard.configure({ udpPort: 47_000, arnUdpPort: 47_001 });
    expect(verdict('ingress', frame(notice6))).toBe(NEXT);
    expect(verdict('ingress', frame(ipv6(ends, 17, udp(1, 47_000))))).toBe(DROP);
    expect(decodeGuardPort(guard.object.map(GUARD_MAPS.ports).lookup(guardPortKey(BORDER))!)).toEqual({
      udpPort: 47_000,
      arnUdpPort: 47_001,
    });
    expect(guard.object.map(GUARD_MAPS.ports).info.valueSize).toBe(GUARD_PORT_SIZE);
  });

  test('a port that is not configured passes everything, counted', () => {
    guard.object.map(GUARD_MAPS.ports).delete(guardPortKey(BORDER));
    for (const [, bytes] of NOTICES) expect(verdict('ingress', bytes)).toBe(NEXT);
    expect(count('guard.unconfigured')).toBe(NOTICES.length);
  });
});

describe('on a real interface', () => {
  test.each([
    ['PNC-6-c: from outside', 'ingress', 'guard.ingress.dropped'],
    ['PNC-6-d: leaving', 'egress', 'guard.egress.dropped'],
  ] as const)('%s: notices vanish, RoCEv2 passes', async (_, direction, counter) => {
    const [near, far] = [Netns.create(), Netns.create()];
    const poller = Poller.open({
      onError: (error) => {
        throw error;
      },
    });
    const [rtnl, farRtnl] = [Rtnetlink.open({ netns: near }, { poller }), Rtnetlink.open({ netns: far }, { poller })];
    // Guards against other ports, attached behind the one under test, count what it let through.
    const behind = { notices: openBpfObject(object('guard')), roce: openBpfObject(object('guard')) };
    try {
      await rtnl.createVeth({ name: 't-bpf-border', peer: { name: 't-bpf-out', netns: far } });
      await rtnl.setLink('t-bpf-border', { up: true });
      await farRtnl.setLink('t-bpf-out', { up: true });
      const { ifindex } = (await rtnl.link('t-bpf-border'))!;
      const configure = (o: BpfObject, udpPort: number): void =>
        o.map(GUARD_MAPS.ports).update(guardPortKey(ifindex), encodeGuardPort({ udpPort }));
      configure(guard.object, PNC_PORT);
      configure(behind.notices, PNC_PORT);
      configure(behind.roce, 4791);
      const links = [guard.object, behind.notices, behind.roce].map((o) =>
        attachTcx({ program: o.program(GUARD_PROGRAMS[direction]), ifindex, direction, netns: near }),
      );
      const modules = {
        poller,
        onFrame: () => {},
        onError: (error: Error): void => {
          throw error;
        },
      };
      const sender = openPacketSocket(
        direction === 'ingress' ? { interface: 't-bpf-out', netns: far } : { interface: 't-bpf-border', netns: near },
        modules,
      );
      const send = (bytes: Uint8Array): void => {
        try {
          sender.send(bytes);
        } catch (error) {
          if (!isKernelError(error, 'ENOBUFS')) throw error; // what the kernel says when egress drops a frame
        }
      };
      for (let i = 0; i < 50; i++) for (const [, bytes] of [...NOTICES, ...OTHERS]) send(bytes);
      const dropped = (o: BpfObject): number => countOf(o, counter);
      await until(
        'everything arrived',
        () => [dropped(guard.object), dropped(behind.roce)] as const,
        ([a, b]) => a === 50 * NOTICES.length && b === 50 * 3,
      );
      expect(dropped(behind.notices)).toBe(0);
      guard.object.map(GUARD_MAPS.ports).delete(guardPortKey(ifindex));
      sender.close();
      for (const link of links) link.detach();
    } finally {
      for (const o of Object.values(behind)) o.close();
      for (const socket of [rtnl, farRtnl, poller, near, far]) socket.close();
    }
  });
});
