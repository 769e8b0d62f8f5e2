// Long-haul CNPs through the running daemon: in ICMPv6 and in RoCEv2, with a Queue Pair learned from CM and from
// traffic; their levels, escalation and Resume; how many there are; what they disclose; and that all this survives a
// killed agent. The queue is filled and drained by the rate of its TBF.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { formatAddress } from '../../src/model/address.ts';
import type { LongHaulAction } from '../../src/model/notification.ts';
import { walkHeaders } from '../../src/packet/ip/walk.ts';
import { METRIC, UNDISCLOSED } from '../../src/packet/long-haul/body.ts';
import { burstOf } from '../../src/plan/token-bucket.ts';
import { dissect } from '../support/tshark.ts';
import { CongestedLine, congestedNode } from './support/congested.ts';
import { tokenBucket } from './support/token-bucket.ts';
import { H1, LOOPBACK } from './support/line.ts';
import type { Row } from './support/network.ts';
import { type Notification, notifications } from './support/notifications.ts';
import { type Flow, rocePackets } from './support/port.ts';
import { atLeast, contains, is, moreThan, until } from '../support/until.ts';

const ICMP = '2001:db8:1::10';
const ROCE = '2001:db8:1::30';
/** IPv4 senders that are not listed. */
const UNLISTED = '198.51.100.77';
const POLICIES = [
  { prefix: '2001:db8:1::/64', order: ['long-haul-icmpv6'] },
  { prefix: '198.51.100.0/24', order: ['proxy'] },
  { prefix: `${ROCE}/128`, supports: ['long-haul-roce'], order: ['long-haul-roce'] },
  { prefix: `${H1.v4}/32`, supports: ['long-haul-roce'], order: ['long-haul-roce'] },
];
const FLOWING = '20mbit';
/** One packet in a tenth of a second: what is queued stays for the time being. */
const STANDING = '100kbit';

const node = (port: object, longHaul: object = {}): object =>
  congestedNode(POLICIES, { 'k-max': '20kB', rtt: '10ms', ...port }, { notifications: { 'long-haul': longHaul } });

let line: CongestedLine;
beforeAll(async () => {
  line = await CongestedLine.up();
  await line.silentSenders(ICMP, ROCE, UNLISTED, H1.v4);
  await line.p.start(node({}));
});
afterAll(() => line?.down());
beforeEach(async () => {
  if (!line.p.running) await line.p.start(node({}));
  await line.rate(FLOWING);
  await drained();
  await line.reload(node({}));
  line.clear();
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(line.net.logs());
  expect(await line.p.counter('daemon.unexpected-error')).toBe(0);
});

const port = async (): Promise<Row> => (await line.p.get('ports'))[0]!;
const drained = (): Promise<unknown> =>
  until(
    'the queue is empty',
    async () => {
      // A TBF looks at its new rate when the next packet comes.
      line.flow(UNLISTED).send(1);
      return Number((await port())['queue-bytes']);
    },
    (bytes) => bytes < 3000,
  );
/** The first Long-haul CNP for a flow, which is sent until then. */
const longHaulCnp = (f: Flow): Promise<Notification> =>
  line.congest(
    'a Long-haul CNP',
    f,
    () => line.notificationsOf(f),
    ([first]) => first,
  );
/** The notifications that p shows for a flow, the oldest first. */
const shown = async (f: Flow): Promise<Row[]> =>
  (await line.p.get('notifications')).filter((row) => row['destination-qpn'] === f.ends.receiverQpn).toReversed();
const body = (received: Notification): string => {
  const at =
    received.format === 'long-haul-icmpv6' ? 44 : walkHeaders(received.packet).layers[0]!.transportOffset + 8 + 12;
  return Buffer.from(received.packet.subarray(at, at + 12)).toString('hex');
};
const hex = (value: number, octets: number): string => value.toString(16).padStart(2 * octets, '0');

