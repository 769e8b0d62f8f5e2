// A sender that nodes on the way notify: notifications go through the real codecs, the peer is a Listener over a
// network in memory.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type IpAddress, address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { buildLongHaulIcmpv6 } from '../../packet/icmpv6/long-haul-cnp.ts';
import { type LongHaulCnp, UNDISCLOSED } from '../../packet/long-haul/body.ts';
import { buildFastCnp } from '../../packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../../packet/roce/long-haul-cnp.ts';
import { parseRocePacket } from '../../packet/roce/packet.ts';
import { scaledDcqcn } from '../../source/dcqcn.ts';
import { FEEDBACK_FORMATS, type FeedbackCodes, type FeedbackFormat, claimedFormat } from './feedback.ts';
import { defaultInstructedRate } from '../../source/instructed-rate.ts';
import { Listener } from './listener.ts';
import { Sender, type SenderOptions } from './sender.ts';

const [H1, H2, NODE, STRANGER] = [
  address('2001:db8:1::2'),
  address('2001:db8:2::2'),
  address('2001:db8:ffff::2'),
  address('2001:db8:bad::1'),
];
const [QPN, PEER_QPN] = [0x111111, 0x222222];
const RATE = 8e6;
const CODES: FeedbackCodes = {
  fastCnp: { option: 0x9e, ioamOption: 0x9e, icrc: 'cover' },
  longHaulType: 200,
  objectClass: 247,
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Event = Readonly<Record<string, unknown>> & { readonly event: string };
type Instruction = Pick<LongHaulCnp, 'action' | 'parameter'> & Partial<LongHaulCnp>;

interface World {
  readonly sender: Sender;
  readonly events: Event[];
  sentPackets: number;
  /** A notification arrives from `node`. */
  fastCnp(node?: IpAddress, originalDestination?: IpAddress, destQpn?: number): void;
  longHaul(format: FeedbackFormat, instruction: Instruction, node?: IpAddress): void;
  raw(packet: Uint8Array): void;
}

function world(understands: readonly FeedbackFormat[], more: Partial<SenderOptions> = {}): World {
  const now = (): number => performance.now();
  const events: Event[] = [];
  const later = (packet: Uint8Array, to: { onPacket(p: never): void }): boolean => {
    const copy = packet.slice();
    const parsed = parseRocePacket(copy);
    if (!parsed.ok) throw new Error(parsed.error.code);
    setTimeout(() => to.onPacket(parsed.value as never), 5);
    return true;
  };
  const raw = (packet: Uint8Array): void => {
    const format = claimedFormat(packet, CODES);
    if (format) return w.sender.onNotification(format, packet);
    const parsed = parseRocePacket(packet);
    if (!parsed.ok) throw new Error(parsed.error.code);
    w.sender.onPacket(parsed.value);
  };
  const ends = (source: IpAddress): { source: IpAddress; destination: IpAddress; sourcePort: number } => ({
    source,
    destination: H1,
    sourcePort: 0xc000,
  });
  const w: World = {
    events,
    sentPackets: 0,
    raw,
    fastCnp: (node = NODE, originalDestination = H2, destQpn = PEER_QPN) =>
      raw(buildFastCnp({ ...ends(node), originalDestination, trace: undefined, destQpn, codes: CODES.fastCnp })),
    longHaul: (format, instruction, node = NODE) => {
      const cnp: LongHaulCnp = { level: 180, sourceQpn: QPN, metric: UNDISCLOSED, objects: [], ...instruction };
      raw(
        format === 'long-haul-icmpv6'
          ? buildLongHaulIcmpv6({ ...ends(node), cnp, codes: { type: 200, objectClass: 247 } })
          : buildLongHaulRoce({ ...ends(node), cnp, objectClass: 247 }),
      );
    },
    sender: new Sender(
      {
        local: { address: H1, qpn: QPN, commId: 1, startingPsn: 5 },
        peer: H2,
        port: 1,
        payloadSize: 1000,
        packetsPerMessage: 4,
        rate: RATE,
        durationMs: 2000,
        window: 64,
        timeoutMs: 500,
        reportIntervalMs: 10,
        dcqcn: undefined,
        feedback: { understands: new Set(understands), nodes: [prefix('2001:db8:ffff::/48')], codes: CODES },
        instructed: { ...defaultInstructedRate(RATE), recoveryStep: RATE / 20 },
        ...more,
      },
      {
        now,
        report: (event, fields) => void events.push({ event, at: now(), ...fields }),
        onEnd: () => {},
        send: (packet) => {
          if (packet.length > 1000) w.sentPackets++;
          return later(packet, listener);
        },
      },
    ),
  };
  const listener: Listener = new Listener(
    { address: H2, cnpIntervalMs: undefined, reportIntervalMs: 1e6, maxConnections: 1 },
    {
      now,
      report: () => {},
      draw: () => ({ qpn: PEER_QPN, commId: 2, startingPsn: 9 }),
      send: (packet) => later(packet, w.sender),
    },
  );
  return w;
}

/** Sends for a while, so that there is a rate and an RTT (10 ms). */
async function started(
  understands: readonly FeedbackFormat[] = FEEDBACK_FORMATS,
  more: Partial<SenderOptions> = {},
): Promise<World> {
  const w = world(understands, more);
  w.sender.start();
  await vi.advanceTimersByTimeAsync(200);
  return w;
}

const of = (w: World, event: string): Event[] => w.events.filter((e) => e.event === event);
const rate = (w: World): number => Number(of(w, 'rate').at(-1)!['rateBps']) / RATE;
async function summary(w: World): Promise<Event> {
  await vi.advanceTimersByTimeAsync(10_000);
  return of(w, 'summary')[0]!;
}
/** Packets sent in so many ms. */
async function sentIn(w: World, ms: number): Promise<number> {
  const before = w.sentPackets;
  await vi.advanceTimersByTimeAsync(ms);
  return w.sentPackets - before;
}

test.each(['long-haul-icmpv6', 'long-haul-roce'] as const)(
  'LHCNP-5.6-c, LHCNP-5.6-d: %s with Reduce 30 makes it send 70 percent, Resume 0 everything again (A8)',
  async (format) => {
    const w = await started(FEEDBACK_FORMATS, { rttMs: 1000 });
    w.longHaul(format, { action: 'rate-reduce', parameter: 30 });
    expect(await sentIn(w, 500)).toBeGreaterThan(0.68 * 470);
    expect(rate(w)).toBeCloseTo(0.7, 5);
    w.longHaul(format, { action: 'resume', parameter: 50 });
    expect(of(w, 'feedback').at(-1)).toMatchObject({
      accepted: true,
      action: 'resume',
      rateBps: 0.85 * RATE,
      queuePairs: [QPN],
    });
    w.longHaul(format, { action: 'resume', parameter: 0 });
    expect(of(w, 'feedback').at(-1)).toMatchObject({ rateBps: RATE });
    const shown = (await summary(w))['feedback'] as Record<string, unknown>;
    expect(shown[format]).toMatchObject({
      accepted: 3,
      refused: {},
      firstAfterMs: expect.closeTo(190, -1.5) as number,
    });
  },
);

test('A10, LHCNP-5.5.1-c: nothing is sent during a pause, and it ends by itself', async () => {
  const w = await started();
  w.longHaul('long-haul-icmpv6', { action: 'pause', parameter: 65_535 });
  expect(await sentIn(w, 65)).toBe(0);
  expect(await sentIn(w, 100)).toBeGreaterThan(85);
});

test('Rate Reduce 100 stops it until recovery begins, 2·RTT later (A7)', async () => {
  const w = await started(FEEDBACK_FORMATS, { rttMs: 50 });
  w.longHaul('long-haul-roce', { action: 'rate-reduce', parameter: 100 });
  expect(await sentIn(w, 99)).toBe(0);
  expect(await sentIn(w, 200)).toBeGreaterThan(0);
});

test('LHCNP-5.6-f: RTT_est is the measured one when none is configured', async () => {
  const w = await started();
  w.longHaul('long-haul-roce', { action: 'rate-reduce', parameter: 50 });
  await vi.advanceTimersByTimeAsync(19);
  expect(rate(w)).toBe(0.5);
  await vi.advanceTimersByTimeAsync(20);
  expect(rate(w)).toBeGreaterThan(0.5);
  await vi.advanceTimersByTimeAsync(300);
  expect(rate(w)).toBe(1);
});

test('LHCNP-5.5.1-a: Notify gets the default response, that to a CNP', async () => {
  const w = await started(FEEDBACK_FORMATS, { dcqcn: scaledDcqcn(RATE) });
  w.longHaul('long-haul-icmpv6', { action: 'notify', parameter: 0 });
  expect(of(w, 'feedback').at(-1)).toMatchObject({ accepted: true, action: 'notify', rateBps: RATE / 2 });
});

test('FCNP-4-n: a Fast CNP is answered like a CNP when option address and DestQP name a connection, else not at all', async () => {
  const w = await started(FEEDBACK_FORMATS, { dcqcn: scaledDcqcn(RATE) });
  w.fastCnp(NODE, H2, PEER_QPN + 1);
  w.fastCnp(NODE, STRANGER, PEER_QPN);
  expect(of(w, 'feedback').map((e) => [e['accepted'], e['reason']])).toEqual([
    [false, 'unknown-queue-pair'],
    [false, 'unknown-queue-pair'],
  ]);
  w.fastCnp();
  expect(of(w, 'feedback').at(-1)).toMatchObject({
    accepted: true,
    format: 'fast-cnp',
    queuePairs: [QPN],
    rateBps: RATE / 2,
  });
});

test('LHCNP-5.6-a, LHCNP-5.6-b, LHCNP-9-a, FCNP-5-c: strangers and unknown Queue Pairs change nothing; each is counted with its reason', async () => {
  const w = await started(FEEDBACK_FORMATS, { dcqcn: scaledDcqcn(RATE) });
  w.fastCnp(STRANGER);
  for (const format of ['long-haul-icmpv6', 'long-haul-roce'] as const) {
    w.longHaul(format, { action: 'rate-reduce', parameter: 100 }, STRANGER);
    w.longHaul(format, { action: 'rate-reduce', parameter: 100, sourceQpn: QPN + 1 });
  }
  await vi.advanceTimersByTimeAsync(20);
  expect(rate(w)).toBe(1);
  const end = await summary(w);
  const refused = { 'unknown-node': 1, 'unknown-queue-pair': 1 };
  expect(end).toMatchObject({
    reductions: 0,
    instructions: { reductions: 0 },
    firstFeedbackAt: null,
    feedback: {
      'fast-cnp': { accepted: 0, refused: { 'unknown-node': 1 }, firstAt: null },
      'long-haul-icmpv6': { accepted: 0, refused },
      'long-haul-roce': { accepted: 0, refused },
    },
  });
});

test('a malformed notification is counted by its code and changes nothing', async () => {
  const w = await started();
  const good = buildLongHaulIcmpv6({
    source: NODE,
    destination: H1,
    cnp: { level: 1, action: 'pause', parameter: 9, sourceQpn: QPN, metric: UNDISCLOSED, objects: [] },
    codes: { type: 200, objectClass: 247 },
  });
  w.raw(good.with(47, 8));
  w.raw(good.subarray(0, 50));
  expect(of(w, 'feedback').map((e) => e['reason'])).toEqual(['bad-icmpv6-checksum', 'bad-icmpv6-checksum']);
  expect((await summary(w))['feedback']).toMatchObject({
    'long-haul-icmpv6': { accepted: 0, refused: { 'bad-icmpv6-checksum': 2 } },
  });
});

test('LHCNP-5.6-j, LHCNP-8-c: a sender that does not understand a format discards ICMPv6 in silence and takes the RoCEv2 form for a CNP, of a known node', async () => {
  const w = await started([], { dcqcn: scaledDcqcn(RATE) });
  w.longHaul('long-haul-icmpv6', { action: 'rate-reduce', parameter: 100 });
  w.fastCnp();
  w.longHaul('long-haul-roce', { action: 'rate-reduce', parameter: 100 }, STRANGER);
  w.longHaul('long-haul-roce', { action: 'rate-reduce', parameter: 100, sourceQpn: QPN + 1 });
  expect(of(w, 'feedback')).toEqual([]);
  expect(of(w, 'cnp').map((e) => e['accepted'])).toEqual([false, false]);
  w.longHaul('long-haul-roce', { action: 'rate-reduce', parameter: 100 });
  expect(of(w, 'cnp').at(-1)).toMatchObject({ accepted: true, opcode: 0x81, rateBps: RATE / 2 });
  expect(await summary(w)).toMatchObject({
    cnps: 1,
    reductions: 1,
    instructions: { reductions: 0 },
    feedback: { 'long-haul-icmpv6': { ignored: 1 }, 'fast-cnp': { ignored: 1 }, 'long-haul-roce': { ignored: 3 } },
  });
});

test('a sender that is not configured for notifications behaves as before', async () => {
  const w = await started([], { feedback: undefined, instructed: undefined, dcqcn: scaledDcqcn(RATE) });
  w.longHaul('long-haul-roce', { action: 'rate-reduce', parameter: 100 });
  w.longHaul('long-haul-icmpv6', { action: 'rate-reduce', parameter: 100 });
  w.fastCnp();
  const end = await summary(w);
  expect(end).toMatchObject({ cnps: 0, foreignCnps: 0, reductions: 0 });
  expect(Object.keys(end)).not.toContain('feedback');
});

test('the first feedback of all is reported, of whatever format', async () => {
  const w = await started();
  w.longHaul('long-haul-roce', { action: 'notify', parameter: 0 });
  await vi.advanceTimersByTimeAsync(50);
  w.fastCnp();
  const end = await summary(w);
  const formats = end['feedback'] as Record<string, { firstAt: number }>;
  expect(end['firstFeedbackAt']).toBe(formats['long-haul-roce']!.firstAt);
  expect(formats['fast-cnp']!.firstAt - formats['long-haul-roce']!.firstAt).toBeCloseTo(50, 0);
});
