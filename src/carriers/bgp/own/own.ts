// cnpd's own paths in gobgpd: those desired, those there as far as is known, and the difference, which is all that is
// ever sent. They are known by their identifier, so that those of an earlier run are found, and no others are
// touched. All that is known of a prefix is in one record: there are declarations of tens of thousands of prefixes, and
// gobgpd waits for the paths.
//
// What gobgpd reports of them counts when it lists everything. After that only this counts: one is there and not
// desired; or one that it had reported as it was put in is missing, or differs. While a change is under way, a report
// may be older than it: it counts only once gobgpd has reported the path, or was asked (echo.ts). A change that
// overtakes the report of an earlier one is then at worst made twice.
import { count } from '../../effects.ts';
import { type Family, sameAddress } from '../../../model/address.ts';
import { type Prefix, formatPrefix } from '../../../model/prefix.ts';
import { sameBytes } from '../../../packet/bytes.ts';
import { ADD_BATCH, WITHDRAW_BATCH } from '../constants.ts';
import type { Content } from '../state.ts';
import { markDirty, ownOf } from './state.ts';
import { changeBack, changedByOthers, overwritten } from './dispute.ts';
import { expectEcho, hear, isDropped, resetEcho } from './echo.ts';
import { type GobgpPath, type GobgpRoute, type OwnPath, isOwn } from '../gobgp/gobgp.ts';
import type { ReportedPart, PutPath, OwnState, OwnChanges, Own } from './state.ts';

/** Forgets a record that is empty. */
function tidy({ paths }: OwnState, own: Own): void {
  if (!own.desired && !own.put && !own.before && !own.draft && !own.dirty) paths.delete(own.text);
}

export interface OwnCounts {
  readonly desired: number;
  /** In gobgpd or on the way there. */
  readonly put: number;
  /** In gobgpd: it has reported them. */
  readonly heard: number;
  /** Desired, and known not to be there. */
  readonly dropped: number;
}

/** @param without families of which gobgpd has no table */
export function ownCounts({ paths }: OwnState, without: readonly Family[] = []): OwnCounts {
  let [desired, put, heard, dropped] = [0, 0, 0, 0];
  for (const own of paths.values()) {
    if (own.desired) desired++;
    if (own.put) put++;
    if (own.put && own.heard) heard++;
    if (isDropped(own, without)) dropped++;
  }
  return { desired, put, heard, dropped };
}

/** gobgpd begins to list what it has: what it does not name is not there. */
export function beginListing(own: OwnState): void {
  own.listing = true;
  resetEcho(own.echo);
  for (const path of own.paths.values()) {
    path.before = path.put;
    path.put = undefined;
    path.heard = path.dropped = false;
  }
}

/**
 * It has listed everything, or (not complete) is lost before: what was there may be there still, for all that is known.
 */
export function endListing(own: OwnState, complete: boolean): void {
  if (!own.listing) return;
  own.listing = false;
  for (const path of own.paths.values()) {
    if (!complete) path.put ??= path.before;
    path.before = undefined;
    tidy(own, path);
  }
}

/** No path is desired any more. */
export function desireNothing(own: OwnState): void {
  for (const path of own.paths.values()) path.desired = path.draft = undefined;
}

const matches = (reported: ReportedPart, own: OwnPath): boolean =>
  reported.nhc !== undefined &&
  sameBytes(reported.nhc, own.nhc) &&
  reported.badNhcFlags === undefined &&
  sameAddress(reported.nextHop, own.nextHop);

const partOf = ({ nextHop, nhc, badNhcFlags }: GobgpPath): ReportedPart => ({
  nextHop,
  ...(nhc && { nhc }),
  ...(badNhcFlags !== undefined && { badNhcFlags }),
});

const found = ({ now }: Content, reported: GobgpPath): PutPath => ({ reported: partOf(reported), since: now });

