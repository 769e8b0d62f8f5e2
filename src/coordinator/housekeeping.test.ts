import { describe, expect, test } from 'vitest';
import type { KnownFlow } from '../learned/queue-pairs.ts';
import { type IpAddress, address, formatAddress } from '../model/address.ts';
import { manualClock } from '../model/clock.ts';
import { ManualWork } from '../model/work.fixture.ts';
import { type SweptDataplane, startHousekeeping } from './housekeeping.ts';

const [a, b] = [address('2001:db8:1::2'), address('2001:db8:2::2')];

describe('housekeeping', () => {
  test('LHCNP-5.2-e: frees aged flows every ten seconds, also after a failure, until it is stopped', () => {
    const clock = manualClock();
    const errors: unknown[] = [];
    let sweeps = 0;
    const ageFlows = (): void => {
      sweeps++;
      if (sweeps === 1) throw new Error('EAGAIN');
    };
    const stop = startHousekeeping({ congestedNode: { ageFlows } } as unknown as SweptDataplane, {
      clock,
      work: new ManualWork(),
      readFacts: () => {},
      ageingMs: () => 300_000,
      onError: (e) => errors.push(e),
    });
    clock.advance(30_000);
    expect({ sweeps, errorsLength: errors.length }).toEqual({ sweeps: 3, errorsLength: 1 });
    stop();
    clock.advance(600_000);
    expect(sweeps).toBe(3);
  });

  test('PNC-1-c: forgets connections that both sides have left, and no others', () => {
    const { clock, work, known, errors } = proxyThatKnows([...connection(1, 2, LONG_AGO), ...connection(3, 4, 0n)]);
    clock.advance(60_000);
    work.settle();
    expect([...known.values()].map((f) => f.senderQpn)).toEqual([3, 4]);
    expect(errors).toEqual([]);
  });

  test('sweeps a large table in slices, completely', () => {
    const { clock, work, known, read } = proxyThatKnows(
      Array.from({ length: 2000 }, (_, i) => connection(2 * i, 2 * i + 1, i % 2 === 0 ? LONG_AGO : 0n)).flat(),
    );
    clock.advance(60_000);
    work.turn();
    expect(read()).toBeLessThan(1000);
    work.settle();
    expect(read()).toBe(4000);
    expect(known.size).toBe(2000);
    expect([...known.values()].filter((f) => f.senderQpn % 4 <= 1)).toEqual([]);
  });

  test('keeps entries that a packet has refreshed or replaced since they were read', () => {
    const flows = [...connection(1, 2, LONG_AGO), ...connection(3, 4, LONG_AGO)];
    const { clock, work, known, errors } = proxyThatKnows(flows, () => {
      for (const flow of flows.slice(0, 2)) known.set(nameOf(flow), { ...flow, lastSeen: process.hrtime.bigint() });
    });
    clock.advance(60_000);
    work.settle();
    expect([...known.values()].map((f) => f.senderQpn)).toEqual([1, 2]);
    expect(errors).toEqual([]);
  });

  test('can be stopped during a sweep', () => {
    const { clock, work, read, stop } = proxyThatKnows(
      Array.from({ length: 2000 }, (_, i) => connection(2 * i, 2 * i + 1, 0n)).flat(),
    );
    clock.advance(60_000);
    work.turn();
    const before = read();
    expect(before).toBeGreaterThan(0);
    stop();
    clock.advance(600_000);
    work.settle();
    expect(read()).toBe(before);
  });
});

const LONG_AGO = 400_000_000_000n;
const nameOf = (f: { sender: IpAddress; receiver: IpAddress; receiverQpn: number }): string =>
  `${formatAddress(f.sender)} ${formatAddress(f.receiver)} ${f.receiverQpn}`;

/** Both directions, last seen that many nanoseconds ago. */
function connection(senderQpn: number, receiverQpn: number, ago: bigint): KnownFlow[] {
  const lastSeen = process.hrtime.bigint() - ago;
  return [
    { sender: a, receiver: b, senderQpn, receiverQpn, lastSeen },
    { sender: b, receiver: a, senderQpn: receiverQpn, receiverQpn: senderQpn, lastSeen },
  ];
}

/** Housekeeping of a proxy with these flows, read in a batch of all; `whenRead` is called after that. */
function proxyThatKnows(flows: readonly KnownFlow[], whenRead: () => void = () => {}) {
  const known = new Map(flows.map((flow) => [nameOf(flow), flow]));
  const clock = manualClock();
  const work = new ManualWork();
  const errors: unknown[] = [];
  let read = 0;
  const proxy = {
    learnedPairs: function* () {
      const batch = [...known.values()];
      whenRead();
      for (const flow of batch) {
        read++;
        yield flow;
      }
    },
    learnedPair: (name: Parameters<typeof nameOf>[0]) => known.get(nameOf(name)),
    forget: (name: Parameters<typeof nameOf>[0]) => known.delete(nameOf(name)),
  };
  const stop = startHousekeeping({ proxy } as unknown as SweptDataplane, {
    clock,
    work,
    readFacts: () => {},
    ageingMs: () => 300_000,
    onError: (e) => errors.push(e),
  });
  return { clock, work, known, errors, stop, read: () => read };
}
