// Somebody else issues LSPs or LSAs under our name, newer than ours, again and again: another router that has our
// system ID or router ID, because a file was copied, or somebody who forges them. Each would undo the other's for ever:
// whoever finds that answers more slowly, and warns the operator.

/** A run that starts again finds one older version of what is ours, or two; from then on it is contested. */
const OUTBIDS_OF_A_RESTART = 2;
/** What was not outbid for so long, milliseconds, is contested no more. */
export const CONTEST_WINDOW_MS = 300_000;

export interface Contest {
  /** How often somebody issued a newer version, the last time at `outbidAt`. */
  outbids: number;
  outbidAt: number;
}

export const newContest = (): Contest => ({ outbids: 0, outbidAt: -Infinity });

export const isContested = ({ outbids, outbidAt }: Contest, now: number): boolean =>
  outbids > OUTBIDS_OF_A_RESTART && now - outbidAt < CONTEST_WINDOW_MS;

/** Counts one more. @returns whether it is contested */
export function outbidAgain(contest: Contest, now: number): boolean {
  contest.outbids = now - contest.outbidAt < CONTEST_WINDOW_MS ? contest.outbids + 1 : 1;
  contest.outbidAt = now;
  return isContested(contest, now);
}

/** How long a contested one waits since the last answer: from `first` on twice as long each time. */
export const answerPause = (contest: Contest, now: number, first: number, last: number): number =>
  isContested(contest, now) ? Math.min(last, first * 2 ** (contest.outbids - OUTBIDS_OF_A_RESTART - 1)) : 0;
