// Fast CNP through the running daemon: to senders that understand it and to senders of whom that is not known, to a
// real Linux host that refuses the option, and what the congested node does then. Forged refusals change nothing.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../src/model/address.ts';
import { findFastCnpOption } from '../../src/packet/ip/fast-cnp-option.ts';
import { walkHeaders } from '../../src/packet/ip/walk.ts';
import { PROBLEM, buildParameterProblem } from '../../src/packet/icmpv6/parameter-problem.ts';
import { buildFastCnp } from '../../src/packet/roce/fast-cnp.ts';
import { dissect } from '../support/tshark.ts';
import { CongestedLine, congestedNode } from './support/congested.ts';
import { H1, H2, LOOPBACK } from './support/line.ts';
import type { Row } from './support/network.ts';
import { FAST_CNP } from './support/notifications.ts';
import { type Flow, type Port, rocePackets } from './support/port.ts';
import { contains, is, moreThan, until } from '../support/until.ts';

/** Not addresses of h1: no host answers there, as a sender that understands Fast CNP. */
const CAPABLE = '2001:db8:1::10';
const UNKNOWN = '2001:db8:1::20';
/** Longer than any test: one notification for a flow is the only one. */
const ONCE = '60s';
const POLICIES = [
  { prefix: `${CAPABLE}/128`, supports: ['fast-cnp'], order: ['fast-cnp'] },
  { prefix: `${UNKNOWN}/128`, supports: 'unknown', order: ['fast-cnp'], 'ce-with-fast-cnp': true },
  {
    prefix: `${H1.v6}/128`,
    supports: 'unknown',
    order: ['fast-cnp', 'long-haul-icmpv6', 'proxy'],
    'ce-with-fast-cnp': true,
  },
];
const node = (port: object, expiry = '10min'): object =>
  congestedNode(
    POLICIES,
    { 'k-min': '10kB', 'k-max': '20kB', ...port },
    { notifications: { 'capability-expiry': expiry } },
  );

let line: CongestedLine;
let outside: Port;
beforeAll(async () => {
  line = await CongestedLine.up();
  outside = await line.port('out:eth1', 'leaf:eth9');
  await line.silentSenders(CAPABLE, UNKNOWN);
  await line.p.start(node({ 'per-flow-interval': '5ms' }));
});
afterAll(() => line?.down());
beforeEach(() => line.clear());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(line.net.logs());
  expect(await line.p.counter('daemon.unexpected-error')).toBe(0);
});

/** What became of the flow's packets: how many arrived, and how many of them with CE. */
function arrived(f: Flow): { readonly packets: number; readonly ce: number } {
  const mine = line.h2.packets.filter((packet) => rocePackets([packet]).some(f.owns));
  return {
    packets: mine.length,
    ce: mine.filter((packet) => (walkHeaders(packet).layers[0]!.trafficClass & 3) === 3).length,
  };
}

/** All expectations of one Fast CNP. */
function expectFastCnp(packet: Uint8Array, f: Flow): void {
  const sourcePort = rocePackets([f.next()])[0]!.sourcePort;
  const { source, destination, receiverQpn } = f.ends;
  const expected = buildFastCnp({
    source: address(LOOPBACK.p.ipv6),
    destination: source,
    sourcePort,
    destQpn: receiverQpn,
    originalDestination: destination,
    trace: undefined,
    codes: FAST_CNP,
  });
  expected[7] = packet[7]!; // the hop limit: one router further on
  expect({ hopLimit: packet[7] }).toEqual({ hopLimit: 63 });
  expect(Buffer.from(packet).toString('hex')).toBe(Buffer.from(expected).toString('hex'));
  const [seen] = dissect('raw-ip', [packet], ['ipv6.opt.type', 'infiniband.bth.opcode', 'infiniband.bth.destqp']);
  expect(seen).toMatchObject({
    'infiniband.bth.opcode': [String(0x81)],
    'infiniband.bth.destqp': [`0x${receiverQpn.toString(16).padStart(6, '0')}`],
  });
}

