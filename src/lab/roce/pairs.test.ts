// Source and receivers against each other over a network in memory: packets go through the real codec in both
// directions.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { address } from '../../model/address.ts';
import { buildRocePacket, parseRocePacket, type RocePacket } from '../../packet/roce/packet.ts';
import { scaledDcqcn } from '../../source/dcqcn.ts';
import { receive } from './pairs.ts';
import { Receiver, type ReceiverOptions } from './receiver.ts';
import type { Report } from './report.ts';
import { Source, type SourceOptions } from './source.ts';
import { Transfer } from './transfer.ts';

const S = address('2001:db8:1::2');
const HOSTS = [address('2001:db8:2::2'), address('2001:db8:3::2')];
const QPN = 0x100;
const PEER_QPN = 0x200;
const BYTES = 100_001;
const START = 0xffffe0;
const MEMORY = { virtualAddress: 0xffff_0000_0000n, rkey: 0x1234 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Fields = Readonly<Record<string, unknown>>;

interface World {
  readonly source: Source;
  readonly receivers: readonly Receiver[];
  /** Of the source, first, and of the receivers, by their event. */
  readonly said: readonly Record<string, Fields>[];
  ended: boolean | undefined;
}

interface Given {
  readonly source?: Partial<SourceOptions>;
  readonly receiver?: Partial<ReceiverOptions>;
  /** What the network does to a packet on its way to a receiver: a change in place, or `false` to lose it. */
  readonly onData?: (packet: Uint8Array, index: number, host: number) => boolean | void;
  readonly onAnswer?: (index: number) => boolean;
}

function parse(packet: Uint8Array): RocePacket {
  const parsed = parseRocePacket(packet);
  if (!parsed.ok || !parsed.value.icrcValid) throw new Error('an endpoint sent a bad packet');
  return parsed.value;
}

function world({ source = {}, receiver = {}, onData = () => {}, onAnswer = () => true }: Given): World {
  const said: Record<string, Fields>[] = [{}, {}, {}];
  const reporter =
    (i: number): Report =>
    (event, fields = {}) =>
      void (said[i]![event] = fields);
  const now = (): number => performance.now();
  const counts = [0, 0];
  let answers = 0;
  const receivers = HOSTS.map(
    (host, i) =>
      new Receiver(
        {
          address: host,
          qpn: PEER_QPN + i,
          peer: S,
          peerQpn: QPN + i,
          startingPsn: START,
          cnpIntervalMs: 0.05,
          expectedBytes: BYTES,
          ...receiver,
        },
        {
          now,
          report: reporter(i + 1),
          send: (packet) => {
            if (onAnswer(answers++)) setTimeout(() => w.source.onPacket(parse(packet)), 2);
            return true;
          },
        },
      ),
  );
  const w: World = {
    said,
    ended: undefined,
    receivers,
    source: new Source(
      {
        address: S,
        flows: HOSTS.map((peer, i) => ({ peer, peerQpn: PEER_QPN + i, qpn: QPN + i })),
        transfer: { bytes: BYTES, payloadSize: 1000, packetsPerMessage: 7 },
        startingPsn: START,
        window: 16,
        timeoutMs: 50,
        retries: 7,
        rate: 100e6,
        dcqcn: undefined,
        reportIntervalMs: 100,
        ...source,
      },
      {
        now,
        report: reporter(0),
        onEnd: (ok) => (w.ended = ok),
        send: (packet) => {
          const host = parse(packet).bth.destQpn - PEER_QPN;
          if (onData(packet, counts[host]!++, host) !== false)
            setTimeout(() => receivers[host]!.onPacket(parse(packet)), 2);
          return true;
        },
      },
    ),
  };
  return w;
}

interface Played {
  readonly source: Fields & { readonly flows: readonly Record<string, number>[] };
  readonly receivers: readonly Fields[];
}

async function play(w: World): Promise<Played> {
  w.source.start();
  await vi.advanceTimersByTimeAsync(20_000);
  for (const receiver of w.receivers) receiver.end();
  return { source: w.said[0]!['summary'] as Played['source'], receivers: w.said.slice(1).map((s) => s['summary']!) };
}

const HASH = new Transfer({ bytes: BYTES, payloadSize: 1000, packetsPerMessage: 7 }).hash();
const everything = { complete: true, bytes: BYTES, packets: 101, messages: 15, hash: HASH, invalid: 0, error: null };

test('each receiver gets all bytes in order, and the source knows it', async () => {
  const w = world({});
  const { source, receivers } = await play(w);
  expect(w.ended).toBe(true);
  expect(source).toMatchObject({ ok: true, hash: HASH, foreign: 0 });
  for (const receiver of receivers) expect(receiver).toMatchObject({ ...everything, duplicates: 0, outOfOrder: 0 });
  for (const [i, flow] of source.flows.entries()) {
    expect(flow).toMatchObject({ done: true, sent: 101, retransmitted: 0, acks: receivers[i]!['acks'] });
    expect(flow['completionMs']).toBeGreaterThan(20);
  }
});

test('packets and answers that are lost are made up for: all bytes, in order, once', async () => {
  const w = world({ onData: (_, i, host) => host === 0 || i % 9 !== 4, onAnswer: (i) => i % 5 !== 0 });
  const { source, receivers } = await play(w);
  expect(w.ended).toBe(true);
  for (const receiver of receivers) expect(receiver).toMatchObject(everything);
  expect(receivers[1]!['naks']).toBeGreaterThan(0);
  expect(source.flows[1]!['naks']).toBeGreaterThan(0);
  expect(source.flows[1]!['retransmitted']).toBeGreaterThan(0);
  expect(receivers[0]!['naks']).toBe(0);
});

test('a source that is to finish ends all flows behind the same whole message, with nothing lost', async () => {
  const w = world({
    source: { rate: 5e6 },
    onData: (_, i, host) => host === 0 || i % 9 !== 4,
    onAnswer: (i) => i % 5 !== 0,
  });
  w.source.start();
  await vi.advanceTimersByTimeAsync(40);
  w.source.finish();
  await vi.advanceTimersByTimeAsync(20_000);
  for (const receiver of w.receivers) receiver.end();
  expect(w.ended).toBe(true);
  const { bytes, hash } = w.said[0]!['summary']!;
  expect(bytes).toBeGreaterThan(7000);
  expect(bytes).toBeLessThan(BYTES);
  expect(Number(bytes) % 7000).toBe(0);
  for (const { summary } of w.said.slice(1)) expect(summary).toMatchObject({ bytes, hash, error: null });
});

test('WRITEs put the same bytes into the memory that the R_Key names', async () => {
  const w = world({
    source: { transfer: { bytes: BYTES, payloadSize: 1000, packetsPerMessage: 7, write: MEMORY } },
    receiver: { memory: { ...MEMORY, length: BYTES } },
    onData: (_, i) => i % 13 !== 5,
  });
  const { receivers } = await play(w);
  expect(w.ended).toBe(true);
  for (const receiver of receivers) expect(receiver).toMatchObject({ ...everything, memoryHash: HASH });
});

test('a WRITE with the wrong R_Key ends the flow with the reason, and changes no memory', async () => {
  const w = world({
    source: {
      transfer: { bytes: BYTES, payloadSize: 1000, packetsPerMessage: 7, write: { ...MEMORY, rkey: 1 } },
    },
    receiver: { memory: { ...MEMORY, length: BYTES } },
  });
  const { source, receivers } = await play(w);
  expect(w.ended).toBe(false);
  expect(source.flows[0]).toMatchObject({ done: false, error: 2, completionMs: null });
  expect(receivers[0]).toMatchObject({ complete: false, bytes: 0, error: 2, naks: 1 });
});

test('a receiver without buffers now and then delays the transfer and loses nothing', async () => {
  const w = world({ receiver: { notReady: (n) => (n % 5 === 2 ? 14 : undefined) } });
  const { source, receivers } = await play(w);
  expect(w.ended).toBe(true);
  for (const receiver of receivers) expect(receiver).toMatchObject({ ...everything, rnrNaks: 3 });
  expect(source.flows[0]).toMatchObject({ rnrNaks: 3 });
});

test('marks are answered with CNPs, at most one in 50 µs and flow, and a source with DCQCN slows down', async () => {
  const mark = (packet: Uint8Array, i: number): void => void (i < 20 && (packet[1] = packet[1]! | 0x30));
  const w = world({ onData: mark, source: { dcqcn: scaledDcqcn(100e6) } });
  const { source, receivers } = await play(w);
  expect(receivers[0]).toMatchObject({ ...everything, marked: 20 });
  expect(receivers[0]!['cnpsSent']).toBeLessThan(20);
  expect(source.flows[0]!['cnps']).toBe(receivers[0]!['cnpsSent']);
  expect(source.flows[0]!['reductions']).toBeGreaterThan(0);
});

test('what is for another Queue Pair, or not from the peer, changes nothing on either side', async () => {
  const w = world({});
  const inject = (to: (packet: RocePacket) => void, source: typeof S, destQpn: number, opcode: number): void =>
    to(
      parse(
        buildRocePacket({
          source,
          destination: S,
          sourcePort: 1,
          bth: { opcode, destQpn, psn: START },
          ext: { aeth: { kind: 'nak', value: 1, msn: 0 } },
        }),
      ),
    );
  const receiver = w.receivers[0]!;
  inject((p) => receiver.onPacket(p), S, PEER_QPN + 1, 0x04);
  inject((p) => receiver.onPacket(p), HOSTS[1]!, PEER_QPN, 0x04);
  w.source.start();
  await vi.advanceTimersByTimeAsync(3);
  inject((p) => w.source.onPacket(p), HOSTS[1]!, QPN, 0x11);
  inject((p) => w.source.onPacket(p), HOSTS[0]!, QPN + 2, 0x11);
  await vi.advanceTimersByTimeAsync(20_000);
  for (const r of w.receivers) r.end();
  expect(w.said[0]!['summary']).toMatchObject({ ok: true, foreign: 2 });
  expect(w.said[1]!['summary']).toMatchObject({ ...everything, otherQueuePair: 1, strangers: 1 });
});

test('a peer that never answers is given up after its timeouts', async () => {
  const w = world({ onData: (_, __, host) => host !== 1 });
  const { source } = await play(w);
  expect(w.ended).toBe(false);
  expect(source).toMatchObject({ ok: false });
  expect(source.flows.map((flow) => flow['done'])).toEqual([true, false]);
  expect(source.flows[1]).toMatchObject({ timeouts: 8, completionMs: null });
});

test('receivers of one host answer each from its own address, and count only what is for their own Queue Pair', () => {
  const sent: RocePacket[] = [];
  const send = (packet: Uint8Array): boolean => sent.push(parse(packet)) > 0;
  const parts = { now: () => 0, send, report: () => {}, end: () => {} };
  const options = { qpn: '0x200', from: '2001:db8:1::2/0x100', also: '2001:db8:3::2/0x201/0x101' };
  const role = receive(options, HOSTS[0]!, parts);
  const arrive = (to: number, destQpn: number): void =>
    role.onPacket(
      parse(
        buildRocePacket({
          ...{ source: S, destination: HOSTS[to]!, sourcePort: 0xc000, trafficClass: 0, hopLimit: 9 },
          bth: { opcode: 0x04, destQpn, psn: 0, ackRequest: true },
          payload: new Uint8Array(8),
        }),
      ),
    );
  expect(role.also).toEqual([HOSTS[1]]);
  arrive(1, 0x201);
  arrive(0, 0x201);
  arrive(0, 0x200);
  expect(sent.map(({ source, bth }) => [source, bth.destQpn])).toEqual([
    [HOSTS[1], 0x101],
    [HOSTS[0], 0x100],
  ]);
});
