// END.CON across an SRv6 domain with real FRR and real seg6 encapsulation: the congested node is a P router that sees
// RoCEv2 inside tunnels. FRR distributes the SIDs, the notifications go back through them, and reach the senders as
// they were built.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../src/model/address.ts';
import type { NotificationFormat } from '../../src/model/notification.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { walkHeaders } from '../../src/packet/ip/walk.ts';
import { buildCnp } from '../../src/packet/roce/cnp.ts';
import { OPCODE } from '../../src/packet/roce/opcodes.ts';
import { buildRocePacket } from '../../src/packet/roce/packet.ts';
import { decapsulate, encapsulate } from '../../src/packet/srv6/encapsulation.ts';
import { NF_HOOK, acceptAt } from '../bpf/support/firewall.ts';
import { ownObjects, shownObjects } from './support/bpf-objects.ts';
import { type Notification, notification } from './support/notifications.ts';
import { type Flow, type Port, rocePackets } from './support/port.ts';
import { END_CON, LOOPBACK, P, PE1, PE2, PE2_SID, Wan } from './support/wan.ts';
import type { Row } from './support/network.ts';
import { contains, is, moreThan, until } from '../support/until.ts';

/** Silent hosts, one a format. Those of h1 and of h3 are the same. */
const SENDER = {
  'fast-cnp': '2001:db8:1::10',
  'long-haul-icmpv6': '2001:db8:1::20',
  'long-haul-roce': '2001:db8:1::30',
} as const;
const SENDER4 = '10.1.0.30';
const H1 = '2001:db8:1::2';
const POLICIES = [
  ...Object.entries(SENDER).map(([format, sender]) => ({
    prefix: `${sender}/128`,
    supports: [format],
    order: [format],
  })),
  { prefix: `${SENDER4}/32`, supports: ['long-haul-roce'], order: ['long-haul-roce'] },
  { prefix: `${H1}/128`, order: ['fast-cnp'] },
];

let wan: Wan;
/** What p and pe1 send each other: seen where it arrives. */
let fromP: Port, fromPe1: Port, toPe2: Port;
beforeAll(async () => {
  wan = await Wan.up();
  fromP = await wan.port('pe1:eth2', 'p:eth1');
  fromPe1 = await wan.port('p:eth1', 'pe1:eth2');
  toPe2 = await wan.port('p:eth2', 'pe2:eth2');
  await wan.silentSenders(...Object.values(SENDER), SENDER4);
  await Promise.all([wan.pe1.start(PE1), wan.p.start(P(POLICIES)), wan.pe2.start(PE2)]);
});
afterAll(() => wan?.down());
beforeEach(async () => {
  if (!wan.pe1.running) await wan.pe1.start(PE1);
  await wan.reload(PE1, wan.pe1);
  await wan.underlay();
  await wan.endConKnown(END_CON.main, END_CON.other, END_CON.pe2);
  wan.clear();
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(wan.net.logs());
  for (const router of [wan.pe1, wan.p, wan.pe2])
    if (router.running) expect(await router.counter('daemon.unexpected-error')).toBe(0);
});

const ecn = (packet: Uint8Array): number => walkHeaders(packet).layers[0]!.trafficClass & 3;
/** Packets in tunnels among them: outer header and what is inside. */
const tunneled = (
  port: Port,
): {
  outer: { source: string; destination: string; trafficClass: number; hopLimit: number; headers: number };
  inner: Uint8Array;
}[] =>
  port.packets.flatMap((packet) => {
    const opened = packet[0]! >> 4 === 6 ? decapsulate(packet) : undefined;
    if (!opened?.ok) return [];
    const { outer, inner } = opened.value;
    return [
      {
        outer: {
          source: formatAddress(outer.source),
          destination: formatAddress(outer.destination),
          trafficClass: outer.trafficClass,
          hopLimit: outer.hopLimit,
          headers: packet.length - inner.length,
        },
        inner,
      },
    ];
  });
/** All but the hop limit, or the time to live and what changes with it. */
function withoutHops(packet: Uint8Array): string {
  const copy = packet.slice();
  if (copy[0]! >> 4 === 6) copy[7] = 0;
  else [copy[8], copy[10], copy[11]] = [0, 0, 0];
  return Buffer.from(copy).toString('hex');
}
const flow = async (sender: string, from = wan.h1): Promise<Flow> => {
  const f = wan.flow(sender, 1024, from);
  if (sender !== SENDER['fast-cnp'] && sender !== H1) {
    f.connect();
    await wan.learned(f);
  }
  return f;
};
const notified = (f: Flow, at = wan.h1): Promise<Notification> =>
  wan.congest(
    'a notification',
    f,
    () => wan.notificationsOf(f, at),
    ([first]) => first,
  );

