// The state as places: a place is a container or a list entry, and its row has the values of its leaves. A walk visits
// the places that a path selects. What is beside the path is not read.
import { type Steps, wait } from '../../model/work.ts';
import type { CheckedPath, Step } from '../paths.ts';
import { ROOT, type SchemaNode } from '../schema.ts';
import { childValue, type Sections } from '../select.ts';
import { fieldOf, scalar } from '../values.ts';

export type Scalar = string | number | boolean;
/** Of a leaf, or of a leaf-list; undefined: it has none. */
export type LeafValue = Scalar | readonly Scalar[] | undefined;
/** The values of a place's leaves, in the order of `leavesOf`. */
export type Row = LeafValue[];

export interface Place {
  /** Undefined: the root. */
  readonly parent: Place | undefined;
  readonly node: SchemaNode;
  /** Texts of a list entry's keys, in schema order. */
  readonly keys: readonly string[];
  /** Number of path elements. */
  readonly depth: number;
}

/** Which leaves of a place are selected: null is all of them. */
export type LeafName = string | null;

export interface Visitor {
  visit(place: Place, row: Row, only: LeafName): void;
  /** Asked after each place: what the walk has to wait for. */
  pause(): Promise<void> | undefined;
  /** A place that the visitor keeps, so that no other is made; default: a new one. */
  placeIn?(parent: Place, node: SchemaNode, keys: readonly string[]): Place;
}

interface Parts {
  readonly leaves: readonly SchemaNode[];
  readonly inner: readonly SchemaNode[];
}

const parts = new Map<SchemaNode, Parts>();

function partsOf(node: SchemaNode): Parts {
  let known = parts.get(node);
  if (!known) {
    const children = [...node.children.values()];
    known = {
      leaves: children.filter(({ kind }) => kind === 'leaf' || kind === 'leaf-list'),
      inner: children.filter(({ kind }) => kind === 'container' || kind === 'list'),
    };
    parts.set(node, known);
  }
  return known;
}

export const leavesOf = (node: SchemaNode): readonly SchemaNode[] => partsOf(node).leaves;
export const innerOf = (node: SchemaNode): readonly SchemaNode[] => partsOf(node).inner;

const ROOT_PLACE: Place = { parent: undefined, node: ROOT, keys: [], depth: 0 };
const NO_KEYS: readonly string[] = [];

const newPlaceIn = (parent: Place, node: SchemaNode, keys: readonly string[]): Place => ({
  ...{ parent, node, keys },
  depth: parent.depth + 1,
});

/** Different for different places. Joined, so that V8 keeps it as one text, not as a tree of its parts. */
export function idOf(place: Place): string {
  const parts: string[] = [];
  for (let at: Place | undefined = place; at?.parent; at = at.parent) parts.push(at.node.name, at.keys.join('\0'));
  return parts.join('\0\0');
}

const leafValue = (leaf: SchemaNode, value: unknown): LeafValue =>
  leaf.kind === 'leaf'
    ? scalar(leaf.type!, value)
    : Array.isArray(value)
      ? value.map((item) => scalar(leaf.type!, item)).filter((item) => item !== undefined)
      : undefined;

const keyTexts = (node: SchemaNode, entry: unknown): string[] =>
  node.keys.map((key) => String(scalar(key.type!, fieldOf(entry, key)) ?? ''));

/** Whether the step names this child, and no key that the child does not have. */
const names = (step: Step | undefined, child: SchemaNode): boolean =>
  !step ||
  ((step.name === '*' || step.name === child.name) &&
    (step.keys.size === 0 || [...step.keys.keys()].every((name) => child.keys.some((key) => key.name === name))));

const hasKeys = (step: Step | undefined, node: SchemaNode, keys: readonly string[]): boolean =>
  !step || step.keys.size === 0 || node.keys.every((key, i) => (step.keys.get(key.name) ?? keys[i]) === keys[i]);

/**
 * Which leaves of the place the path selects; undefined: none. A path that ends at the place, or above it, selects all.
 */
export function selected(path: CheckedPath, place: Place): LeafName | undefined {
  const { steps } = path;
  if (steps.length > place.depth + 1) return undefined;
  for (let at: Place | undefined = place; at?.parent; at = at.parent) {
    const step = steps[at.depth - 1];
    if (!names(step, at.node) || !hasKeys(step, at.node, at.keys)) return undefined;
  }
  const last = steps[place.depth];
  return last ? leafNamed(last, leavesOf(place.node)) : null;
}

/** Undefined: no leaf is named so. */
function leafNamed(step: Step, leaves: readonly SchemaNode[]): LeafName | undefined {
  if (step.keyed) return undefined;
  if (step.name === '*') return null;
  return leaves.some(({ name }) => name === step.name) ? step.name : undefined;
}

/** Entries of a list are visited in steps of so many. */
const AT_ONCE = 32;

/** Visits what the path selects. What has no value is no error. */
export const walkPlaces = (path: CheckedPath, sections: Sections, visitor: Visitor): Steps =>
  new PlaceWalk(path.steps, visitor).into(ROOT_PLACE, { cnpd: sections });

class PlaceWalk {
  readonly #steps: readonly Step[];
  readonly #visitor: Visitor;
  readonly #placeIn: (parent: Place, node: SchemaNode, keys: readonly string[]) => Place;

  constructor(steps: readonly Step[], visitor: Visitor) {
    this.#steps = steps;
    this.#visitor = visitor;
    this.#placeIn = visitor.placeIn ?? newPlaceIn;
  }

  *into(place: Place, value: unknown): Steps {
    this.#visitLeaves(place, value);
    if (this.#isLast(place)) return;
    const step = this.#steps[place.depth];
    for (const child of innerOf(place.node)) {
      if (!names(step, child)) continue;
      const inner = yield* childValue(value, child);
      if (inner === undefined || inner === null) continue;
      if (child.kind === 'list') yield* this.#entries(place, child, inner as readonly unknown[]);
      else {
        yield* this.into(this.#placeIn(place, child, NO_KEYS), inner);
        const until = this.#visitor.pause();
        if (until) yield* wait(until);
        else yield;
      }
    }
  }

  *#entries(parent: Place, node: SchemaNode, list: readonly unknown[]): Steps {
    const step = this.#steps[parent.depth];
    const isFlat = innerOf(node).length === 0;
    for (let i = 0; i < list.length; i++) {
      const keys = keyTexts(node, list[i]);
      if (!hasKeys(step, node, keys)) continue;
      const place = this.#placeIn(parent, node, keys);
      if (isFlat) this.#visitLeaves(place, list[i]);
      else yield* this.into(place, list[i]);
      const until = this.#visitor.pause();
      if (until) yield* wait(until);
      else if (i % AT_ONCE === AT_ONCE - 1) yield;
    }
    yield;
  }

  /** The path names a leaf of this place. */
  #isLast(place: Place): boolean {
    const step = this.#steps[place.depth];
    return (
      step !== undefined && place.depth + 1 === this.#steps.length && !innerOf(place.node).some((n) => names(step, n))
    );
  }

  #visitLeaves(place: Place, value: unknown): void {
    const leaves = leavesOf(place.node);
    if (leaves.length === 0 || this.#steps.length > place.depth + 1) return;
    const step = this.#steps[place.depth];
    const only = step ? leafNamed(step, leaves) : null;
    if (only === undefined) return;
    const row = leaves.map((leaf) => leafValue(leaf, fieldOf(value, leaf)));
    this.#visitor.visit(place, row, only);
  }
}
