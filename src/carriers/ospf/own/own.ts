// This router's own LSAs in an area (RFC 2328 §12.4, §13.4, §14.1): the desired set, issuing no more often than
// MinLSInterval, refresh, withdrawal, and recovery of what an earlier run left in the network. A received instance that
// is newer than ours is outbid; one that is not desired is flushed.
import { count, random, warnLimited } from '../../effects.ts';
import { INITIAL_SEQUENCE, MAX_SEQUENCE } from '../../../packet/ospf/numbers.ts';
import { decodeLsa, encodeLsa } from '../../../packet/ospf/lsa.ts';
import { sameBytes } from '../../../packet/bytes.ts';
import { LSA_HEADER_LENGTH } from '../../../packet/ospf/lsa-header.ts';
import { formatId, formatLsaKey, lsaKeyText } from '../../../packet/ospf/router-id.ts';
import type { Lsa } from '../../../packet/ospf/types.ts';
import { atMaxAge } from '../lsdb/install.ts';
import {
  ISSUE_BATCH,
  ISSUE_DELAY_MS,
  LS_REFRESH_MS,
  MIN_LS_ARRIVAL_MS,
  MIN_LS_INTERVAL_MS,
  SEQUENCE_KEPT_MS,
  SWEEP_MS,
  TAKE_OVER_BATCH,
} from '../constants.ts';
import { isContested, outbidAgain } from '../../contest.ts';
import { flood } from '../flooding/flood.ts';
import { install } from '../lsdb/install.ts';
import { type StoredLsa, atEnd, isMaxAge } from '../lsdb/lsdb.ts';
import { satisfy } from '../exchange/requests.ts';
import { advance } from '../../../model/work.ts';
import type { AreaState, Speaker } from '../state.ts';
import type { OwnLsa } from '../version.ts';
import { isDesired, markDirty, ownKey, desiredNow, newIssue } from './state.ts';

/** LSAs of an earlier run that are not desired are flushed at `at`, if not earlier. */
export function flushUnknownBy(area: AreaState, at: number): void {
  const { own } = area;
  if (at >= own.flushUnknownFrom) return;
  own.flushUnknownFrom = at;
  for (const [key, due] of own.dirty) if (due.at > at && !isDesired(area, key)) markDirty(own, key, at);
}

/**
 * Sets everything that this router originates in the area, except its place in the topology. An LSA that is the same
 * object as before is unchanged.
 * @param more further LSAs follow: undesired LSAs of an earlier run are kept for the grace period
 */
export function setDesired(s: Speaker, area: AreaState, lsas: readonly OwnLsa[], more = false): void {
  area.own.takingOver = takeOver(s, area, lsas, more);
  takeOverDue(s, area);
}

/** Continues with it, a batch at a time. */
export function takeOverDue(_s: Speaker, { own }: AreaState): void {
  if (own.takingOver && advance(own.takingOver, TAKE_OVER_BATCH)) own.takingOver = undefined;
}

/**
 * One step per LSA. If it is replaced before it is complete, `desired` has what was applied, and the next set is
 * compared with that.
 */
function* takeOver(s: Speaker, area: AreaState, lsas: readonly OwnLsa[], more: boolean): Generator<void> {
  const { own, lsdb } = area;
  const keys = new Set<string>();
  for (const lsa of lsas) {
    const key = lsaKeyText(ownKey(s, lsa));
    keys.add(key);
    if (own.desired.get(key) !== lsa) {
      own.desired.set(key, lsa);
      markDirty(own, key, s.now + ISSUE_DELAY_MS);
    }
    yield;
  }
  for (const key of own.desired.keys()) {
    if (!keys.has(key)) {
      own.desired.delete(key);
      markDirty(own, key, s.now + ISSUE_DELAY_MS);
    }
    yield;
  }
  if (more) return;
  own.flushUnknownFrom = s.now;
  for (const lsa of lsdb.byKey.values()) {
    if (lsa.own && !desiredNow(area, lsa.key)) markDirty(own, lsa.key, s.now + ISSUE_DELAY_MS);
    yield;
  }
}

/** No LSA is desired any more (a clean stop). */
export function withdrawAll(s: Speaker, area: AreaState): void {
  const { own } = area;
  own.desired.clear();
  own.topology.clear();
  own.flushUnknownFrom = s.now;
  own.takingOver = giveUp(s, area);
  takeOverDue(s, area);
}

function* giveUp({ now }: Speaker, { own, lsdb }: AreaState): Generator<void> {
  for (const lsa of lsdb.byKey.values()) {
    if (lsa.own) markDirty(own, lsa.key, now);
    yield;
  }
}

/** Handles the LSAs that are due, a batch at a time. */
export function issueDue(s: Speaker, area: AreaState): void {
  const { own } = area;
  let left = ISSUE_BATCH;
  let next = Infinity;
  own.issueAt = Infinity;
  for (const [key, { at, force }] of own.dirty) {
    if (at > s.now) next = Math.min(next, at);
    else if (left-- > 0) {
      own.dirty.delete(key);
      issueOrWithdraw(s, area, key, force);
    } else {
      next = s.now;
      break;
    }
  }
  own.issueAt = Math.min(own.issueAt, next);
}