describe('thresholds and levels', () => {
  const RTT_MS = 100;

  test('A2 A3 LHCNP-5.4-a LHCNP-5.4-b LHCNP-5.4-c LHCNP-5.5-c LHCNP-5.5-e LHCNP-5.5-f LHCNP-5.5.1-i: at 70 kB CE and no control packet; above 125 kB one Long-haul CNP, right to the bit; Resume once the queue was below k-min for more than one RTT', async () => {
    // One flow, one notification in ten seconds: what follows is the one of the first packet above K_max.
    await line.reload(node({ 'k-max': '125kB', rtt: '10s' }));
    const f = await line.connected(ICMP);
    await line.rate(STANDING);
    const marked = await line.p.counter('egress.ecn.marked');
    f.send(64);
    await until(
      '70 kB are queued',
      async () => ({
        packets: Number((await port())['packets']),
        marked: await line.p.counter('egress.ecn.marked'),
      }),
      (seen) => seen.packets > 0 && seen.marked > marked,
    );
    expect(line.notificationsOf(f)).toEqual([]);
    expect(await shown(f)).toEqual([]);
    const received = await longHaulCnp(f);
    const [row] = await until(
      'it is shown',
      () => shown(f),
      (rows) => rows.length > 0 && rows,
    );
    const kilobytes = Math.floor(Number(row!['queue-bytes']) / 1000);
    expect(Number(row!['queue-bytes'])).toBeGreaterThan(125_000);
    expect(row).toMatchObject({
      port: 'eth2',
      format: 'long-haul-icmpv6',
      reason: 'queue-depth',
      'source-qpn': f.ends.senderQpn,
      level: 180,
      action: 'rate-reduce',
      parameter: 30,
    });
    expect(body(received)).toBe(`b480001e${hex(f.ends.senderQpn, 4)}01${hex(kilobytes, 3)}`);
    expect(formatAddress(received.source)).toBe(LOOPBACK.p.ipv6);
    expect(
      dissect('raw-ip', [received.packet], ['icmpv6.type', 'icmpv6.code', 'icmpv6.checksum.status'])[0],
    ).toMatchObject({ 'icmpv6.type': ['200'], 'icmpv6.code': ['0'], 'icmpv6.checksum.status': ['1'] });
    expect(line.notificationsOf(f)).toHaveLength(1);

    await line.reload(node({ 'k-max': '125kB', rtt: `${RTT_MS}ms` }));
    let highAt = Date.now();
    await line.rate(FLOWING);
    const resume = await until(
      'a Resume',
      async () => {
        const asked = Date.now();
        if (Number((await port())['queue-bytes']) >= 62_500) highAt = asked;
        line.flow(UNLISTED).send(1);
        return line.notificationsOf(f);
      },
      (all) => all.find(({ longHaul }) => longHaul!.action === 'resume'),
    );
    const last = (await shown(f)).at(-1)!;
    expect(last).toMatchObject({ reason: 'resume', action: 'resume', level: 20, parameter: 50 });
    expect(body(resume)).toBe(
      `14c00032${hex(f.ends.senderQpn, 4)}01${hex(Math.floor(Number(last['queue-bytes']) / 1000), 3)}`,
    );
    expect(Date.parse(last['at'] as string) - highAt).toBeGreaterThan(RTT_MS);
    expect(line.notificationsOf(f).filter(({ longHaul }) => longHaul!.action === 'resume')).toHaveLength(1);
  });

  test('LHCNP-5.7-e LHCNP-5.5.1-d: while the queue grows all the same it escalates: ever stricter, Pause only after Rate Reduce; after the drain one Resume', async () => {
    await line.reload(node({ rtt: '50ms' }));
    const f = await line.connected(ICMP);
    // On a busy machine, too, the queue grows: as much is sent in a second, and it is long enough for that.
    await line.p.exec(...tokenBucket('eth2', { verb: 'change', rate: STANDING, limit: 8_000_000 }));
    let sentAt = Date.now();
    await until(
      'a Pause',
      () => {
        const since = Date.now() - sentAt;
        sentAt += since;
        f.send(Math.max(4, Math.min(100, Math.floor(since / 5))));
        return line.notificationsOf(f).map(({ longHaul }) => longHaul!.action);
      },
      contains('pause'),
    );
    const rows = await until(
      'it is shown',
      () => shown(f),
      (all) => all.some((row) => row['action'] === 'pause') && all,
    );
    const received = rows.filter((row) => row['reason'] !== 'resume');
    const level = (row: Row | undefined): number => Number(row?.['level']);
    // Whatever the machine's moods: what is called escalation is stricter than what was sent before.
    for (const [i, row] of received.entries())
      if (row['reason'] === 'escalation') expect(level(row)).toBeGreaterThan(level(received[i - 1]));
    const pause = received.findIndex((row) => row['action'] === 'pause');
    expect(received[pause]).toMatchObject({ level: 255, parameter: 50_000, reason: 'escalation' });
    expect(received[pause - 1]).toMatchObject({
      level: 245,
      action: 'rate-reduce',
      parameter: 75,
      reason: 'escalation',
    });
    expect(new Set(received.slice(0, pause).map((row) => row['action']))).toEqual(new Set(['rate-reduce']));
    const wire = line.notificationsOf(f).map(({ longHaul }) => longHaul!.level);
    expect(wire.slice(0, rows.length)).toEqual(rows.slice(0, wire.length).map(level));
    await line.rate(FLOWING);
    await drained();
    await until('a Resume', () => line.notificationsOf(f).at(-1)!.longHaul!.action, is('resume'));
  });

  test('A6 LHCNP-5.5-g LHCNP-5.5-h LHCNP-9-d LHCNP-9-f: on the wire never more than one for a flow in one RTT, and never more than the rate of the port', async () => {
    const RTT = 10;
    const f = await line.connected(ICMP);
    const start = performance.now();
    await line.congest('fifty', f, () => line.notificationsOf(f).length, atLeast(50));
    expect(line.notificationsOf(f).length).toBeLessThanOrEqual(1 + (performance.now() - start) / RTT);
    expect(Number((await port())['suppressed-per-flow'])).toBeGreaterThan(0);

    const perSecond = 20;
    await line.reload(node({ rate: `${perSecond}/s` }));
    const flows = await Promise.all(Array.from({ length: 4 }, () => line.connected(ICMP)));
    await drained();
    line.clear();
    const from = performance.now();
    const suppressed = async (): Promise<number> => Number((await port())['suppressed-per-port']);
    // All that reaches h1, the agent's Resumes among them: they take their tokens from the same bucket.
    const received = (): number => notifications(line.h1.packets).length;
    // Only of these flows: that of the first part gets its own Resume, whenever it is due.
    const flowsNotified = (...actions: LongHaulAction[]): number =>
      flows.filter((flow) => line.notificationsOf(flow).some(({ longHaul }) => actions.includes(longHaul!.action)))
        .length;
    const allowed = (): number => burstOf(perSecond) + 1 + ((performance.now() - from) * perSecond) / 1000;
    const before = await suppressed();
    await until(
      'the port suppresses some, and each flow has been notified',
      async () => {
        // The first sender takes the token that has become available meanwhile.
        flows.push(flows.shift()!);
        for (const each of flows) each.send(8);
        return { flows: flowsNotified('pause', 'rate-reduce'), received: received(), suppressed: await suppressed() };
      },
      (seen) => seen.flows === flows.length && seen.received > 10 && seen.suppressed > before,
    );
    expect(received()).toBeLessThanOrEqual(allowed());
    await drained();
    await until('the Resumes of all', () => flowsNotified('resume'), is(flows.length));
    expect(received()).toBeLessThanOrEqual(allowed());
  });
});

