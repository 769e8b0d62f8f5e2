// What every carrier is handed when it is made, and what it derives from clock and chance.
import type { Clock } from '../model/clock.ts';
import type { CodePointValues } from '../model/code-points.ts';
import type { Count, Log } from '../model/log.ts';
import type { Work } from '../model/work.ts';
import type { CarrierSink } from './carrier.ts';

export interface CarrierModules {
  readonly sink: CarrierSink;
  readonly clock: Clock;
  readonly work: Work;
  readonly log: Log;
  readonly count: Count;
  readonly codePoints: CodePointValues;
  /** Milliseconds since 1970, for sequence numbers and time stamps. */
  readonly wallClock?: () => number;
  /** 0 ≤ x < 1. */
  readonly random?: () => number;
}

/** When the clock shows `now`, it is `wall`, in milliseconds since 1970. */
export interface Moment {
  readonly now: number;
  readonly wall: number;
}

export const momentOf = ({ clock, wallClock = Date.now }: Pick<CarrierModules, 'clock' | 'wallClock'>): Moment => ({
  now: clock.now(),
  wall: wallClock(),
});

/** A moment of the clock in ISO 8601. */
export const timestamp = (at: number, { now, wall }: Moment): string => new Date(wall - (now - at)).toISOString();

/** Sequence numbers count from here, so that a later run starts higher than an earlier one. */
const SEQUENCE_EPOCH_MS = Date.UTC(2020, 0, 1);

/** Milliseconds since then. */
export const sinceEpoch = (wall: number): number => wall - SEQUENCE_EPOCH_MS;

/** For the generator of a machine (effects.ts): 32 bits. */
export const seedOf = ({ random = Math.random }: Pick<CarrierModules, 'random'>): number =>
  Math.floor(random() * 2 ** 32);
