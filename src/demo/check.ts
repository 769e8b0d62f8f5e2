// A claim of a report.

export interface Check {
  /** What is claimed, as a sentence. */
  readonly claim: string;
  /** Empty: it holds. */
  readonly failures: readonly string[];
}
