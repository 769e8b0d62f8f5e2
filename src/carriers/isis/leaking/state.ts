// What may be leaked between levels: the state of offers.ts and leaking.ts.
import { LeakQueue } from '../../leak-queue.ts';
import type { Level } from '../../../packet/isis/types.ts';
import { LEAK_BATCH, LEAK_SETTLE_MS } from '../constants.ts';
import type { ReadEntry } from '../kinds/kind.ts';

export interface LeakState {
  /** Entries of others by key, one index per level. */
  readonly offered: Record<Level, Map<string, Offer[]>>;
  /** The keys to decide about; its places are `<from>:<key>`. */
  readonly queue: LeakQueue;
}

export const newLeakState = (): LeakState => ({
  offered: { 1: new Map(), 2: new Map() },
  queue: new LeakQueue({ batch: LEAK_BATCH, settleMs: LEAK_SETTLE_MS }),
});

interface Offer {
  readonly lspKey: string;
  readonly entry: ReadEntry;
}
