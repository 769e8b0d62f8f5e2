// The lab as a graph: which node has an address, and the way from one node to another. Pure.
import { type IpAddress, familyKey, parseAddress } from '../model/address.ts';

interface Link {
  readonly a: string;
  readonly b: string;
}

/** An address of a node. */
export class Directory {
  readonly #nodes = new Map<string, string>();
  readonly #addresses = new Map<string, readonly string[]>();

  /** @returns whether anything has changed */
  set(node: string, addresses: readonly string[]): boolean {
    const before = this.#addresses.get(node) ?? [];
    if (before.length === addresses.length && before.every((address, i) => address === addresses[i])) return false;
    this.#addresses.set(node, addresses);
    for (const [key, owner] of this.#nodes) if (owner === node) this.#nodes.delete(key);
    for (const text of addresses) {
      const address = parseAddress(text);
      if (address) this.#nodes.set(familyKey(address), node);
    }
    return true;
  }

  of(node: string): readonly string[] {
    return this.#addresses.get(node) ?? [];
  }

  nodeOf(address: IpAddress | undefined): string | undefined {
    return address && this.#nodes.get(familyKey(address));
  }

  /** Empty: none of the lab has it. */
  nameOf(text: string): string {
    return this.nodeOf(parseAddress(text)) ?? '';
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
