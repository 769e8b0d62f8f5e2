// Turns declarations into entries of our LSP.
import { isDeepStrictEqual } from 'node:util';
import { type IpAddress, isUnicastHost, sameOptional } from '../../../model/address.ts';
import type { Origination } from '../../../model/advertisement.ts';
import { ISSUE_DELAY_MS, PLACE_BATCH } from '../constants.ts';
import type { NodeAddresses } from '../kinds/attributes.ts';
import type { OwnEntry } from '../kinds/kind.ts';
import { desiredChanged } from '../leaking/offers.ts';
import type { Speaker } from '../state.ts';
import { setEntry } from './origination.ts';
import { markDirty } from './own.ts';
import { sameEntry } from './placement.ts';

/** Sets everything that we declare. Entries that differ from before wait to be placed (placeDue). */
export function setDesired(s: Speaker, origination: Origination): void {
  const ofKind = s.kinds.rows.map((row) => ({ row, declared: origination.filter(({ kind }) => kind === row.kind) }));
  const identity = identityIn(
    ofKind.flatMap(({ row, declared }) => declared.flatMap((one) => row.own.addressOf(one) ?? [])),
  );
  const parts = ofKind.map(({ row, declared }) => row.own.desired(declared, s, identity));
  const desired = new Map<string, OwnEntry>(parts.flatMap(({ entries }) => entries.map((entry) => [entry.key, entry])));
  for (const key of s.desired.keys()) if (!desired.has(key)) s.pending.set(key, undefined);
  for (const [key, entry] of desired) {
    const before = s.desired.get(key);
    if (!before || !sameEntry(s.kinds, before, entry)) s.pending.set(key, entry);
  }
  const fragment0 = parts.flatMap((part) => part.fragment0);
  const same = sameAddresses(identity, s.identity) && isDeepStrictEqual(fragment0, s.fragment0);
  s.desired = desired;
  s.fragment0 = fragment0;
  s.identity = identity;
  if (!same) for (const { own } of s.levels.values()) markDirty(own, 0, s.now + ISSUE_DELAY_MS);
}

const sameAddresses = (a: NodeAddresses, b: NodeAddresses): boolean =>
  sameOptional(a.v4, b.v4) && sameOptional(a.v6, b.v6);

/** The first usable address of each family. */
function identityIn(addresses: readonly IpAddress[]): NodeAddresses {
  const own = addresses.filter(isUnicastHost);
  const [v4, v6] = ([4, 6] as const).map((family) => own.find((a) => a.family === family));
  return { ...(v4 && { v4 }), ...(v6 && { v6 }) };
}

/** Places a batch of changes. */
export function placeDue(s: Speaker): void {
  let left = PLACE_BATCH;
  for (const [key, entry] of s.pending) {
    if (left-- === 0) return;
    s.pending.delete(key);
    for (const level of s.levels.values()) setEntry(s, level, key, entry);
    if (!entry) desiredChanged(s, key);
  }
}
