// Ageing (RFC 2328 §14), a turn at a time: how much of a large database one turn looks at, flushes and forgets.
import { describe, expect, test } from 'vitest';
import { decodeLsa, encodeLsa } from '../../../packet/ospf/lsa.ts';
import { MAX_AGE } from '../../../packet/ospf/numbers.ts';
import type { Lsa } from '../../../packet/ospf/types.ts';
import { sweep } from './aging.ts';
import { SWEEP_BATCH, SWEEP_CHANGES, SWEEP_MS } from '../constants.ts';
import { type StoredLsa, put } from '../lsdb/lsdb.ts';
import { newNeighbor } from '../neighbor/neighbor.ts';
import { Router, testConfig } from '../simulation.fixture.ts';

const SELF = 0x01010101;
const OTHER = 0x02020202;
const NOW = 10_000;

function lsaOf(lsId: number, age: number, advertisingRouter: number): Lsa {
  const header = { age, options: 0, type: 10, lsId, advertisingRouter, sequence: 5 };
  const lsa = decodeLsa(2, encodeLsa(2, header, { kind: 'unknown', content: new Uint8Array(4) }));
  if (!lsa.ok) throw new Error(lsa.error.detail);
  return lsa.value;
}

function scene(now = NOW) {
  const router = new Router(testConfig(SELF));
  const { speaker: s, area } = router;
  s.now = now;
  /** LSAs of another router, or ours, that came a second ago. */
  const hold = (count: number, age: number, own = false): StoredLsa[] => {
    const pattern = lsaOf(0, age, own ? SELF : OTHER);
    return Array.from({ length: count }, () => {
      const lsId = area.lsdb.byKey.size;
      return put(area.lsdb, { ...pattern, lsId }, own, now - 1000, true).stored;
    });
  };
  const turn = (): void => {
    s.effects = [];
    sweep(s, area);
    for (const effect of s.effects) router.note(effect);
  };
  const stored = ({ key }: StoredLsa): StoredLsa | undefined => area.lsdb.byKey.get(key);
  return { router, s, area, hold, turn, stored };
}

/** Reaches MaxAge at NOW. */
const LAST_SECOND = MAX_AGE - 1;

describe('one turn', () => {
  test('looks at so many LSAs, and the next one goes on behind them', () => {
    const { router, area, hold, turn } = scene();
    hold(SWEEP_BATCH, 1);
    hold(1, LAST_SECOND);
    turn();
    expect(router.count('lsa.expired')).toBe(0);
    expect(area.lsdb.pass).toBeDefined();
    turn();
    expect({ lsaExpired: router.count('lsa.expired'), pass: area.lsdb.pass }).toEqual({
      lsaExpired: 1,
      pass: undefined,
    });
  });

  test('and at the last of them', () => {
    const { router, hold, turn } = scene();
    hold(SWEEP_BATCH - 1, 1);
    hold(1, LAST_SECOND);
    turn();
    expect(router.count('lsa.expired')).toBe(1);
  });

  test('flushes so many, whatever else it has looked at', () => {
    const { router, hold, turn } = scene();
    hold(2 * SWEEP_CHANGES, 1);
    hold(SWEEP_CHANGES + 1, LAST_SECOND);
    turn();
    expect(router.count('lsa.expired')).toBe(SWEEP_CHANGES);
    turn();
    expect(router.count('lsa.expired')).toBe(SWEEP_CHANGES + 1);
  });

  test('forgets so many', () => {
    const { area, hold, turn } = scene();
    hold(SWEEP_CHANGES + 1, MAX_AGE);
    turn();
    expect(area.lsdb.byKey.size).toBe(1);
    turn();
    expect(area.lsdb.byKey.size).toBe(0);
  });

  test('those that wait for the neighbor are not among them', () => {
    const { area, hold, turn } = scene();
    const neighbor = (area.neighbor = Object.assign(newNeighbor(OTHER, 0), { state: 'full' as const }));
    for (const { key } of hold(SWEEP_CHANGES, MAX_AGE)) neighbor.retransmit.set(key, Infinity);
    hold(1, MAX_AGE);
    turn();
    expect(area.lsdb.byKey.size).toBe(SWEEP_CHANGES);
    expect(area.lsdb.sweepAt).toBe(NOW + SWEEP_MS);
  });
});

describe('an LSA whose age ran out', () => {
  test('is written down with MaxAge, as an instance that did not come from the neighbor just now', () => {
    const { hold, turn, stored } = scene();
    const [lsa] = hold(1, LAST_SECOND);
    turn();
    expect(stored(lsa!)).toMatchObject({ age: MAX_AGE, flooded: false, own: false });
  });

  test('of our own is counted with no other router’s', () => {
    const { router, hold, turn, stored } = scene();
    const [lsa] = hold(1, LAST_SECOND, true);
    turn();
    expect(stored(lsa!)).toMatchObject({ age: MAX_AGE, own: true });
    expect(router.count('lsa.expired')).toBe(0);
  });

  test('of our own leaves its sequence number behind when it is forgotten, another router’s nothing', () => {
    const { area, hold, turn } = scene();
    const [own] = hold(1, MAX_AGE, true);
    hold(1, MAX_AGE);
    turn();
    expect(area.lsdb.byKey.size).toBe(0);
    expect([...area.own.issued].map(([key, { sequence }]) => [key, sequence])).toEqual([[own!.key, 5]]);
  });

  test('a younger one is looked at again when its time comes', () => {
    const { area, hold, turn } = scene();
    hold(1, MAX_AGE - 100);
    turn();
    expect(area.lsdb.sweepAt).toBe(NOW + 99_000);
  });
});
