// What advertisements say that the senders of their prefix understand, and which of them counts. The rules are those of
// proxies (preference.ts), among the advertisements that say anything: FRR's own advertisement of a prefix says nothing
// and does not compete. Most prefixes have none, so only those that have any are kept here.
import { CandidateHeaps } from './candidate-heap.ts';
import type { Advertisement } from './preference.ts';

export class Claims {
  readonly #byNode = new Map<number, Set<Advertisement>>();
  readonly #heaps = new CandidateHeaps();

  /** Whether its place among the others is kept in order, so that it must not change in place. */
  inOrder(node: number): boolean {
    return this.#heaps.has(node);
  }

  add(a: Advertisement): void {
    if (!a.supports) return;
    const claims = this.#byNode.get(a.node);
    if (claims) claims.add(a);
    else this.#byNode.set(a.node, new Set([a]));
    this.#heaps.add(a);
  }

  remove(a: Advertisement): void {
    const claims = this.#byNode.get(a.node);
    if (!claims?.delete(a)) return;
    this.#heaps.remove(a);
    if (claims.size > 0) return;
    this.#byNode.delete(a.node);
    this.#heaps.forget(a.node);
  }

  /** The order of a node's advertisements has changed. */
  reorder(node: number): void {
    this.#heaps.reorder(node);
  }

  /** The advertisement that counts; undefined: none says anything. */
  best(node: number): Advertisement | undefined {
    const claims = this.#byNode.get(node);
    return claims && this.#heaps.bestOf(node, claims);
  }
}
