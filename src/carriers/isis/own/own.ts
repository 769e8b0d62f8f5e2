// The state of our own LSP in one level: sequence numbers, refresh, and fragments to issue again. origination.ts builds
// them.
import { CONTEST_WINDOW_MS, type Contest, answerPause, newContest, outbidAgain } from '../../contest.ts';
import { FIRST_ANSWER_PAUSE_MS, LAST_ANSWER_PAUSE_MS, UNKNOWN_LSP_IDS_LIMIT } from '../constants.ts';
import type { OwnEntry } from '../kinds/kind.ts';
import type { Placement } from './placement.ts';

/** An LSP ID of ours under which others issue LSPs. */
export interface Answered extends Contest {
  /** No answer before this time while contested. */
  notBefore: number;
}

export interface OwnFragment extends Answered {
  /** The last sequence number used by us or seen from elsewhere; 0 when none. */
  sequence: number;
  issuedAt: number;
  live: boolean;
  refreshAt: number;
  /** The sequence number wraps: no issue before this time (ISO/IEC 10589 §7.3.16.1). */
  blockedUntil: number;
  /** The TLVs last issued, encoded, without authentication. */
  tlvs: Uint8Array | undefined;
}

export interface OwnLsps {
  placement: Placement;
  readonly fragments: Map<number, OwnFragment>;
  /** Fragments to check; `true` issues them even when their contents are unchanged. */
  readonly dirty: Map<number, boolean>;
  issueAt: number;
  refreshAt: number;
  /** LSP IDs with our system ID that we never originate (those of pseudonodes), under which others issue LSPs. */
  readonly unknownLspIds: Map<string, Answered>;
  /** When a contested LSP of ours was last outbid. */
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
  unknownLspIds: new Map(),
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

/** Forged LSPs fill at most the limit: the one outbid longest ago is dropped. */
export function unknownLspId({ unknownLspIds }: OwnLsps, key: string): Answered {
  const known = unknownLspIds.get(key) ?? { notBefore: -Infinity, ...newContest() };
  unknownLspIds.delete(key);
  unknownLspIds.set(key, known);
  const [oldest] = unknownLspIds.keys();
  if (unknownLspIds.size > UNKNOWN_LSP_IDS_LIMIT) unknownLspIds.delete(oldest!);
  return known;
}

/**
 * Records that another router issued a newer version; our last answer was at `answeredAt`. @returns whether it is
 * contested
 */
export function outbidBy(own: OwnLsps, answered: Answered, answeredAt: number, now: number): boolean {
  const contested = outbidAgain(answered, now);
  answered.notBefore = answeredAt + answerPause(answered, now, FIRST_ANSWER_PAUSE_MS, LAST_ANSWER_PAUSE_MS);
  if (contested) own.contestedAt = now;
  return contested;
}

export const systemIdContested = ({ contestedAt }: OwnLsps, now: number): boolean =>
  now - contestedAt < CONTEST_WINDOW_MS;