describe('CE and Fast CNP', () => {
  test('A11 A12 FCNP-4-b FCNP-4-c FCNP-4-d FCNP-4-g: a sender that understands it gets it, right to the bit, and its packets are not CE-marked above k-min', async () => {
    await line.reload(node({ 'per-flow-interval': ONCE }));
    const f = line.flow(CAPABLE);
    await line.congest('a Fast CNP', f, () => line.notificationsOf(f).length, moreThan(0));
    expectFastCnp(line.notificationsOf(f)[0]!.packet, f);
    await until('the queue is empty', async () => (await line.p.get('ports'))[0]?.['queue-bytes'], is(0));
    const exempt = await line.p.counter('egress.ecn.exempt');
    line.h2.clear();
    // On a busy machine one burst may leave the queue as fast as it comes.
    let sent = 0;
    const exemptAfterBurst = async (): Promise<number> => {
      f.send(60);
      sent += 60;
      await until('all packets have arrived', () => arrived(f).packets, is(sent));
      expect(arrived(f)).toEqual({ packets: sent, ce: 0 });
      return line.p.counter('egress.ecn.exempt');
    };
    await until('packets above k-min are exempt', exemptAfterBurst, moreThan(exempt));
    expect(line.notificationsOf(f)).toHaveLength(1);
  });

  test('A11 FCNP-4-a: a sender of whom it is not known gets it and is CE-marked as well', async () => {
    await line.reload(node({ 'per-flow-interval': '5ms' }));
    const f = line.flow(UNKNOWN);
    await line.congest('a Fast CNP', f, () => line.notificationsOf(f).length, moreThan(0));
    expectFastCnp(line.notificationsOf(f)[0]!.packet, f);
    await until('marked packets arrive', () => arrived(f).ce, moreThan(0));
  });

  test('FCNP-4-e: the RoCE endpoint that understands Fast CNP slows down, and its kernel answers nothing', async () => {
    await line.reload(node({ 'per-flow-interval': '5ms' }));
    await line.net.lab.mustExec('h1', ['ip', 'address', 'add', `${CAPABLE}/64`, 'dev', 'eth1', 'nodad']);
    try {
      const events = await line.transfer({
        source: CAPABLE,
        rate: '30mbit',
        duration: '2s',
        options: ['--reaction', 'dcqcn', '--understands', 'fast-cnp', '--known-nodes', '2001:db8:ffff::/48'],
      });
      const summary = events.find((event) => event['event'] === 'summary')!;
      expect(summary).toMatchObject({ reason: 'done', cnps: 0 });
      expect((summary['feedback'] as Record<string, { accepted: number }>)['fast-cnp']!.accepted).toBeGreaterThan(5);
      expect(Number(summary['reductions'])).toBeGreaterThan(0);
    } finally {
      await line.net.lab.mustExec('h1', ['ip', 'address', 'del', `${CAPABLE}/64`, 'dev', 'eth1']);
    }
    expect(await line.p.counter('congestion.parameter-problem.believed')).toBe(0);
  });
});

const capabilities = async (): Promise<string[]> => (await line.p.mapEntries('sender_capabilities')) ?? [];
/** Formats of the notifications of a flow, the latest first. */
const shown = async (f: Flow): Promise<Row[]> =>
  (await line.p.get('notifications')).filter((row) => row['destination-qpn'] === f.ends.receiverQpn);
