// Our own LSP: when its fragments are issued, refreshed and purged (ISO/IEC 10589 §7.3.2 … §7.3.16). own-tlvs.ts has
// their TLVs, placement.ts decides which entry is in which fragment. The overload bit keeps transit traffic off the
// link. Sequence numbers start from the time of day, so that a crashed run is outbid at once, and jump past any number
// that the neighbor returns.
import { count, jittered, warnLimited } from '../../effects.ts';
import { encodePurge } from '../../../packet/isis/lsp.ts';
import { encodePdu } from '../../../packet/isis/pdu.ts';
import type { LspId } from '../../../packet/isis/lsp-id.ts';
import type { IsisTlv } from '../../../packet/isis/tlv/types.ts';
import type { Level } from '../../../packet/isis/types.ts';
import { isActive } from '../adjacency/adjacency.ts';
import { authenticationSize, scopeOf, sign } from '../auth.ts';
import {
  ISSUE_BATCH,
  ISSUE_DELAY_MS,
  LSP_BUFFER_SIZE,
  LSP_HEADER_LENGTH,
  MAX_SEQUENCE,
  MIN_REISSUE_MS,
  ZERO_AGE_MARGIN_MS,
  ZERO_AGE_MS,
} from '../constants.ts';
import type { OwnEntry } from '../kinds/kind.ts';
import { NO_CONTENT, UNREAD } from '../lsdb/content.ts';
import { setSrm } from '../flooding/flags.ts';
import { install } from '../lsdb/install.ts';
import { type StoredLsp, identityOf } from '../lsdb/lsdb.ts';
import { type Answered, type OwnFragment, markDirty, outbidBy, ownFragment, unknownLspId } from './own.ts';
import { entryTlvs, fragment0Tlvs } from './own-tlvs.ts';
import { close, newPlacement, place, unplace } from './placement.ts';
import type { LevelState, Speaker } from '../state.ts';

const OWN_CONTENT = { ...NO_CONTENT, overload: true };

/** Bytes of a fragment available to TLVs. */
export const fragmentCapacity = (s: Speaker, level: Level): number =>
  Math.min(LSP_BUFFER_SIZE, s.config.mtu - 3) - LSP_HEADER_LENGTH - authenticationSize(s, scopeOf(level));

/** Adds, changes or (undefined) removes one prefix or SID of our LSP in one level. */
export function setEntry(s: Speaker, level: LevelState, key: string, p: OwnEntry | undefined): void {
  const { own } = level;
  own.unplaced.delete(key);
  if (!p) {
    const changed = unplace(own.placement, key);
    for (const number of changed) markDirty(own, number, s.now + ISSUE_DELAY_MS);
    if (changed.length > 0) retryUnplaced(s, level);
  } else if (!tryPlace(s, level, p)) {
    own.unplaced.set(key, p);
    warnLimited(
      s,
      'originate.no-room',
      { level: level.level },
      'prefix or SID not advertised: all LSP fragments are full',
    );
  }
}

function tryPlace(s: Speaker, level: LevelState, p: OwnEntry): boolean {
  const { placed, changed } = place(level.own.placement, p, fragmentCapacity(s, level.level));
  for (const number of changed) markDirty(level.own, number, s.now + ISSUE_DELAY_MS);
  return placed;
}

/** Space has become free: places unplaced entries. */
function retryUnplaced(s: Speaker, level: LevelState): void {
  for (const [key, p] of level.own.unplaced) {
    if (!tryPlace(s, level, p)) return;
    level.own.unplaced.delete(key);
  }
}

/** Places and issues everything again. After a change of keys, fragments have another capacity and other digests. */
export function replaceAll(s: Speaker, level: LevelState): void {
  const { own } = level;
  const entries = [...own.placement.fragments.values()]
    .flatMap((f) => [...f.entries.values()])
    .concat([...own.unplaced.values()]);
  for (const number of own.fragments.keys()) markDirty(own, number, s.now, true);
  own.placement = newPlacement(s.kinds, own.placement.closed);
  for (const p of entries) setEntry(s, level, p.key, p);
}

/** Issues dirty fragments that are due, a batch at a time. */
export function issueDue(s: Speaker, level: LevelState): void {
  const { own } = level;
  let left = ISSUE_BATCH;
  let next = Infinity;
  for (const [number, force] of own.dirty) {
    const fragment = ownFragment(own, number);
    const at = Math.max(fragment.issuedAt + MIN_REISSUE_MS, fragment.blockedUntil, fragment.notBefore);
    if (at > s.now || left === 0) {
      next = Math.min(next, Math.max(at, s.now));
      continue;
    }
    own.dirty.delete(number);
    left--;
    issue(s, level, number, fragment, force);
  }
  own.issueAt = next;
}

