// What the operator declares, made into what our LSAs say, in every area alike. What OSPF cannot say is counted and
// shown as a problem: a proxy of the other address family (RFC 9084 has IPv4 addresses in OSPFv2 and IPv6 addresses in
// OSPFv3), a SID outside its locator.
import { count, warnLimited } from '../../effects.ts';
import { compareAddresses, isUnicastHost } from '../../../model/address.ts';
import type { Origination } from '../../../model/advertisement.ts';
import { comparePrefixes } from '../../../model/prefix.ts';
import { extendedFlags } from '../../../packet/ospf/prefix-sub-tlvs.ts';
import { declaredChanged, isBorder } from '../leaking/offers.ts';
import { BUILD_BATCH, DECLARE_BATCH, SETTLE_LIMIT_MS, SIGNALLING_METRIC } from '../constants.ts';
import type { AreaContent, Content } from '../content-state.ts';
import { type Entry, type PrefixEntry, entryKey, isSid, usableSid } from '../kinds/entries.ts';
import { buildLsas, place, placedLsas, unplace } from './placement.ts';
import { type DeclaredByKind, declaredByKind } from '../../by-kind.ts';
import { advance } from '../../../model/work.ts';

/** Sets the whole of what we declare. Much of it takes several turns, of which this is the first. */
export function declare(c: Content, origination: Origination): void {
  c.declaring = takeOver(c, origination);
  declareDue(c);
}

/** Goes on with it, a batch at a time. */
export function declareDue(c: Content): void {
  if (c.declaring && advance(c.declaring, DECLARE_BATCH)) c.declaring = undefined;
}

/**
 * What is gone goes first, and frees space. When a declaration is given up half-way, `declared` says what was taken
 * over, and the next one is compared with that.
 */
function* takeOver(c: Content, origination: Origination): Generator<void> {
  const { proxies, sids, routerAddresses } = declaredByKind(origination);
  c.unsayable = 0;
  const next = new Map<string, Entry>();
  yield* readPrefixes(c, proxies, next);
  yield* readSids(c, sids, next);
  const areas = [...c.areas.values()];
  for (const key of c.declared.keys()) {
    yield;
    if (next.has(key)) continue;
    c.declared.delete(key);
    for (const area of areas) setEntry(c, area, key, undefined);
    declaredChanged(c, key);
  }
  for (const [key, entry] of next) {
    yield;
    const before = c.declared.get(key);
    if (before && sameDeclared(before, entry)) continue;
    c.declared.set(key, entry);
    for (const area of areas) setEntry(c, area, key, entry);
  }
  c.others = c.config.dialect.others(routerAddresses, sids.length > 0);
  for (const area of areas) area.changedAt ??= c.now;
  const { family } = c.config.dialect;
  const usable = routerAddresses.filter((a) => a.family === family && isUnicastHost(a)).length;
  if (usable > 1)
    warnLimited(
      c,
      'originate.router-address-left-out',
      { left: usable - 1 },
      'OSPF carries one router address: the others are not advertised',
    );
}

/**
 * Prefixes in a fixed order, so that a run places them as the one before did. Of two proxies for one prefix the lower
 * address wins (decision D7).
 */
function* readPrefixes(c: Content, proxies: DeclaredByKind['proxies'], declared: Map<string, Entry>): Generator<void> {
  const { dialect, pncFlagBit, routerId } = c.config;
  const flags = extendedFlags(pncFlagBit);
  // Prefixes of the other family are for the other version of OSPF.
  const ours = proxies.filter(({ prefix }) => prefix.address.family === dialect.family);
  for (const { prefix, proxy } of ours.toSorted(
    (a, b) => comparePrefixes(a.prefix, b.prefix) || compareAddresses(a.proxy, b.proxy),
  )) {
    yield;
    if (proxy.family !== dialect.family) {
      c.unsayable++;
      warnLimited(
        c,
        'originate.proxy-of-other-family',
        {},
        'OSPF cannot carry a proxy address of the other family: the prefix is not advertised',
      );
      continue;
    }
    const entry: PrefixEntry = {
      prefix,
      pnc: true,
      metric: SIGNALLING_METRIC,
      route: 'intra-area',
      flags,
      node: false,
      attached: false,
      proxy,
      sourceRouter: routerId,
    };
    const key = entryKey(entry);
    if (declared.has(key)) count(c, 'originate.duplicate-prefix');
    else declared.set(key, entry);
  }
}

