import { describe, expect, test } from 'vitest';
import { type IpAddress, address, formatAddress } from '../model/address.ts';
import { type Candidate, MAX_TARGETS, TargetSet } from './targets.ts';

const router = (n: number): IpAddress => address(`2001:db8:ffff::${n.toString(16)}`);
const routers = (from: number, count: number): IpAddress[] => Array.from({ length: count }, (_, i) => router(from + i));
const texts = (list: readonly Candidate[]): string[] => list.map((c) => `${formatAddress(c.address)} ${c.source}`);

describe('probe targets', () => {
  test('are the configured and the learned addresses, each once', () => {
    const targets = new TargetSet();
    const { added, removed } = targets.replace([router(2)], [router(3), router(1), router(2)]);
    expect(texts(added)).toEqual([
      '2001:db8:ffff::2 configured',
      '2001:db8:ffff::1 learned',
      '2001:db8:ffff::3 learned',
    ]);
    expect(removed).toEqual([]);
  });

  test('missing targets are removed, the others are not touched', () => {
    const targets = new TargetSet();
    targets.replace([], routers(1, 3));
    expect(targets.replace([], [router(2), router(4)])).toEqual({
      added: [{ address: router(4), source: 'learned' }],
      removed: [router(1), router(3)],
    });
    expect(targets.replace([], [router(2), router(4)])).toEqual({ added: [], removed: [] });
  });

  test('a learned target that is now configured begins anew as configured', () => {
    const targets = new TargetSet();
    targets.replace([], [router(1)]);
    expect(targets.replace([router(1)], [router(1)])).toEqual({
      added: [{ address: router(1), source: 'configured' }],
      removed: [router(1)],
    });
  });

  test('are bounded: the rest waits, configured ones first', () => {
    const targets = new TargetSet();
    expect(targets.replace([], routers(1, 1000)).added).toHaveLength(MAX_TARGETS);
    expect(targets.waiting).toBe(1000 - MAX_TARGETS);
    targets.replace([router(5000)], routers(1, 1000));
    expect(targets.yieldPlace(router(1))).toEqual({ address: router(5000), source: 'configured' });
  });

  test('the place of a silent target goes to the next: in time every learned address is tried', () => {
    const targets = new TargetSet();
    const active = targets.replace([router(9999)], routers(1, 200)).added.map((c) => c.address);
    const tried = new Set(active.map(formatAddress));
    for (let i = 0; i < 400; i++) {
      const next = targets.yieldPlace(active.splice(1, 1)[0]!);
      expect(next).toBeDefined();
      active.push(next!.address);
      tried.add(formatAddress(next!.address));
    }
    expect(tried.size).toBe(201);
    expect(active).toHaveLength(MAX_TARGETS);
    expect(targets.yieldPlace(router(9999))).toBeUndefined();
  });

  test('no target yields its place while none waits', () => {
    const targets = new TargetSet();
    targets.replace([], [router(1)]);
    expect(targets.yieldPlace(router(1))).toBeUndefined();
    expect(targets.yieldPlace(router(77))).toBeUndefined();
  });
});
