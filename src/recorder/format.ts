// The lines of a recording: JSON, one object a line. The first is the header, the last says how the recording ended.
// Between them, by the number `m` of a machine: its begin, its events, and findings behind the event in which they were
// made.
import type { MachineName } from '../model/recording.ts';

export const FORMAT = 'cnpd-recording';
/** Changes when an older cnpd could not replay what a newer one writes. */
export const FORMAT_VERSION = 1;

/** A line is at most so long; an event that is longer ends the recording. */
export const MOST_LINE_BYTES = 32 << 20;

export interface Header {
  readonly format: typeof FORMAT;
  readonly version: typeof FORMAT_VERSION;
  /** Of the cnpd that wrote it. */
  readonly cnpd: string;
  /** The same moment of the machines' clock, the wall clock and CLOCK_MONOTONIC, milliseconds. */
  readonly now: number;
  readonly wall: number;
  readonly monotonic: number;
  readonly limitBytes: number;
  readonly limitSeconds: number;
}

interface BeginLine {
  readonly m: number;
  readonly now: number;
  readonly machine: MachineName;
  readonly config: unknown;
}

interface EventLine {
  readonly m: number;
  readonly now: number;
  readonly event: unknown;
}

interface FindingLine {
  readonly m: number;
  readonly found: unknown;
}

interface StoppedLine {
  readonly now: number;
  readonly stopped: string;
  readonly holdMs: number;
}

/** Why a recording ended: it was stopped, or has reached a limit. */
export const ENDINGS = ['stopped', 'bytes', 'time'] as const;
export type Ending = (typeof ENDINGS)[number];

interface EndLine {
  readonly now: number;
  readonly end: Ending;
  readonly events: number;
}

export type RecordedLine = Header | BeginLine | EventLine | FindingLine | StoppedLine | EndLine;
