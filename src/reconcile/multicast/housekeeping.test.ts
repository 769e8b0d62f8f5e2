import { describe, expect, test } from 'vitest';
import { u32Key } from '../../kernel/dataplane/layout.ts';
import {
  decodeMulticastBranch,
  encodeMulticastBranch,
  multicastListKey,
} from '../../kernel/dataplane/multicast-lists.ts';
import { MULTICAST_STATE_SIZE } from '../../kernel/dataplane/multicast-state.ts';
import { address } from '../../model/address.ts';
import { manualClock } from '../../model/clock.ts';
import { silentLog } from '../../model/log.ts';
import type { MulticastPlan } from '../../plan/multicast-plan.ts';
import { Housekeeping, type HousekeepingOptions } from './housekeeping.ts';
import type { InstalledList } from './lists.ts';

const GROUP = '2001:db8:aa::1';
const PLAN = {
  ...{ stallMs: 2000, dropStalled: true },
  groups: [{ id: GROUP, cnpWindowNs: 50_000 }],
} as unknown as MulticastPlan;
const SLOT = 3;
const EPOCH = 9;

/** A list with one receiver, which has joined and confirmed nothing. Its number and its slot are always the same. */
const listNamed = (n: number): InstalledList => ({
  id: `edge ${n}`,
  number: 5,
  role: 'edge',
  key: multicastListKey({ digest: new Uint8Array(8).fill(n), group: 0, role: 'edge' }),
  list: { group: 0, first: SLOT, count: 1, role: 'edge', hasLocal: false, parent: 0 },
});

function scene() {
  const clock = manualClock(0);
  const installed = [listNamed(1)];
  const receiver = { address: address('2001:db8:b::1'), qpn: 7, psnDelta: 0, write: null, excluded: false };
  let branch = encodeMulticastBranch(receiver);
  const state = new Uint8Array(MULTICAST_STATE_SIZE);
  const view = new DataView(state.buffer);
  view.setBigUint64(0, (BigInt(EPOCH) << 44n) | (5n << 22n) | 2n, true);
  view.setBigUint64(8, (BigInt(EPOCH) << 54n) | (1n << 53n) | 20n, true);
  const options = {
    ...{ clock, log: silentLog, count: () => undefined, closeWindow: () => undefined },
    maps: {
      states: { entries: () => [[u32Key(0), state]] },
      branches: { lookup: () => branch, update: (_: Uint8Array, value: Uint8Array) => void (branch = value) },
    },
    lists: {
      installed,
      branches: () => [{ slot: SLOT, branch: decodeMulticastBranch(branch), record: { joined: true, progress: null } }],
    },
    groups: () => [[GROUP, 0] as const],
    // Data come all the time.
    nowNs: () => 0n,
    pathMtus: { look: () => undefined },
  };
  const housekeeping = new Housekeeping(options as unknown as HousekeepingOptions);
  housekeeping.follow(PLAN);
  return {
    ...{ clock, housekeeping },
    isExcluded: () => decodeMulticastBranch(branch).excluded,
    /** Another list gets number and slot. */
    replaceList: () => {
      installed.splice(0, 1, listNamed(2));
      branch = encodeMulticastBranch(receiver);
    },
  };
}

describe('a branch that confirms nothing while data flows', () => {
  test('is a problem after the time for which branches may be silent, and is left out', () => {
    const { clock, housekeeping, isExcluded } = scene();
    clock.advance(2000);
    expect([housekeeping.problems(), isExcluded()]).toEqual([[], false]);
    clock.advance(1000);
    expect(housekeeping.problems()).toMatchObject([
      {
        code: 'groups.branch-stalled',
        problem: expect.stringMatching(/ has confirmed nothing for 2 s; it is left out$/) as string,
      },
    ]);
    expect([housekeeping.stalledMs(listNamed(1), SLOT), isExcluded()]).toEqual([2900, true]);
  });

  test('leaves nothing to the branch of another list in its slot', () => {
    const { clock, housekeeping, isExcluded, replaceList } = scene();
    clock.advance(3000);
    replaceList();
    expect(housekeeping.stalledMs(listNamed(2), SLOT)).toBeUndefined();
    clock.advance(1900);
    expect([housekeeping.problems(), isExcluded()]).toEqual([[], false]);
    clock.advance(1000);
    expect([housekeeping.problems().length, isExcluded()]).toEqual([1, true]);
  });
});