function issueOrWithdraw(s: Speaker, area: AreaState, key: string, force: boolean): void {
  const desired = desiredNow(area, key);
  const stored = area.lsdb.byKey.get(key);
  if (!desired) {
    if (stored && !isMaxAge(stored, s.now)) withdraw(s, area, stored);
    return;
  }
  const issue = area.own.issued.get(key) ?? newIssue(stored?.sequence);
  area.own.issued.set(key, issue);
  const earliest = issue.issuedAt + (force && !isContested(issue, s.now) ? MIN_LS_ARRIVAL_MS : MIN_LS_INTERVAL_MS);
  if (s.now < earliest) return markDirty(area.own, key, earliest, force);
  if (issue.sequence === MAX_SEQUENCE) return wrap(s, area, key, stored);
  const sequence = issue.sequence === undefined ? INITIAL_SEQUENCE : issue.sequence + 1;
  const lsa = encode(s, desired, sequence);
  if (!force && stored && !isMaxAge(stored, s.now) && sameContent(stored, lsa)) return;
  count(s, 'own.issued');
  issue.sequence = sequence;
  issue.issuedAt = s.now;
  issue.refreshAt = s.now + LS_REFRESH_MS * (1 - random(s) / 20);
  area.own.refreshAt = Math.min(area.own.refreshAt, issue.refreshAt);
  flood(s, area, install(s, area, lsa, true, false));
  if (area.neighbor) satisfy(s, area, area.neighbor, key, lsa);
}

function encode(s: Speaker, desired: OwnLsa, sequence: number): Lsa {
  const { version, privateTypes } = s.config;
  const header = { age: 0, options: version.lsaOptions, sequence, ...ownKey(s, desired) };
  const lsa = decodeLsa(version.version, encodeLsa(version.version, header, desired.body, privateTypes));
  if (!lsa.ok) throw new Error(lsa.error.detail);
  return lsa.value;
}

const sameContent = (a: Lsa, b: Lsa): boolean =>
  sameBytes(a.raw.subarray(LSA_HEADER_LENGTH), b.raw.subarray(LSA_HEADER_LENGTH));

function withdraw(s: Speaker, area: AreaState, stored: StoredLsa): void {
  count(s, 'own.withdrawn');
  flood(s, area, atMaxAge(s, area, stored));
}

/** The first sequence number follows the highest one, once all routers have removed the LSA (RFC 2328 §12.1.6). */
function wrap(s: Speaker, area: AreaState, key: string, stored: StoredLsa | undefined): void {
  if (stored && !isMaxAge(stored, s.now)) {
    warnLimited(
      s,
      'own.sequence-wrap',
      { lsa: formatLsaKey(stored) },
      'sequence numbers are exhausted: the LSA is flushed and issued anew',
    );
    withdraw(s, area, stored);
  } else if (!stored) forget(s, area, key);
}

function forget(s: Speaker, area: AreaState, key: string): void {
  area.own.issued.delete(key);
  if (desiredNow(area, key)) markDirty(area.own, key, s.now);
}

/**
 * One of our LSAs at MaxAge has left the database. If it is desired again, it continues with the next sequence number.
 * Other routers keep the flushed instance for longer (ospfd for a minute), and an instance with the first sequence
 * number would be older to them. Only the highest number has no successor.
 */
export function forgotten(s: Speaker, area: AreaState, { key, sequence }: StoredLsa): void {
  const { own } = area;
  if (sequence === MAX_SEQUENCE) return forget(s, area, key);
  const issue = own.issued.get(key) ?? newIssue(sequence);
  own.issued.set(key, issue);
  if (desiredNow(area, key)) return markDirty(own, key, s.now);
  issue.refreshAt = s.now + SEQUENCE_KEPT_MS;
  own.refreshAt = Math.min(own.refreshAt, issue.refreshAt);
}

/**
 * An instance of one of our LSAs that is newer than ours has been received (RFC 2328 §13.4): it is of an earlier run,
 * or another router has flushed it.
 */
export function recover(s: Speaker, area: AreaState, lsa: Lsa): void {
  const { own } = area;
  const key = lsaKeyText(lsa);
  const issue = own.issued.get(key);
  if (issue) issue.sequence = lsa.sequence;
  if (desiredNow(area, key)) {
    countOutbid(s, area, key);
    // Our place in the topology follows when the neighbor is Full (topologyChanged).
    if (!own.topology.has(key) || area.neighbor?.state === 'full') markDirty(own, key, s.now, true);
  } else if (!atEnd(lsa)) markDirty(own, key, Math.max(s.now, own.flushUnknownFrom));
}

/**
 * The neighbor has an instance of an earlier run of one of our LSAs, with the same sequence number. By its checksum
 * ours may be the newer one (RFC 2328 §13.1). But an ospfd (8.4.4) that sees a difference other than 1 there never
 * requests it.
 */
export function outbid(s: Speaker, area: AreaState, key: string): void {
  if (!desiredNow(area, key)) return;
  countOutbid(s, area, key);
  markDirty(area.own, key, s.now, true);
}

/**
 * Two routers with the same router ID replace each other's LSAs without end. From then on we issue no faster than
 * MinLSInterval, and log a warning.
 */
function countOutbid(s: Speaker, { own, config }: AreaState, key: string): void {
  count(s, 'own.outbid');
  const issue = own.issued.get(key);
  if (!issue || !outbidAgain(issue, s.now)) return;
  own.contestedAt = s.now;
  warnLimited(
    s,
    'own.contested',
    { area: formatId(config.areaId), routerId: formatId(s.config.routerId) },
    'own LSA outbid repeatedly: another router has our router ID',
  );
}

export function refreshDue(s: Speaker, area: AreaState): void {
  const { own } = area;
  let next = Infinity;
  for (const [key, issue] of own.issued) {
    if (issue.refreshAt <= s.now) {
      issue.refreshAt = Infinity;
      if (desiredNow(area, key)) markDirty(own, key, s.now, true);
      else own.issued.delete(key);
    } else next = Math.min(next, issue.refreshAt);
  }
  own.refreshAt = Math.max(next, s.now + SWEEP_MS);
}
