// A change of the members that are declared at run time (gNMI Set, `cnpctl group`): as it was requested, unchecked.
import type { Result } from './result.ts';

export interface GroupChange {
  readonly operation: 'delete' | 'replace' | 'update';
  /** Proxy Address, as text. */
  readonly group: string;
  /** Absent: the change is of the whole group. */
  readonly member?: { readonly role: string; readonly address: string };
  /** Of replace and update: the JSON value, an object with YANG names. */
  readonly value?: unknown;
}

export interface ChangeRefusal {
  /**
   * `invalid`: a value that the file would not take either. `conflict`: cnpd.yaml says otherwise. `full`: a limit.
   * `not-stored`: it could not be written down. `stopping`: cnpd ends.
   */
  readonly code: 'invalid' | 'conflict' | 'full' | 'not-stored' | 'stopping';
  /** One sentence each. */
  readonly errors: readonly string[];
  /** Of `not-stored`: the system's name of the error, such as ENOSPC. */
  readonly systemCode?: string | undefined;
}

/** All of a request is done, or nothing of it. */
export type ChangeResult = Result<undefined, ChangeRefusal>;
