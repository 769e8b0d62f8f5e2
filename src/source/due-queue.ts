// What is due at moments of its own, the earliest first: a binary heap whose entries know their places, so that one of
// thousands changes its moment, or leaves, in logarithmic time. Nothing that is not due is looked at.

/** An entry. It is in one queue at a time; its owner sets neither field. */
export interface Due {
  dueAt: number;
  /** Index in the heap; −1: in none. */
  place: number;
}

export class DueQueue<T extends Due> {
  readonly #heap: T[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** The entry that is due first. */
  get first(): T | undefined {
    return this.#heap[0];
  }

  /** Adds the entry, or moves it to another moment. */
  set(entry: T, dueAt: number): void {
    entry.dueAt = dueAt;
    if (entry.place < 0) {
      entry.place = this.#heap.length;
      this.#heap.push(entry);
    }
    this.#up(entry);
    this.#down(entry);
  }

  remove(entry: T): void {
    if (entry.place < 0) return;
    const last = this.#heap.pop()!;
    if (last !== entry) {
      this.#put(last, entry.place);
      this.#up(last);
      this.#down(last);
    }
    entry.place = -1;
  }

  #put(entry: T, place: number): void {
    this.#heap[place] = entry;
    entry.place = place;
  }

  #up(entry: T): void {
    let place = entry.place;
    while (place > 0) {
      const parent = this.#heap[(place - 1) >>> 1]!;
      if (parent.dueAt <= entry.dueAt) break;
      const above = parent.place;
      this.#put(parent, place);
      place = above;
    }
    this.#put(entry, place);
  }

  #down(entry: T): void {
    let place = entry.place;
    for (;;) {
      const [left, right] = [this.#heap[2 * place + 1], this.#heap[2 * place + 2]];
      const child = right && right.dueAt < left!.dueAt ? right : left;
      if (!child || child.dueAt >= entry.dueAt) break;
      const below = child.place;
      this.#put(child, place);
      place = below;
    }
    this.#put(entry, place);
  }
}
