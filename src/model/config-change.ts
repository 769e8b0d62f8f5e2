// What a change of the configuration would do, or has done, by plane.

import type { ChangeRefusal } from './group-change.ts';
import type { Result } from './result.ts';

export const PLANES = ['advertisements', 'programs', 'map-entries', 'routes'] as const;
export type Plane = (typeof PLANES)[number];

export interface ChangedEntry {
  readonly operation: 'add' | 'change' | 'remove';
  /** The kind and the name of the entry: `sender-policies 2001:db8:1::/64`. */
  readonly entry: string;
  /** What of it: of a changed entry only what differs. */
  readonly detail: string;
}

export interface PlaneChanges {
  readonly plane: Plane;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** The first MOST_ENTRIES of them. */
  readonly entries: readonly ChangedEntry[];
}

/** Entries of a plane that are listed; all are counted. */
export const MOST_ENTRIES = 100;

/** One for each plane, in the order of PLANES. */
export type Changes = readonly PlaneChanges[];

export const isNothing = (changes: Changes): boolean =>
  changes.every(({ added, changed, removed }) => added + changed + removed === 0);

/** What is asked for beside the configuration itself. */
export interface ChangeTerms {
  /** Taken back after so many milliseconds unless it is confirmed. Absent: it needs no confirmation. */
  readonly confirmMs?: number;
  /** Names what is to be confirmed. */
  readonly id?: string;
  /** The file stays as it is: a reload or a restart ends it. */
  readonly isTemporary?: boolean;
}

/** Why a trial has ended without its confirmation. */
export const ROLL_BACK_REASONS = ['not-confirmed', 'requested'] as const;
export type RollBackReason = (typeof ROLL_BACK_REASONS)[number];

export const SHORTEST_CONFIRM_MS = 1000;
export const LONGEST_CONFIRM_MS = 24 * 3_600_000;

/** A change of the configuration as values (gNMI Set), as it was requested, unchecked. */
export interface SectionChange {
  readonly operation: 'delete' | 'replace' | 'update';
  /** Absent: the whole configuration. */
  readonly section?: string;
  /** Of replace and update: JSON. */
  readonly value?: unknown;
}

/** What has become of a configuration. */
export interface ConfigOutcome {
  readonly ok: boolean;
  /**
   * One line per error: file, line, column, path, what was found, what is allowed. With `ok`: what of the new
   * configuration is not in force, and the remedy.
   */
  readonly errors: readonly string[];
  /** Sections of the file whose meaning has changed. */
  readonly changed: readonly string[];
  /** What is asked of kernel and network now, and was not before. Absent unless `ok`. */
  readonly planes?: Changes;
  /** Afterwards. Absent unless `ok`. */
  readonly health?: string;
  /** Afterwards, the first MOST_PROBLEMS. Absent unless `ok`. */
  readonly problems?: readonly string[];
  /** When it is taken back unless it is confirmed, RFC 3339. Absent: it needs no confirmation. */
  readonly confirmBy?: string;
}

export const MOST_PROBLEMS = 20;

/** What would change. */
export type ConfigPlan = Pick<ConfigOutcome, 'ok' | 'errors' | 'changed' | 'planes'>;

/** The configuration in force, with its defaults. Secrets are hidden. */
export interface ShownConfig {
  /** As cnpd.yaml, with a comment at each default. */
  readonly text: string;
  readonly tree: unknown;
  /** Paths of the defaults in it. */
  readonly defaults: readonly string[];
}

type Answer<T> = Promise<Result<T, ChangeRefusal>>;

/** Changes of the configuration. All of one is done, or nothing of it. */
export interface ConfigActions {
  /** @param text absent: the file that cnpd was started with */
  plan(text: string | undefined, name: string): Answer<ConfigPlan>;
  apply(text: string, name: string, terms: ChangeTerms): Answer<ConfigOutcome>;
  set(changes: readonly SectionChange[], terms: ChangeTerms): Answer<ConfigOutcome>;
  confirm(id?: string): Answer<undefined>;
  rollBack(id?: string): Answer<ConfigOutcome>;
  /** The time begins anew. */
  extend(id: string, confirmMs: number): Answer<undefined>;
  shown(): Promise<ShownConfig>;
}
