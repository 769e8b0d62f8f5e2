// What every carrier is given when it is created, and what it derives from clock and randomness.
import type { Clock } from '../model/clock.ts';
import type { CodePointValues } from '../model/code-points.ts';
import type { Count, Log } from '../model/log.ts';
import type { Recorder } from '../model/recording.ts';
import type { SuiteName } from '../model/router-suite.ts';
import { type WallTime, isoOf, processTime } from '../model/wall-time.ts';
import type { Work } from '../model/work.ts';
import type { CarrierSink } from './carrier.ts';

export interface CarrierDependencies {
  readonly sink: CarrierSink;
  readonly clock: Clock;
  readonly work: Work;
  readonly log: Log;
  readonly count: Count;
  readonly codePoints: CodePointValues;
  /** Of the machines' events; absent: there is none. */
  readonly recorder?: Recorder | undefined;
  /** The routing daemon beside cnpd; only log lines name it. */
  readonly suite?: SuiteName | undefined;
  /** For sequence numbers and time stamps; absent: the system's. */
  readonly wallTime?: WallTime;
  /** 0 ≤ x < 1. */
  readonly random?: () => number;
}

/** What the clock shows, and what to add to it for milliseconds since 1970. */
export interface Moment {
  readonly now: number;
  readonly toWall: number;
}

export const momentOf = ({
  clock,
  wallTime = processTime,
}: Pick<CarrierDependencies, 'clock' | 'wallTime'>): Moment => ({
  now: clock.now(),
  toWall: wallTime.offset(),
});

/** A moment of the clock in ISO 8601. */
export const timestamp = (at: number, { toWall }: Moment): string => isoOf(at, toWall);

/** Sequence numbers count from here, so that a later run starts higher than an earlier one. */
const SEQUENCE_EPOCH_MS = Date.UTC(2020, 0, 1);

/** Milliseconds since SEQUENCE_EPOCH_MS. */
export const sinceEpoch = (wall: number): number => wall - SEQUENCE_EPOCH_MS;

/** The seed of a machine's generator (effects.ts): 32 bits. */
export const seedOf = ({ random = Math.random }: Pick<CarrierDependencies, 'random'>): number =>
  Math.floor(random() * 2 ** 32);
