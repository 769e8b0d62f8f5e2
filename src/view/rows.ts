// What one cnpd has reported over gNMI so far: leaves put together as rows of lists again. Bounded: what a node has
// beyond the limits costs no memory. Pure.
import type { Elem } from '../northbound/subscribe-client.ts';

/** An entry of a list, or a container: keys and leaves by their YANG names. */
export type Row = Readonly<Record<string, unknown>>;

/** Empty: the row has no such leaf, or one that is no text. */
export const textOf = (row: Row | undefined, leaf: string): string => {
  const value = row?.[leaf];
  return typeof value === 'string' ? value : '';
};

/** Entries of one list. */
export const MAX_ROWS = 2000;
/** Characters of one value. */
const MAX_TEXT = 300;

const clipped = (value: unknown): unknown =>
  typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;

interface Place {
  /** Names without keys: `groups/tree`. */
  readonly list: string;
  /** Names with keys; equal for equal entries. */
  readonly id: string;
  /** Also those of the entries around it. */
  readonly keys: Readonly<Record<string, string>>;
  readonly firstKey: string | undefined;
  /** What of the entry; empty: all of it. */
  readonly leaf: string;
}

const idOf = ({ name, keys }: Elem): string =>
  name +
  Object.keys(keys)
    .toSorted()
    .map((key) => `[${key}=${JSON.stringify(keys[key])}]`)
    .join('');

/** The last element with keys ends the entry; without one, the first two names are a container (`status`). */
function placeOf(elems: readonly Elem[]): Place {
  const keyed = elems.findLastIndex(({ keys }) => Object.keys(keys).length > 0);
  const entry = elems.slice(0, keyed >= 0 ? keyed + 1 : 2);
  return {
    list: entry.map(({ name }) => name).join('/'),
    id: entry.map(idOf).join('/'),
    firstKey: Object.keys(entry.at(-1)?.keys ?? {})[0],
    keys: Object.assign({}, ...entry.map(({ keys }) => keys)) as Record<string, string>,
    leaf: elems
      .slice(entry.length)
      .map(({ name }) => name)
      .join('/'),
  };
}

export class Rows {
  readonly #lists = new Map<string, Map<string, Record<string, unknown>>>();
  /** Entries that have come and are not kept, since their list is full. */
  omitted = 0;

  /** Entries of a list, such as `cnpd/ports`; the one entry of a container. */
  list(name: string): readonly Row[] {
    return [...(this.#lists.get(name)?.values() ?? [])];
  }

  clear(): void {
    this.#lists.clear();
    this.omitted = 0;
  }

  update(elems: readonly Elem[], value: unknown): void {
    const { list, id, keys, firstKey, leaf } = placeOf(elems);
    if (leaf === '') return;
    let rows = this.#lists.get(list);
    if (!rows) this.#lists.set(list, (rows = new Map<string, Record<string, unknown>>()));
    let row = rows.get(id);
    if (!row) {
      if (rows.size >= MAX_ROWS) {
        // Other leaves come again whenever they change; a key comes once.
        if (leaf === firstKey) this.omitted++;
        return;
      }
      rows.set(id, (row = { ...keys }));
    }
    row[leaf] = clipped(value);
  }

  /** Of a leaf, an entry, or everything below a name. */
  delete(elems: readonly Elem[]): void {
    const { list, id, leaf } = placeOf(elems);
    const row = this.#lists.get(list)?.get(id);
    if (leaf !== '' && row) {
      delete row[leaf];
      return;
    }
    const path = elems.map(idOf).join('/');
    const names = elems.map(({ name }) => name).join('/');
    for (const [name, rows] of this.#lists) {
      if (name !== names && !name.startsWith(`${names}/`)) continue;
      for (const one of rows.keys())
        if (one === path || one.startsWith(`${path}/`) || one.startsWith(`${path}[`)) rows.delete(one);
    }
  }
}
