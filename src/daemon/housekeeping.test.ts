import { describe, expect, it } from 'vitest';
import { address } from '../model/address.ts';
import { manualClock } from '../model/clock.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';
import { startHousekeeping } from './housekeeping.ts';

const [a, b] = [address('2001:db8:1::2'), address('2001:db8:2::2')];

describe('housekeeping', () => {
  it('LHCNP-5.2-e: frees aged flows every ten seconds, also after a failure, until it is stopped', () => {
    const clock = manualClock();
    const errors: unknown[] = [];
    let sweeps = 0;
    const ageFlows = (): void => {
      sweeps++;
      if (sweeps === 1) throw new Error('EAGAIN');
    };
    const stop = startHousekeeping({ congestedNode: { ageFlows } } as unknown as Dataplane, { clock, onError: (e) => errors.push(e) });
    clock.advance(30_000);
    expect([sweeps, errors.length]).toEqual([3, 1]);
    stop();
    clock.advance(600_000);
    expect(sweeps).toBe(3);
  });

  it('PNC-1-c: forgets connections that both sides have left, and no others', () => {
    const clock = manualClock();
    const now = process.hrtime.bigint();
    const pair = (senderQpn: number, receiverQpn: number, lastSeen: bigint) => [
      { sender: a, receiver: b, senderQpn, receiverQpn, lastSeen },
      { sender: b, receiver: a, senderQpn: receiverQpn, receiverQpn: senderQpn, lastSeen },
    ];
    const forgotten: number[] = [];
    const proxy = {
      learnedPairs: () => [...pair(1, 2, now - 400_000_000_000n), ...pair(3, 4, now)],
      forget: (flows: Iterable<{ senderQpn: number }>) => forgotten.push(...[...flows].map((f) => f.senderQpn)),
    };
    const stop = startHousekeeping({ proxy } as unknown as Dataplane, { clock, onError: (e) => expect.unreachable(String(e)) });
    clock.advance(60_000);
    stop();
    expect(forgotten.sort()).toEqual([1, 2]);
  });
});
