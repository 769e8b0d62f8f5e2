// In which format a sender is notified, for every combination of obstacles (bpf/lib/detector/policy.h),
// what the builder is ordered to build, and when a flow that gets Fast CNPs is marked.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { CB_TAG, EGRESS_PROGRAMS, MARK_TRIGGER } from '../../../src/kernel/dataplane/egress.ts';
import { LITTLE_ENDIAN, u32Key, viewOf } from '../../../src/kernel/dataplane/layout.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { NOTIFICATION_FORMATS, type NotificationFormat } from '../../../src/model/notification.ts';
import { ipv4, ipv6, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { compileBpf } from '../support/compile.ts';
import { CongestedRouter, LOOPBACK4, LOOPBACK6, PROXY6 } from '../support/congested-router.ts';
import { H1, H1V4, H2, H2V4, QPN, data, ecnOf, frame } from '../support/packets.ts';
import { is, until } from '../../support/until.ts';

const END_CON = address('2001:db8:c::1');
const SOURCE_QPN = 0x000064;
const V4 = { source: H1V4, destination: H2V4 };
const DEPTH = 150_000;

let r: CongestedRouter;
beforeAll(async () => {
  r = await CongestedRouter.create();
  await r.fill(DEPTH);
});
afterAll(() => r.close());
beforeEach(() => {
  r.senders(['2001:db8:1::/48', PROXY6], ['10.1.0.0/16', PROXY6]);
  r.policies(['::/0', ['proxy']], ['0.0.0.0/0', ['proxy']]);
  r.lacking();
  r.endCon(END_CON);
  r.replicationEndCons();
  r.queuePairs(
    [{ sender: H1, receiver: H2, receiverQpn: QPN }, SOURCE_QPN],
    [{ sender: H1V4, receiver: H2V4, receiverQpn: QPN }, SOURCE_QPN],
  );
  r.configure({});
  r.port({ kMax: 100_000, kMin: 50_000 });
  r.clear();
});

const everybody = (...order: NotificationFormat[]): void => r.policies(['::/0', order], ['0.0.0.0/0', order]);
const formats = (): string[] => r.records().map((sent) => sent.format);

describe('the tunnel around a flow', () => {
  const outer = [END_CON, address('2001:db8:a::2')] as const;
  const foreign = [address('2001:db8:bad::1'), address('2001:db8:a::2')] as const;
  const outer4 = [address('172.16.0.1'), address('172.16.0.2')] as const;

  test.each<[string, Uint8Array, IpAddress | null | undefined]>([
    ['none', data(), null],
    [
      'SRv6 with an SRH',
      ipv6(outer, 43, srh(41, 1, [address('2001:db8:a::3'), address('2001:db8:a::4')], data())),
      END_CON,
    ],
    ['SRv6 without SRH', ipv6(outer, 41, data()), END_CON],
    [
      'an SRH in the packet itself',
      ipv6([H1, address('2001:db8:a::3')], 43, srh(17, 1, [H2, address('2001:db8:a::3')], data().subarray(40))),
      null,
    ],
    ['a source that no router advertised', ipv6(foreign, 41, data()), undefined],
    ['two tunnels, the outer one foreign', ipv6(foreign, 41, ipv6(outer, 41, data())), undefined],
    ['two tunnels, the outer one known', ipv6(outer, 41, ipv6(foreign, 41, data())), END_CON],
    ['IPv4', ipv4(outer4, 41, data()), undefined],
  ])('FCN-4.2.2-d: %s', (_, packet, endCon) => {
    everybody('fast-cnp');
    r.send(frame(packet));
    expect(r.records().map((sent) => sent.endCon)).toEqual(endCon === undefined ? [] : [endCon]);
    expect(r.count('egress.format.no-end-con')).toBe(endCon === undefined ? 1 : 0);
    expect(r.count('egress.no-format')).toBe(endCon === undefined ? 1 : 0);
  });

  test.each([
    ['with an SRH', ipv6(outer, 43, srh(41, 1, [address('2001:db8:a::3'), address('2001:db8:a::4')], data()))],
    ['without SRH', ipv6(outer, 41, data())],
    ['with IPv4 inside', ipv6(outer, 43, srh(4, 0, [address('2001:db8:a::3')], data(V4)))],
  ])('FCN-4.2.2-d: SRv6 %s is read alike by the short way and, behind VLAN tags, by the walk', (_, packet) => {
    everybody('long-haul-roce');
    for (const tags of [
      [],
      [[0x8100, 5]],
      [
        [0x88a8, 6],
        [0x8100, 5],
      ],
    ] as const)
      r.send(frame(packet, { tags }));
    const [first, ...others] = r.records().map(({ atNs: _at, queueBytes: _depth, ...what }) => what);
    expect(first).toMatchObject({ endCon: END_CON, sourceQpn: SOURCE_QPN });
    expect(others).toEqual([first, first]);
    expect(r.flows().map((flow) => flow.packets)).toEqual([3n]);
  });

  test('PNC-1-b: a proxy is asked directly, whatever the tunnel', () => {
    r.send(frame(ipv6(foreign, 41, data())));
    r.send(frame(ipv6(outer, 41, data({ qpn: 7 }))));
    expect(r.records().map((sent) => [sent.format, sent.endCon])).toEqual([
      ['proxy', null],
      ['proxy', null],
    ]);
    expect(r.count('egress.format.no-end-con')).toBe(0);
  });

  test('FCN-4.2.2-d: the copy of a group goes back through the END.CON SID of the router that made it', () => {
    const replication = address('2001:db8:c::c2:0:0');
    const copy = ipv6([replication, outer[1]], 43, srh(41, 1, [H2, address('2001:db8:a::4')], data()));
    everybody('fast-cnp', 'long-haul-roce');
    r.send(frame(copy));
    expect([formats(), r.count('egress.format.no-end-con')]).toEqual([[], 2]);
    r.replicationEndCons([replication, END_CON]);
    r.send(frame(copy));
    expect(r.records().map(({ format, endCon }) => ({ format, endCon }))).toEqual([
      { format: 'fast-cnp', endCon: END_CON },
    ]);
    r.endCon();
    r.send(frame(copy));
    expect(r.count('egress.format.no-end-con')).toBe(4);
  });

  test('FCN-4.2.2-d: a SID that was withdrawn is no way back any more', () => {
    everybody('fast-cnp', 'proxy');
    r.send(frame(ipv6(outer, 41, data())));
    r.endCon();
    r.send(frame(ipv6(outer, 41, data())));
    expect(formats()).toEqual(['fast-cnp', 'proxy']);
  });
});

/** RTN_UNREACHABLE and its like are written by ip: cnpd itself writes none. */
function ip(line: string): void {
  const { status, stderr } = r.router.run(() => spawnSync('ip', line.split(' '), { encoding: 'utf8' }));
  if (status !== 0) throw new Error(`ip ${line}: ${stderr}`);
}

describe('no way for the notification', () => {
  const tunneled = (qpn: number): Uint8Array => ipv6([END_CON, address('2001:db8:a::2')], 41, data({ qpn }));
  const NOWHERE = address('2001:db8:dead::1');
  const CASES: [string, NotificationFormat, Uint8Array, string][] = [
    ['a proxy', 'proxy', data(), '2001:db8:ffff::1/128'],
    ['a sender', 'fast-cnp', data(), '2001:db8:1::10/128'],
    ['an END.CON', 'fast-cnp', tunneled(QPN), '2001:db8:c::1/128'],
    ['an IPv4 sender', 'long-haul-roce', data(V4), '10.1.0.10/32'],
    ['a sender of an instruction', 'long-haul-icmpv6', data(), '2001:db8:1::10/128'],
  ];
  describe.each(['unreachable', 'blackhole', 'prohibit'])('%s', (type) => {
    test.each(CASES)(
      'LHCNP-8-e: FCNP-4-b: to %s: counted, nothing passes for sent, and the flow is marked',
      (_, format, packet, destination) => {
        everybody(format);
        r.port({ kMin: 50_000, kMax: 100_000, perFlowIntervalNs: 3600e9 });
        ip(`route add ${type} ${destination} metric 1`);
        try {
          for (let i = 0; i < 3; i++) expect(ecnOf(r.send(frame(packet)).data)).toBe(3);
          expect(r.records()).toEqual([]);
          expect({
            noRoute: r.count('egress.format.no-route'),
            noFormat: r.count('egress.no-format'),
            notified: r.count('egress.notified'),
            ecnExempt: r.count('egress.ecn.exempt'),
          }).toEqual({ noRoute: 1, noFormat: 1, notified: 0, ecnExempt: 0 });
          expect(r.flows()[0]).toMatchObject({ notices: 0n, lastNotification: null });
        } finally {
          ip(`route del ${type} ${destination} metric 1`);
        }
      },
    );
  });

  test('LHCNP-8-e: where there is no route at all the next format is used', () => {
    r.senders(['2001:db8:1::/48', NOWHERE], ['10.1.0.0/16', address('198.51.100.1')]);
    everybody('proxy', 'long-haul-roce');
    for (const flow of [{}, V4]) r.send(frame(data(flow)));
    expect(formats()).toEqual(['long-haul-roce', 'long-haul-roce']);
    expect(r.count('egress.format.no-route')).toBe(2);
  });

  test('PNC-1-b: what is for this router itself needs no route', () => {
    r.own(LOOPBACK6, LOOPBACK4);
    r.senders(['2001:db8:1::/48', LOOPBACK6], ['10.1.0.0/16', LOOPBACK4]);
    for (const flow of [{}, V4]) r.send(frame(data(flow)));
    expect(formats()).toEqual(['proxy', 'proxy']);
    expect(r.count('egress.format.no-route')).toBe(0);
  });

  test('FCN-4.2.2-d: a route into a tunnel is a way', () => {
    ip('-6 route add 2001:db8:c::1/128 encap seg6 mode encap segs 2001:db8:ffff::77 dev t-bpf-up metric 1');
    try {
      everybody('fast-cnp');
      r.send(frame(tunneled(QPN)));
      expect(formats()).toEqual(['fast-cnp']);
    } finally {
      ip('-6 route del 2001:db8:c::1/128 metric 1');
    }
  });
});

describe('the policy of a sender', () => {
  test('a sender that no policy names is not notified', () => {
    r.policies(['2001:db8:1::/64', ['proxy']]);
    r.send(frame(data({ source: address('2001:db8:1:1::1') })));
    r.send(frame(data(V4)));
    expect(r.records()).toEqual([]);
    expect(r.count('egress.no-policy')).toBe(2);
  });

  test('the longest prefix decides, and a prefix of one family says nothing about the other', () => {
    r.policies(
      ['::/0', ['proxy']],
      ['2001:db8:1::/64', ['fast-cnp']],
      ['2001:db8:1::10/128', ['long-haul-icmpv6']],
      ['2001:db8:1::11/128', ['long-haul-roce']],
    );
    for (const source of ['2001:db8:1::10', '2001:db8:1::9', '2001:db8:1:1::1'])
      r.send(frame(data({ source: address(source) })));
    r.send(frame(data(V4)));
    expect(formats()).toEqual(['long-haul-icmpv6', 'fast-cnp', 'proxy']);
  });

  test('LHCNP-10.5-b: the RoCEv2 form is sent only where the policy names it', () => {
    for (const order of [
      ['long-haul-icmpv6'],
      ['fast-cnp', 'proxy'],
      ['proxy', 'long-haul-icmpv6', 'fast-cnp'],
    ] as const) {
      everybody(...order);
      for (const flow of [{}, V4]) r.send(frame(data(flow)));
    }
    expect(formats()).not.toContain('long-haul-roce');
    expect(formats().length).toBeGreaterThan(3);
  });
});

/** Everything that decides, for one flow. */
interface Situation {
  readonly family: 4 | 6;
  readonly tunnel: 'none' | 'end-con' | 'foreign';
  readonly queuePairKnown: boolean;
  readonly hasProxy: boolean;
  readonly loopbacks: readonly (4 | 6)[];
  readonly lacks: readonly NotificationFormat[];
}

/** The contract, written a second time: whether a format can be used. */
function possible(format: NotificationFormat, s: Situation): boolean {
  if (format === 'proxy') return s.hasProxy && s.loopbacks.includes(6); // of the proxy's family, which is IPv6 here
  if (s.family === 4 && format !== 'long-haul-roce') return false;
  if (!s.loopbacks.includes(s.family) || s.lacks.includes(format)) return false;
  if (s.tunnel === 'foreign' || (s.tunnel === 'end-con' && !s.loopbacks.includes(6))) return false;
  return format === 'fast-cnp' || s.queuePairKnown;
}

const subsets = <T>(items: readonly T[]): T[][] =>
  items.length === 0 ? [[]] : subsets(items.slice(1)).flatMap((rest) => [rest, [items[0]!, ...rest]]);
const permutations = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
/** Every policy that there can be: one to four different formats in any order. */
const ORDERS = subsets(NOTIFICATION_FORMATS)
  .filter((set) => set.length > 0)
  .flatMap(permutations);

describe('every combination', () => {
  const wrapped = (s: Situation, packet: Uint8Array): Uint8Array =>
    s.tunnel === 'none'
      ? packet
      : ipv6(
          [s.tunnel === 'end-con' ? END_CON : address('2001:db8:bad::1'), address('2001:db8:a::2')],
          s.family === 6 ? 41 : 4,
          packet,
        );

  const packets = new Map<string, Uint8Array>();
  function packetIn(s: Situation): Uint8Array {
    const kind = `${s.family} ${s.tunnel}`;
    const packet = packets.get(kind) ?? frame(wrapped(s, data(s.family === 6 ? {} : V4)));
    packets.set(kind, packet);
    return packet;
  }

  /** Writes only what is not as it was in `before`: most situations differ from the one before in one thing. */
  function establish(s: Situation, before: Situation | undefined): void {
    const differs = (...keys: (keyof Situation)[]): boolean => keys.some((key) => s[key] !== before?.[key]);
    const flow = { sender: s.family === 6 ? H1 : H1V4, receiver: s.family === 6 ? H2 : H2V4, receiverQpn: QPN };
    if (differs('family', 'queuePairKnown')) r.queuePairs(...(s.queuePairKnown ? [[flow, SOURCE_QPN] as const] : []));
    if (differs('hasProxy'))
      r.senders(...(s.hasProxy ? [['2001:db8:1::/48', PROXY6] as const, ['10.1.0.0/16', PROXY6] as const] : []));
    if (differs('loopbacks'))
      r.configure({
        source4: s.loopbacks.includes(4) ? LOOPBACK4 : null,
        source6: s.loopbacks.includes(6) ? LOOPBACK6 : null,
      });
    if (differs('family', 'lacks')) r.lacking([flow.sender, s.lacks]);
  }

  const lacking = subsets(['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'] as const);
  const situations = ([4, 6] as const).flatMap((family) =>
    (['none', 'end-con', 'foreign'] as const).flatMap((tunnel) =>
      [true, false].flatMap((queuePairKnown) =>
        [true, false].flatMap((hasProxy) =>
          subsets([4, 6] as const).flatMap((loopbacks) =>
            lacking.map((lacks): Situation => ({ family, tunnel, queuePairKnown, hasProxy, loopbacks, lacks })),
          ),
        ),
      ),
    ),
  );

  test.each(ORDERS.map((order) => [order.join(', '), order] as const))(
    'LHCNP-8-e: LHCNP-4-a: of %s the first possible one is used, and nothing when none is',
    async (_, order) => {
      everybody(...order);
      const wrong: unknown[] = [];
      for (const [i, s] of situations.entries()) {
        establish(s, situations[i - 1]);
        r.send(packetIn(s));
        const [sent, ...more] = r.records().splice(0);
        const expected = order.find((format) => possible(format, s));
        const endCon = expected === undefined || expected === 'proxy' || s.tunnel !== 'end-con' ? null : END_CON;
        const right =
          sent === undefined
            ? expected === undefined
            : more.length === 0 &&
              sent.format === expected &&
              sent.endCon?.value === endCon?.value &&
              sent.sourceQpn === (expected.startsWith('long-haul') ? SOURCE_QPN : 0);
        if (!right) wrong.push({ ...s, expected, sent });
        if (r.collected.length > 1000) await new Promise(setImmediate);
      }
      expect(wrong).toEqual([]);
    },
  );
});

describe('what the detector orders', () => {
  test('every format with its whole content reaches the loopback interface, and the packet keeps its own mark and control block', async () => {
    const compiled = compileBpf('test/bpf/support/programs/seen.bpf.c');
    const seen = openBpfObject(compiled.path);
    compiled.remove();
    r.attached(EGRESS_PROGRAMS.notice).detach();
    try {
      r.attach('seen', 1, 'ingress', seen);
      r.configure({ disclose: true });
      r.port({
        kMax: 100_000,
        instructions: [
          { fromBytes: null, level: 1, action: 'notify', parameter: 0 },
          { fromBytes: 100_000, level: 0xb4, action: 'rate-reduce', parameter: 0x1e },
        ],
      });
      const order = async (format: NotificationFormat, expected: number[]): Promise<void> => {
        everybody(format);
        for (let i = 0; i < 6; i++) seen.map('words').update(u32Key(i), new Uint8Array(4));
        const after = r.send(frame(data()), { mark: 0xfeed, cb: [1, 2, 3, 4, 5] });
        expect(viewOf(after.ctx!).getUint32(8, LITTLE_ENDIAN)).toBe(0xfeed);
        expect([0, 1, 2, 3, 4].map((i) => viewOf(after.ctx!).getUint32(48 + 4 * i, LITTLE_ENDIAN))).toEqual([
          1, 2, 3, 4, 5,
        ]);
        const words = (): number[] =>
          [0, 1, 2, 3, 4, 5].map((i) => viewOf(seen.map('words').lookup(u32Key(i))!).getUint32(0, LITTLE_ENDIAN));
        await until('the clone', () => words()[5], is(MARK_TRIGGER));
        expect(words()).toEqual([CB_TAG, r.portIfindex, ...expected, MARK_TRIGGER]);
      };
      // Levels begin at every 100,000 bytes: level 0 at 150,000. Metric 1: queue depth, 150 kB.
      const instruction = (0xb4 << 8) | (2 << 6) | (0x1e << 16);
      await order('proxy', [1, 0, 0]);
      await order('fast-cnp', [2, 0, 0]);
      await order('long-haul-icmpv6', [instruction | 3, 0x0100_0096, SOURCE_QPN]);
      await order('long-haul-roce', [instruction | 4, 0x0100_0096, SOURCE_QPN]);
      r.configure({ disclose: false });
      await order('long-haul-icmpv6', [instruction | 3, 0, SOURCE_QPN]); // LHCNP-6.1-n, LHCNP-9-g
      r.port({ kMax: 60_000, levelBytes: [60_000, 70_000, 80_000, 90_000, 100_000, 110_000, 160_000, 170_000] });
      await order('proxy', [1 | (5 << 3), 0, 0]);
    } finally {
      r.attached('seen').detach();
      r.attach(EGRESS_PROGRAMS.notice, 1, 'ingress');
      seen.close();
    }
  });

  test('the flow table shows how a sender was notified', () => {
    everybody('long-haul-icmpv6');
    r.port({
      kMax: 100_000,
      instructions: [
        { fromBytes: null, level: 1, action: 'notify', parameter: 0 },
        { fromBytes: 100_000, level: 200, action: 'pause', parameter: 9999 },
      ],
    });
    expect(r.send(frame(ipv6([END_CON, address('2001:db8:a::2')], 41, data()))).retval).toBe(0xffff_ffff);
    const [flow] = r.flows();
    expect(flow!.lastNotification).toMatchObject({
      format: 'long-haul-icmpv6',
      action: 'pause',
      row: 1,
      level: 200,
      parameter: 9999,
      sourceQpn: SOURCE_QPN,
      endCon: END_CON,
    });
    const { atNs, queueBytes } = r.records()[0]!;
    expect(flow!.lastNotification).toMatchObject({ atNs, queueBytes });
    expect(queueBytes).toBeGreaterThanOrEqual(DEPTH);
    expect(process.hrtime.bigint() - flow!.lastNotification!.atNs).toBeLessThan(60_000_000_000n);
  });

  test('records that are not read are counted as lost, and do not keep the notification from being sent', () => {
    r.records();
    r.send(frame(data()), { repeat: 4000 });
    expect(r.stats().notifications).toBe(4000n);
    const lost = r.count('egress.record-lost');
    expect(lost).toBeGreaterThan(0);
    expect(r.records().length).toBe(4000 - lost);
  });
});

describe('marking of flows that get Fast CNPs', () => {
  const sendMarked = (flow = {}): boolean => ecnOf(r.send(frame(data(flow))).data) === 3;

  test('FCNP-4-b: A11: a sender that understands them is not marked, on that packet and while they are being sent', () => {
    everybody('fast-cnp');
    r.port({ kMin: 50_000, kMax: 100_000, perFlowIntervalNs: 3600e9 });
    for (let i = 0; i < 5; i++) expect(sendMarked()).toBe(false);
    expect(formats()).toEqual(['fast-cnp']);
    expect(r.count('egress.ecn.exempt')).toBe(5);
    expect(r.count('egress.ecn.marked')).toBe(0);
  });

  test('FCNP-4-a: A11: a sender of which that is not known is notified and marked as well', () => {
    r.policies(['::/0', ['fast-cnp'], { markCeWithFastCnp: true }]);
    for (let i = 0; i < 5; i++) expect(sendMarked()).toBe(true);
    expect(formats().length).toBe(5);
  });

  test('LHCNP-8-f: FCNP-4-b: a flow for which no Fast CNP could be sent is marked', () => {
    everybody('fast-cnp');
    r.port({ kMin: 50_000, kMax: 100_000, noticesPerSecond: 1e-6, burst: 1, perFlowIntervalNs: 3600e9 });
    expect(sendMarked({ qpn: 10 })).toBe(false);
    expect(sendMarked({ qpn: 11 })).toBe(true);
    expect(formats()).toEqual(['fast-cnp']);
  });

  test('FCNP-4-b: below K_max nothing is sent, so the flow is marked', () => {
    everybody('fast-cnp');
    r.port({ kMin: 50_000, kMax: 200_000 });
    expect(sendMarked()).toBe(true);
  });

  test.each(['proxy', 'long-haul-icmpv6', 'long-haul-roce'] as const)('LHCNP-5.4-a: %s exempts no sender', (format) => {
    everybody(format);
    r.port({ kMin: 50_000, kMax: 100_000, perFlowIntervalNs: 3600e9 });
    for (let i = 0; i < 3; i++) expect(sendMarked()).toBe(true);
    expect(formats()).toEqual([format]);
  });

  test('FCNP-4-b: Not-ECT stays Not-ECT, and CE that came with the packet stays CE', () => {
    everybody('fast-cnp');
    for (const ecn of [0, 3]) expect(ecnOf(r.send(frame(data({ ecn }))).data)).toBe(ecn);
  });
});