describe('from a congested P router to the sender', () => {
  test('FCN-4.2.1-b FCN-4.2.2-a FCN-4.2.2-c: `show srv6 sids` lists own and learned SIDs; END.CON is the outer source of tunnels of RoCEv2, with the ECN field of the packet inside', async () => {
    expect(await wan.pe1.show('srv6', 'sids')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          sid: END_CON.main,
          behavior: 'END.CON',
          origin: 'local',
          status: 'programmed',
          table: 254,
        }),
        expect.objectContaining({ sid: END_CON.other, origin: 'local', status: 'programmed', table: 100 }),
        expect.objectContaining({ sid: END_CON.pe2, origin: 'learned', status: 'reachable' }),
      ]),
    );
    expect((await wan.p.ctl('show', 'srv6', 'sids')).stdout).toContain(END_CON.other);
    const f = await flow(SENDER['long-haul-icmpv6']);
    f.send(10);
    await until(
      'they arrive',
      () => wan.h2.packets.filter((packet) => rocePackets([packet]).some(f.owns)).length,
      is(10),
    );
    const mine = tunneled(fromPe1).filter(({ inner }) => rocePackets([inner]).some(f.owns));
    expect(mine).toHaveLength(10);
    for (const { outer, inner } of mine)
      expect({ ...outer, ecn: outer.trafficClass & 3 }).toMatchObject({
        source: END_CON.main,
        destination: PE2_SID,
        ecn: ecn(inner),
      });
    expect(ecn(mine[0]!.inner)).toBe(2);
  });

  const CASES: readonly (readonly [string, string, NotificationFormat, number])[] = [
    ['Fast CNP', SENDER['fast-cnp'], 'fast-cnp', 6],
    ['Long-haul CNP in ICMPv6', SENDER['long-haul-icmpv6'], 'long-haul-icmpv6', 6],
    ['Long-haul CNP in RoCEv2', SENDER['long-haul-roce'], 'long-haul-roce', 6],
    ['Long-haul CNP in RoCEv2 over IPv4', SENDER4, 'long-haul-roce', 4],
  ];
  test.each(CASES)(
    'A17 FCN-4.2.2-d FCN-4.2.2-e: %s goes to END.CON without SRH, and what was inside reaches the sender unchanged',
    async (_name, sender, format, family) => {
      const f = await flow(sender);
      const received = await notified(f);
      expect(received.format).toBe(format);
      const wrapped = tunneled(fromP).filter(({ inner }) => notification(inner) !== undefined);
      expect(wrapped.length).toBeGreaterThan(0);
      for (const { outer } of wrapped)
        expect(outer).toMatchObject({
          source: LOOPBACK.p,
          destination: END_CON.main,
          trafficClass: 48 << 2,
          headers: 40,
        });
      expect(wrapped.map(({ inner }) => withoutHops(inner))).toContain(withoutHops(received.packet));
      expect(received.packet[family === 6 ? 7 : 8]).toBe(63);
      expect(formatAddress(received.source)).toBe(family === 6 ? LOOPBACK.p : '192.0.2.5');
      const row = await until(
        'p shows the notification',
        () => wan.p.get('notifications'),
        (rows) => rows.find((each) => each['destination-qpn'] === f.ends.receiverQpn),
      );
      expect(row).toMatchObject({ format, 'end-con': END_CON.main });
    },
  );

  test('FCN-4.2.2-b: two END.CON SIDs with two tables: of two senders with the same address each is notified of its own flow only', async () => {
    const [one, other] = [await flow(SENDER['fast-cnp']), await flow(SENDER['fast-cnp'], wan.h3)];
    await until(
      'both are notified',
      () => {
        // Both have packets in the upper part of the queue.
        for (let i = 0; i < 30; i++) for (const f of [one, other]) f.send(1);
        return { one: wan.notificationsOf(one).length, other: wan.notificationsOf(other, wan.h3).length };
      },
      (notifications) => notifications.one > 2 && notifications.other > 2,
    );
    expect({ oneAtH3: wan.notificationsOf(one, wan.h3), otherAtH1: wan.notificationsOf(other, wan.h1) }).toEqual({
      oneAtH3: [],
      otherAtH1: [],
    });
    const through = (f: Flow): Set<string> =>
      new Set(
        tunneled(fromP)
          .filter(({ inner }) => notification(inner)?.fastCnp?.packet.bth.destQpn === f.ends.receiverQpn)
          .map(({ outer }) => outer.destination),
      );
    expect({ one: through(one), other: through(other) }).toEqual({
      one: new Set([END_CON.main]),
      other: new Set([END_CON.other]),
    });
  });

  test('FCN-4.2.2-d: an outer source that no router advertised gets nothing, counted', async () => {
    const before = await wan.p.counter('egress.format.no-end-con');
    const f = wan.flow(SENDER['fast-cnp']);
    const forged = address('2001:db8:c::bad');
    const send = (count: number): void => {
      for (let i = 0; i < count; i++)
        fromP.send(encapsulate({ source: forged, destination: address(PE2_SID), inner: f.next() }));
    };
    await wan.congest('counted', { send }, () => wan.p.counter('egress.format.no-end-con'), moreThan(before + 10));
    expect(Number((await wan.p.get('ports'))[0]!['no-format'])).toBeGreaterThan(0);
    // What comes last shows that nothing came before it.
    await notified(await flow(SENDER['long-haul-icmpv6']));
    expect(wan.notificationsOf(f)).toEqual([]);
    expect(tunneled(fromP).filter(({ outer }) => outer.destination === formatAddress(forged))).toEqual([]);
  });

  test('FCNP-4-j: the Parameter Problem of a Linux host behind END.CON reaches the P router, which spares it', async () => {
    const f = await flow(H1);
    await notified(f);
    await until('spared', async () => ((await wan.p.mapEntries('sender_capabilities')) ?? []).length, is(1));
    expect(await wan.p.counter('congestion.parameter-problem.believed')).toBeGreaterThan(0);
  });

  test('FCN-4.2.2-e: the RoCE endpoint across the domain is notified by Fast CNP and slows down; nothing is lost', async () => {
    const sender = SENDER['fast-cnp'];
    await wan.net.lab.mustExec('h1', ['ip', 'address', 'add', `${sender}/64`, 'dev', 'eth1', 'nodad']);
    try {
      const events = await wan.transfer({
        source: sender,
        rate: '30mbit',
        duration: '2s',
        options: ['--reaction', 'dcqcn', '--understands', 'fast-cnp', '--known-nodes', '2001:db8:ffff::/48'],
      });
      const summary = events.find((event) => event['event'] === 'summary')!;
      expect(summary).toMatchObject({ reason: 'done', retransmitted: 0, cnps: 0 });
      expect((summary['feedback'] as Record<string, { accepted: number }>)['fast-cnp']!.accepted).toBeGreaterThan(5);
    } finally {
      await wan.net.lab.mustExec('h1', ['ip', 'address', 'del', `${sender}/64`, 'dev', 'eth1']);
    }
  });
});

