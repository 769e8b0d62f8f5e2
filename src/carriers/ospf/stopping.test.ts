// A clean stop: what it waits for, and what it no longer waits for. On a speaker without a runner.
import { describe, expect, test } from 'vitest';
import { decodeLsa, encodeLsa } from '../../packet/ospf/lsa.ts';
import { lsaKeyText } from '../../packet/ospf/router-id.ts';
import { STOP_LIMIT_MS, STOP_RETRANSMIT_MS } from './constants.ts';
import { put } from './lsdb/lsdb.ts';
import { type Neighbor, type NeighborState, newNeighbor } from './neighbor/neighbor.ts';
import { AREA, Router, areaConfig, testConfig } from './simulation.fixture.ts';
import { beginStop, checkStop } from './stopping.ts';

const SELF = 0x01010101;
const NEIGHBOR = 0x02020202;
const NOW = 10_000;
const KEY = lsaKeyText({ type: 10, lsId: 1, advertisingRouter: SELF });

function scene(state: NeighborState = 'full') {
  const areas = [areaConfig(), areaConfig({ areaId: AREA + 1 })];
  const router = new Router(testConfig(SELF, undefined, {}, { areas }));
  const { speaker: s, area } = router;
  s.now = NOW;
  const neighbor: Neighbor = (area.neighbor = Object.assign(newNeighbor(NEIGHBOR, 0), { state }));
  /** An LSA of ours, or of another router, in the database. */
  const hold = (own: boolean): void => {
    const header = { age: 1, options: 0, type: 10, lsId: 1, advertisingRouter: SELF, sequence: 5 };
    const lsa = decodeLsa(2, encodeLsa(2, header, { kind: 'unknown', content: new Uint8Array(4) }));
    if (!lsa.ok) throw new Error(lsa.error.detail);
    put(area.lsdb, lsa.value, own, 0, false);
  };
  const isDone = (): boolean => {
    s.stopping ??= { deadline: NOW + STOP_LIMIT_MS, done: false };
    checkStop(s);
    return s.stopping.done;
  };
  return { router, s, area, neighbor, hold, isDone };
}

describe('what waits for acknowledgement when the stop begins', () => {
  const hurried = (at: number, floodAt: number): readonly [number, number] => {
    const { s, neighbor } = scene();
    neighbor.retransmit.set(KEY, at);
    neighbor.floodAt = floodAt;
    beginStop(s);
    return [neighbor.retransmit.get(KEY)!, neighbor.floodAt];
  };

  test('is sent again within the stop, and no later than it would have been', () => {
    const soon = NOW + STOP_RETRANSMIT_MS;
    expect(hurried(NOW + 5000, NOW + 5000)).toEqual([soon, soon]);
    expect(hurried(NOW + 300, NOW + 200)).toEqual([NOW + 300, NOW + 200]);
  });

  test('nothing: nothing is sent again', () => {
    const { s, neighbor } = scene();
    beginStop(s);
    expect(neighbor.floodAt).toBe(Infinity);
  });
});

test('a second stop does not prolong the first', () => {
  const { s } = scene();
  beginStop(s);
  s.now += 1000;
  beginStop(s);
  expect(s.stopping!.deadline).toBe(NOW + STOP_LIMIT_MS);
});

describe('it is done when', () => {
  test.each(['unsent', 'retransmit'] as const)(
    'nothing of ours is left in `%s`; of others it does not matter',
    (list) => {
      for (const own of [true, false]) {
        const { neighbor, hold, isDone } = scene();
        hold(own);
        if (list === 'unsent') neighbor.unsent.add(KEY);
        else neighbor.retransmit.set(KEY, NOW);
        expect({ own, isDone: isDone() }).toEqual({ own, isDone: !own });
      }
    },
  );

  test('what was owed has left the database', () => {
    for (const list of ['unsent', 'retransmit'] as const) {
      const { neighbor, isDone } = scene();
      if (list === 'unsent') neighbor.unsent.add(KEY);
      else neighbor.retransmit.set(KEY, NOW);
      expect(isDone()).toBe(true);
    }
  });

  test('the neighbor takes no part in flooding', () => {
    const { area, isDone } = scene('ex-start');
    area.own.dirty.set(KEY, { at: NOW, force: false });
    expect(isDone()).toBe(true);
  });

  test('no area has anything to flush, however many have not', () => {
    const { area, isDone } = scene();
    area.own.dirty.set(KEY, { at: NOW, force: false });
    expect(isDone()).toBe(false);
    area.own.dirty.clear();
    expect(isDone()).toBe(true);
  });

  test('time is up, and not before', () => {
    const { s, area, isDone } = scene();
    area.own.dirty.set(KEY, { at: NOW, force: false });
    s.now = NOW + STOP_LIMIT_MS - 1;
    expect(isDone()).toBe(false);
    s.now = NOW + STOP_LIMIT_MS;
    s.effects = [];
    expect(isDone()).toBe(true);
    expect(s.effects.at(-1)).toEqual({ type: 'stopped', clean: false });
  });
});