function issue(s: Speaker, level: LevelState, number: number, fragment: OwnFragment, force: boolean): void {
  const reopened = fragment.blockedUntil > -Infinity;
  if (reopened) reopen(s, level, number, fragment);
  const placed = level.own.placement.fragments.get(number);
  const empty = number !== 0 && (placed?.entries.size ?? 0) === 0;
  if (empty || s.stopping) {
    if (fragment.live) purgeFragment(s, level, number, fragment);
    return;
  }
  const tlvs = number === 0 ? fragment0Tlvs(s, level) : entryTlvs(s, placed!);
  const sequence = Math.max(fragment.sequence + 1, fragment.issuedAt === -Infinity ? s.config.startSequence : 1);
  const unsigned = encodeLsp(s, level, number, Math.min(sequence, MAX_SEQUENCE), tlvs);
  const body = unsigned.subarray(LSP_HEADER_LENGTH);
  if (!force && fragment.live && fragment.tlvs && Buffer.compare(fragment.tlvs, body) === 0) return;
  if (sequence > MAX_SEQUENCE) return wrap(s, level, number, fragment);
  fragment.sequence = sequence;
  fragment.issuedAt = s.now;
  fragment.live = true;
  fragment.tlvs = body;
  fragment.refreshAt = s.now + jittered(s, s.config.refreshSeconds * 1000);
  level.own.refreshAt = Math.min(level.own.refreshAt, fragment.refreshAt);
  count(s, 'own.issued');
  storeOwn(s, level, unsigned, s.now + s.config.lifetimeSeconds * 1000, false);
  if (reopened && number === 0) floodOthers(s, level);
}

/** All routers have forgotten the highest sequence number. */
function reopen(s: Speaker, level: LevelState, number: number, fragment: OwnFragment): void {
  fragment.blockedUntil = -Infinity;
  fragment.sequence = 0;
  level.own.placement.closed.delete(number);
  retryUnplaced(s, level);
}

/** isisd drops the other fragments of a system when it forgets its fragment 0, and accepts none without it. */
function floodOthers(s: Speaker, level: LevelState): void {
  if (!isActive(s, level.level)) return;
  for (const { key, own, fragment, purged } of level.lsdb.byKey.values())
    if (own && fragment !== 0 && !purged) setSrm(level, key, s.now);
}

/**
 * Somebody else used the highest sequence number. Purges the fragment, waits until all routers have forgotten it, and
 * starts again from 1 (ISO/IEC 10589 §7.3.16.1). Meanwhile its prefixes are in other fragments. Fragment 0, without
 * which we are unreachable, waits only until the receivers of the purge have forgotten it; a copy that outlives the
 * purge is purged in turn.
 */
function wrap(s: Speaker, level: LevelState, number: number, fragment: OwnFragment): void {
  warnLimited(
    s,
    'own.sequence-wrap',
    { level: level.level, fragment: number },
    'highest sequence number used up: fragment purged until all routers have forgotten it',
  );
  fragment.blockedUntil = s.now + ZERO_AGE_MS + (number === 0 ? ZERO_AGE_MARGIN_MS : s.config.lifetimeSeconds * 1000);
  fragment.live = false;
  fragment.refreshAt = Infinity;
  storePurge(s, level, { systemId: s.config.systemId, pseudonode: 0, fragment: number }, MAX_SEQUENCE);
  for (const p of close(level.own.placement, number)) setEntry(s, level, p.key, p);
  markDirty(level.own, number, fragment.blockedUntil, true);
}

/**
 * 1 for a level-1 LSP, 3 for a level-2 one. The attached bit is never set, so that no router sends default traffic
 * here.
 */
const isTypeOf = (level: Level): number => (level === 1 ? 1 : 3);

function encodeLsp(
  s: Speaker,
  level: LevelState,
  fragment: number,
  sequence: number,
  tlvs: readonly IsisTlv[],
): Uint8Array {
  return encodePdu({
    kind: 'lsp',
    level: level.level,
    remainingLifetime: s.config.lifetimeSeconds,
    lspId: { systemId: s.config.systemId, pseudonode: 0, fragment },
    sequence,
    checksum: 0,
    partitionRepair: false,
    attached: false,
    overload: true,
    isType: isTypeOf(level.level),
    tlvs,
  });
}