describe('the egress PE', () => {
  const NOT_ECT = 0,
    ECT1 = 1,
    ECT0 = 2,
    CE = 3;
  /**
   * RFC 6040 figure 4: a row for each field inside, a column for each outside, in the order of the numbers above;
   * undefined: dropped.
   */
  const LEAVES: Readonly<Record<number, readonly (number | undefined)[]>> = {
    [NOT_ECT]: [NOT_ECT, NOT_ECT, NOT_ECT, undefined],
    [ECT1]: [ECT1, ECT1, ECT1, CE],
    [ECT0]: [ECT0, ECT1, ECT0, CE],
    [CE]: [CE, CE, CE, CE],
  };

  test('A16 FCN-4.2.1-d: all 16 combinations of ECN fields leave the tunnel as RFC 6040 says, through a SID that the kernel has and cnpd only found', async () => {
    const f = wan.flow(SENDER['fast-cnp']);
    const dropped = await wan.pe2.counter('srv6.decap.ecn.dropped');
    const expected = new Map<number, number | undefined>();
    for (const inside of [NOT_ECT, ECT1, ECT0, CE]) {
      for (const outside of [NOT_ECT, ECT1, ECT0, CE]) {
        expected.set(f.psn, LEAVES[inside]![outside]);
        const inner = f.next();
        inner[1] = (inner[1]! & ~0x30) | (inside << 4);
        toPe2.send(
          encapsulate({ source: address(END_CON.main), destination: address(PE2_SID), trafficClass: outside, inner }),
        );
      }
    }
    const arrived = (): Map<number, number> =>
      new Map(
        wan.h2.packets.flatMap((packet) =>
          rocePackets([packet])
            .filter(f.owns)
            .map(({ bth }) => [bth.psn, ecn(packet)] as const),
        ),
      );
    await until('fifteen arrive', () => arrived().size, is(15));
    expect(arrived()).toEqual(new Map([...expected].filter(([, leaves]) => leaves !== undefined)));
    expect(await wan.pe2.counter('srv6.decap.ecn.dropped')).toBe(dropped + 1);
  });

  test('LHCNP-5.4-a FCN-4.2.1-e FCN-4.2.1-f: what p marks on the outside arrives at the receiver as CE', async () => {
    const f = await flow(SENDER['long-haul-icmpv6']);
    await wan.congest(
      'marked packets arrive',
      f,
      () => wan.h2.packets.filter((packet) => rocePackets([packet]).some(f.owns)).map(ecn),
      contains(CE),
    );
  });
});

