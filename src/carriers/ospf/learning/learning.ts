// What the LSAs of other routers advertise, for the learned table: one report per LSA, which replaces the previous one.
// Prefixes without the flag are reported as well, from every router and every LSA that lists any, because they hide the
// proxy of a shorter prefix (decision D5). If a router lists a prefix in several extended LSAs, only the one with the
// lowest link-state ID is used (RFC 7684 §2). The kind decides what an entry is learned as (kinds/).
import { warnLimited } from '../../effects.ts';
import type { IpAddress } from '../../../model/address.ts';
import type { LearnedAdvertisement } from '../../../model/advertisement.ts';
import { formatLsaKey, lsaKeyText } from '../../../packet/ospf/router-id.ts';
import type { LsaKey } from '../../../packet/ospf/types.ts';
import { REPORT_BATCH } from '../constants.ts';
import type { AreaContent, Content, ReadLsa } from '../content-state.ts';
import type { Entry, LowestCounts } from '../kinds/kind.ts';
import { addressOf, originatorName } from './originators.ts';
import { lsaName } from '../show.ts';
import { lowerBound } from '../../sorted.ts';

/** An LSA was read again: reports it, and the LSAs whose meaning it changes. */
export function learnChange(
  c: Content,
  area: AreaContent,
  before: ReadLsa | undefined,
  after: ReadLsa | undefined,
): void {
  const { id, key } = (after ?? before)!;
  const affected = claimsChanged(c, area, before, after);
  if (addressesChanged(before, after)) {
    area.addresses.delete(key.advertisingRouter);
    for (const other of area.routers.get(key.advertisingRouter)?.values() ?? [])
      if (other.content.entries.some((entry) => needsAddress(c, entry))) affected.add(other.id);
  }
  report(c, area, id, key, before);
  area.outdated.delete(id);
  affected.delete(id);
  for (const other of affected) area.outdated.add(other);
  reportDue(c, area);
}

/** Reports LSAs again whose meaning another LSA has changed, a batch at a time. */
export function reportDue(c: Content, area: AreaContent): void {
  let left = REPORT_BATCH;
  for (const id of area.outdated) {
    if (left-- === 0) return;
    area.outdated.delete(id);
    const lsa = area.lsas.get(id);
    if (lsa) report(c, area, id, lsa.key, lsa);
  }
}

const NONE: readonly never[] = [];
const entriesOf = (lsa: ReadLsa | undefined): readonly Entry[] => lsa?.content.entries ?? NONE;

const claimKey = (c: Content, { advertisingRouter, type }: LsaKey, entry: Entry): string =>
  `${advertisingRouter} ${type} ${c.kinds.keyOf(entry)}`;

/** Whether both lists have the same keys in the same order, as if only the proxy has changed. */
function sameKeys(rule: LowestCounts<Entry>, was: readonly Entry[], is: readonly Entry[]): boolean {
  return was.length === is.length && was.every((entry, i) => rule.sameKey(entry, is[i]!));
}

/** @returns the other LSAs of which more or fewer entries are used now */
function claimsChanged(
  c: Content,
  area: AreaContent,
  before: ReadLsa | undefined,
  after: ReadLsa | undefined,
): Set<string> {
  const affected = new Set<string>();
  const { claims } = area;
  const { key } = (before ?? after)!;
  const rule = c.kinds.lowestCounts(key);
  if (!rule || sameKeys(rule, entriesOf(before), entriesOf(after))) return affected;
  const claimsOf = (lsa: ReadLsa | undefined): Set<string> =>
    new Set(entriesOf(lsa).map((entry) => claimKey(c, key, entry)));
  const [was, is] = [claimsOf(before), claimsOf(after)];
  const affects = (lsId: number | undefined): void =>
    void (lsId !== undefined && affected.add(lsaKeyText({ ...key, lsId })));
  for (const claim of was) {
    if (is.has(claim)) continue;
    const lsIds = claims.get(claim)!;
    const at = lowerBound(lsIds, key.lsId);
    lsIds.splice(at, 1);
    if (lsIds.length === 1) area.contested--;
    if (lsIds.length === 0) claims.delete(claim);
    else if (at === 0) affects(lsIds[0]);
  }
  for (const claim of is) {
    if (was.has(claim)) continue;
    const lsIds = claims.get(claim);
    if (!lsIds) {
      claims.set(claim, [key.lsId]);
      continue;
    }
    const at = lowerBound(lsIds, key.lsId);
    // Only the first LSA is used: nothing changes for the others.
    if (at === 0) affects(lsIds[0]);
    if (lsIds.length === 1) area.contested++;
    lsIds.splice(at, 0, key.lsId);
    warnLimited(
      c,
      'learn.prefix-in-several-lsas',
      { lsa: formatLsaKey(key) },
      'a router lists a prefix in several LSAs: the one with the lowest link-state ID is used',
    );
  }
  return affected;
}

const needsAddress = (c: Content, entry: Entry): boolean => c.kinds.rowOf(entry).received.needsAddress(entry);

function addressesChanged(before: ReadLsa | undefined, after: ReadLsa | undefined): boolean {
  const addresses = (lsa: ReadLsa | undefined): bigint[] => [
    lsa?.content.topology.routerAddress?.value ?? 0n,
    lsa?.content.topology.hostAddress?.value ?? 0n,
  ];
  const [was, is] = [addresses(before), addresses(after)];
  return was.some((value, i) => value !== is[i]);
}

/** The entries of an LSA that are used. */
function counting(c: Content, { claims, contested }: AreaContent, lsa: ReadLsa | undefined): readonly Entry[] {
  const entries = entriesOf(lsa);
  if (!lsa || contested === 0 || !c.kinds.lowestCounts(lsa.key)) return entries;
  return entries.filter((entry) => claims.get(claimKey(c, lsa.key, entry))![0] === lsa.key.lsId);
}

function report(c: Content, area: AreaContent, id: string, key: LsaKey, before: ReadLsa | undefined): void {
  const now = area.lsas.get(id);
  const entries = counting(c, area, now);
  for (const hear of c.subscribers.entriesChanged) hear(c, area, id, entries);
  if (entriesOf(now).length === 0 && entriesOf(before).length === 0) return;
  const { name, version, privateTypes } = c.config;
  c.effects.push({
    type: 'learned',
    report: {
      carrier: name,
      source: `${area.name} ${lsaName(version, key, privateTypes)}`,
      originator: originatorName(area, key.advertisingRouter),
      advertisements: learned(c, area, key.advertisingRouter, entries),
    },
  });
}

function learned(
  c: Content,
  area: AreaContent,
  router: number,
  entries: readonly Entry[],
): readonly LearnedAdvertisement[] {
  const node = (): IpAddress | undefined => addressOf(area, router);
  const [first = NONE, ...more] = c.kinds
    .byKind(entries)
    .map(({ row, entries: ofKind }) => row.received.learned(ofKind, node));
  return more.length === 0 ? first : first.concat(...more);
}