function* readSids(c: Content, sids: DeclaredByKind['sids'], declared: Map<string, Entry>): Generator<void> {
  for (const { sid, locator, behavior } of sids.toSorted((a, b) => compareAddresses(a.sid, b.sid))) {
    yield;
    const entry: Entry = { sid, locator, behavior, algorithm: 0, route: 'intra-area' };
    if (usableSid(entry)) declared.set(entryKey(entry), entry);
    else {
      c.unsayable++;
      warnLimited(
        c,
        'originate.unusable-sid',
        {},
        'a SID that is not in its locator, or whose locator has no length, is not advertised',
      );
    }
  }
}

/** Of one key, what a declaration can change. */
function sameDeclared(a: Entry, b: Entry): boolean {
  if (isSid(a) || isSid(b))
    return isSid(a) && isSid(b) && a.behavior === b.behavior && comparePrefixes(a.locator, b.locator) === 0;
  return compareAddresses(a.proxy!, b.proxy!) === 0;
}

/** Adds, changes or (undefined) removes one entry of our LSAs in an area. */
export function setEntry(c: Content, area: AreaContent, key: string, entry: Entry | undefined): void {
  const lsaKind = entry && c.config.dialect.lsaKindOf(entry);
  area.unplaced.delete(key);
  let freed = false;
  // Declared after it was learned from another area, or the other way round: it moves to an LSA of another kind.
  for (const [name, placement] of area.placements) if (name !== lsaKind && unplace(placement, key)) freed = true;
  if (entry && !place(area.placements.get(lsaKind!)!, key, entry)) {
    area.unplaced.set(key, entry);
    warnLimited(
      c,
      'originate.no-room',
      { area: area.name },
      'no LSA can hold another prefix or SID: it is not advertised',
    );
  }
  area.changedAt ??= c.now;
  if (freed) retryUnplaced(c, area);
}

/** Space has become free: place what had none. */
function retryUnplaced(c: Content, area: AreaContent): void {
  for (const [key, entry] of area.unplaced) {
    if (place(area.placements.get(c.config.dialect.lsaKindOf(entry))!, key, entry)) area.unplaced.delete(key);
  }
}

/** Whether our LSAs in the area advertise it, or would if it fitted. */
export const isAdvertised = (area: AreaContent, key: string): boolean =>
  area.unplaced.has(key) || [...area.placements.values()].some(({ whereIs }) => whereIs.has(key));

/**
 * Writes LSAs, a batch of entries at a time, and when all of an area are written hands them to the core. Nothing is
 * handed over in the middle of a declaration: LSAs of an earlier run that it has yet to confirm would be flushed.
 */
export function issueDue(c: Content): void {
  if (c.declaring) return;
  let left = BUILD_BATCH;
  for (const area of c.areas.values()) {
    if (area.changedAt === undefined || (c.interArea.queue.isBusy && c.now < area.changedAt + SETTLE_LIMIT_MS))
      continue;
    for (const placement of area.placements.values()) left = buildLsas(placement, c.config.routerId, left);
    if (left <= 0) return;
    issue(c, area);
  }
}

/** Everything that we originate in the area. Inter-area copies follow when a border router has learned them again. */
function issue(c: Content, area: AreaContent): void {
  area.changedAt = undefined;
  const placed = [...area.placements.values()].flatMap((placement) => placedLsas(placement, c.config.routerId));
  c.effects.push({ type: 'originate', areaId: area.areaId, lsas: [...placed, ...c.others], more: isBorder(c) });
}