describe('who is notified', () => {
  test('LHCNP-5.2-a LHCNP-5.5-c: without a known Queue Pair no sender is notified, counted; learned from traffic in both directions, the sender is', async () => {
    const f = line.flow(ICMP);
    const before = await line.p.counter('egress.no-format');
    await line.congest('counted', f, () => line.p.counter('egress.no-format'), moreThan(before + 5));
    expect(line.notificationsOf(f)).toEqual([]);
    f.psn += 1000;
    const row = await until(
      'the Queue Pair is learned',
      () => {
        f.exchange();
        return line.p.get('flows');
      },
      (all) => all.find((each) => each['port'] === 'proxy' && each['source-qpn'] === f.ends.senderQpn),
    );
    expect(row['learned-from']).toBe('reverse-traffic');
    const received = await longHaulCnp(f);
    expect(received.longHaul!.sourceQpn).toBe(f.ends.senderQpn);
  });

  test.each([
    ['IPv6', ROCE],
    ['IPv4', H1.v4],
  ])(
    'A4 LHCNP-4-a LHCNP-6.2.3-a LHCNP-10.5-b: the RoCEv2 form goes to a listed %s sender, with a BTH that is right to the bit',
    async (_family, sender) => {
      const f = await line.connected(sender);
      const received = await longHaulCnp(f);
      expect(received.format).toBe('long-haul-roce');
      const at = walkHeaders(received.packet).layers[0]!.transportOffset + 8;
      expect(Buffer.from(received.packet.subarray(at, at + 12)).toString('hex')).toBe(
        `8100ffff60${hex(f.ends.senderQpn, 3)}00000000`,
      );
      expect(rocePackets([received.packet])[0]!.icrcValid).toBe(true);
      expect(received.longHaul).toMatchObject({
        level: 180,
        action: 'rate-reduce',
        parameter: 30,
        sourceQpn: f.ends.senderQpn,
        metric: { type: METRIC.queueDepthKb },
      });
      const [seen] = dissect(
        'raw-ip',
        [received.packet],
        ['infiniband.bth.opcode', 'infiniband.bth.destqp', 'udp.dstport'],
      );
      expect(seen).toMatchObject({
        'infiniband.bth.opcode': [String(0x81)],
        'infiniband.bth.destqp': [`0x${hex(f.ends.senderQpn, 3)}`],
        'udp.dstport': ['4791'],
      });
    },
  );

  test('LHCNP-8-a: a router without cnpd on the way forwards it as it forwards any packet: nothing but its hop limit is another', async () => {
    expect(line.leaf.running).toBe(false);
    const f = await line.connected(ICMP);
    const received = await longHaulCnp(f);
    // p sends it with 64 (bpf/lib/builder/frame.h); its checksum does not cover the hop limit and is right for
    // everything else.
    expect({ hopLimit: received.packet[7] }).toEqual({ hopLimit: 63 });
    expect(dissect('raw-ip', [received.packet], ['icmpv6.checksum.status'])[0]).toMatchObject({
      'icmpv6.checksum.status': ['1'],
    });
  });

  test('LHCNP-10.5-b: it goes to no other sender: an unlisted sender of either family gets none, and a file that would send it to one is refused', async () => {
    const [six, four] = [await line.connected(ICMP), line.flow(UNLISTED)];
    await line.congest('the IPv6 sender is notified', six, () => line.notificationsOf(six).length, moreThan(5));
    const noProxy = await line.p.counter('egress.no-proxy');
    await line.congest(
      'the IPv4 sender is passed over',
      four,
      () => line.p.counter('egress.no-proxy'),
      moreThan(noProxy + 5),
    );
    expect(new Set(line.notificationsOf(six).map(({ format }) => format))).toEqual(new Set(['long-haul-icmpv6']));
    expect(notifications(line.h1.packets).filter(({ destination }) => formatAddress(destination) === UNLISTED)).toEqual(
      [],
    );
    const ports = await line.p.get('ports');
    for (const policy of [
      { prefix: '0.0.0.0/0', supports: ['long-haul-roce'], order: ['long-haul-roce'] },
      { prefix: '198.51.100.0/24', order: ['long-haul-roce'] },
    ]) {
      line.p.configure(congestedNode([policy], { 'k-max': '20kB' }));
      const refused = await line.p.ctl('reload');
      expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('LHCNP §') });
    }
    expect((await line.p.get('ports'))[0]!['k-max']).toBe(ports[0]!['k-max']);
  });

  test('LHCNP-5.5-d LHCNP-5.6-d: the RoCE endpoint that understands the ICMPv6 form obeys; nothing is lost', async () => {
    const events = await line.transfer({
      source: H1.v6,
      rate: '30mbit',
      duration: '2s',
      options: ['--understands', 'long-haul-icmpv6', '--known-nodes', '2001:db8:ffff::/48', '--rtt', '10ms'],
    });
    const summary = events.find((event) => event['event'] === 'summary')!;
    expect(summary).toMatchObject({ reason: 'done', retransmitted: 0, cnps: 0 });
    const { 'long-haul-icmpv6': taken } = summary['feedback'] as Record<
      string,
      { accepted: number; refused: Record<string, number> }
    >;
    expect(taken!.accepted).toBeGreaterThan(3);
    // The last word may come while the connection is taken down: its Queue Pair is not active any more (LHCNP-5.6-a).
    const { 'unknown-queue-pair': late = 0, ...others } = taken!.refused;
    expect(others).toEqual({});
    expect(late).toBeLessThanOrEqual(1);
    expect((summary['instructions'] as { reductions: number }).reductions).toBeGreaterThan(0);
  });
});

