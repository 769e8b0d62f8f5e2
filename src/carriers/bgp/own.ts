// cnpd's own paths in gobgpd: what is wanted there, what is there as far as is known, and the difference, which is all
// that is ever sent. They are known by their identifier, so that those of an earlier run are found, and nobody else's
// are touched. All that is known of a prefix is in one record: there are declarations of tens of thousands of prefixes,
// and gobgpd waits for the paths.
//
// What gobgpd tells of them counts when it lists everything; after that, that one is there without being wanted, and of
// those that it has told of as they are that one is missing or says something else. Of what is under way, news may be
// older than the change: it says nothing until gobgpd has told of the path, or was asked (echo.ts). A change that
// overtakes the news of an earlier one is then at worst made twice.
import { count, warnLimited } from '../effects.ts';
import { type Family, sameAddress } from '../../model/address.ts';
import { type Prefix, formatPrefix } from '../../model/prefix.ts';
import { sameBytes } from '../../packet/bytes.ts';
import { ADD_BATCH, WITHDRAW_BATCH } from './constants.ts';
import type { Content } from './content.ts';
import { type Dispute, changeBack, changedByOthers, newDispute } from './dispute.ts';
import { type Echo, expectEcho, hear, isDropped, newEcho, resetEcho } from './echo.ts';
import { type GobgpPath, type GobgpRoute, type OwnPath, isOwn } from './gobgp/gobgp.ts';
import type { Draft } from './origination.ts';

/** An own path in gobgpd. */
export interface PutPath {
  /** What it says; undefined: not known in full, as of one of an earlier run (its communities are not told). */
  readonly path?: OwnPath | undefined;
  /**
   * The part of it that gobgpd tells, where that is all that is known; beside `path`: what it tells instead of that.
   */
  readonly told?: ToldPart;
  /** Since when it is there, for all that this run knows: milliseconds of the clock. */
  readonly since: number;
}

type ToldPart = Pick<GobgpPath, 'nextHop' | 'nhc' | 'badNhcFlags'>;

/** A prefix of which a path is wanted, or in gobgpd. */
export interface Own {
  /** The prefix as text. */
  readonly text: string;
  readonly prefix: Prefix;
  wanted: OwnPath | undefined;
  /** In gobgpd, or on the way there. */
  put: PutPath | undefined;
  /** gobgpd has told that it is there as `put` says. */
  heard: boolean;
  /** gobgpd has taken it without an error and did not have it. */
  dropped: boolean;
  /** While gobgpd lists what it has: what was there before. */
  before: PutPath | undefined;
  /** What a declaration makes of it that is being worked on, or was given up. */
  draft: Draft | undefined;
  /** Whether it is among those where `wanted` and `put` may differ. */
  dirty: boolean;
}

export interface OwnChanges {
  readonly add: readonly OwnPath[];
  readonly withdraw: readonly Prefix[];
}

export interface OwnState {
  /** By the prefix as text. */
  readonly paths: Map<string, Own>;
  /** Where what is wanted and what is there may differ, each once. */
  dirty: Own[];
  /** Compares all of both. */
  audit: Iterator<void> | undefined;
  /** gobgpd lists what it has. */
  listing: boolean;
  /** On their way; and those put in of which gobgpd will tell. */
  busy: OwnChanges | undefined;
  adding: Own[];
  /** Nothing is sent before. */
  retryAt: number;
  readonly dispute: Dispute;
  readonly echo: Echo;
}

export const newOwnState = (): OwnState => ({
  paths: new Map(),
  dirty: [],
  audit: undefined,
  listing: false,
  busy: undefined,
  adding: [],
  retryAt: -Infinity,
  dispute: newDispute(),
  echo: newEcho(),
});

/** The record of the prefix, made if need be. @param text the prefix as text */
export function ownOf({ paths }: OwnState, text: string, prefix: Prefix): Own {
  let own = paths.get(text);
  if (!own)
    paths.set(
      text,
      (own = {
        text,
        prefix,
        wanted: undefined,
        put: undefined,
        heard: false,
        dropped: false,
        before: undefined,
        draft: undefined,
        dirty: false,
      }),
    );
  return own;
}

export function markDirty({ dirty }: OwnState, own: Own): void {
  if (!own.dirty) dirty.push(own);
  own.dirty = true;
}

