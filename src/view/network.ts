// The lab as a graph: which node has an address, and the way from one node to another. Pure.
import { familyKey, parseAddress } from '../model/address.ts';

export interface Link {
  readonly a: string;
  readonly b: string;
}

/** Addresses and SIDs, and the nodes that have them. */
export class Directory {
  readonly #nodes = new Map<string, string>();
  readonly #addresses = new Map<string, readonly string[]>();
  readonly #sids = new Map<string, readonly string[]>();

  /** Of its interfaces. @returns whether anything has changed */
  set(node: string, addresses: readonly string[]): boolean {
    return this.#replace(this.#addresses, node, addresses);
  }

  /** Its own. @returns whether anything has changed */
  setSids(node: string, sids: readonly string[]): boolean {
    return this.#replace(this.#sids, node, sids);
  }

  #replace(all: Map<string, readonly string[]>, node: string, now: readonly string[]): boolean {
    const before = all.get(node) ?? [];
    if (before.length === now.length && before.every((text, i) => text === now[i])) return false;
    all.set(node, now);
    this.#nodes.clear();
    for (const [owner, texts] of [...this.#sids, ...this.#addresses])
      for (const text of texts) {
        const address = parseAddress(text);
        if (address) this.#nodes.set(familyKey(address), owner);
      }
    return true;
  }

  of(node: string): readonly string[] {
    return this.#addresses.get(node) ?? [];
  }

  /** Empty: none of the lab has it. */
  nameOf(text: string): string {
    const address = parseAddress(text);
    return (address && this.#nodes.get(familyKey(address))) ?? '';
  }
}

/** Fewest links; of equal ways that over the links that come first in the file. Undefined: there is no way. */
export function way(links: readonly Link[], from: string, to: string): readonly string[] | undefined {
  const before = new Map<string, string | undefined>([[from, undefined]]);
  for (const queue = [from]; queue.length > 0;) {
    const at = queue.shift()!;
    if (at === to) break;
    for (const { a, b } of links) {
      const next = a === at ? b : b === at ? a : undefined;
      if (next === undefined || before.has(next)) continue;
      before.set(next, at);
      queue.push(next);
    }
  }
  if (!before.has(to)) return undefined;
  const path: string[] = [];
  for (let at: string | undefined = to; at !== undefined; at = before.get(at)) path.unshift(at);
  return path;
}