describe('IPv4 at an END.CON of another table, whose route in the kernel takes only IPv6', () => {
  const SENDER_OF_TABLE = '10.1.0.40';
  const ends = { source: address('10.2.0.2'), destination: address(SENDER_OF_TABLE), sourcePort: 0xc001 };
  const HOOK = 'srv6.decap.no-ipv4.hook',
    SHARED = 'srv6.decap.no-ipv4.shared';
  beforeAll(async () => {
    const mac = (await wan.net.lab.mustExec('h3', ['cat', '/sys/class/net/eth1/address'])).trim();
    await wan.pe1.exec('ip', 'route', 'add', '10.1.0.0/24', 'dev', 'eth3', 'table', '100');
    await wan.pe1.exec('ip', 'neigh', 'replace', SENDER_OF_TABLE, 'lladdr', mac, 'dev', 'eth3', 'nud', 'permanent');
  });
  const toEndCon = (inner: Uint8Array): void =>
    fromPe1.send(encapsulate({ source: address(LOOPBACK.p), destination: address(END_CON.other), inner }));
  const cnp = (destQpn: number): Uint8Array => buildCnp({ ...ends, destQpn });
  const arrives = (qpn: number): Promise<unknown> =>
    until(
      `CNP ${qpn} arrives`,
      () => rocePackets(wan.h3.packets),
      (all) => all.some(({ bth }) => bth.opcode === OPCODE.cnp && bth.destQpn === qpn),
    );
  const problems = async (): Promise<string[]> =>
    (((await wan.pe1.get<Row>('status'))['problems'] as { problem: string }[] | undefined) ?? []).map(
      ({ problem }) => problem,
    );
  const BEHIND = `behind END.CON ${END_CON.other} (table 100) is lost`;

  test('FCN-4.2.2-e: a CNP reaches its sender, beside a proxy too; other IPv4 does not beside a proxy, and `show status` shows it', async () => {
    toEndCon(cnp(0x7001));
    await arrives(0x7001);
    const senders = [{ prefix: '2001:db8:1::/64', format: 'standard-cnp' }];
    await wan.reload(
      { ...PE1, proxy: { address: LOOPBACK.pe1, senders, 'accept-from': ['2001:db8:ffff::/48'] } },
      wan.pe1,
    );
    toEndCon(cnp(0x7002));
    await arrives(0x7002);
    expect({ noIpv4: await wan.pe1.counter('srv6.decap.no-ipv4'), problems: await problems() }).toEqual({
      noIpv4: 0,
      problems: [],
    });
    toEndCon(
      buildRocePacket({
        ...ends,
        trafficClass: 2,
        hopLimit: 62,
        bth: { opcode: OPCODE.sendOnly, destQpn: 0x7003, psn: 1 },
        payload: new Uint8Array(64),
      }),
    );
    await until('counted', () => wan.pe1.counter(SHARED), is(1));
    expect(await problems()).toEqual([expect.stringContaining(`IPv4 other than CNPs ${BEHIND}`)]);
    expect(rocePackets(wan.h3.packets).map(({ bth }) => bth.destQpn)).not.toContain(0x7003);
  });

  test('FCN-4.2.2-e: behind a firewall that has nothing against it, it is lost, counted, and a problem that `show status` and doctor know', async () => {
    const before = await problems();
    const netns = Netns.open(wan.net.lab.netnsPath('pe1'));
    const remove = acceptAt(netns, 4, NF_HOOK.forward);
    try {
      toEndCon(cnp(0x7004));
      await until('counted', () => wan.pe1.counter(HOOK), is(1));
    } finally {
      remove();
      netns.close();
    }
    expect((await problems()).filter((problem) => !before.includes(problem))).toEqual([
      expect.stringMatching(new RegExp(`^IPv4 ${BEHIND.replace(/[()]/g, '\\$&')}: .* because a netfilter hook `)),
    ]);
    expect((await wan.pe1.ctl('show', 'status')).stdout).toContain(HOOK);
    expect((await wan.pe1.ctl('doctor')).stdout).toContain('`nft list hooks`');
    const next = 0x7005;
    await until(
      'CNPs arrive again when the hook is gone',
      () => (toEndCon(cnp(next)), rocePackets(wan.h3.packets).map(({ bth }) => bth.destQpn)),
      contains(next),
    );
    expect(rocePackets(wan.h3.packets).map(({ bth }) => bth.destQpn)).not.toContain(0x7004);
  });
});

