// The state of cnpd's own paths in gobgpd: those desired, those there as far as is known, those that gobgpd has not
// reported yet (echo.ts), and whether another client changes them (dispute.ts).
import type { Family, IpAddress } from '../../../model/address.ts';
import type { Prefix } from '../../../model/prefix.ts';
import { DROPPED_PAUSE_MS } from '../constants.ts';
import type { GobgpPath, OwnPath } from '../gobgp/gobgp.ts';
import type { OwnEntry } from '../kinds/kind.ts';

/** An own path in gobgpd. */
export interface PutPath {
  /** Its content; undefined: not known in full, as of one of an earlier run (gobgpd does not report communities). */
  readonly path?: OwnPath | undefined;
  /**
   * The part of it that gobgpd reports, where that is all that is known; beside `path`: what it reports instead of
   * that.
   */
  readonly reported?: ReportedPart;
  /** Since when it is there, for all that this run knows: milliseconds of the clock. */
  readonly since: number;
}

export type ReportedPart = Pick<GobgpPath, 'nextHop' | 'nhc' | 'badNhcFlags'>;

/** A prefix for which a path is desired, or in gobgpd. */
export interface Own {
  /** The prefix as text. */
  readonly text: string;
  readonly prefix: Prefix;
  desired: OwnPath | undefined;
  /** In gobgpd, or on the way there. */
  put: PutPath | undefined;
  /** gobgpd has reported that it is there as in `put`. */
  heard: boolean;
  /** gobgpd has taken it without an error and did not have it. */
  dropped: boolean;
  /** While gobgpd lists what it has: what was there before. */
  before: PutPath | undefined;
  /** What a declaration makes of it that is being worked on, or was given up. */
  draft: Draft | undefined;
  /** Whether it is among those where `desired` and `put` may differ. */
  dirty: boolean;
}

export interface OwnChanges {
  readonly add: readonly OwnPath[];
  readonly withdraw: readonly Prefix[];
}

export interface OwnState {
  /** By the prefix as text. */
  readonly paths: Map<string, Own>;
  /** Where the desired path and the one there may differ, each once. */
  dirty: Own[];
  /** Compares all of both. */
  audit: Iterator<void> | undefined;
  /** gobgpd lists what it has. */
  listing: boolean;
  /** On their way; and those put in that gobgpd will report. */
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
        desired: undefined,
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

/** One path in the making. */
export interface Draft {
  /** The declaration that makes it. */
  readonly of: Drafts;
  readonly nextHop: IpAddress;
  entries: readonly OwnEntry[];
  /** Bytes left of PATH_CAPACITY. */
  left: number;
  /** The desired path made of it has all that it contains now. */
  done: boolean;
}

/** What the paths of a declaration share: one object each, which whoever encodes them need not compare. */
export interface Drafts {
  readonly communities: readonly number[];
  /** The values of attribute 39, by their bytes as text. */
  readonly nhcs: Map<string, Uint8Array>;
  /** Those of paths with one entry: ten thousand paths may share an entry. */
  readonly alone: Readonly<Record<Family, Map<OwnEntry, Uint8Array>>>;
}

export interface Look {
  readonly prefixes: readonly Prefix[];
  readonly owns: readonly Own[];
  readonly since: number;
}

export interface Echo {
  /** Put in, and perhaps not reported yet. */
  unheard: Own[];
  /** Since when there are any; and when the last was put in, or reported. */
  since: number;
  last: number;
  /** On its way. */
  look: Look | undefined;
  /** gobgpd does not have them; put in again at `retryAt`, then after a longer pause. */
  dropped: Own[];
  retryAt: number;
  pause: number;
}

export const NOTHING_DROPPED = { retryAt: Infinity, pause: DROPPED_PAUSE_MS.first } as const;

const newEcho = (): Echo => ({
  unheard: [],
  since: 0,
  last: 0,
  look: undefined,
  dropped: [],
  ...NOTHING_DROPPED,
});

interface Dispute {
  /** Changes of ours in a row that another client has made necessary. */
  rounds: number;
  /** When another client last changed a path of ours. */
  last: number;
  /** That is still to be answered. */
  open: boolean;
}

const newDispute = (): Dispute => ({ rounds: 0, last: -Infinity, open: false });
