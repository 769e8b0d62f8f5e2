// LSPs in and out (ISO/IEC 10589 §7.3.14 … §7.3.16): the update process. With one circuit there is nobody to pass a
// received LSP on to: what is sent is our own LSP, purges, and what the neighbour lacks. Sending is paced; what is not
// acknowledged is sent again every 5 s.
import { count, warnLimited } from '../effects.ts';
import { sameSystemId } from '../../packet/isis/lsp-id.ts';
import { encodePurge, setRemainingLifetime } from '../../packet/isis/lsp.ts';
import type { Lsp, Received } from '../../packet/isis/types.ts';
import { hasRoomFor } from '../room.ts';
import { isActive } from './adjacency.ts';
import { authentic, scopeOf, sign } from './auth.ts';
import { RETRANSMIT_MS, SEND_BURST, SEND_GAP_MS, STOP_RETRANSMIT_MS, ZERO_AGE_MS } from './constants.ts';
import { NO_CONTENT, type ReadLsp, bare, readLsp } from './content.ts';
import { doubt, forgetOdd, heard, isOddPurge } from './doubt.ts';
import { install, installRefreshed, uninstall } from './install.ts';
import { type StoredLsp, type Version, compareVersions, costOf, identityOf, lifetimeOf, versionOf } from './lsdb.ts';
import { outbid } from './origination.ts';
import { acknowledge, answered } from './snp.ts';
import type { LevelState, Speaker } from './speaker.ts';

export type ReceivedLsp = Lsp & Received;

export function setSrm(level: LevelState, key: string, at: number): void {
  level.srm.set(key, at);
  level.floodAt = Math.min(level.floodAt, at);
}

/** Sends what is due, a burst at a time. */
export function floodDue(s: Speaker, level: LevelState): void {
  let sent = 0;
  let next = Infinity;
  for (const [key, at] of level.srm) {
    if (at > s.now || sent === SEND_BURST) {
      next = Math.min(next, at > s.now ? at : s.now + SEND_GAP_MS);
      continue;
    }
    const lsp = level.lsdb.byKey.get(key);
    if (!lsp) {
      level.srm.delete(key);
      continue;
    }
    sent++;
    const again = s.now + (s.stopping ? STOP_RETRANSMIT_MS : RETRANSMIT_MS);
    level.srm.set(key, again);
    next = Math.min(next, again);
    sendLsp(s, lsp);
  }
  level.floodAt = next;
}

function sendLsp(s: Speaker, lsp: StoredLsp): void {
  setRemainingLifetime(lsp.raw, lifetimeOf(lsp, s.now));
  count(s, 'tx.lsp');
  s.effects.push({ type: 'send', pdu: lsp.raw.slice() });
}

/** RFC 6233 §2: TLVs that a purge may carry when the level is authenticated: 10, 13, 15, 137. */
const allowedInPurge = (pdu: ReceivedLsp): boolean =>
  pdu.tlvs.every(
    (t) =>
      t.kind === 'authentication' ||
      t.kind === 'purge-originator' ||
      t.kind === 'hostname' ||
      (t.kind === 'unknown' && t.type === 15),
  );

export function receiveLsp(s: Speaker, level: LevelState, pdu: ReceivedLsp): void {
  count(s, 'rx.lsp');
  if (!isActive(s, level.level)) return count(s, 'lsp.no-adjacency');
  if (!authentic(s, scopeOf(level.level), pdu.raw)) return;
  const authenticated = s.config.keys[scopeOf(level.level)] !== undefined;
  if (pdu.remainingLifetime === 0 && authenticated && !allowedInPurge(pdu)) {
    return warnLimited(s, 'purge.forbidden-tlv', {}, 'purge with TLVs that RFC 6233 forbids');
  }
  if (sameSystemId(pdu.lspId.systemId, s.config.systemId)) receiveOwn(s, level, pdu);
  else receiveForeign(s, level, pdu);
}

/** Somebody returns an LSP under our name: known, older than ours, or from a run of ours that ended. */
function receiveOwn(s: Speaker, level: LevelState, pdu: ReceivedLsp): void {
  const { key } = identityOf(pdu.raw);
  answered(level, key);
  const stored = level.lsdb.byKey.get(key);
  const relation = stored ? compareVersions(pdu, versionOf(stored, s.now)) : 'newer';
  if (relation === 'older') return setSrm(level, key, s.now);
  if (relation === 'same' || (!stored && pdu.remainingLifetime === 0)) {
    level.srm.delete(key);
    return acknowledge(s, level, key, pdu);
  }
  if (pdu.remainingLifetime === 0) count(s, 'own.foreign-purge');
  if (relation === 'confused') count(s, 'own.confusion');
  outbid(s, level, pdu.lspId, pdu.sequence);
}

