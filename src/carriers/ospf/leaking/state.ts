// The state of offers.ts and leaking.ts: what may be copied from one area to another.
import { LeakQueue } from '../../leak-queue.ts';
import { INTER_AREA_BATCH, INTER_AREA_SETTLE_MS } from '../constants.ts';
import type { Entry } from '../kinds/kind.ts';

export interface InterAreaState {
  /** What other routers advertise and may be copied: area → key → LSA → entry; and the entries of each LSA. */
  readonly offered: Map<number, Map<string, Map<string, Entry>>>;
  readonly offers: Map<number, Map<string, readonly Entry[]>>;
  /** The decisions that are due; a place is `<area>:<key>`. */
  readonly queue: LeakQueue;
  /**
   * Until when a router of the area originated a key itself, by `<area>:<key>`; Infinity: it still does. Kept for as
   * long as copies may be echoes.
   */
  readonly ownUntil: Map<string, number>;
}

export const newInterAreaState = (): InterAreaState => ({
  offered: new Map(),
  offers: new Map(),
  queue: new LeakQueue({ batch: INTER_AREA_BATCH, settleMs: INTER_AREA_SETTLE_MS }),
  ownUntil: new Map(),
});
