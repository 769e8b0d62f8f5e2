// Sender and Listener against each other over a network in memory: packets go through the real codec in both
// directions.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { address } from '../../model/address.ts';
import { parseRocePacket } from '../../packet/roce/packet.ts';
import { buildCnp } from '../../packet/roce/cnp.ts';
import { scaledDcqcn } from '../../source/dcqcn.ts';
import { Listener } from './listener.ts';
import { Sender, type SenderOptions } from './sender.ts';
import type { Report } from './report.ts';

const [H1, H2] = [address('2001:db8:1::2'), address('2001:db8:2::2')];
const QPN = 0x111111;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Event {
  readonly event: string;
  readonly [field: string]: unknown;
}

interface World {
  readonly sender: Sender;
  readonly listener: Listener;
  readonly sent: Event[];
  readonly heard: Event[];
  ended: boolean | undefined;
}

/**
 * @param change what the network does to a packet on its way to h2: nothing, a change in place, or `false` to lose it
 */
function world(
  opts: Partial<SenderOptions>,
  change: (packet: Uint8Array, index: number) => boolean | void = () => {},
  cnps: 'on' | 'off' = 'on',
): World {
  const now = (): number => performance.now();
  const recorder =
    (list: Event[]): Report =>
    (event, fields = {}) =>
      void list.push({ event, ...fields });
  const parse = (packet: Uint8Array): Extract<ReturnType<typeof parseRocePacket>, { ok: true }>['value'] => {
    const parsed = parseRocePacket(packet);
    if (!parsed.ok || !parsed.value.icrcValid) throw new Error('an endpoint sent a bad packet');
    return parsed.value;
  };
  let index = 0;
  const w: World = {
    sent: [],
    heard: [],
    ended: undefined,
    sender: new Sender(
      {
        local: { address: H1, qpn: QPN, commId: 1, startingPsn: 0xfffff0 },
        peer: H2,
        port: 1,
        payloadSize: 1000,
        packetsPerMessage: 4,
        rate: 8e6,
        durationMs: 200,
        window: 64,
        timeoutMs: 50,
        reportIntervalMs: 50,
        dcqcn: undefined,
        ...opts,
      },
      {
        now,
        report: (event, fields) => recorder(w.sent)(event, fields),
        onEnd: (ok) => (w.ended = ok),
        send: (packet) => {
          const copy = packet.slice();
          if (change(copy, index++) !== false) setTimeout(() => w.listener.onPacket(parse(copy)), 5);
          return true;
        },
      },
    ),
    listener: new Listener(
      { address: H2, cnpIntervalMs: cnps === 'on' ? 0.05 : undefined, reportIntervalMs: 50, maxConnections: 1 },
      {
        now,
        report: (event, fields) => recorder(w.heard)(event, fields),
        draw: () => ({ qpn: 0x222222, commId: 2, startingPsn: 9 }),
        send: (packet) => {
          const copy = packet.slice();
          setTimeout(() => w.sender.onPacket(parse(copy)), 5);
          return true;
        },
      },
    ),
  };
  return w;
}

async function play(w: World, ms = 20_000): Promise<{ sender: Event; listener: Event }> {
  w.sender.start();
  await vi.advanceTimersByTimeAsync(ms);
  const summary = (list: Event[]): Event => list.find((e) => e.event === 'summary')!;
  return { sender: summary(w.sent), listener: summary(w.heard) };
}

test('connect, send at the rate, everything acknowledged, disconnect', async () => {
  const w = world({});
  const { sender, listener } = await play(w);
  expect(w.ended).toBe(true);
  expect(w.sent[0]).toMatchObject({ event: 'connected', qpn: QPN, peerQpn: 0x222222 });
  expect(w.heard[0]).toMatchObject({ event: 'accepted', qpn: 0x222222, peerQpn: QPN });
  expect(sender).toMatchObject({ reason: 'done', retransmitted: 0, naks: 0, timeouts: 0, cnps: 0 });
  expect(listener).toMatchObject({ reason: 'closed', packets: sender['acknowledged'], outOfOrder: 0, marked: 0 });
  // 8 Mbit/s of 1064-byte packets for 200 ms.
  expect(Number(sender['sent'])).toBeGreaterThan(180);
  expect(Number(sender['sent'])).toBeLessThan(195);
  expect(sender['minimumRttMs']).toBeCloseTo(10, 0);
});

