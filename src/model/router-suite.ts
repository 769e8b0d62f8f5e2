// The routing suites that cnpd may run beside, and what is said of any of them. What each needs and how it is asked is
// in diagnosis/suites.
import type { Log } from './log.ts';
import type { Check } from './problem.ts';

export const SUITE_NAMES = ['frr', 'holo', 'none'] as const;
export type SuiteName = (typeof SUITE_NAMES)[number];

/** The suite where the file names none. */
export const DEFAULT_SUITE = 'frr' satisfies SuiteName;

/** As sentences call it. */
export const SUITE_TITLES: Readonly<Record<SuiteName, string>> = {
  frr: 'FRR',
  holo: 'Holo',
  none: 'the routing daemon',
};

interface Router {
  readonly suite?: { readonly name: SuiteName };
}

export const suiteNameOf = ({ suite }: Router): SuiteName => suite?.name ?? DEFAULT_SUITE;

/** What sentences call the suite of a router. */
export const titleOf = (router: Router): string => SUITE_TITLES[suiteNameOf(router)];

/** A requirement of the suite's configuration. */
export interface SuiteCheck extends Check {
  /** Stable. */
  readonly code?: string;
}

/** cnpd creates these interfaces when it starts, so their absence before that is no finding. */
export const isForTheOperator = ({ state, code }: Pick<SuiteCheck, 'state' | 'code'>): boolean =>
  (state === 'missing' && code !== 'interface-missing') || state === 'warning';

export interface ConfigureOptions {
  /** Also so that it survives a restart of the suite. */
  readonly save: boolean;
  /** Only say what would be done. */
  readonly dryRun?: boolean;
}

export interface ConfigureDependencies {
  /** One line for the operator. */
  readonly say: (line: string) => void;
  readonly log: Log;
}

/** What cnpd needs of the routing suite beside it. */
export interface RouterSuite {
  readonly name: SuiteName;
  /** Whether the carriers' interfaces must exist before the suite's configuration names them. */
  readonly configuredAfterStart: boolean;
  /** The requirements of the declared carriers. Never rejects: a question without an answer is a check too. */
  examine(): Promise<readonly SuiteCheck[]>;
  /**
   * Gives the suite what it lacks and cnpd may give.
   * @returns what is still missing: an operator's decision, or cnpd is not running yet
   * @throws ConfigureError
   */
  configure(options: ConfigureOptions, dependencies: ConfigureDependencies): Promise<readonly SuiteCheck[]>;
}

export class ConfigureError extends Error {
  /**
   * `unreachable`: a routing daemon does not answer, and the message says what is known of its configuration;
   * `refused`: the suite refused a change; `undo-failed`: and the changes before it could not be rolled back;
   * `save`: only writing failed.
   */
  readonly code: 'unreachable' | 'refused' | 'undo-failed' | 'save';
  constructor(code: ConfigureError['code'], message: string) {
    super(message);
    this.name = 'ConfigureError';
    this.code = code;
  }
}
