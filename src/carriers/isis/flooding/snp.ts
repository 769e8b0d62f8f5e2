// Sequence number PDUs (ISO/IEC 10589 §7.3.15.2, §7.3.17). On a point-to-point circuit a set of CSNPs is sent when the
// adjacency comes up. PSNPs acknowledge received LSPs and request missing ones. A request is repeated until the LSP
// arrives or the speaker gives up.
import { count, warnLimited } from '../../effects.ts';
import {
  readLspId,
  lspIdTextAt,
  compareLspIds,
  formatLspId,
  sameSystemId,
  LAST_LSP_ID,
} from '../../../packet/isis/lsp-id.ts';
import { encodePdu } from '../../../packet/isis/pdu.ts';
import type { IsisTlv, LspEntry } from '../../../packet/isis/tlv/types.ts';
import type { Csnp, Psnp, Received } from '../../../packet/isis/types.ts';
import { isActive } from '../adjacency/adjacency.ts';
import { authentic, scopeOf, sign } from '../auth.ts';
import { CSNP_BURST, REQUEST_DELAY_MS, REQUEST_RETRY_MS, REQUEST_TRIES, SEND_GAP_MS } from '../constants.ts';
import { setSrm } from './flags.ts';
import { forgetOdd, neighborReported } from './doubt.ts';
import { type StoredLsp, type Version, compareVersions, lifetimeOf, storedId, versionOf } from '../lsdb/lsdb.ts';
import { lowerBound } from '../../sorted.ts';
import { outbid } from '../own/origination.ts';
import type { LevelState, Speaker } from '../state.ts';
import { ENTRIES_PER_TLV, capacity, PSNP_HEADER } from './acknowledge.ts';

const CSNP_HEADER = 33;

function entryTlvs(entries: readonly LspEntry[]): IsisTlv[] {
  const tlvs: IsisTlv[] = [];
  for (let i = 0; i < entries.length; i += ENTRIES_PER_TLV)
    tlvs.push({ kind: 'lsp-entries', entries: entries.slice(i, i + ENTRIES_PER_TLV) });
  return tlvs;
}

function request(s: Speaker, level: LevelState, listed: LspEntry, stored: StoredLsp | undefined): void {
  const key = formatLspId(listed.lspId);
  if (level.requests.has(key)) return;
  const entry = stored
    ? {
        lspId: listed.lspId,
        sequence: stored.sequence,
        checksum: stored.checksum,
        remainingLifetime: lifetimeOf(stored, s.now),
      }
    : { ...listed, sequence: 0 };
  level.requests.set(key, { entry, at: s.now + REQUEST_DELAY_MS, tries: 0 });
  level.requestAt = Math.min(level.requestAt, s.now + REQUEST_DELAY_MS);
}

/** Sends all waiting acknowledgments. */
export function ackDue(s: Speaker, level: LevelState): void {
  level.ackAt = Infinity;
  const entries = [...level.acks.values()];
  level.acks.clear();
  sendPsnps(s, level, entries);
}

/** Requests LSPs that have not arrived. Gives up after a minute; the next CSNP starts over. */
export function requestDue(s: Speaker, level: LevelState): void {
  const due: LspEntry[] = [];
  level.requestAt = Infinity;
  for (const [key, waiting] of level.requests) {
    if (waiting.at <= s.now) {
      if (waiting.tries === REQUEST_TRIES) {
        level.requests.delete(key);
        count(s, 'lsp.request-unanswered');
        continue;
      }
      due.push(waiting.entry);
      waiting.tries++;
      waiting.at = s.now + REQUEST_RETRY_MS;
    }
    level.requestAt = Math.min(level.requestAt, waiting.at);
  }
  if (due.length > 0) count(s, 'lsp.requested', due.length);
  sendPsnps(s, level, due);
}

function sendPsnps(s: Speaker, level: LevelState, entries: readonly LspEntry[]): void {
  const size = capacity(s, level, PSNP_HEADER);
  for (let i = 0; i < entries.length; i += size) {
    const pdu: Psnp = {
      kind: 'psnp',
      level: level.level,
      systemId: s.config.systemId,
      tlvs: entryTlvs(entries.slice(i, i + size)),
    };
    count(s, 'tx.psnp');
    s.effects.push({ type: 'send', pdu: sign(s, scopeOf(level.level), encodePdu(pdu)) });
  }
}

/** Sends the next CSNPs of the current set; each begins where the previous one ended. */
export function csnpDue(s: Speaker, level: LevelState): void {
  const { order, byKey } = level.lsdb;
  const size = capacity(s, level, CSNP_HEADER);
  for (let burst = 0; burst < CSNP_BURST && level.csnpFrom; burst++) {
    const start = level.csnpFrom;
    const first = lowerBound(order, lspIdTextAt(start, 0));
    const listed = order.slice(first, first + size).map((key) => byKey.get(key)!);
    const last = first + size < order.length ? listed.at(-1)!.raw.slice(12, 20) : undefined;
    const entries = listed.map((lsp) => ({
      remainingLifetime: lifetimeOf(lsp, s.now),
      lspId: storedId(lsp),
      sequence: lsp.sequence,
      checksum: lsp.checksum,
    }));
    const end = last ? readLspId(last, 0) : LAST_LSP_ID;
    const pdu: Csnp = {
      kind: 'csnp',
      level: level.level,
      systemId: s.config.systemId,
      start: readLspId(start, 0),
      end,
      tlvs: entryTlvs(entries),
    };
    count(s, 'tx.csnp');
    s.effects.push({ type: 'send', pdu: sign(s, scopeOf(level.level), encodePdu(pdu)) });
    level.csnpFrom = last && successor(last);
  }
  level.csnpAt = level.csnpFrom ? s.now + SEND_GAP_MS : Infinity;
}

