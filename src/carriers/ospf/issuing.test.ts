// When an LSA of ours is issued, and with which sequence number (RFC 2328 §12.1.6, §12.4, §13.4, §14.1); what is
// desired after it was, and a turn at a time. The functions are called one by one on a speaker without a runner.
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { INITIAL_SEQUENCE, MAX_AGE, MAX_SEQUENCE } from '../../packet/ospf/numbers.ts';
import { lsaKeyText } from '../../packet/ospf/router-id.ts';
import { ISSUE_BATCH, ISSUE_DELAY_MS, LS_REFRESH_MS, MIN_LS_ARRIVAL_MS, SEQUENCE_KEPT_MS } from './constants.ts';
import { uninstall } from './lsdb/install.ts';
import { type StoredLsa, put } from './lsdb/lsdb.ts';
import { type NeighborState, newNeighbor } from './neighbor/neighbor.ts';
import { forgotten, issueDue, outbid, recover, setDesired } from './own/own.ts';
import { topologyChanged } from './own/topology.ts';
import { Router, testConfig } from './simulation.fixture.ts';
import { OSPFV2, type OwnLsa } from './version.ts';

const SELF = 0x01010101;
const NEIGHBOR = 0x02020202;
const lsaOf = (n: number): OwnLsa => ({
  type: 10,
  lsId: 0x07000000 + n,
  body: { kind: 'unknown', content: new Uint8Array(4) },
});
const LSA = lsaOf(1);
const keyOf = ({ type, lsId }: OwnLsa): string => lsaKeyText({ type, lsId, advertisingRouter: SELF });
const KEY = keyOf(LSA);

function scene(desired: readonly OwnLsa[] = [LSA]) {
  const router = new Router(testConfig(SELF, OSPFV2));
  const { speaker: s, area } = router;
  const { own, lsdb } = area;
  /** One turn. */
  const turn = (now: number): void => {
    s.now = now;
    s.effects = [];
    issueDue(s, area);
    for (const effect of s.effects) router.note(effect);
  };
  const stored = (lsa = LSA): StoredLsa => lsdb.byKey.get(keyOf(lsa))!;
  const neighbor = (state: NeighborState) =>
    (area.neighbor = Object.assign(newNeighbor(NEIGHBOR, 0), { state, options: 0xff }));
  setDesired(s, area, desired);
  turn(ISSUE_DELAY_MS);
  return { router, s, area, own, lsdb, turn, stored, neighbor };
}

/** The LSA's sequence number is the last one, and it was issued a while ago. */
function lastNumber() {
  const all = scene();
  const { own, lsdb, s } = all;
  put(lsdb, { ...all.stored(), sequence: MAX_SEQUENCE }, true, 0, false);
  Object.assign(own.issued.get(KEY)!, { sequence: MAX_SEQUENCE, issuedAt: 0 });
  s.now = 100_000;
  return all;
}

describe('a turn', () => {
  test('issues so many LSAs; the next one is at once', () => {
    const { router, own, turn } = scene(Array.from({ length: ISSUE_BATCH + 1 }, (_, n) => lsaOf(n)));
    expect({ ownIssued: router.count('own.issued'), dirtySize: own.dirty.size, issueAt: own.issueAt }).toEqual({
      ownIssued: ISSUE_BATCH,
      dirtySize: 1,
      issueAt: ISSUE_DELAY_MS,
    });
    turn(ISSUE_DELAY_MS);
    expect({ ownIssued: router.count('own.issued'), dirtySize: own.dirty.size, issueAt: own.issueAt }).toEqual({
      ownIssued: ISSUE_BATCH + 1,
      dirtySize: 0,
      issueAt: Infinity,
    });
  });
});

describe('what is desired', () => {
  test('and is the same as before is left alone', () => {
    const { s, area, own } = scene();
    setDesired(s, area, [LSA]);
    expect(own.dirty.size).toBe(0);
  });

  const left = (more?: boolean): { own: ReturnType<typeof scene>['own']; now: number } => {
    const { s, area, own, lsdb, stored } = scene();
    const { raw } = stored();
    for (const [n, mine] of [
      [8, true],
      [9, false],
    ] as const)
      put(lsdb, { ...stored(), raw, lsId: 0x07000000 + n }, mine, 0, true);
    s.now = 50_000;
    setDesired(s, area, [LSA], more);
    return { own, now: s.now };
  };

  test('is all: what an earlier run of ours left beside it is flushed, and no LSA else', () => {
    const { own, now } = left();
    expect([...own.dirty]).toEqual([[keyOf(lsaOf(8)), { at: now + ISSUE_DELAY_MS, force: false }]]);
    expect(own.flushUnknownFrom).toBe(now);
  });

  test('and more follows: what an earlier run left may be part of that', () => {
    const { own } = left(true);
    expect({ dirtySize: own.dirty.size, flushUnknownFrom: own.flushUnknownFrom }).toEqual({
      dirtySize: 0,
      flushUnknownFrom: 0,
    });
  });
});