/** @param text the prefix as text */
export function ownReported(c: Content, text: string, { prefix, paths }: GobgpRoute): void {
  const state = c.own;
  const reported = paths.find(isOwn);
  const own = reported ? ownOf(state, text, prefix) : state.paths.get(text);
  if (!own) return;
  if (state.listing) {
    own.put = reported && (own.before?.path && matches(reported, own.before.path) ? own.before : found(c, reported));
    own.heard = reported !== undefined;
  } else if (!reported) gone(c, own);
  else if (own.put) there(c, own, own.put, reported);
  else {
    own.put = found(c, reported);
    markDirty(state, own);
    changedByOthers(c);
  }
}

function gone(c: Content, own: Own): void {
  const { put } = own;
  if (!put) return;
  if (own.desired && put.path && !own.heard) {
    if (put.reported) own.put = { path: put.path, since: put.since };
    return;
  }
  own.put = undefined;
  own.heard = false;
  if (!own.desired) return tidy(c.own, own);
  count(c, 'own.put-back');
  markDirty(c.own, own);
  changedByOthers(c);
}

function there(c: Content, own: Own, put: PutPath, reported: GobgpPath): void {
  const { path, since } = put;
  if (path && matches(reported, path)) {
    if (put.reported) own.put = { path, since };
    return hear(c, own);
  }
  own.put = { path, reported: partOf(reported), since };
  if (path && own.heard) overwritten(c, own);
}

/** Finds everything that differs. */
export function* audit({ own: state }: Content): Generator<void> {
  for (const own of state.paths.values()) {
    if (own.desired ? own.put?.path !== own.desired : own.put) markDirty(state, own);
    yield;
  }
}

/**
 * When there will be changes for gobgpd; Infinity: not before something else happens. Before the first declaration
 * nothing is taken out until a stop, which takes out everything.
 */
export function changesDue({ own, session, origination, stopping }: Content): number {
  const possible = session.state === 'ready' && !own.busy && own.dirty.length > 0 && (origination || stopping);
  return possible ? own.retryAt : Infinity;
}

/** The next changes for gobgpd, when it can take some. */
export function takeChanges(c: Content): OwnChanges | undefined {
  const state = c.own;
  if (changesDue(c) > c.now) return undefined;
  const add: OwnPath[] = [];
  const withdraw: Prefix[] = [];
  let taken = 0;
  for (const own of state.dirty) {
    if (add.length >= ADD_BATCH || withdraw.length >= WITHDRAW_BATCH) break;
    taken++;
    own.dirty = false;
    const { desired, put } = own;
    if (desired && put?.path !== desired) {
      add.push(desired);
      // Where nothing changes that gobgpd reports, it reports nothing.
      const before = put && (put.path ?? put.reported);
      own.heard = own.heard && before !== undefined && matches(before, desired);
      if (!own.heard) state.adding.push(own);
      own.put = { path: desired, since: c.now };
    } else if (!desired && put) {
      withdraw.push(own.prefix);
      own.put = undefined;
      own.heard = own.dropped = false;
    }
    tidy(state, own);
  }
  state.dirty = state.dirty.slice(taken);
  if (add.length + withdraw.length === 0) return undefined;
  state.busy = { add, withdraw };
  changeBack(c);
  return state.busy;
}

export function ownDone(c: Content, { add, withdraw }: OwnChanges, ok: boolean): void {
  const state = c.own;
  const { adding } = state;
  state.busy = undefined;
  state.adding = [];
  if (ok) {
    expectEcho(c, adding);
    if (add.length > 0) count(c, 'own.added', add.length);
    if (withdraw.length > 0) count(c, 'own.withdrawn', withdraw.length);
    return;
  }
  // Some of it may have been done.
  for (const prefix of [...add.map((path) => path.prefix), ...withdraw]) {
    const own = ownOf(state, formatPrefix(prefix), prefix);
    own.put = { since: c.now };
    own.heard = false;
    markDirty(state, own);
  }
}
