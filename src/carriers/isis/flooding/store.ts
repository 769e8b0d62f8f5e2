// What happens to an LSP that is newer than the stored one: it is stored, set aside until FRR is known to have it, or
// refused for lack of headroom. Also purges of others' LSPs.
import { count, warnLimited } from '../../effects.ts';
import { hasHeadroomFor } from '../../headroom.ts';
import { encodePurge } from '../../../packet/isis/lsp.ts';
import { isActive } from '../adjacency/adjacency.ts';
import { scopeOf, sign } from '../auth.ts';
import { ZERO_AGE_MS } from '../constants.ts';
import { type ReadLsp, type ReceivedLsp, UNREAD, withoutEntries, readLsp } from '../lsdb/content.ts';
import { install, installRefreshed, uninstall } from '../lsdb/install.ts';
import { type StoredLsp, compareVersions, costOf, identityOf, storedId, versionOf } from '../lsdb/lsdb.ts';
import type { LevelState, Speaker } from '../state.ts';
import { doubt, isOddPurge } from './doubt.ts';
import { setSrm } from './flags.ts';

/**
 * Stores a newer LSP.
 * @param trusted whether the neighbor is known to have it, however odd it is
 * @returns false when the LSP was refused
 */
export function store(
  s: Speaker,
  level: LevelState,
  pdu: ReceivedLsp,
  old: StoredLsp | undefined,
  trusted = false,
): boolean {
  const purged = pdu.remainingLifetime === 0;
  const expiresAt = s.now + (purged ? ZERO_AGE_MS : pdu.remainingLifetime * 1000);
  const base = {
    ...identityOf(pdu.raw),
    own: false,
    raw: pdu.raw,
    sequence: pdu.sequence,
    checksum: pdu.checksum,
    purged,
    expiresAt,
  };
  if (purged) {
    count(s, 'purge.received');
    if (!trusted && old && isOddPurge(pdu) && doubt(s, level, base.key, pdu, old)) return true;
    install(s, level, { ...base, ...UNREAD });
    return true;
  }
  if (old && !old.purged && Buffer.compare(old.raw.subarray(26), pdu.raw.subarray(26)) === 0) {
    const { content, entries, expanded, odd, reported } = old;
    installRefreshed(level, { ...base, content, entries, expanded, odd, reported });
    return true;
  }
  const read = readLsp(pdu, s.kinds, s.config, s.levels.size > 1);
  const odd = read.badTlvs.length > 0;
  if (!trusted && odd && old && doubt(s, level, base.key, pdu, old)) return true;
  const lsp = {
    ...base,
    ...UNREAD,
    odd,
    content: withoutEntries(read.content),
    entries: read.found.reduce((sum, { cost }) => sum + cost, 0),
  };
  if (!hasHeadroomFor(level.lsdb, costOf(lsp), level.lsdb.byKey.size, old && costOf(old)))
    return refuse(s, level, base.key, old);
  warnOfContent(s, base.key, pdu, read);
  install(s, level, lsp, read);
  return true;
}

function warnOfContent(s: Speaker, key: string, { unusable }: ReceivedLsp, { badTlvs, found }: ReadLsp): void {
  if (unusable)
    return warnLimited(
      s,
      `lsp.unusable.${unusable.code}`,
      { lsp: key, detail: unusable.detail },
      'LSP content unusable',
    );
  for (const { subType, error } of badTlvs)
    if (subType === undefined) count(s, `tlv.${error.code}`);
    else count(s, `sub-tlv.${error.code}`);
  for (const { counter, message } of found.flatMap(({ warnings }) => warnings))
    warnLimited(s, counter, { lsp: key }, message);
}

/**
 * A refused LSP is not acknowledged: the neighbor offers it again, and it is stored once there is headroom. What the
 * replaced LSP advertised is no longer valid.
 */
function refuse(s: Speaker, level: LevelState, key: string, old: StoredLsp | undefined): boolean {
  const { lsdb } = level;
  lsdb.refusedAt = s.now;
  warnLimited(
    s,
    'lsdb.full',
    { level: level.level, lsp: key, lsps: lsdb.byKey.size, bytes: lsdb.bytes },
    'link-state database full: LSP refused',
  );
  if (old) uninstall(s, level, old);
  return false;
}

/**
 * Purges an LSP that expired here or is in confusion. Only its header is kept and flooded, with lifetime 0 and our
 * system ID (RFC 6232).
 */
export function purgeForeign(s: Speaker, level: LevelState, lsp: StoredLsp): void {
  const isType = (lsp.raw[26]! & 3) === 3 ? 3 : 1;
  const unsigned = encodePurge({
    level: level.level,
    lspId: storedId(lsp),
    sequence: lsp.sequence,
    isType,
    originator: s.config.systemId,
  });
  const raw = sign(s, scopeOf(level.level), unsigned);
  const checksum = (raw[24]! << 8) | raw[25]!;
  install(s, level, { ...lsp, ...UNREAD, raw, checksum, expiresAt: s.now + ZERO_AGE_MS, purged: true });
  if (isActive(s, level.level)) setSrm(level, lsp.key, s.now);
}

/** Stores LSPs in doubt for which FRR has not requested another version. */
export function doubtDue(s: Speaker, level: LevelState): void {
  for (const [key, { pdu, until }] of level.doubts) {
    if (until > s.now) return;
    level.doubts.delete(key);
    const stored = level.lsdb.byKey.get(key);
    if (!stored || compareVersions(pdu, versionOf(stored, s.now)) === 'newer') store(s, level, pdu, stored, true);
  }
}