describe('the life of END.CON', () => {
  const sidRoutes = async (): Promise<string> =>
    wan.pe1.exec('sh', '-c', 'ip -6 route show table all | grep "^2001:db8:c::1\\|^2001:db8:c::100" || true');
  const hooks = async (): Promise<string> => wan.pe1.exec('sh', '-c', 'ls /run/cnpd/bpf/links 2>/dev/null || true');

  test('SIGKILL at the PE: SID, route and tunnels stay, so notifications arrive on; the agent that comes back adopts them', async () => {
    const f = await flow(SENDER['long-haul-icmpv6']);
    const before = await sidRoutes();
    expect(before).not.toBe('');
    await wan.pe1.stop('SIGKILL');
    await notified(f);
    expect(await sidRoutes()).toBe(before);
    await wan.pe1.start(PE1);
    expect(await wan.pe1.get<Row>('status')).toMatchObject({ adopted: true });
    expect((await wan.pe1.get('sids')).find((row) => row['sid'] === END_CON.main)).toMatchObject({
      status: 'programmed',
    });
    expect(await sidRoutes()).toBe(before);
    wan.clear();
    await notified(f);
  });

  test('A13: a reload without `srv6` leaves no SID, no route and no program; p forgets them, and no sender is notified about flows in tunnels', async () => {
    const { srv6, ...without } = PE1;
    expect(srv6).toBeDefined();
    await wan.reload(without, wan.pe1);
    expect({ routes: await sidRoutes(), hooks: await hooks() }).toEqual({ routes: '', hooks: '' });
    await until(
      'p forgets',
      () => wan.p.get('sids'),
      (all) => !all.some((row) => row['sid'] === END_CON.main),
    );
    const f = await flow(SENDER['fast-cnp']);
    const before = await wan.p.counter('egress.format.no-end-con');
    await wan.congest('counted', f, () => wan.p.counter('egress.format.no-end-con'), moreThan(before));
    expect(wan.notificationsOf(f)).toEqual([]);
  });

  test('after SIGTERM they are still there; `cnpctl uninstall` leaves nothing, and not the SIDs of others either way', async () => {
    expect(await wan.pe1.stop('SIGTERM')).toBe(0);
    expect(await sidRoutes()).not.toBe('');
    const own = await ownObjects(wan.pe1);
    expect(own.join()).toMatch(/link .*map .*prog /);
    const uninstalled = await wan.pe1.ctl('uninstall');
    expect(uninstalled.code).toBe(0);
    expect(uninstalled.stdout).toContain(END_CON.main);
    expect({ routes: await sidRoutes(), hooks: await hooks() }).toEqual({ routes: '', hooks: '' });
    await until(
      'the kernel has freed programs and maps',
      async () =>
        new Set(
          (await Promise.all((['prog', 'map', 'link'] as const).map((kind) => shownObjects(wan.pe1, kind)))).flat(),
        ),
      (left) => own.every((name) => !left.has(name)),
    );
    expect(await wan.pe1.exec('ip', '-6', 'route', 'show', '2001:db8:e1::d6')).toContain('End.DT6');
    expect(await wan.pe1.exec('sh', '-c', 'ls -d /run/cnpd 2>/dev/null || true')).toBe('');
  });
});
