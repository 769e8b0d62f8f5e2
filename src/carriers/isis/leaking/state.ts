// What may be leaked between levels: the state of offers.ts and leaking.ts.
import { CarryQueue } from '../../carry-queue.ts';
import type { Level } from '../../../packet/isis/types.ts';
import { CARRY_BATCH, CARRY_SETTLE_MS } from '../constants.ts';
import type { PrefixEntry } from '../kinds/entries.ts';
import type { SidEntry } from '../kinds/sids.ts';

export interface CarryState {
  /** Flagged prefixes and SIDs of others by their key, one index a level. */
  readonly offered: Record<Level, Map<string, Offer[]>>;
  /** What to decide about; its places are `<from>:<key>`. */
  readonly queue: CarryQueue;
}

export const newCarryState = (): CarryState => ({
  offered: { 1: new Map(), 2: new Map() },
  queue: new CarryQueue({ batch: CARRY_BATCH, settleMs: CARRY_SETTLE_MS }),
});

export type Carriable = PrefixEntry | SidEntry;

interface Offer {
  readonly lspKey: string;
  readonly entry: Carriable;
}
