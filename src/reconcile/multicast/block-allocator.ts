// Numbers of a table, given out in blocks without gaps: first fit. Pure.

interface Range {
  start: number;
  /** Behind the last number. */
  end: number;
}

export class BlockAllocator {
  /** Ascending, and never adjacent to each other. */
  readonly #free: Range[];
  readonly #first: number;
  readonly #end: number;

  /** Numbers from `first` to `end` - 1. */
  constructor(first: number, end: number) {
    this.#first = first;
    this.#end = end;
    this.#free = [{ start: first, end }];
  }

  /** Numbers that are free, in all blocks together. */
  get free(): number {
    return this.#free.reduce((sum, range) => sum + range.end - range.start, 0);
  }

  /** The first number of `count` adjacent ones; undefined when no gap is large enough. */
  allocate(count = 1): number | undefined {
    const range = this.#free.find(({ start, end }) => end - start >= count);
    if (!range) return undefined;
    const { start } = range;
    this.take(start, count);
    return start;
  }

  /** Takes these numbers, as found in a table of an earlier run. Returns false, and takes none, unless all are free. */
  take(start: number, count = 1): boolean {
    const at = this.#free.findIndex((range) => range.start <= start && start + count <= range.end);
    const range = this.#free[at];
    if (!range || count < 1) return false;
    const pieces = [
      { start: range.start, end: start },
      { start: start + count, end: range.end },
    ].filter((piece) => piece.end > piece.start);
    this.#free.splice(at, 1, ...pieces);
    return true;
  }

  /** @throws RangeError when one of them is free already, or is not of this table */
  release(start: number, count = 1): void {
    const end = start + count;
    const at = this.#free.findIndex((range) => range.start >= start);
    const next = at < 0 ? this.#free.length : at;
    const [before, after] = [this.#free[next - 1], this.#free[next]];
    if (start < this.#first || end > this.#end || (before?.end ?? 0) > start || (after && after.start < end))
      throw new RangeError(`the numbers ${start} to ${end - 1} are not all in use`);
    const joined: Range = { start, end };
    const [joinsBefore, joinsAfter] = [before?.end === start, after?.start === end];
    if (joinsBefore) joined.start = before!.start;
    if (joinsAfter) joined.end = after!.end;
    this.#free.splice(next - Number(joinsBefore), Number(joinsBefore) + Number(joinsAfter), joined);
  }
}
