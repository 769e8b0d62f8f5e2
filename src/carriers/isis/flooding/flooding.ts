// LSPs in and out (ISO/IEC 10589 §7.3.14 … §7.3.16): the update process. With one circuit a received LSP is not flooded
// on. The speaker sends its own LSP, purges, and LSPs that the neighbor lacks. Sending is paced; an LSP that is not
// acknowledged is sent again every 5 s.
import { count, warnLimited } from '../../effects.ts';
import { sameSystemId } from '../../../packet/isis/lsp-id.ts';
import { setRemainingLifetime } from '../../../packet/isis/lsp.ts';
import { isActive } from '../adjacency/adjacency.ts';
import { authentic, scopeOf } from '../auth.ts';
import { RETRANSMIT_MS, SEND_BURST, SEND_GAP_MS, STOP_RETRANSMIT_MS } from '../constants.ts';
import type { ReceivedLsp } from '../lsdb/content.ts';
import { forgetOdd, neighborReported } from './doubt.ts';
import { type StoredLsp, compareVersions, identityOf, lifetimeOf, versionOf } from '../lsdb/lsdb.ts';
import { outbid } from '../own/origination.ts';
import { acknowledge } from './acknowledge.ts';
import { answered, setSrm } from './flags.ts';
import type { LevelState, Speaker } from '../state.ts';
import { store, purgeForeign } from './store.ts';

/** Sends the LSPs that are due, a burst at a time. */
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

/** RFC 6233 §2: TLVs that a purge may contain when the level is authenticated: 10, 13, 15, 137. */
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

/** The neighbor sent an LSP with our system ID: our version, an older one, or one of an earlier run. */
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
  neighborReported(s, level, key, pdu);
  let stored = level.lsdb.byKey.get(key);
  if (stored?.odd && compareVersions(pdu, versionOf(stored, s.now)) === 'older') {
    forgetOdd(s, level, stored);
    stored = undefined;
  }
  if (!stored) {
    // A purge of an unknown LSP is only acknowledged, not stored (ISO/IEC 10589 §7.3.16.4 b).
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

/**
 * Same sequence number, different contents: treated as expired here and purged everywhere. Its originator issues it
 * again.
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
