// The interface between a reconciler (reconciler.ts) and a kind of kernel object, and the status it reports per object.
// Implementations are in map-table.ts, attachments.ts, feature.ts, pins.ts and sid-routes.ts.

/**
 * What an update or a delete returns that has not been done: something has to come first that is too long for one turn.
 * Each call does a part of it. So the call is repeated, unless another request makes it obsolete.
 */
export const LATER = 'later';
export type Later = typeof LATER;

/**
 * The operations of one kind. Each throws when the kernel refuses; the error's text becomes part of the object's
 * status.
 */
export interface Operations<T> {
  /** Name of the kind, a part of counter names: `sender-proxy`. */
  readonly kind: string;
  /** Creates or overwrites the object; idempotent. */
  update(object: T): Later | void;
  /**
   * Updates many objects in the order given. If it throws, some may have been updated. Absent: objects are updated one
   * by one.
   */
  updateMany?(objects: readonly T[]): Later | void;
  /** Removes the object with this id; no error when it is not there. */
  delete(id: string): Later | void;
  /**
   * Removes existing objects of this kind that are not desired at the moment of removal, also those of an earlier run.
   * Yields once per step: whether the step removed an object. Steps are spread over many turns of the event loop, with
   * updates and deletes in between. An update of every desired object was tried before.
   */
  prune(desired: DesiredIds): Iterable<boolean>;
  /** Whether the kernel has the object as given. Absent: the full pass updates every object. */
  verify?(object: T): boolean;
}

/** The ids of the desired objects, evaluated at each call. A Map or a Set fits. */
export interface DesiredIds {
  has(id: string): boolean;
  keys(): Iterable<string>;
}

export interface ObjectStatus {
  readonly id: string;
  readonly state: 'pending' | 'done' | 'failed';
  readonly attempts: number;
  readonly error?: string;
}

/**
 * Compares plain data: numbers, `bigint`, text, and lists and objects of them. What is undefined counts as absent. It
 * makes no garbage: ten thousand objects are compared with each plan.
 */
export function samePlain(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  for (const key in left) if (!samePlain(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}