describe('our place in the topology', () => {
  const listed = (state: NeighborState | undefined): readonly [unknown, number] => {
    const { s, area, own, neighbor } = scene([]);
    area.link = { address: address('10.0.0.1'), peer: undefined };
    if (state) neighbor(state);
    topologyChanged(s, area);
    const [{ body } = { body: undefined }] = own.topology.values();
    return [(body as { links: readonly object[] }).links.length, own.dirty.size];
  };

  test.each(['init', 'ex-start', 'exchange', 'loading'] as const)('names no neighbor in %s, nor waits', (state) => {
    expect(listed(state)).toEqual([0, 0]);
  });

  test('names the one that is Full, and is issued', () => {
    expect([listed(undefined), listed('full')]).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });
});

describe('sequence numbers', () => {
  test('an instance that must be outbid waits no longer than others take it (MinLSArrival)', () => {
    const { s, area, own, turn, stored } = scene();
    const at = s.now;
    outbid(s, area, KEY);
    turn(at);
    expect(own.dirty.get(KEY)).toEqual({ at: at + MIN_LS_ARRIVAL_MS, force: true });
    turn(at + MIN_LS_ARRIVAL_MS - 1);
    expect(stored().sequence).toBe(INITIAL_SEQUENCE);
    turn(at + MIN_LS_ARRIVAL_MS);
    expect(stored().sequence).toBe(INITIAL_SEQUENCE + 1);
  });

  test('after the last one the LSA is flushed, once, and begins anew when it is forgotten (§12.1.6)', () => {
    const { router, s, area, own, turn, stored } = lastNumber();
    outbid(s, area, KEY);
    turn(s.now);
    expect({ ownWithdrawn: router.count('own.withdrawn'), age: stored().age }).toEqual({
      ownWithdrawn: 1,
      age: MAX_AGE,
    });
    outbid(s, area, KEY);
    turn(s.now);
    expect(router.count('own.withdrawn')).toBe(1);
    const flushed = stored();
    uninstall(s, area, flushed);
    forgotten(s, area, flushed);
    expect(own.issued.has(KEY)).toBe(false);
    turn(s.now);
    expect(stored().sequence).toBe(INITIAL_SEQUENCE);
  });

  test('and also when nothing of it is left to flush', () => {
    const { s, area, lsdb, turn, stored } = lastNumber();
    lsdb.byKey.clear();
    outbid(s, area, KEY);
    turn(s.now);
    turn(s.now);
    expect(stored().sequence).toBe(INITIAL_SEQUENCE);
  });

  test('the last one of what is no longer desired leaves nothing behind', () => {
    const { s, area, own, stored } = lastNumber();
    own.desired.clear();
    own.dirty.clear();
    forgotten(s, area, stored());
    expect({ issuedSize: own.issued.size, dirtySize: own.dirty.size }).toEqual({ issuedSize: 0, dirtySize: 0 });
  });

  test('of what was flushed is kept for a while, and looked at then at the latest', () => {
    const { s, area, own, stored } = scene();
    own.desired.clear();
    const at = s.now;
    for (const refreshAt of [Infinity, at + 5]) {
      own.refreshAt = refreshAt;
      forgotten(s, area, stored());
      expect(own.refreshAt).toBe(Math.min(refreshAt, at + SEQUENCE_KEPT_MS));
    }
    expect({ key: own.issued.get(KEY), dirtySize: own.dirty.size }).toMatchObject({
      key: { refreshAt: at + SEQUENCE_KEPT_MS },
      dirtySize: 0,
    });
  });

  test('of what is desired again goes on at once', () => {
    const { s, area, own, stored } = scene();
    forgotten(s, area, stored());
    expect([...own.dirty]).toEqual([[KEY, { at: s.now, force: false }]]);
    expect(own.issued.get(KEY)!.refreshAt).toBeGreaterThan(s.now + SEQUENCE_KEPT_MS);
  });
});

test('a flush of what is not desired is no reason to flush it', () => {
  const { s, area, own, stored } = scene();
  own.desired.clear();
  recover(s, area, { ...stored(), age: MAX_AGE });
  expect(own.dirty.size).toBe(0);
});

test('refreshes are spread over the last twentieth before LSRefreshTime, and begin with the earliest', () => {
  const { own } = scene(Array.from({ length: ISSUE_BATCH }, (_, n) => lsaOf(n)));
  const due = [...own.issued.values()].map(({ refreshAt }) => refreshAt - ISSUE_DELAY_MS);
  expect(Math.max(...due)).toBeLessThanOrEqual(LS_REFRESH_MS);
  expect(Math.min(...due)).toBeGreaterThanOrEqual(0.95 * LS_REFRESH_MS);
  expect(Math.max(...due) - Math.min(...due)).toBeGreaterThan(0.02 * LS_REFRESH_MS);
  expect(own.refreshAt).toBe(Math.min(...due) + ISSUE_DELAY_MS);
});

test('what we issue needs not be asked for: the neighbor that listed an earlier run’s is Full without its answer', () => {
  const { s, area, own, turn, stored, neighbor } = scene();
  const loading = neighbor('loading');
  loading.requests.set(KEY, { ...stored(), sequence: INITIAL_SEQUENCE + 1 });
  loading.asked.add(KEY);
  own.issued.get(KEY)!.sequence = INITIAL_SEQUENCE + 1;
  outbid(s, area, KEY);
  turn(s.now + 10_000);
  expect({ requestsSize: loading.requests.size, state: loading.state }).toEqual({ requestsSize: 0, state: 'full' });
});
