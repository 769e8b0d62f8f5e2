import { describe, expect, test } from 'vitest';
import { address, sameAddress } from '../model/address.ts';
import { type ForgettingLimits, type KnownFlow, mayForget } from './queue-pairs.ts';

const A = address('2001:db8:a::1');
const B = address('2001:db8:b::1');
const SECOND = 1_000_000_000n;
const opts = { now: 1000n * SECOND, ageingNs: 300n * SECOND, graceNs: 10n * SECOND };

const there = (lastSeen: bigint, fields: Partial<KnownFlow> = {}): KnownFlow => ({
  sender: A,
  receiver: B,
  senderQpn: 1,
  receiverQpn: 2,
  lastSeen,
  ...fields,
});
const back = (lastSeen: bigint, fields: Partial<KnownFlow> = {}): KnownFlow => ({
  sender: B,
  receiver: A,
  senderQpn: 2,
  receiverQpn: 1,
  lastSeen,
  ...fields,
});

/** What a sweep of a table that holds these flows takes out. */
const flowsToForget = (flows: readonly KnownFlow[], limits: ForgettingLimits): KnownFlow[] =>
  flows.filter((flow) =>
    mayForget(
      flow,
      (name) =>
        flows.find(
          (f) =>
            sameAddress(f.sender, name.sender) &&
            sameAddress(f.receiver, name.receiver) &&
            f.receiverQpn === name.receiverQpn,
        ),
      limits,
    ),
  );

describe('forgetting Queue Pairs', () => {
  test('PNC-1-c: a connection silent in both directions is forgotten, both halves of it', () => {
    const flows = [there(600n * SECOND), back(699n * SECOND)];
    expect(flowsToForget(flows, opts)).toEqual(flows);
  });

  test('one that is active in one direction only, such as unreliable traffic, is kept', () => {
    expect(flowsToForget([there(0n), back(999n * SECOND)], opts)).toEqual([]);
  });

  test('silence of exactly the ageing time is not too long', () => {
    expect(flowsToForget([there(700n * SECOND), back(0n)], opts)).toEqual([]);
  });

  test('a half whose other half is gone is forgotten after the grace time, not before', () => {
    expect(flowsToForget([there(995n * SECOND)], opts)).toEqual([]);
    expect(flowsToForget([there(900n * SECOND)], opts)).toHaveLength(1);
  });

  test('a half whose other half belongs to another connection is forgotten, and that one stays', () => {
    const flows = [
      there(900n * SECOND),
      back(999n * SECOND, { senderQpn: 7 }),
      there(999n * SECOND, { receiverQpn: 7 }),
    ];
    expect(flowsToForget(flows, opts)).toEqual([flows[0]]);
  });

  test('connections of the same Queue Pair numbers between other hosts are other connections', () => {
    expect(
      flowsToForget([there(900n * SECOND), back(999n * SECOND, { receiver: address('2001:db8:a::2') })], opts),
    ).toEqual([there(900n * SECOND)]);
  });

  test('a half without the other is kept for exactly the grace time', () => {
    expect(flowsToForget([there(990n * SECOND)], opts)).toEqual([]);
    expect(flowsToForget([there(990n * SECOND - 1n)], opts)).toHaveLength(1);
  });

  test('when connections age faster than the grace time, both halves go when both have aged', () => {
    const fast = { ...opts, ageingNs: 5n * SECOND };
    expect(flowsToForget([there(994n * SECOND), back(994n * SECOND)], fast)).toHaveLength(2);
    expect(flowsToForget([there(994n * SECOND), back(995n * SECOND)], fast)).toEqual([]);
    expect(flowsToForget([there(994n * SECOND)], fast)).toEqual([]);
  });

  test('the other half is looked up where its packets come from: in the tenant of the other direction', () => {
    const asked: unknown[] = [];
    const find = (name: unknown): undefined => void asked.push(name);
    const name = { sender: B, receiver: A, receiverQpn: 1 };
    expect(mayForget(there(900n * SECOND, { tenant: 7, peerTenant: 9 }), find, opts)).toBe(true);
    expect(mayForget(there(900n * SECOND), find, opts)).toBe(true);
    expect(asked).toEqual([
      { ...name, tenant: 9 },
      { ...name, tenant: 0 },
    ]);
  });

  test('a flow that was seen a moment ago costs no look-up', () => {
    expect(mayForget(there(999n * SECOND), () => expect.unreachable(), opts)).toBe(false);
  });

  test('when both halves are silent, the second is forgotten although the first is already gone', () => {
    const [first, second] = [there(600n * SECOND), back(699n * SECOND)];
    expect(flowsToForget([first, second], opts)).toContain(first);
    expect(flowsToForget([second], opts)).toEqual([second]);
  });
});
