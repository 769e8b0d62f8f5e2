// Our own LSAs: what comes back of an earlier run, when LSAs are issued again, and when what is not desired is flushed.
// The functions are called one by one on a speaker without a runner.
import { expect, test } from 'vitest';
import { lsaKeyText } from '../../../packet/ospf/router-id.ts';
import { MIN_LS_INTERVAL_MS, SWEEP_MS } from '../constants.ts';
import { type StoredLsa, isMaxAge } from '../lsdb/lsdb.ts';
import { newNeighbor } from '../neighbor/neighbor.ts';
import { flushUnknownBy, issueDue, recover, refreshDue, setDesired } from './own.ts';
import { topologyChanged } from './topology.ts';
import { Router, testConfig } from '../simulation.fixture.ts';
import { OSPFV2, type OwnLsa } from '../version.ts';

const SELF = 0x01010101;
const NEIGHBOR = 0x02020202;
const LSA: OwnLsa = { type: 10, lsId: 0x07000001, body: { kind: 'unknown', content: new Uint8Array(4) } };
const OTHER: OwnLsa = { ...LSA, lsId: 0x07000002 };
const keyOf = ({ type, lsId }: OwnLsa): string => lsaKeyText({ type, lsId, advertisingRouter: SELF });

function scene() {
  const router = new Router(testConfig(SELF, OSPFV2));
  const { speaker: s, area } = router;
  /** Until `now`, as the speaker's timer would. */
  const issueAt = (now: number): void => {
    s.now = now;
    while (area.own.issueAt <= now) issueDue(s, area);
  };
  const stored = (lsa: OwnLsa): StoredLsa => area.lsdb.byKey.get(keyOf(lsa))!;
  return { s, area, own: area.own, issueAt, stored };
}

/** As an earlier run of ours left it. */
const earlier = (lsa: StoredLsa, sequence: number): StoredLsa => ({ ...lsa, sequence });

test('an instance of an earlier run is outbid: the next one has a higher number than it', () => {
  const { s, area, issueAt, stored } = scene();
  setDesired(s, area, [LSA]);
  issueAt(1000);
  recover(s, area, earlier(stored(LSA), 77));
  issueAt(1000 + MIN_LS_INTERVAL_MS);
  expect(stored(LSA).sequence).toBe(78);
});

test('our place in the topology, of an earlier run, waits until the neighbor is Full', () => {
  const { s, area, own, issueAt, stored } = scene();
  setDesired(s, area, [LSA]);
  issueAt(1000);
  own.topology.set(keyOf(LSA), LSA);
  const neighbor = (area.neighbor = newNeighbor(NEIGHBOR, 0));
  for (const state of ['init', 'ex-start', 'exchange', 'loading'] as const) {
    neighbor.state = state;
    recover(s, area, earlier(stored(LSA), 77));
    expect({ state, dirtySize: own.dirty.size }).toEqual({ state, dirtySize: 0 });
  }
  neighbor.state = 'full';
  recover(s, area, earlier(stored(LSA), 77));
  expect([...own.dirty]).toEqual([[keyOf(LSA), { at: 1000, force: true }]]);
});

test('and without a neighbor nothing is issued about it; what else is desired does not wait', () => {
  const { s, area, own, issueAt, stored } = scene();
  setDesired(s, area, [LSA, OTHER]);
  issueAt(1000);
  own.topology.set(keyOf(LSA), LSA);
  for (const lsa of [LSA, OTHER]) recover(s, area, earlier(stored(lsa), 77));
  expect([...own.dirty.keys()]).toEqual([keyOf(OTHER)]);
});

test('what is no longer desired of an earlier run is flushed when the time of grace is over, and at once after that', () => {
  const { s, area, own, issueAt, stored } = scene();
  setDesired(s, area, [LSA]);
  issueAt(1000);
  const left = stored(LSA);
  own.desired.clear();
  own.flushUnknownFrom = 9000;
  recover(s, area, left);
  expect(own.dirty.get(keyOf(LSA))).toEqual({ at: 9000, force: false });
  own.dirty.clear();
  s.now = 10_000;
  recover(s, area, left);
  expect(own.dirty.get(keyOf(LSA))?.at).toBe(10_000);
});

test('the time of grace is only shortened, for what is unknown alone', () => {
  const { s, area, own, issueAt, stored } = scene();
  setDesired(s, area, [LSA]);
  issueAt(1000);
  own.flushUnknownFrom = 9000;
  own.dirty.set(keyOf(LSA), { at: 9000, force: false });
  own.dirty.set(keyOf(OTHER), { at: 9000, force: false });
  flushUnknownBy(area, 9000);
  flushUnknownBy(area, 9500);
  expect({ flushUnknownFrom: own.flushUnknownFrom, at: own.dirty.get(keyOf(OTHER))?.at }).toEqual({
    flushUnknownFrom: 9000,
    at: 9000,
  });
  flushUnknownBy(area, 3000);
  expect({ flushUnknownFrom: own.flushUnknownFrom, issueAt: own.issueAt }).toEqual({
    flushUnknownFrom: 3000,
    issueAt: 3000,
  });
  expect([LSA, OTHER].map((lsa) => own.dirty.get(keyOf(lsa))?.at)).toEqual([9000, 3000]);
  issueAt(3000);
  expect(isMaxAge(stored(LSA), s.now)).toBe(false);
});

test('an LSA is issued again when its time has come, and looked for when the next one’s has', () => {
  const { s, area, own, issueAt, stored } = scene();
  setDesired(s, area, [LSA, OTHER]);
  issueAt(1000);
  const [first, second] = [LSA, OTHER].map((lsa) => own.issued.get(keyOf(lsa))!);
  [first!.refreshAt, second!.refreshAt] = [50_000, 70_000];
  const before = stored(LSA).sequence;
  s.now = 49_999;
  refreshDue(s, area);
  expect({ dirtySize: own.dirty.size, refreshAt: own.refreshAt }).toEqual({ dirtySize: 0, refreshAt: 50_999 });
  s.now = 50_000;
  refreshDue(s, area);
  expect([...own.dirty.keys(), own.refreshAt]).toEqual([keyOf(LSA), 70_000]);
  issueAt(50_000);
  expect([stored(LSA), stored(OTHER)].map(({ sequence }) => sequence)).toEqual([before + 1, before]);
});

test('passes over the list are a while apart, and one that is no longer desired is taken from it', () => {
  const { s, area, own, issueAt } = scene();
  setDesired(s, area, [LSA, OTHER]);
  issueAt(1000);
  own.desired.delete(keyOf(LSA));
  own.issued.get(keyOf(LSA))!.refreshAt = 50_000;
  own.issued.get(keyOf(OTHER))!.refreshAt = 50_001;
  s.now = 50_000;
  refreshDue(s, area);
  expect({ issued: [...own.issued.keys()], refreshAt: own.refreshAt }).toEqual({
    issued: [keyOf(OTHER)],
    refreshAt: 50_000 + SWEEP_MS,
  });
  s.now = 51_000;
  refreshDue(s, area);
  expect(own.refreshAt).toBe(Infinity);
});

test('without a link nothing of the topology is advertised', () => {
  const { s, area, own } = scene();
  topologyChanged(s, area);
  expect(own.topology.size).toBe(0);
});
