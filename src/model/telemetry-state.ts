// What telemetry reads beside the lists of state.ts: the same state, in the few numbers that a scrape needs. To read it
// asks neither FRR nor gobgpd, and costs little however many prefixes are learned.
import type { CarrierName } from './advertisement.ts';
import type { Problem } from './problem.ts';
import type { ReceivedFormat } from './source.ts';
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

/** A bounded table of the programs. */
export interface TableUse {
  /** Of the kernel's map. */
  readonly name: string;
  readonly entries: number;
  /** How many it can have. */
  readonly limit: number;
}

export interface TablesSummary {
  readonly tables: readonly TableUse[];
  /** Since they were counted. */
  readonly ageMs: number;
}

export interface TelemetrySource {
  readonly state: Pick<StateSource, 'ports' | 'counters' | 'rtt' | 'flowControl'>;
  readonly daemon: () => DaemonSummary;
  readonly carriers: () => readonly CarrierSummary[];
  readonly learned: () => LearnedSummary;
  readonly stages: () => readonly Stage[];
  readonly holds: () => HoldsSummary;
  readonly groups: () => Promise<readonly GroupSummary[]>;
  readonly tables: () => Promise<TablesSummary>;
  /** Of a counter, if a table has it. */
  readonly meaningOf: (counter: string) => string | undefined;
}

export const HOLD_STATES = ['held', 'paused', 'recovering', 'leaving'] as const;

/** Flows that are held for hosts. */
export interface HoldsSummary {
  readonly states: Readonly<Partial<Record<(typeof HOLD_STATES)[number], number>>>;
  /** By the format of the last notification that was obeyed. */
  readonly formats: Readonly<Partial<Record<ReceivedFormat, number>>>;
  /** bit/s, of those that may send and are not yet let go. */
  readonly rate: number;
}

export const NO_HOLDS: HoldsSummary = { states: {}, formats: {}, rate: 0 };

/** Of a branch in a group's tree. */
export const BRANCH_STATES = ['up', 'ready', 'waiting', 'silent', 'behind', 'stalled', 'excluded'] as const;
export type BranchStatus = (typeof BRANCH_STATES)[number];
/** Of a router in a group's tree. */
export const GROUP_ROLES = ['branching', 'edge'] as const;

/** One group of the file, or all others together. */
export interface GroupSummary {
  readonly name: string;
  readonly members: Readonly<Record<'source' | 'receiver', number>>;
  readonly branches: Readonly<Partial<Record<BranchStatus, number>>>;
  readonly packets: Readonly<Record<(typeof GROUP_ROLES)[number], number>>;
  readonly answers: Readonly<Record<(typeof GROUP_ROLES)[number], number>>;
}