describe('what is sent', () => {
  test.each([
    ['long-haul-icmpv6', ICMP],
    ['long-haul-roce', ROCE],
  ])(
    'LHCNP-6.1-n LHCNP-9-g: %s discloses the depth, or nothing; extension objects say when, who and which path; padded it is as long as a CNP',
    async (format, sender) => {
      const f = await line.connected(sender);
      const notifiedWith = async (longHaul: object): Promise<Notification> => {
        await line.reload(node({}, longHaul));
        await drained();
        line.clear();
        return longHaulCnp(f);
      };
      const plain = await notifiedWith({ disclose: true });
      expect(plain).toMatchObject({ format, longHaul: { metric: { type: METRIC.queueDepthKb } } });
      expect(plain.longHaul!.metric.value).toBeGreaterThanOrEqual(20);
      expect((await notifiedWith({ disclose: false })).longHaul!.metric).toEqual(UNDISCLOSED);
      const before = Date.now();
      const { objects } = (await notifiedWith({ objects: { timestamp: true, 'device-id': 'p', 'path-id': 7 } }))
        .longHaul!;
      expect(objects).toEqual([
        expect.objectContaining({ kind: 'timestamp' }),
        { kind: 'device-id', name: 'p' },
        { kind: 'path-id', id: Uint8Array.of(0, 0, 0, 7) },
      ]);
      const ntp = objects.find((object) => object.kind === 'timestamp')!.ntp;
      // NTP's era began 2,208,988,800 s before Unix's.
      const unixMs = Number(((ntp >> 32n) - 2_208_988_800n) * 1000n + (((ntp & 0xffff_ffffn) * 1000n) >> 32n));
      expect(unixMs).toBeGreaterThan(before - 5000);
      expect(unixMs).toBeLessThan(Date.now() + 5000);
      if (format !== 'long-haul-roce') return;
      expect((await notifiedWith({ 'pad-to-cnp': true })).packet).toHaveLength(40 + 8 + 12 + 16 + 4);
    },
  );

  test('`cnpctl show notifications` gives the last ones, the newest first, with format, reason and instruction; `show ports` explains each threshold', async () => {
    const f = await line.connected(ICMP);
    await line.congest('ten', f, async () => (await shown(f)).length, atLeast(10));
    const rows = await line.p.show('notifications', '--last', '5');
    expect(rows).toHaveLength(5);
    const numbers = rows.map((row) => Number(row['sequence']));
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
    expect(rows[0]).toMatchObject({ port: 'eth2', format: 'long-haul-icmpv6', 'source-qpn': f.ends.senderQpn });
    const table = await line.p.ctl('show', 'notifications', '--last', '5');
    expect(table.code).toBe(0);
    for (const word of ['long-haul-icmpv6', ICMP, 'eth2']) expect(table.stdout).toContain(word);
    const explained = (await line.p.show('ports'))[0]!['explanation'] as string[];
    expect(explained).toEqual(
      expect.arrayContaining([
        'k-max: 20000 B = configured',
        'k-min: 10000 B = k-max / 2',
        expect.stringContaining('level 180, rate-reduce 30'),
      ]),
    );
    expect(explained.join()).toContain('RTT: 10 ms = configured');
  });
});

