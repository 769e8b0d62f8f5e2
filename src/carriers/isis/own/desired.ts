// What the operator declares, made into what our LSP says.
import { count, warnLimited } from '../../effects.ts';
import { type IpAddress, compareAddresses, isUnicastHost } from '../../../model/address.ts';
import type { Origination } from '../../../model/advertisement.ts';
import { prefixKey } from '../../../model/prefix.ts';
import { flagsOf } from '../../../packet/isis/attribute-flags.ts';
import { type DeclaredByKind, declaredByKind } from '../../by-kind.ts';
import { ISSUE_DELAY_MS, PLACE_BATCH } from '../constants.ts';
import { type NodeAddresses, sameOptional } from '../kinds/entries.ts';
import { markDirty } from './own.ts';
import { type Originated, type OriginatedPrefix, isOriginatedSid, sameOriginated } from './placement.ts';
import { type OriginatedSid, declaredSid } from '../kinds/sids.ts';
import type { Speaker } from '../state.ts';
import { desiredChanged } from '../leaking/offers.ts';
import { setEntry } from './origination.ts';

/** Sets the whole of what we declare. Prefixes and SIDs that differ from before wait to be placed (placeDue). */
export function setDesired(s: Speaker, origination: Origination): void {
  const declared = declaredByKind(origination);
  const { proxies, sids, routerAddresses } = declared;
  const desired = new Map<string, Originated>([...desiredPrefixes(s, proxies), ...desiredSids(s, sids)]);
  for (const key of s.desired.keys()) if (!desired.has(key)) s.pending.set(key, undefined);
  for (const [key, p] of desired) {
    const before = s.desired.get(key);
    if (!before || !sameOriginated(before, p)) s.pending.set(key, p);
  }
  const hasSids = (map: Speaker['desired']): boolean => [...map.values()].some(isOriginatedSid);
  const addresses: NodeAddresses = desiredAddresses(s, routerAddresses);
  const identity = identityIn(declared);
  const same =
    sameAddresses(addresses, s.routerAddresses) &&
    sameAddresses(identity, s.identity) &&
    hasSids(desired) === hasSids(s.desired);
  s.desired = desired;
  s.routerAddresses = addresses;
  s.identity = identity;
  if (!same) for (const { own } of s.levels.values()) markDirty(own, 0, s.now + ISSUE_DELAY_MS);
}

const sameAddresses = (a: NodeAddresses, b: NodeAddresses): boolean =>
  sameOptional(a.v4, b.v4) && sameOptional(a.v6, b.v6);

/**
 * The first usable address of each family: loopbacks come first; a proxy's address and a SID are this router's own as
 * well.
 */
function identityIn({ identity, proxies, sids }: DeclaredByKind): NodeAddresses {
  const own = [...identity, ...proxies.map(({ proxy }) => proxy), ...sids.map(({ sid }) => sid)].filter(isUnicastHost);
  const [v4, v6] = ([4, 6] as const).map((family) => own.find((a) => a.family === family));
  return { ...(v4 && { v4 }), ...(v6 && { v6 }) };
}

/** Of two proxies for one prefix the lower address wins (decision D7). */
function desiredPrefixes(s: Speaker, proxies: DeclaredByKind['proxies']): Map<string, OriginatedPrefix> {
  const desired = new Map<string, OriginatedPrefix>();
  const flags = flagsOf(s.config.pncFlagBit);
  for (const { prefix, proxy } of proxies) {
    const key = prefixKey(prefix);
    const known = desired.get(key);
    const other = known && (known.source6 ?? known.source4)!;
    if (other) {
      count(s, 'originate.duplicate-prefix');
      if (compareAddresses(other, proxy) <= 0) continue;
    }
    const source = proxy.family === 4 ? { source4: proxy } : { source6: proxy };
    desired.set(key, { key, prefix, down: false, external: false, flags, ...source });
  }
  return desired;
}

function desiredSids(s: Speaker, sids: DeclaredByKind['sids']): Map<string, OriginatedSid> {
  const desired = new Map<string, OriginatedSid>();
  for (const sid of sids) {
    const declared = declaredSid(sid);
    if (declared) desired.set(declared.key, declared);
    else
      warnLimited(
        s,
        'originate.unusable-sid',
        {},
        'a SID that is not in its locator, or whose locator has no length, is not advertised',
      );
  }
  return desired;
}

/** TLVs 134 and 140 name one address each: the first of its family. */
function desiredAddresses(s: Speaker, addresses: readonly IpAddress[]): NodeAddresses {
  const usable = addresses.filter(isUnicastHost);
  const [v4, v6] = ([4, 6] as const).map((family) => usable.find((a) => a.family === family));
  const dropped = addresses.length - (v4 ? 1 : 0) - (v6 ? 1 : 0);
  if (dropped > 0)
    warnLimited(
      s,
      'originate.router-address-left-out',
      { dropped },
      'IS-IS has room for one router address a family: the others are not advertised',
    );
  return { ...(v4 && { v4 }), ...(v6 && { v6 }) };
}

/** Places a batch of what changed. */
export function placeDue(s: Speaker): void {
  let left = PLACE_BATCH;
  for (const [key, p] of s.pending) {
    if (left-- === 0) return;
    s.pending.delete(key);
    for (const level of s.levels.values()) setEntry(s, level, key, p);
    if (!p) desiredChanged(s, key);
  }
}
