// Numbers 1 … `most`, each given to one owner at a time, the lowest free one first: the classes that the dataplane has
// made for earlier flows are used before it needs another.

export class Slots {
  #most: number;
  readonly #used = new Set<number>();
  /** None below this one is free. */
  #lowest = 1;

  constructor(most: number) {
    this.#most = most;
  }

  get used(): number {
    return this.#used.size;
  }

  get hasFree(): boolean {
    while (this.#used.has(this.#lowest)) this.#lowest++;
    return this.#lowest <= this.#most;
  }

  /** @returns undefined: all are in use */
  take(): number | undefined {
    if (!this.hasFree) return undefined;
    this.#used.add(this.#lowest);
    return this.#lowest++;
  }

  give(slot: number): void {
    this.#used.delete(slot);
    this.#lowest = Math.min(this.#lowest, slot);
  }

  /** Slots above `most` that are in use stay so until they are given back. */
  limit(most: number): void {
    this.#most = most;
  }
}