describe('without its agent', () => {
  test('LHCNP-5.5.1-i: SIGKILL: notifications go on; the agent that comes back sends the Resume', async () => {
    await line.reload(node({ rtt: '50ms' }));
    const f = await line.connected(ICMP);
    await line.rate(STANDING);
    await line.congest(
      'instructed to reduce',
      f,
      () => line.notificationsOf(f).map(({ longHaul }) => longHaul!.action),
      contains('rate-reduce'),
    );
    await line.p.stop('SIGKILL');
    const before = line.notificationsOf(f).length;
    const traffic = setInterval(() => f.send(1), 50);
    try {
      await until('notified without the agent', () => line.notificationsOf(f).length, moreThan(before + 2));
      await line.p.start(node({ rtt: '50ms' }));
      expect(await line.p.show<Row>('status')).toMatchObject({ adopted: true });
      const again = line.notificationsOf(f).length;
      await until('notified with the new agent', () => line.notificationsOf(f).length, moreThan(again));
    } finally {
      clearInterval(traffic);
    }
    await line.rate(FLOWING);
    await drained();
    const resume = await until(
      'a Resume',
      () => line.notificationsOf(f),
      (all) => all.find(({ longHaul }) => longHaul!.action === 'resume'),
    );
    expect(resume.longHaul).toMatchObject({ level: 20, parameter: 50, sourceQpn: f.ends.senderQpn });
  });
});