test('lost packets are sent again until all have arrived once', async () => {
  const w = world({}, (_, i) => i < 2 || i % 7 !== 0);
  const { sender, listener } = await play(w);
  expect(w.ended).toBe(true);
  expect(Number(sender['retransmitted'])).toBeGreaterThan(0);
  expect(listener['packets']).toBe(sender['acknowledged']);
  expect(listener['invalid']).toBe(0);
});

const markData = (packet: Uint8Array): void => {
  // both ECN bits of the traffic class; the ICRC does not cover them
  if (packet.length > 1000) packet[1] = packet[1]! | 0x30;
};

test('marked packets make the receiver send CNPs for the sender’s Queue Pair, and the sender slow down', async () => {
  const w = world({ dcqcn: scaledDcqcn(8e6) }, markData);
  const { sender, listener } = await play(w);
  const cnps = w.sent.filter((e) => e.event === 'cnp');
  expect(cnps.length).toBe(listener['cnpsSent']);
  expect(cnps[0]).toMatchObject({ accepted: true, opcode: 0x81, destQpn: QPN, icrcValid: true, rateBps: 4e6 });
  expect(sender['firstCnpAfterMs']).toBeGreaterThanOrEqual(10);
  expect(Number(sender['sent'])).toBeLessThan(60);
});

test('without a reaction CNPs are counted and change nothing', async () => {
  const { sender } = await play(world({}, markData));
  expect(Number(sender['cnps'])).toBeGreaterThan(100);
  expect(Number(sender['sent'])).toBeGreaterThan(180);
});

test('a receiver that is configured not to sends no CNPs', async () => {
  const w = world({ dcqcn: scaledDcqcn(8e6) }, markData, 'off');
  w.sender.start();
  await vi.advanceTimersByTimeAsync(5000);
  expect(w.heard.find((e) => e.event === 'summary')).toMatchObject({ cnpsSent: 0 });
  expect(Number(w.heard.find((e) => e.event === 'summary')!['marked'])).toBeGreaterThan(100);
});

test('a CNP for another Queue Pair, or from another than the peer, is not for this connection', async () => {
  const w = world({ dcqcn: scaledDcqcn(8e6) });
  w.sender.start();
  await vi.advanceTimersByTimeAsync(50);
  const inject = (source: typeof H1, destQpn: number): void => {
    const parsed = parseRocePacket(buildCnp({ source, destination: H1, destQpn, sourcePort: 1 }));
    if (parsed.ok) w.sender.onPacket(parsed.value);
  };
  inject(H2, QPN + 1);
  inject(address('2001:db8:3::3'), QPN);
  await vi.advanceTimersByTimeAsync(5000);
  expect(w.sent.find((e) => e.event === 'summary')).toMatchObject({ cnps: 0, foreignCnps: 1, reductions: 0 });
});

test('a peer that never answers is given up', async () => {
  const w = world({}, () => false);
  const { sender } = await play(w);
  expect(w.ended).toBe(false);
  expect(sender['reason']).toBe('connection unanswered');
});

test('a network that stops carrying loses the connection, in bounded time', async () => {
  const w = world({}, (_, i) => i < 20);
  const { sender } = await play(w, 30_000);
  expect(w.ended).toBe(false);
  expect(sender['reason']).toBe('retries exceeded');
});

test('asked to stop, the sender completes its message and disconnects', async () => {
  const w = world({ durationMs: 60_000 });
  w.sender.start();
  await vi.advanceTimersByTimeAsync(100);
  w.sender.stop();
  await vi.advanceTimersByTimeAsync(500);
  expect(w.ended).toBe(true);
  const summary = w.sent.find((e) => e.event === 'summary')!;
  expect(Number(summary['sent']) % 4).toBe(0);
  expect(summary['acknowledged']).toBe(summary['sent']);
});
