// What may be leaked between levels: the state of offers.ts and leaking.ts.
import { LeakQueue } from '../../leak-queue.ts';
import type { Level } from '../../../packet/isis/types.ts';
import { LEAK_BATCH, LEAK_SETTLE_MS } from '../constants.ts';
import type { PrefixEntry } from '../kinds/entries.ts';
import type { SidEntry } from '../kinds/sids.ts';

export interface LeakState {
  /** Flagged prefixes and SIDs of others by their key, one index a level. */
  readonly offered: Record<Level, Map<string, Offer[]>>;
  /** What to decide about; its places are `<from>:<key>`. */
  readonly queue: LeakQueue;
}

export const newLeakState = (): LeakState => ({
  offered: { 1: new Map(), 2: new Map() },
  queue: new LeakQueue({ batch: LEAK_BATCH, settleMs: LEAK_SETTLE_MS }),
});

export type Leakable = PrefixEntry | SidEntry;

interface Offer {
  readonly lspKey: string;
  readonly entry: Leakable;
}
