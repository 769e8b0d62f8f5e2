// The way that packets take from a node to an address: on each node its kernel is asked for the route, until the node
// is reached that has the address. Where no kernel has an answer, such as at a bridge or in a VRF, the rest of the way
// has the fewest links.
import type { LinkView } from './model.ts';
import { way } from './network.ts';
import { peerOf } from './node-view.ts';

/** A route may change: after so long the kernel is asked again. */
const KEPT_MS = 2000;
const MOST_KEPT = 1000;
/** One question at a time; beyond so many that wait, there is no answer. */
const MOST_WAITING = 64;

export interface RouteSources {
  readonly links: readonly LinkView[];
  /** The interface by which a node's kernel sends to an address; undefined: it has no route. Never rejects. */
  readonly ask: (node: string, address: string) => Promise<string | undefined>;
  /** Milliseconds. */
  readonly now: () => number;
}

export class Routes {
  readonly #sources: RouteSources;
  readonly #kept = new Map<string, { readonly at: number; readonly answer: Promise<string | undefined> }>();
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(sources: RouteSources) {
    this.#sources = sources;
  }

  /** @param owner the node that has the address @returns the nodes, the first being `from`; `from` alone: no way */
  async way(from: string, address: string, owner: string): Promise<readonly string[]> {
    const { links } = this.#sources;
    const path = [from];
    for (let at = from; at !== owner;) {
      const next = peerOf(links, at, (await this.#outgoing(at, address)) ?? '');
      if (next === '' || path.includes(next)) return [...path, ...(way(links, at, owner) ?? []).slice(1)];
      path.push((at = next));
    }
    return path;
  }

  #outgoing(node: string, address: string): Promise<string | undefined> {
    const now = this.#sources.now();
    const key = `${node} ${address}`;
    const known = this.#kept.get(key);
    if (known && now - known.at < KEPT_MS) return known.answer;
    if (this.#waiting >= MOST_WAITING) return Promise.resolve(undefined);
    this.#waiting++;
    const answer = this.#last.then(() => this.#sources.ask(node, address)).finally(() => this.#waiting--);
    this.#last = answer;
    this.#kept.delete(key);
    this.#kept.set(key, { at: now, answer });
    // The first is the one that was asked for the longest time ago.
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    return answer;
  }
}
