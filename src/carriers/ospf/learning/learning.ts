// What the LSAs of others advertise, for the learned table: one report an LSA, which replaces the one before. A prefix
// without flag is reported as well, because it hides the proxy of a shorter one (decision D5): the prefixes of every
// router, from every LSA that has any. Of a prefix that a router lists in several extended LSAs only the one with the
// lowest link-state ID counts (RFC 7684 §2).
import { warnLimited } from '../../effects.ts';
import type { LearnedAdvertisement, LearnedOf } from '../../../model/advertisement.ts';
import { prefixKey, samePrefix, senderlessUse } from '../../../model/prefix.ts';
import { formatLsaKey, lsaKeyText } from '../../../packet/ospf/router-id.ts';
import type { LsaKey } from '../../../packet/ospf/types.ts';
import { REPORT_BATCH } from '../constants.ts';
import type { AreaContent, Content, ReadLsa } from '../content-state.ts';
import { originatorName, proxyOf } from './originators.ts';
import type { PrefixEntry } from '../kinds/entries.ts';
import { lsaName } from '../show.ts';
import { lowerBound } from '../../sorted.ts';

/** What is read of an LSA takes the place of what was: reports it, and what it changes of others. */
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
      if (other.content.prefixes.some(needsAddress)) affected.add(other.id);
  }
  report(c, area, id, key, before);
  area.outdated.delete(id);
  affected.delete(id);
  for (const other of affected) area.outdated.add(other);
  reportDue(c, area);
}

/** Reports again what another LSA has changed, a batch at a time. */
export function reportDue(c: Content, area: AreaContent): void {
  let left = REPORT_BATCH;
  for (const id of area.outdated) {
    if (left-- === 0) return;
    area.outdated.delete(id);
    const lsa = area.lsas.get(id);
    if (lsa) report(c, area, id, lsa.key, lsa);
  }
}

const claimKey = ({ advertisingRouter, type }: LsaKey, { prefix }: PrefixEntry): string =>
  `${advertisingRouter} ${type} ${prefixKey(prefix)}`;

/** Whether they list the same prefixes, and in the same order: an LSA with which only the proxy has changed. */
function samePrefixes(before: ReadLsa | undefined, after: ReadLsa | undefined): boolean {
  const [was, is] = [before?.content.prefixes ?? [], after?.content.prefixes ?? []];
  return was.length === is.length && was.every(({ prefix }, i) => samePrefix(prefix, is[i]!.prefix));
}

/** @returns other LSAs that now say more or less than before */
function claimsChanged(
  c: Content,
  area: AreaContent,
  before: ReadLsa | undefined,
  after: ReadLsa | undefined,
): Set<string> {
  const affected = new Set<string>();
  const { claims } = area;
  const { key } = (before ?? after)!;
  if (!c.config.dialect.lowestCounts(key) || samePrefixes(before, after)) return affected;
  const claimsOf = (lsa: ReadLsa | undefined): Set<string> =>
    new Set(lsa?.content.prefixes.map((entry) => claimKey(key, entry)));
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
    // Only what counts says it: of the others nothing changes.
    if (at === 0) affects(lsIds[0]);
    if (lsIds.length === 1) area.contested++;
    lsIds.splice(at, 0, key.lsId);
    warnLimited(
      c,
      'learn.prefix-in-several-lsas',
      { lsa: formatLsaKey(key) },
      'a router lists a prefix in several LSAs: the lowest link-state ID counts',
    );
  }
  return affected;
}

const needsAddress = ({ pnc, proxy }: PrefixEntry): boolean => pnc && !proxy;

function addressesChanged(before: ReadLsa | undefined, after: ReadLsa | undefined): boolean {
  const addresses = (lsa: ReadLsa | undefined): bigint[] => [
    lsa?.content.routerAddress?.value ?? 0n,
    lsa?.content.hostAddress?.value ?? 0n,
  ];
  const [was, is] = [addresses(before), addresses(after)];
  return was.some((value, i) => value !== is[i]);
}

/** The prefixes of an LSA that count. */
function counting(c: Content, { claims, contested }: AreaContent, { key, content }: ReadLsa): readonly PrefixEntry[] {
  if (contested === 0 || !c.config.dialect.lowestCounts(key)) return content.prefixes;
  return content.prefixes.filter((entry) => claims.get(claimKey(key, entry))![0] === key.lsId);
}

function report(c: Content, area: AreaContent, id: string, key: LsaKey, before: ReadLsa | undefined): void {
  const now = area.lsas.get(id);
  const entries = now ? counting(c, area, now) : [];
  const sids = now?.content.sids ?? [];
  const offers = entries.filter(({ pnc, prefix }) => pnc && senderlessUse(prefix) === undefined);
  for (const hear of c.subscribers.entriesChanged) hear(c, area, id, [...offers, ...sids]);
  if (!reports(now) && !reports(before)) return;
  const { name } = c.config;
  const routerAddress = now?.content.routerAddress;
  const advertisements: LearnedAdvertisement[] = entries.map((entry) => learned(area, key.advertisingRouter, entry));
  for (const { sid, behavior } of sids) advertisements.push({ kind: 'sid', sid, behavior });
  if (routerAddress) advertisements.push({ kind: 'router-address', address: routerAddress });
  c.effects.push({
    type: 'learned',
    report: {
      carrier: name,
      source: `${area.name} ${lsaName(c.config.dialect.version, key, c.config.privateTypes)}`,
      originator: originatorName(area, key.advertisingRouter),
      advertisements,
    },
  });
}

const reports = (lsa: ReadLsa | undefined): boolean =>
  lsa !== undefined &&
  (lsa.content.prefixes.length > 0 || lsa.content.sids.length > 0 || lsa.content.routerAddress !== undefined);

function learned(
  area: AreaContent,
  router: number,
  { prefix, pnc, metric, proxy }: PrefixEntry,
): LearnedOf<'sender-prefix'> {
  return { kind: 'sender-prefix', prefix, pnc, metric, proxy: pnc ? proxyOf(area, router, proxy) : undefined };
}
