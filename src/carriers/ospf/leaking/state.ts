// What may be leaked between areas: the state of offers.ts and leaking.ts.
import { CarryQueue } from '../../carry-queue.ts';
import { CARRY_BATCH, CARRY_SETTLE_MS } from '../constants.ts';
import type { Entry } from '../kinds/entries.ts';

export interface CarryState {
  /** Flagged prefixes and SIDs of others: area → key → LSA → entry; and what each LSA offers. */
  readonly offered: Map<number, Map<string, Map<string, Entry>>>;
  readonly offers: Map<number, Map<string, readonly Entry[]>>;
  /** What to decide about; its places are `<area>:<key>`. */
  readonly queue: CarryQueue;
  /**
   * Until when a router of the area has said a key itself, by `<area>:<key>`; Infinity: it does. Kept for as long as
   * copies of it may be echoes.
   */
  readonly ownUntil: Map<string, number>;
}

export const newCarryState = (): CarryState => ({
  offered: new Map(),
  offers: new Map(),
  queue: new CarryQueue({ batch: CARRY_BATCH, settleMs: CARRY_SETTLE_MS }),
  ownUntil: new Map(),
});
