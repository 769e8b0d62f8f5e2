// The state of our own LSP in one level: sequence numbers, refresh and what must be issued anew. How it is built is
// origination.ts.
import { CONTEST_WINDOW_MS, type Contest, answerPause, newContest, outbidAgain } from '../../contest.ts';
import { FIRST_ANSWER_PAUSE_MS, LAST_ANSWER_PAUSE_MS, STRANGERS_LIMIT } from '../constants.ts';
import type { OwnEntry } from '../kinds/kind.ts';
import type { Placement } from './placement.ts';

/** An LSP ID of ours, as far as others issue LSPs under it. */
export interface Answered extends Contest {
  /** While it is contested, no answer before. */
  notBefore: number;
}

export interface OwnFragment extends Answered {
  /** The last sequence number used by us or seen from elsewhere; 0 when none. */
  sequence: number;
  issuedAt: number;
  live: boolean;
  refreshAt: number;
  /** The sequence number wraps: nothing may be issued before (ISO/IEC 10589 §7.3.16.1). */
  blockedUntil: number;
  /** The TLVs last issued, encoded, without authentication. */
  tlvs: Uint8Array | undefined;
}

export interface OwnLsps {
  placement: Placement;
  readonly fragments: Map<number, OwnFragment>;
  /** Fragments to look at; `true` issues them even when their contents are unchanged. */
  readonly dirty: Map<number, boolean>;
  issueAt: number;
  refreshAt: number;
  /** LSP IDs of our system that are never ours, those of pseudonodes, under which somebody issues LSPs. */
  readonly strangers: Map<string, Answered>;
  /** When an LSP under our name was outbid last that is contested. */
  contestedAt: number;
  /** Prefixes and SIDs that fit into no fragment. */
  readonly unplaced: Map<string, OwnEntry>;
}

export const newOwnLsps = (placement: Placement): OwnLsps => ({
  placement,
  fragments: new Map(),
  dirty: new Map(),
  issueAt: Infinity,
  refreshAt: Infinity,
  strangers: new Map(),
  contestedAt: -Infinity,
  unplaced: new Map(),
});

export function ownFragment(own: OwnLsps, number: number): OwnFragment {
  let fragment = own.fragments.get(number);
  if (!fragment) {
    fragment = {
      sequence: 0,
      issuedAt: -Infinity,
      live: false,
      refreshAt: Infinity,
      blockedUntil: -Infinity,
      tlvs: undefined,
      notBefore: -Infinity,
      ...newContest(),
    };
    own.fragments.set(number, fragment);
  }
  return fragment;
}

/** Marks a fragment for issuing no earlier than `at`. */
export function markDirty(own: OwnLsps, number: number, at: number, force = false): void {
  own.dirty.set(number, force || (own.dirty.get(number) ?? false));
  own.issueAt = Math.min(own.issueAt, at);
}

/** Forged LSPs fill no more than the limit: the one that was outbid longest ago is dropped. */
export function stranger({ strangers }: OwnLsps, key: string): Answered {
  const known = strangers.get(key) ?? { notBefore: -Infinity, ...newContest() };
  strangers.delete(key);
  strangers.set(key, known);
  const [oldest] = strangers.keys();
  if (strangers.size > STRANGERS_LIMIT) strangers.delete(oldest!);
  return known;
}

/** Somebody issued a newer one; the last answer was at `answeredAt`. @returns whether it is contested */
export function outbidBy(own: OwnLsps, answered: Answered, answeredAt: number, now: number): boolean {
  const contested = outbidAgain(answered, now);
  answered.notBefore = answeredAt + answerPause(answered, now, FIRST_ANSWER_PAUSE_MS, LAST_ANSWER_PAUSE_MS);
  if (contested) own.contestedAt = now;
  return contested;
}

export const systemIdContested = ({ contestedAt }: OwnLsps, now: number): boolean =>
  now - contestedAt < CONTEST_WINDOW_MS;