/** The next LSP ID; undefined after the last. */
function successor(id: Uint8Array): Uint8Array | undefined {
  const next = id.slice();
  for (let i = next.length - 1; i >= 0; i--) {
    next[i] = (next[i]! + 1) & 255;
    if (next[i] !== 0) return next;
  }
  return undefined;
}

export function receiveSnp(s: Speaker, level: LevelState, pdu: (Csnp | Psnp) & Received): void {
  count(s, `rx.${pdu.kind}`);
  if (!isActive(s, level.level)) return count(s, 'snp.no-adjacency');
  if (!authentic(s, scopeOf(level.level), pdu.raw)) return;
  if (sameSystemId(pdu.systemId, s.config.systemId))
    return warnLimited(s, 'snp.own-system-id', {}, 'SNP with our own system ID: a loop');
  if (!sameSystemId(pdu.systemId, s.adjacency!.systemId))
    return warnLimited(s, 'snp.wrong-source', {}, 'SNP from a system other than the neighbor');
  for (const bad of pdu.badTlvs) count(s, `tlv.${bad.error.code}`);
  if (pdu.kind === 'csnp') receiveCsnp(s, level, pdu);
  else for (const entry of distinct(s, pdu).values()) receiveEntry(s, level, entry);
}

/** The entries by LSP ID. An LSP listed in two versions is a contradiction: both are ignored. */
function distinct(s: Speaker, pdu: Csnp | Psnp): Map<string, LspEntry> {
  const entries = new Map<string, LspEntry>();
  const contradictory = new Set<string>();
  for (const tlv of pdu.tlvs) {
    if (tlv.kind !== 'lsp-entries') continue;
    for (const entry of tlv.entries) {
      const key = formatLspId(entry.lspId);
      const known = entries.get(key);
      if (known && (known.sequence !== entry.sequence || known.checksum !== entry.checksum)) contradictory.add(key);
      entries.set(key, entry);
    }
  }
  for (const key of contradictory) {
    warnLimited(s, 'snp.contradictory', { lsp: key }, 'an SNP lists one LSP in two versions');
    entries.delete(key);
  }
  return entries;
}

function receiveCsnp(s: Speaker, level: LevelState, pdu: Csnp): void {
  if (compareLspIds(pdu.start, pdu.end) > 0)
    return warnLimited(s, 'csnp.bad-range', {}, 'CSNP whose range ends before its start');
  const [start, end] = [formatLspId(pdu.start), formatLspId(pdu.end)];
  const listed = distinct(s, pdu);
  let previous = '';
  for (const [key, entry] of listed) {
    if (key < previous) count(s, 'csnp.not-ascending');
    previous = key;
    if (key < start || key > end) count(s, 'csnp.entry-outside-range');
    else receiveEntry(s, level, entry);
  }
  const { order, byKey } = level.lsdb;
  const odd: StoredLsp[] = [];
  for (let i = lowerBound(order, start); i < order.length && order[i]! <= end; i++) {
    const lsp = byKey.get(order[i]!)!;
    if (listed.has(lsp.key) || lsp.purged) continue;
    if (lsp.odd) odd.push(lsp);
    else setSrm(level, lsp.key, s.now);
  }
  for (const lsp of odd) forgetOdd(s, level, lsp);
}

function receiveEntry(s: Speaker, level: LevelState, entry: LspEntry): void {
  const key = formatLspId(entry.lspId);
  neighborReported(s, level, key, entry);
  let stored = level.lsdb.byKey.get(key);
  if (stored?.odd && compareVersions(entry, versionOf(stored, s.now)) === 'older') {
    forgetOdd(s, level, stored);
    stored = undefined;
  }
  if (stored) {
    if (compareListed(s, level, stored, entry)) request(s, level, entry, stored);
  } else if (entry.remainingLifetime > 0 && entry.sequence > 0) {
    // A fragment of an earlier run is purged without being requested first.
    if (sameSystemId(entry.lspId.systemId, s.config.systemId)) outbid(s, level, entry.lspId, entry.sequence);
    else request(s, level, entry, undefined);
  }
}

/**
 * Handles an SNP's entry for an LSP that we have, like a received LSP without its contents.
 * @returns whether we need it
 */
function compareListed(s: Speaker, level: LevelState, stored: StoredLsp, listed: Version): boolean {
  const relation = compareVersions(listed, versionOf(stored, s.now));
  if (relation === 'same') level.srm.delete(stored.key);
  else if (relation === 'older') {
    level.acks.delete(stored.key);
    setSrm(level, stored.key, s.now);
  } else if (stored.own) {
    outbid(s, level, storedId(stored), listed.sequence);
  } else {
    // Newer there, or confused: the LSP itself decides.
    level.srm.delete(stored.key);
    return true;
  }
  return false;
}
