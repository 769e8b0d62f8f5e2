// The places of a unit with the rows of its latest reading. A large router has some 30,000 of them as long as somebody
// subscribes to everything. So each is one object, found again by its keys in the one above, and equal texts in the
// rows are the same text.
import type { SchemaNode } from '../schema.ts';
import { type LeafValue, type Place, type Row, leavesOf } from './places.ts';

/** By the text of an entry's keys; a container itself. */
type Children = Map<SchemaNode, Map<string, KeptPlace> | KeptPlace>;

const NOT_READ: Row = [];
const NO_KEYS: readonly string[] = [];
/** Texts that are known at a time; a unit with more different ones has few that are equal. */
const MOST_TEXTS = 4096;

export class KeptPlace implements Place {
  readonly parent: Place;
  readonly node: SchemaNode;
  readonly depth: number;
  row = NOT_READ;
  /** The reading in which it was there last; 0: in none. */
  look = 0;
  children: Children | undefined;

  constructor(parent: Place, node: SchemaNode) {
    this.parent = parent;
    this.node = node;
    this.depth = parent.depth + 1;
  }

  /** Once it was read: keys are leaves. */
  get keys(): readonly string[] {
    const { node, row } = this;
    if (node.keys.length === 0) return NO_KEYS;
    const leaves = leavesOf(node);
    return node.keys.map((key) => String(row[leaves.indexOf(key)] ?? ''));
  }
}

export class KeptPlaces {
  /** Those that have leaves. */
  readonly rows = new Set<KeptPlace>();
  readonly #top: Children = new Map();
  readonly #texts = new Map<string, string>();

  /** The place that is known, or a new one. */
  placeIn(parent: Place, node: SchemaNode, keys: readonly string[]): KeptPlace {
    const children = this.#childrenOf(parent);
    const among = children.get(node);
    if (node.kind === 'container') {
      if (among instanceof KeptPlace) return among;
      const place = new KeptPlace(parent, node);
      children.set(node, place);
      return place;
    }
    const entries = among instanceof Map ? among : new Map<string, KeptPlace>();
    if (entries !== among) children.set(node, entries);
    const text = textOf(keys);
    let place = entries.get(text);
    if (!place) entries.set(text, (place = new KeptPlace(parent, node)));
    return place;
  }

  keep(place: KeptPlace, row: Row): void {
    for (let i = 0; i < row.length; i++) row[i] = this.#shared(row[i]);
    place.row = row;
    this.rows.add(place);
  }

  remove(place: KeptPlace): void {
    this.rows.delete(place);
    const children = this.#childrenOf(place.parent);
    const among = children.get(place.node);
    if (among instanceof Map) among.delete(textOf(place.keys));
    else children.delete(place.node);
  }

  /** After a reading: texts are shared within one. */
  forgetTexts(): void {
    this.#texts.clear();
  }

  #childrenOf(parent: Place): Children {
    return parent instanceof KeptPlace ? (parent.children ??= new Map()) : this.#top;
  }

  #shared(value: LeafValue): LeafValue {
    if (typeof value !== 'string') return value;
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    if (this.#texts.size >= MOST_TEXTS) this.#texts.clear();
    this.#texts.set(value, value);
    return value;
  }
}

const textOf = (keys: readonly string[]): string => (keys.length === 1 ? keys[0]! : keys.join('\0'));
