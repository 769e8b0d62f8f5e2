// What may be copied from one area to another: the state of offers.ts and leaking.ts.
import { LeakQueue } from '../../leak-queue.ts';
import { INTER_AREA_BATCH, INTER_AREA_SETTLE_MS } from '../constants.ts';
import type { Entry } from '../kinds/kind.ts';

export interface InterAreaState {
  /** What others advertise and may be copied: area → key → LSA → entry; and what each LSA offers. */
  readonly offered: Map<number, Map<string, Map<string, Entry>>>;
  readonly offers: Map<number, Map<string, readonly Entry[]>>;
  /** What to decide about; its places are `<area>:<key>`. */
  readonly queue: LeakQueue;
  /**
   * Until when a router of the area originated a key itself, by `<area>:<key>`; Infinity: it does. Kept for as long as
   * copies of it may be echoes.
   */
  readonly ownUntil: Map<string, number>;
}

export const newInterAreaState = (): InterAreaState => ({
  offered: new Map(),
  offers: new Map(),
  queue: new LeakQueue({ batch: INTER_AREA_BATCH, settleMs: INTER_AREA_SETTLE_MS }),
  ownUntil: new Map(),
});
