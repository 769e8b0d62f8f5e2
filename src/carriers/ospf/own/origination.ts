// Turns the operator's declaration into entries of our LSAs, the same in every area. The kind reports what OSPF cannot
// encode (kinds/); it is counted and shown as a problem.
import { warnLimited } from '../../effects.ts';
import type { Origination } from '../../../model/advertisement.ts';
import { declaredChanged, isBorder } from '../leaking/offers.ts';
import { BUILD_BATCH, DECLARE_BATCH, SETTLE_LIMIT_MS } from '../constants.ts';
import type { AreaContent, Content } from '../content-state.ts';
import type { Entry } from '../kinds/kind.ts';
import { buildLsas, place, placedLsas, unplace } from './placement.ts';
import { advance } from '../../../model/work.ts';

/** Replaces everything that we declare. A large declaration takes several turns; this is the first one. */
export function declare(c: Content, origination: Origination): void {
  c.declaring = takeOver(c, origination);
  declareDue(c);
}

/** Continues a declaration, a batch at a time. */
export function declareDue(c: Content): void {
  if (c.declaring && advance(c.declaring, DECLARE_BATCH)) c.declaring = undefined;
}

/**
 * Removes entries first, which frees space. If a declaration is replaced before it is complete, `declared` has what was
 * applied, and the next one is compared with that.
 */
function* takeOver(c: Content, origination: Origination): Generator<void> {
  const ofKind = c.kinds.rows.map(({ kind, own }) => ({ own, declared: origination.filter((a) => a.kind === kind) }));
  const next = new Map<string, Entry>();
  c.unencodable = 0;
  for (const { own, declared } of ofKind) {
    if (own.entries === 'none') continue;
    for (const entry of own.entries.desired(declared, c)) {
      yield;
      if (entry) next.set(own.entries.keyOf(entry), entry);
    }
  }
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
    if (before && c.kinds.entriesOf(entry).same(before, entry)) continue;
    c.declared.set(key, entry);
    for (const area of areas) setEntry(c, area, key, entry);
  }
  c.others = ofKind.flatMap(({ own, declared }) => own.others(declared, c));
  for (const area of areas) area.changedAt ??= c.now;
}

/** Adds, changes or (undefined) removes one entry of our LSAs in an area. */
export function setEntry(c: Content, area: AreaContent, key: string, entry: Entry | undefined): void {
  const lsa = entry && c.kinds.lsaOf(entry);
  area.unplaced.delete(key);
  let freed = false;
  // An entry that was an inter-area copy is declared now, or the reverse: it moves to another type of LSA.
  for (const [other, placement] of area.placements.entries())
    if (other !== lsa && unplace(placement, key)) freed = true;
  if (entry && !place(area.placements[lsa!]!, key, entry)) {
    area.unplaced.set(key, entry);
    warnLimited(c, 'originate.no-room', { area: area.name }, 'prefix or SID not advertised: it fits into no LSA');
  }
  area.changedAt ??= c.now;
  if (freed) retryUnplaced(c, area);
}

/** Space has become free: places entries that did not fit. */
function retryUnplaced(c: Content, area: AreaContent): void {
  for (const [key, entry] of area.unplaced) {
    if (place(area.placements[c.kinds.lsaOf(entry)]!, key, entry)) area.unplaced.delete(key);
  }
}

/** Whether our LSAs in the area advertise the entry, or would if it fitted. */
export const isAdvertised = (area: AreaContent, key: string): boolean =>
  area.unplaced.has(key) || area.placements.some(({ whereIs }) => whereIs.has(key));

/**
 * Builds LSAs, a batch of entries at a time, and hands all LSAs of an area to the core when they are built. Nothing is
 * handed over before a declaration is complete: otherwise the core would flush LSAs of an earlier run that the rest of
 * the declaration contains.
 */
export function issueDue(c: Content): void {
  if (c.declaring) return;
  let left = BUILD_BATCH;
  for (const area of c.areas.values()) {
    if (area.changedAt === undefined || (c.interArea.queue.isBusy && c.now < area.changedAt + SETTLE_LIMIT_MS))
      continue;
    for (const placement of area.placements) left = buildLsas(placement, c.config.routerId, left);
    if (left <= 0) return;
    issue(c, area);
  }
}

/**
 * Hands everything that we originate in the area to the core. Inter-area copies follow when a border router has learned
 * them again.
 */
function issue(c: Content, area: AreaContent): void {
  area.changedAt = undefined;
  const placed = area.placements.flatMap((placement) => placedLsas(placement, c.config.routerId));
  c.effects.push({ type: 'originate', areaId: area.areaId, lsas: [...placed, ...c.others], more: isBorder(c) });
}
