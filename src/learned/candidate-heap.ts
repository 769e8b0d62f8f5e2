// The choice among very many advertisements of one prefix, such as a default route that every router of a network
// advertises. Scanning all of them at each change would cost the square of their number; a heap costs the logarithm.
import { type Advertisement, comparePreference, mostPreferred, mostPreferredOf } from './preference.ts';

/** From this many candidates on, a heap. Fewer are scanned faster than they are kept in order. */
const HEAP_FROM = 32;

/** Whether `a` is preferred to `b`; candidates that do not count come last. */
function before(a: Advertisement, b: Advertisement): boolean {
  const [dormantA, dormantB] = [a, b].map(({ source }) => source.originator.reachability === 'dormant');
  return dormantA === dormantB ? comparePreference(a, b) < 0 : dormantB!;
}

function* listed(head: Advertisement | undefined): Generator<Advertisement> {
  for (let a = head; a; a = a.next) yield a;
}

function hasMoreThan(count: number, head: Advertisement | undefined): boolean {
  let a = head;
  for (; a && count > 0; count--) a = a.next;
  return a !== undefined;
}

/**
 * By node of the trie. It is notified of every advertisement that is added or removed, and detects by itself where
 * there are very many.
 */
export class CandidateHeaps {
  readonly #heaps = new Map<number, CandidateHeap>();

  has(node: number): boolean {
    return this.#heaps.has(node);
  }

  add(a: Advertisement): void {
    this.#heaps.get(a.node)?.add(a);
  }

  remove(a: Advertisement): void {
    this.#heaps.get(a.node)?.remove(a);
  }

  /** All of the node were removed, and its best is not asked for any more. */
  forget(node: number): void {
    this.#heaps.delete(node);
  }

  /** Originators at the node have changed, or their reachability. */
  reorder(node: number): void {
    this.#heaps.get(node)?.reorder();
  }

  /** The advertisement in force. @param head the first of all that the node has */
  best(node: number, head: Advertisement | undefined): Advertisement | undefined {
    if (!this.#heaps.has(node) && !hasMoreThan(HEAP_FROM, head)) return mostPreferred(head);
    return this.#fromHeap(node, () => listed(head));
  }

  /** The same among candidates that are in a set. */
  bestOf(node: number, candidates: ReadonlySet<Advertisement>): Advertisement | undefined {
    if (!this.#heaps.has(node) && candidates.size <= HEAP_FROM) return mostPreferredOf(candidates);
    return this.#fromHeap(node, () => candidates);
  }

  #fromHeap(node: number, all: () => Iterable<Advertisement>): Advertisement | undefined {
    const heap = this.#heaps.get(node) ?? new CandidateHeap();
    const best = heap.best(all);
    if (heap.size < HEAP_FROM / 2) this.#heaps.delete(node);
    else this.#heaps.set(node, heap);
    return best;
  }
}

class CandidateHeap {
  /** The children of `i` are 2i + 1 and 2i + 2; neither comes before it. */
  #heap: Advertisement[] = [];
  /** Removed, but still in the heap: dropped when they get to its top. */
  readonly #gone = new Set<Advertisement>();
  /** The heap must be rebuilt: its order has changed. */
  #stale = true;

  add(a: Advertisement): void {
    if (!this.#stale) this.#rise(this.#heap.push(a) - 1, a);
  }

  remove(a: Advertisement): void {
    if (this.#stale) return;
    this.#gone.add(a);
    if (2 * this.#gone.size > this.#heap.length) this.reorder();
  }

  reorder(): void {
    this.#stale = true;
    this.#heap = [];
    this.#gone.clear();
  }

  /** How many there are. */
  get size(): number {
    return this.#heap.length - this.#gone.size;
  }

  /** The advertisement in force. @param all those that were added and not removed */
  best(all: () => Iterable<Advertisement>): Advertisement | undefined {
    if (this.#stale) this.#build(all());
    while (this.#heap.length > 0 && this.#gone.delete(this.#heap[0]!)) this.#shift();
    const top = this.#heap[0];
    return top?.source.originator.reachability === 'dormant' ? undefined : top;
  }

  #build(all: Iterable<Advertisement>): void {
    this.#stale = false;
    for (const a of all) this.#heap.push(a);
    for (let i = (this.#heap.length >> 1) - 1; i >= 0; i--) this.#sink(i, this.#heap[i]!);
  }

  #shift(): void {
    const last = this.#heap.pop()!;
    if (this.#heap.length > 0) this.#sink(0, last);
  }

  #rise(i: number, a: Advertisement): void {
    const heap = this.#heap;
    while (i > 0) {
      const above = (i - 1) >> 1;
      if (!before(a, heap[above]!)) break;
      heap[i] = heap[above]!;
      i = above;
    }
    heap[i] = a;
  }

  #sink(i: number, a: Advertisement): void {
    const heap = this.#heap;
    for (let child = 2 * i + 1; child < heap.length; child = 2 * i + 1) {
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, a)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = a;
  }
}