function receiveForeign(s: Speaker, level: LevelState, pdu: ReceivedLsp): void {
  const { key } = identityOf(pdu.raw);
  answered(level, key);
  heard(s, level, key, pdu);
  let stored = level.lsdb.byKey.get(key);
  if (stored?.odd && compareVersions(pdu, versionOf(stored, s.now)) === 'older') {
    forgetOdd(s, level, stored);
    stored = undefined;
  }
  if (!stored) {
    // A purge of what we never had needs no memory, only the acknowledgement (ISO/IEC 10589 §7.3.16.4 b).
    if (pdu.remainingLifetime > 0 && !store(s, level, pdu, undefined)) return;
    return acknowledge(s, level, key, pdu);
  }
  const relation = compareVersions(pdu, versionOf(stored, s.now));
  if (relation === 'older') {
    level.acks.delete(key);
    return setSrm(level, key, s.now);
  }
  if (relation === 'confused') return confusion(s, level, stored);
  if (relation === 'newer' && !store(s, level, pdu, stored)) return;
  level.srm.delete(key);
  acknowledge(s, level, key, pdu);
}

/** What is kept of an LSP that says nothing: of a purge, and of one of our own. */
const SILENT = { content: NO_CONTENT, entries: 0, expanded: false, odd: false, reported: false };

/**
 * @param trusted whether it is known that the neighbour has it, however odd it is
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
    install(s, level, { ...base, ...SILENT });
    return true;
  }
  if (old && !old.purged && Buffer.compare(old.raw.subarray(26), pdu.raw.subarray(26)) === 0) {
    const { content, entries, expanded, odd, reported } = old;
    installRefreshed(level, { ...base, content, entries, expanded, odd, reported });
    return true;
  }
  const read = readLsp(pdu, s.config, s.levels.size > 1);
  const odd = read.badTlvs.length > 0;
  if (!trusted && odd && old && doubt(s, level, base.key, pdu, old)) return true;
  const lsp = {
    ...base,
    ...SILENT,
    odd,
    content: bare(read.content),
    entries: read.prefixes.length + read.content.sids.length,
  };
  if (!hasRoomFor(level.lsdb, costOf(lsp), level.lsdb.byKey.size, old && costOf(old)))
    return refuse(s, level, base.key, old);
  complainOf(s, base.key, pdu, read);
  install(s, level, lsp, read);
  return true;
}

function complainOf(s: Speaker, key: string, { unusable }: ReceivedLsp, { badTlvs, contradictions }: ReadLsp): void {
  if (unusable)
    return warnLimited(
      s,
      `lsp.unusable.${unusable.code}`,
      { lsp: key, detail: unusable.detail },
      'the content of an LSP cannot be used',
    );
  for (const { subType, error } of badTlvs)
    if (subType === undefined) count(s, `tlv.${error.code}`);
    else count(s, `sub-tlv.${error.code}`);
  if (contradictions > 0)
    warnLimited(s, 'lsp.contradictory-prefix', { lsp: key }, 'an LSP lists a prefix both with and without the P-flag');
}

/**
 * Not acknowledged: the neighbour offers it again, and it is taken when there is room. What we had of it no longer
 * holds.
 */
function refuse(s: Speaker, level: LevelState, key: string, old: StoredLsp | undefined): boolean {
  const { lsdb } = level;
  lsdb.refusedAt = s.now;
  warnLimited(
    s,
    'lsdb.full',
    { level: level.level, lsp: key, lsps: lsdb.byKey.size, bytes: lsdb.bytes },
    'link state database full: LSP refused',
  );
  if (old) uninstall(s, level, old);
  return false;
}

/**
 * Same sequence number, other contents: treated as expired here and purged everywhere; its originator issues it anew.
 */
function confusion(s: Speaker, level: LevelState, stored: StoredLsp): void {
  warnLimited(
    s,
    'lsp.confusion',
    { lsp: stored.key },
    'two LSPs with one sequence number and different contents: purged',
  );
  purgeForeign(s, level, stored);
}

/**
 * An LSP that expired here, or is in confusion: only its header is kept and flooded, with lifetime 0 and our name (RFC
 * 6232).
 */
export function purgeForeign(s: Speaker, level: LevelState, lsp: StoredLsp): void {
  const lspId = { systemId: lsp.raw.slice(12, 18), pseudonode: lsp.raw[18]!, fragment: lsp.fragment };
  const isType = (lsp.raw[26]! & 3) === 3 ? 3 : 1;
  const unsigned = encodePurge({
    level: level.level,
    lspId,
    sequence: lsp.sequence,
    isType,
    originator: s.config.systemId,
  });
  const raw = sign(s, scopeOf(level.level), unsigned);
  const checksum = (raw[24]! << 8) | raw[25]!;
  install(s, level, { ...lsp, ...SILENT, raw, checksum, expiresAt: s.now + ZERO_AGE_MS, purged: true });
  if (isActive(s, level.level)) setSrm(level, lsp.key, s.now);
}

/**
 * What an SNP says about one LSP that we have; same meaning as receiving it, without its contents.
 * @returns whether we need it
 */
export function compareListed(s: Speaker, level: LevelState, stored: StoredLsp, listed: Version): boolean {
  const relation = compareVersions(listed, versionOf(stored, s.now));
  if (relation === 'same') level.srm.delete(stored.key);
  else if (relation === 'older') {
    level.acks.delete(stored.key);
    setSrm(level, stored.key, s.now);
  } else if (stored.own) {
    outbid(
      s,
      level,
      { systemId: s.config.systemId, pseudonode: stored.raw[18]!, fragment: stored.fragment },
      listed.sequence,
    );
  } else {
    // Newer there, or confused: the LSP itself decides.
    level.srm.delete(stored.key);
    return true;
  }
  return false;
}
