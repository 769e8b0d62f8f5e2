// Another system repeatedly issues LSPs or LSAs under our name, newer than ours. Either a router has our system ID or
// router ID, for example from a copied file, or an attacker forges them. Each side would outbid the other forever. The
// one that detects this answers more slowly and warns the operator.

/** A restarted run finds one or two older versions of its own LSPs or LSAs. More outbids than that mean a contest. */
const OUTBIDS_OF_A_RESTART = 2;
/** An LSP or LSA that has not been outbid for this long, in milliseconds, is no longer contested. */
export const CONTEST_WINDOW_MS = 300_000;

export interface Contest {
  /** How often a newer version was issued by another router; the last time was `outbidAt`. */
  outbids: number;
  outbidAt: number;
}

export const newContest = (): Contest => ({ outbids: 0, outbidAt: -Infinity });

export const isContested = ({ outbids, outbidAt }: Contest, now: number): boolean =>
  outbids > OUTBIDS_OF_A_RESTART && now - outbidAt < CONTEST_WINDOW_MS;

/** Counts one more outbid. @returns whether it is contested */
export function outbidAgain(contest: Contest, now: number): boolean {
  contest.outbids = now - contest.outbidAt < CONTEST_WINDOW_MS ? contest.outbids + 1 : 1;
  contest.outbidAt = now;
  return isContested(contest, now);
}

/** How long to wait between answers while contested: `first`, then twice as long each time, at most `last`. */
export const answerPause = (contest: Contest, now: number, first: number, last: number): number =>
  isContested(contest, now) ? Math.min(last, first * 2 ** (contest.outbids - OUTBIDS_OF_A_RESTART - 1)) : 0;
