// Walks the state along a checked path and visits what matches. State is read by section, and only for sections that
// the path reaches. Each section is read once per request, so one answer does not contradict itself.
import type { CnpdState, StateSource } from '../model/state.ts';
import { type Steps, wait } from '../model/work.ts';
import { type CheckedPath, clip, formatElem, type Step } from './paths.ts';
import { RpcError } from './rpc-error.ts';
import { ROOT, type SchemaNode, yangName } from './schema.ts';
import { fieldOf, scalar } from './values.ts';

/** The value of the container `cnpd`: its children are fetched when they are reached. */
export class Sections {
  readonly #source: StateSource;
  readonly #isAsked: (field: string) => boolean;
  readonly #loaded = new Map<string, Promise<unknown>>();

  /** @param isAsked sections that are left out have no value */
  constructor(source: StateSource, isAsked: (field: string) => boolean = () => true) {
    this.#source = source;
    this.#isAsked = isAsked;
  }

  async load(field: string): Promise<unknown> {
    return this.#isAsked(field) ? this.#load(field) : undefined;
  }

  #load(field: string): Promise<unknown> {
    const known = this.#loaded.get(field);
    if (known) return known;
    const loading = (async () => {
      try {
        return await this.#source[field as keyof CnpdState]();
      } catch (error) {
        throw new RpcError('INTERNAL', `${yangName(field)}: the state cannot be read: ${clip(String(error))}`, {
          cause: error,
        });
      }
    })();
    this.#loaded.set(field, loading);
    return loading;
  }
}

/**
 * The value of a child: fetched when the parent is the container of sections, and where it is put together only now
 * (Lazy in model/state.ts).
 */
export function* childValue(value: unknown, child: SchemaNode): Steps<unknown> {
  const found = value instanceof Sections ? value.load(child.field) : fieldOf(value, child);
  return found instanceof Promise ? yield* wait<unknown>(found) : found;
}

/** A concrete path element: the key texts of a list entry in schema order. */
export interface ConcreteElem {
  readonly name: string;
  readonly key: Record<string, string>;
}

export interface Match {
  readonly node: SchemaNode;
  /** For a list without keys in the path: the array of all entries. */
  readonly value: unknown;
  readonly elems: readonly ConcreteElem[];
}

type Visit = (match: Match) => Steps;

interface Place extends Match {
  /** No wildcard above, written or implied. */
  readonly concrete: boolean;
}

/**
 * @throws RpcError NOT_FOUND naming the element when a path without wildcards leads to nothing, and when keys were
 * given that no entry has.
 */
export function* select(path: CheckedPath, sections: Sections, visit: Visit): Steps {
  const walk = new Walk(path, visit);
  yield* walk.down({ node: ROOT, value: { cnpd: sections }, elems: [], concrete: true }, 0);
  if (walk.visits === 0 && walk.missing !== undefined && !path.pattern) throw new RpcError('NOT_FOUND', walk.missing);
}

class Walk {
  readonly #path: CheckedPath;
  readonly #visit: Visit;
  visits = 0;
  missing: string | undefined;

  constructor(path: CheckedPath, visit: Visit) {
    this.#path = path;
    this.#visit = visit;
  }

  *down(place: Place, depth: number): Steps {
    const step = this.#path.steps[depth];
    if (!step) {
      this.visits++;
      yield* this.#visit(place);
      return;
    }
    for (const child of place.node.children.values()) {
      if (step.name !== '*' && step.name !== child.name) continue;
      if ([...step.keys.keys()].some((key) => !child.keys.some((node) => node.name === key))) continue;
      const value = yield* childValue(place.value, child);
      const next = {
        node: child,
        value,
        elems: [...place.elems, { name: child.name, key: {} }],
        concrete: place.concrete && step.name !== '*',
      };
      if (value === undefined || value === null) {
        if (next.concrete) this.missing ??= `${textOf(next.elems)}: has no value at present`;
      } else if (child.kind === 'list' && (step.keyed || depth + 1 < this.#path.steps.length)) {
        yield* this.#entries(next, step, depth + 1);
      } else {
        yield* this.down(next, depth + 1);
      }
    }
  }

  *#entries(place: Place, step: Step, depth: number): Steps {
    const list = place.value as readonly unknown[];
    const selected = place.node.keys.filter((key) => step.keys.has(key.name));
    let found = false;
    for (const [i, entry] of list.entries()) {
      if (i % 64 === 63) yield;
      if (selected.some((key) => keyText(entry, key) !== step.keys.get(key.name))) continue;
      found = true;
      const key = Object.fromEntries(place.node.keys.map((node) => [node.name, keyText(entry, node)]));
      const elems = [...place.elems.slice(0, -1), { name: place.node.name, key }];
      yield* this.down(
        { ...place, value: entry, elems, concrete: place.concrete && selected.length === place.node.keys.length },
        depth,
      );
    }
    if (!found && selected.length > 0) {
      const entry = clip(formatElem(place.node.name, step.keys));
      this.missing ??= `${textOf(place.elems.slice(0, -1))}/${entry}: no such entry`;
    }
  }
}

const textOf = (elems: readonly ConcreteElem[]): string =>
  elems.map((elem) => `/${clip(formatElem(elem.name, Object.entries(elem.key)))}`).join('');

const keyText = (entry: unknown, key: SchemaNode): string => String(scalar(key.type!, fieldOf(entry, key)) ?? '');
