// A check of FRR's configuration, whoever evaluates it (src/diagnosis/frr/), and the lines that fix it.
import type { Check } from '../model/problem.ts';

/** One line of configuration, and the one that takes it back. */
export interface FrrLine {
  /** `interface X` or `router isis TAG`. */
  readonly context: string;
  readonly line: string;
  readonly undo: string;
  /** Part of `line` that is not to be shown. */
  readonly secret?: string;
}

/** A line as it may be shown and typed. */
export const shownLine = (line: FrrLine): string =>
  line.secret === undefined ? line.line : line.line.replace(line.secret, '<key>');

/** Which of its problems a check has found. */
export type FrrFindingCode =
  | 'daemon-silent'
  | 'version-old'
  | 'zebra-silent'
  | 'interface-missing'
  | 'interface-down'
  | 'no-instance'
  | 'no-net'
  | 'another-instance'
  | 'not-enabled'
  | 'broadcast'
  | 'passive'
  | 'no-three-way'
  | 'level-differs'
  | 'circuit-type'
  | 'area-differs'
  | 'area-unknown'
  | 'area-type'
  | 'system-id-taken'
  | 'router-id-taken'
  | 'no-opaque'
  | 'lsp-generation-slow'
  | 'timers-differ'
  | 'instance-id-differs'
  | 'mtu-changed'
  | 'mtu-small'
  | 'mtu-differs'
  | 'if-mtu'
  | 'end-con-unreached'
  | 'authentication-other'
  | 'authentication-snp'
  | 'key-only-in-frr'
  | 'key-only-in-cnpd'
  | 'key-clear-text'
  | 'keys-differ'
  | 'key-unsupported';

export interface FrrCheck extends Check {
  readonly code?: FrrFindingCode;
  readonly lines?: readonly FrrLine[];
}
