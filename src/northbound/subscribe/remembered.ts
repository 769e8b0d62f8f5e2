// How much the samples with suppress_redundant of all streams remember together. Each stream asks for the memory of the
// daemon, so a bound on one of them alone would bound nothing.

/** Leaves; some 150 MB. */
const MOST = 1_000_000;

export class Remembered {
  readonly most: number;
  #leaves = 0;

  constructor(most = MOST) {
    this.most = most;
  }

  /** @returns whether there is room; otherwise nothing is taken */
  take(leaves: number): boolean {
    if (this.#leaves + leaves > this.most) return false;
    this.#leaves += leaves;
    return true;
  }

  giveBack(leaves: number): void {
    this.#leaves -= leaves;
  }
}