/** Forgets a record that says nothing any more. */
function tidy({ paths }: OwnState, own: Own): void {
  if (!own.wanted && !own.put && !own.before && !own.draft && !own.dirty) paths.delete(own.text);
}

export interface OwnCounts {
  readonly wanted: number;
  /** In gobgpd or on the way there. */
  readonly put: number;
  /** In gobgpd: it has told of them. */
  readonly heard: number;
  /** Wanted, and known not to be there. */
  readonly dropped: number;
}

/** @param without families of which gobgpd has no table */
export function ownCounts({ paths }: OwnState, without: readonly Family[] = []): OwnCounts {
  let [wanted, put, heard, dropped] = [0, 0, 0, 0];
  for (const own of paths.values()) {
    if (own.wanted) wanted++;
    if (own.put) put++;
    if (own.put && own.heard) heard++;
    if (isDropped(own, without)) dropped++;
  }
  return { wanted, put, heard, dropped };
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

/** Nothing is wanted any more. */
export function wantNothing(own: OwnState): void {
  for (const path of own.paths.values()) path.wanted = path.draft = undefined;
}

const says = (told: ToldPart, own: OwnPath): boolean =>
  told.nhc !== undefined &&
  sameBytes(told.nhc, own.nhc) &&
  told.badNhcFlags === undefined &&
  sameAddress(told.nextHop, own.nextHop);

const partOf = ({ nextHop, nhc, badNhcFlags }: GobgpPath): ToldPart => ({
  nextHop,
  ...(nhc && { nhc }),
  ...(badNhcFlags !== undefined && { badNhcFlags }),
});

const found = ({ now }: Content, told: GobgpPath): PutPath => ({ told: partOf(told), since: now });

/** @param text the prefix as text */
export function ownTold(c: Content, text: string, { prefix, paths }: GobgpRoute): void {
  const state = c.own;
  const told = paths.find(isOwn);
  const own = told ? ownOf(state, text, prefix) : state.paths.get(text);
  if (!own) return;
  if (state.listing) {
    own.put = told && (own.before?.path && says(told, own.before.path) ? own.before : found(c, told));
    own.heard = told !== undefined;
  } else if (!told) gone(c, own);
  else if (own.put) there(c, own, own.put, told);
  else {
    own.put = found(c, told);
    markDirty(state, own);
    changedByOthers(c);
  }
}

function gone(c: Content, own: Own): void {
  const { put } = own;
  if (!put) return;
  if (own.wanted && put.path && !own.heard) {
    if (put.told) own.put = { path: put.path, since: put.since };
    return;
  }
  own.put = undefined;
  own.heard = false;
  if (!own.wanted) return tidy(c.own, own);
  count(c, 'own.put-back');
  markDirty(c.own, own);
  changedByOthers(c);
}

function there(c: Content, own: Own, put: PutPath, told: GobgpPath): void {
  const { path, since } = put;
  if (path && says(told, path)) {
    if (put.told) own.put = { path, since };
    return hear(c, own);
  }
  own.put = { path, told: partOf(told), since };
  if (path && own.heard) overwritten(c, own);
}

/** Somebody else has put a path of the same prefix and identifier in. */
export function overwritten(c: Content, own: Own): void {
  own.put = { since: own.put!.since };
  own.heard = false;
  markDirty(c.own, own);
  changedByOthers(c);
  warnLimited(
    c,
    'own.overwritten',
    { prefix: own.text },
    'somebody else at this gobgpd has replaced a path of ours: it is put in again',
  );
}

/** Finds everything that differs. */
export function* audit({ own: state }: Content): Generator<void> {
  for (const own of state.paths.values()) {
    if (own.wanted ? own.put?.path !== own.wanted : own.put) markDirty(state, own);
    yield;
  }
}

/**
 * When there will be changes for gobgpd; Infinity: not before something else happens. Until somebody has said what is
 * wanted, nothing is taken out.
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
    const { wanted, put } = own;
    if (wanted && put?.path !== wanted) {
      add.push(wanted);
      // Where nothing changes that gobgpd tells, it says nothing.
      const before = put && (put.path ?? put.told);
      own.heard = own.heard && before !== undefined && says(before, wanted);
      if (!own.heard) state.adding.push(own);
      own.put = { path: wanted, since: c.now };
    } else if (!wanted && put) {
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
