// cnpd's own paths in gobgpd: what is wanted there, what is there as far as is known, and the difference, which is all that is ever sent. They are known by
// their identifier, so that those of an earlier run are found, and nobody else's are touched.
//
// What gobgpd tells of them counts when it lists everything; after that only that one is missing, or there without being wanted. A change that overtakes the
// news of an earlier one is then at worst made twice.
import { sameAddress } from '../../model/address.ts';
import { type Prefix, formatPrefix } from '../../model/prefix.ts';
import { sameBytes } from '../../packet/bytes.ts';
import { ADD_BATCH, WITHDRAW_BATCH } from './constants.ts';
import { type Content, count } from './content.ts';
import { type Dispute, changeBack, changedByOthers, newDispute } from './dispute.ts';
import { type GobgpPath, type GobgpRoute, type OwnPath, isOwn } from './gobgp/gobgp.ts';

/** An own path in gobgpd. */
export interface PutPath {
  readonly prefix: Prefix;
  /** What it says; undefined: not known in full, as of one of an earlier run (its communities are not told). */
  readonly path?: OwnPath | undefined;
  /** The part of it that gobgpd tells, where that is all that is known. */
  readonly told?: Pick<GobgpPath, 'nextHop' | 'nhc'>;
  /** Since when it is there, for all that this run knows: milliseconds of the clock. */
  readonly since: number;
}

export interface OwnChanges {
  readonly add: readonly OwnPath[];
  readonly withdraw: readonly Prefix[];
}

export interface OwnState {
  /** By the prefix as text, like the next two. */
  wanted: Map<string, OwnPath>;
  /** In gobgpd, or on the way there. */
  put: Map<string, PutPath>;
  /** Where the two may differ. */
  readonly dirty: Set<string>;
  /** Compares all of both. */
  audit: Iterator<void> | undefined;
  /** While gobgpd lists what it has: what was there before. */
  listing: { readonly before: ReadonlyMap<string, PutPath> } | undefined;
  /** On their way. */
  busy: OwnChanges | undefined;
  /** Nothing is sent before. */
  retryAt: number;
  readonly dispute: Dispute;
}

export const newOwnState = (): OwnState => ({ wanted: new Map(), put: new Map(), dirty: new Set(), audit: undefined, listing: undefined, busy: undefined, retryAt: -Infinity, dispute: newDispute() });

const says = (told: GobgpPath, own: OwnPath): boolean => sameAddress(told.nextHop, own.nextHop) && told.nhc !== undefined && sameBytes(told.nhc, own.nhc);

const found = ({ now }: Content, prefix: Prefix, { nextHop, nhc }: GobgpPath): PutPath => ({ prefix, told: { nextHop, ...(nhc && { nhc }) }, since: now });

/** @param key the prefix as text */
export function ownTold(c: Content, key: string, { prefix, paths }: GobgpRoute): void {
  const { own } = c;
  const told = paths.find(isOwn);
  if (own.listing) {
    const before = own.listing.before.get(key);
    if (told) own.put.set(key, before?.path && says(told, before.path) ? before : found(c, prefix, told));
    else own.put.delete(key);
    return;
  }
  const there = own.put.has(key);
  if (told && !there) {
    own.put.set(key, found(c, prefix, told));
    own.dirty.add(key);
    changedByOthers(c);
  } else if (!told && there) {
    own.put.delete(key);
    if (!own.wanted.has(key)) return;
    count(c, 'own.put-back');
    own.dirty.add(key);
    changedByOthers(c);
  }
}

/** Finds everything that differs. */
export function* audit(c: Content): Generator<void> {
  const { own } = c;
  for (const [key, path] of own.wanted) {
    if (own.put.get(key)?.path !== path) own.dirty.add(key);
    yield;
  }
  for (const key of own.put.keys()) {
    if (!own.wanted.has(key)) own.dirty.add(key);
    yield;
  }
}

/** When there will be changes for gobgpd; Infinity: not before something else happens. Until somebody has said what is wanted, nothing is taken out. */
export function changesDue({ own, session, origination, stopping }: Content): number {
  const possible = session.state === 'ready' && !own.busy && own.dirty.size > 0 && (origination || stopping);
  return possible ? own.retryAt : Infinity;
}

/** The next changes for gobgpd, when it can take some. */
export function takeChanges(c: Content): OwnChanges | undefined {
  const { own } = c;
  if (changesDue(c) > c.now) return undefined;
  const add: OwnPath[] = [];
  const withdraw: Prefix[] = [];
  for (const key of own.dirty) {
    if (add.length >= ADD_BATCH || withdraw.length >= WITHDRAW_BATCH) break;
    own.dirty.delete(key);
    const path = own.wanted.get(key);
    const there = own.put.get(key);
    if (path && there?.path !== path) {
      add.push(path);
      own.put.set(key, { prefix: path.prefix, path, since: c.now });
    } else if (!path && there) {
      withdraw.push(there.prefix);
      own.put.delete(key);
    }
  }
  if (add.length + withdraw.length === 0) return undefined;
  own.busy = { add, withdraw };
  changeBack(c);
  return own.busy;
}

export function ownDone(c: Content, { add, withdraw }: OwnChanges, failure: string | undefined): void {
  const { own } = c;
  own.busy = undefined;
  if (failure === undefined) {
    if (add.length > 0) count(c, 'own.added', add.length);
    if (withdraw.length > 0) count(c, 'own.withdrawn', withdraw.length);
    return;
  }
  // Some of it may have been done.
  for (const prefix of [...add.map((path) => path.prefix), ...withdraw]) {
    const key = formatPrefix(prefix);
    own.put.set(key, { prefix, since: c.now });
    own.dirty.add(key);
  }
}
