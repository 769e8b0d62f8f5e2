// What follows when an instance of an LSA replaces another, or leaves (RFC 2328 §13.2): whoever reads the database
// hears of contents that changed.
import { sameBytes } from '../../../packet/bytes.ts';
import { LSA_HEADER_LENGTH, setAge } from '../../../packet/ospf/lsa-header.ts';
import type { Lsa } from '../../../packet/ospf/types.ts';
import { type StoredLsa, atEnd, put, remove } from './lsdb.ts';
import type { AreaState, Speaker } from '../state.ts';
import { MAX_AGE } from '../../../packet/ospf/numbers.ts';

/** Files a copy of the LSA. @param flooded by the neighbour, not issued here */
export function install(s: Speaker, area: AreaState, lsa: Lsa, own: boolean, flooded: boolean): StoredLsa {
  const { old, stored } = put(area.lsdb, lsa, own, s.now, flooded);
  if (!own) emitChange(s, area, old, stored);
  return stored;
}

/** The LSA is gone from the database. */
export function uninstall(s: Speaker, area: AreaState, lsa: StoredLsa): void {
  remove(area.lsdb, lsa);
  if (!lsa.own) emitChange(s, area, lsa, undefined);
}

const validContent = (lsa: StoredLsa | undefined): Uint8Array | undefined =>
  lsa && !atEnd(lsa) ? lsa.raw.subarray(LSA_HEADER_LENGTH) : undefined;

/** An LSA at MaxAge says nothing any more, although it stays until the neighbour has acknowledged it. */
function emitChange(s: Speaker, area: AreaState, old: StoredLsa | undefined, next: StoredLsa | undefined): void {
  const [before, after] = [validContent(old), validContent(next)];
  if (before === after || (before && after && sameBytes(before, after))) return;
  const { type, lsId, advertisingRouter } = (next ?? old)!;
  s.effects.push({
    type: 'database',
    areaId: area.config.areaId,
    key: { type, lsId, advertisingRouter },
    ...(after && next && { lsa: next }),
  });
}

/** Installs the same instance with age MaxAge. */
export function atMaxAge(s: Speaker, area: AreaState, lsa: StoredLsa): StoredLsa {
  setAge(lsa.raw, MAX_AGE);
  return install(s, area, { ...lsa, age: MAX_AGE }, lsa.own, false);
}
