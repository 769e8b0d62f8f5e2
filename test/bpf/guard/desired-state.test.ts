// The border guard's share of the desired state in the maps of the real program.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { END_CON_VALUE, GUARD_MAPS, endConKey } from '../../../src/kernel/dataplane/guard.ts';
import { unmappedAddress } from '../../../src/kernel/dataplane/layout.ts';
import { address, formatAddress } from '../../../src/model/address.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { silentLog } from '../../../src/model/log.ts';
import { type BorderGuard, borderGuard } from '../../../src/reconcile/border-guard.ts';
import { object } from '../support/congested-router.ts';

let maps: BpfObject;
let guard: BorderGuard;
beforeEach(() => {
  maps = openBpfObject(object('guard'));
  guard = borderGuard.open(maps, { clock: systemClock, work: eventLoopWork(), log: silentLog, count: () => {} });
});
afterEach(() => guard.close());

const EARLIER = address('2001:db8:c::2');
const sids = (): string[] =>
  [...maps.map(GUARD_MAPS.endConSids).keys()].map((key) => formatAddress(unmappedAddress(key))).sort();
const apply = (...known: readonly string[]): void =>
  guard.apply({
    guards: [{ id: 'wan', interface: 'wan', ifindex: 7, udpPort: 1021 }],
    guardedAddresses: known.map((id) => ({ id, address: address(id) })),
  });

test('FCN-4.2.2-e: after a restart END.CON SIDs are guarded until the network has had time to say them again', () => {
  maps.map(GUARD_MAPS.endConSids).update(endConKey(EARLIER), END_CON_VALUE);
  apply('2001:db8:c::1');
  guard.fullPass();
  expect(sids()).toEqual(['2001:db8:c::1', '2001:db8:c::2']);
  guard.forgetUnknown();
  expect(sids()).toEqual(['2001:db8:c::1']);
});

test('FCN-4.2.2-e: a SID that was withdrawn meanwhile is guarded no longer', () => {
  apply('2001:db8:c::1', '2001:db8:c::3');
  apply('2001:db8:c::1');
  expect(sids()).toEqual(['2001:db8:c::1']);
});
