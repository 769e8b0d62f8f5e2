// Which of the declared prefixes an address belongs to: the longest one. A look-up costs one step for each length that
// is declared, not for each prefix. Pure.
import type { IpAddress } from '../model/address.ts';
import { type Prefix, prefixKey, prefixOf } from '../model/prefix.ts';

export class LongestMatch<T> {
  readonly #values: ReadonlyMap<string, T>;
  /** Lengths of the declared prefixes by family, the longest first. */
  readonly #lengths: Readonly<Record<4 | 6, readonly number[]>>;

  constructor(entries: readonly { readonly prefix: Prefix; readonly value: T }[]) {
    this.#values = new Map(entries.map(({ prefix, value }) => [prefixKey(prefix), value]));
    const lengths = (family: 4 | 6): number[] =>
      [
        ...new Set(entries.flatMap(({ prefix: { address, length } }) => (address.family === family ? [length] : []))),
      ].sort((a, b) => b - a);
    this.#lengths = { 4: lengths(4), 6: lengths(6) };
  }

  /** Undefined: no prefix contains it. */
  of(address: IpAddress): T | undefined {
    const keys = this.#lengths[address.family].map((length) => prefixKey(prefixOf(address, length)));
    const found = keys.find((key) => this.#values.has(key));
    return found === undefined ? undefined : this.#values.get(found);
  }
}