/** Stores and floods an LSP of our own. */
function storeOwn(s: Speaker, level: LevelState, unsigned: Uint8Array, expiresAt: number, purged: boolean): void {
  const raw = sign(s, scopeOf(level.level), unsigned);
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  const stored: StoredLsp = {
    ...identityOf(raw),
    own: true,
    raw,
    sequence: view.getUint32(20),
    checksum: view.getUint16(24),
    expiresAt,
    purged,
    ...UNREAD,
    content: OWN_CONTENT,
  };
  install(s, level, stored);
  if (isActive(s, level.level)) setSrm(level, stored.key, s.now);
}

function purgeFragment(s: Speaker, level: LevelState, number: number, fragment: OwnFragment): void {
  fragment.sequence = Math.min(fragment.sequence + 1, MAX_SEQUENCE);
  fragment.issuedAt = s.now;
  fragment.live = false;
  fragment.tlvs = undefined;
  fragment.refreshAt = Infinity;
  storePurge(s, level, { systemId: s.config.systemId, pseudonode: 0, fragment: number }, fragment.sequence);
}

/** Purges an LSP of our own: only authentication, without the TLVs that RFC 6233 forbids. */
function storePurge(s: Speaker, level: LevelState, lspId: LspId, sequence: number): void {
  count(s, 'own.purged');
  storeOwn(
    s,
    level,
    encodePurge({ level: level.level, lspId, sequence, isType: isTypeOf(level.level) }),
    s.now + ZERO_AGE_MS,
    true,
  );
}

/** Marks fragments for refresh before their lifetime ends. */
export function refreshDue(s: Speaker, level: LevelState): void {
  let next = Infinity;
  for (const [number, fragment] of level.own.fragments) {
    if (fragment.refreshAt <= s.now) {
      fragment.refreshAt = Infinity;
      markDirty(level.own, number, s.now, true);
    } else next = Math.min(next, fragment.refreshAt);
  }
  level.own.refreshAt = next;
}

/**
 * A neighbor has a newer version of one of our fragments. Outbids it, or purges a fragment that we do not originate
 * (ISO/IEC 10589 §7.3.16.1).
 */
export function outbid(s: Speaker, level: LevelState, lspId: LspId, sequence: number): void {
  const { own } = level;
  if (lspId.pseudonode !== 0) {
    const answered = unknownLspId(own, `${lspId.pseudonode}.${lspId.fragment}`);
    if (mayPurge(s, level, answered, s.now)) purgeUnknown(s, level, lspId, sequence);
    return;
  }
  const fragment = ownFragment(own, lspId.fragment);
  // The waiting answer will be newer than this version as well.
  const waiting = fragment.live && own.dirty.get(lspId.fragment) === true;
  if (!fragment.live && !mayPurge(s, level, fragment, fragment.issuedAt)) return;
  fragment.sequence = Math.max(fragment.sequence, sequence);
  if (waiting) return;
  if (fragment.live) {
    count(s, 'own.sequence-bumped');
    if (outbidBy(own, fragment, fragment.issuedAt, s.now)) contested(s, level);
    return markDirty(own, lspId.fragment, Math.max(s.now, fragment.notBefore), true);
  }
  fragment.sequence = Math.min(fragment.sequence + 1, MAX_SEQUENCE);
  fragment.issuedAt = s.now;
  purgeUnknown(s, level, lspId, fragment.sequence - 1);
}

/**
 * Whether an LSP with our system ID that we do not originate is purged now. Otherwise it is not acknowledged either:
 * the neighbor will offer it again.
 */
function mayPurge(s: Speaker, level: LevelState, answered: Answered, answeredAt: number): boolean {
  if (s.now < s.purgeUnknownFrom || s.now < answered.notBefore) return false;
  if (outbidBy(level.own, answered, answeredAt, s.now)) contested(s, level);
  return true;
}

function contested(s: Speaker, level: LevelState): void {
  warnLimited(
    s,
    'own.contested',
    { level: level.level, system: s.system },
    'an LSP of ours is repeatedly outbid: another router has our system ID, or the LSPs are forged',
  );
}

function purgeUnknown(s: Speaker, level: LevelState, lspId: LspId, sequence: number): void {
  count(s, 'own.unknown-fragment-purged');
  storePurge(s, level, lspId, Math.min(sequence + 1, MAX_SEQUENCE));
}