describe('a refused option', () => {
  test('A12 FCNP-4-j LHCNP-8-e: a Linux host answers Parameter Problem; it is notified in the next possible format; after capability-expiry Fast CNP is tried again', async () => {
    await line.reload(node({ 'per-flow-interval': '5ms' }));
    const believed = await line.p.counter('congestion.parameter-problem.believed');
    const f = line.flow(H1.v6);
    await line.congest(
      'a Fast CNP',
      f,
      () => line.notificationsOf(f).map(({ format }) => format),
      contains('fast-cnp'),
    );
    await until('the host refuses', () => line.p.counter('congestion.parameter-problem.believed'), moreThan(believed));
    await until('the kernel knows', async () => (await capabilities()).length, is(1));
    expect((await capabilities())[0]).toMatch(new RegExp(`^20010db8000100000000000000000002`));
    expect(line.net.logs()).toContain('the host does not understand Fast CNP');

    // The Queue Pair is not known, so not a Long-haul CNP either; there is no proxy, so nothing: counted.
    const nothing = await line.p.counter('egress.no-format');
    await line.congest('nothing is possible', f, () => line.p.counter('egress.no-format'), moreThan(nothing));
    expect((await line.p.get('ports'))[0]!['no-format']).toBeGreaterThan(0);
    f.connect();
    await line.learned(f);
    line.h1.clear();
    await line.congest('three Long-haul CNPs', f, () => line.notificationsOf(f).length, moreThan(2));
    expect(new Set(line.notificationsOf(f).map(({ format }) => format))).toEqual(new Set(['long-haul-icmpv6']));
    expect(line.notificationsOf(f)[0]!.longHaul).toMatchObject({ sourceQpn: f.ends.senderQpn });
    const rows = await shown(f);
    expect({ latest: rows[0]!['format'], oldest: rows.at(-1)!['format'] }).toEqual({
      latest: 'long-haul-icmpv6',
      oldest: 'fast-cnp',
    });
    expect((await line.p.ctl('show', 'notifications')).stdout).toContain('long-haul-icmpv6');

    await line.reload(node({ 'per-flow-interval': '5ms' }, '1s'));
    await until('it is forgotten', async () => (await capabilities()).length, is(0));
    line.h1.clear();
    await line.congest(
      'Fast CNP is tried again',
      f,
      () => line.notificationsOf(f).map(({ format }) => format),
      contains('fast-cnp'),
    );
    await until(
      'and refused again',
      () => line.p.counter('congestion.parameter-problem.believed'),
      moreThan(believed + 1),
    );
  });

  test('forged Parameter Problems change nothing: from a host that was not notified, for another Queue Pair, about another router, about a flow long ago', async () => {
    await line.reload(node({ 'per-flow-interval': '5ms' }, '1s'));
    await until('no host refuses', async () => (await capabilities()).length, is(0));
    const f = line.flow(CAPABLE);
    await line.congest('a Fast CNP', f, () => line.notificationsOf(f).length, moreThan(0));
    const quoted = line.notificationsOf(f)[0]!.packet;
    const option = findFastCnpOption(quoted, FAST_CNP);
    if (!option.ok) throw new Error(option.error.detail);
    const [sender, node1] = [address(CAPABLE), address(LOOPBACK.p.ipv6)];
    const forged = (
      invoking: Uint8Array,
      source = sender,
      code: number = PROBLEM.unrecognizedOption,
      pointer = option.value.offset,
    ): Uint8Array => buildParameterProblem({ source, destination: node1, hopLimit: 64 }, { code, pointer, invoking });
    const about = (fields: { source?: string; destQpn?: number; receiver?: string }): Uint8Array =>
      buildFastCnp({
        source: address(fields.source ?? LOOPBACK.p.ipv6),
        destination: sender,
        sourcePort: 0xc001,
        trace: undefined,
        codes: FAST_CNP,
        destQpn: fields.destQpn ?? f.ends.receiverQpn,
        originalDestination: address(fields.receiver ?? H2.v6),
      });
    const attempts: [string, Uint8Array][] = [
      ['unknown', forged(quoted, address('2001:db8:9::2'))],
      ['unknown', forged(about({ destQpn: f.ends.receiverQpn ^ 2 }))],
      ['unknown', forged(about({ receiver: '2001:db8:2::77' }))],
      ['not-ours', forged(about({ source: LOOPBACK.far.ipv6 }))],
      ['other', forged(quoted, sender, PROBLEM.erroneousHeader)],
      ['other', forged(quoted, sender, PROBLEM.unrecognizedOption, 6)],
      ['malformed', forged(quoted.subarray(0, 40 + 24))],
    ];
    for (const [counter, packet] of attempts) {
      const name = `congestion.parameter-problem.${counter}`;
      const before = await line.p.counter(name);
      outside.send(packet);
      await until(`counted as ${counter}`, () => line.p.counter(name), is(before + 1));
    }
    expect(await capabilities()).toEqual([]);
    line.h1.clear();
    await line.congest('Fast CNPs go on', f, () => line.notificationsOf(f).length, moreThan(1));
    expect(formatAddress(line.notificationsOf(f)[0]!.destination)).toBe(CAPABLE);
    // The same from the host itself about what it got is believed: what was missing above is only what was forged.
    line.h1.send(forged(line.notificationsOf(f)[0]!.packet));
    await until('believed', async () => (await capabilities()).length, is(1));
  });
});
