// What is fuzzed: a function that takes bytes from anybody, and what it promises whatever they are.
export interface Target {
  readonly name: string;
  /** Inputs that it accepts, from which mutations begin; the corpus on disk comes on top. */
  readonly seeds: () => readonly Uint8Array[];
  /**
   * @throws when a promise is broken: it throws, is slow, reads outside, or what it decoded is not what is encoded
   * again
   */
  readonly run: (input: Uint8Array) => void;
  /** Sets lengths and checksums right, so that mutations reach what is behind them. */
  readonly repair?: (input: Uint8Array) => Uint8Array;
  /** Longest input that is made. */
  readonly mostBytes: number;
  /** Inputs a run of the tests makes: half a second at most. */
  readonly runs: number;
}
