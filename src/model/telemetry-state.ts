// What telemetry reads beside the lists of state.ts: the same state, in the few numbers that a scrape needs. To read it
// asks neither FRR nor gobgpd, and costs little however many prefixes are learned.
import type { CarrierName } from './advertisement.ts';
import type { Problem } from './problem.ts';
import type { StateSource, StatusState } from './state.ts';

/** A part of the start. `problem`: what is declared is not in force, and a problem names why. */
export interface Stage {
  /** `kernel`, `plan`, or the name of a carrier. */
  readonly name: string;
  readonly state: 'waiting' | 'done' | 'problem';
  /** What it waits for, or the codes of the problems; empty when it is done. */
  readonly reason: string;
}

/** A declared carrier. */
export interface CarrierSummary {
  readonly carrier: CarrierName;
  readonly running: boolean;
  /** Its neighbors by interface; of BGP the session with gobgpd, whose interface is empty. */
  readonly adjacencies: readonly { readonly interface: string; readonly isUp: boolean }[];
}

/** Sizes of the learned table. */
export interface LearnedSummary {
  readonly advertisements: number;
  readonly proxies: number;
  readonly sids: number;
  readonly routerAddresses: number;
  readonly originators: number;
  /** Of the originators, those that cannot be reached and are held for a while. */
  readonly held: number;
}

export interface DaemonSummary {
  readonly version: string;
  /** Seconds since 1970. */
  readonly startedAt: number;
  readonly health: StatusState['health'];
  /** As they were last looked at, a moment ago. */
  readonly problems: readonly Problem[];
}

export interface TelemetrySource {
  readonly state: Pick<StateSource, 'ports' | 'counters' | 'rtt' | 'flowControl'>;
  readonly daemon: () => DaemonSummary;
  readonly carriers: () => readonly CarrierSummary[];
  readonly learned: () => LearnedSummary;
  readonly stages: () => readonly Stage[];
  /** Of a counter, if a table has it. */
  readonly meaningOf: (counter: string) => string | undefined;
}
