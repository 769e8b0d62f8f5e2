// Installs and removes instances of LSAs (RFC 2328 §13.2), and reports changed contents to the readers of the database.
import { sameBytes } from '../../../packet/bytes.ts';
import { LSA_HEADER_LENGTH, setAge } from '../../../packet/ospf/lsa-header.ts';
import type { Lsa } from '../../../packet/ospf/types.ts';
import { type StoredLsa, atEnd, put, remove } from './lsdb.ts';
import type { AreaState, Speaker } from '../state.ts';
import { MAX_AGE } from '../../../packet/ospf/numbers.ts';

/** Stores a copy of the LSA. @param flooded by the neighbor, not issued here */
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

/** For readers an LSA at MaxAge is gone, although it is stored until the neighbor has acknowledged it. */
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

/** Stores the same instance again with age MaxAge. */
export function atMaxAge(s: Speaker, area: AreaState, lsa: StoredLsa): StoredLsa {
  setAge(lsa.raw, MAX_AGE);
  return install(s, area, { ...lsa, age: MAX_AGE }, lsa.own, false);
}
