// What a reconciler (reconciler.ts) needs to know of a kind of kernel object, and what it tells of each object. The
// kinds are in map-table.ts, attachments.ts and feature.ts.

/** What to do for one kind. Each throws when the kernel refuses; the error's text is kept as the object's status. */
export interface Operations<T> {
  /** Dotted-counter friendly name of the kind, e.g. `sender-proxy`. */
  readonly kind: string;
  /** Creates the object or makes it as given; idempotent. */
  update(object: T): void;
  /**
   * As update, for many in the order given; when it throws, some may have been made. Absent: they are updated one by
   * one.
   */
  updateMany?(objects: readonly T[]): void;
  /** Removes the object with this id; no error when it is not there. */
  delete(id: string): void;
  /**
   * Removes what exists of this kind but is not wanted at the moment of its removal; also how objects of an earlier run
   * are cleaned up. Yields once a step, whether something was removed in it: steps are taken over many turns of the
   * event loop, and updates and deletes come between them. Every wanted object was tried to be updated before.
   */
  prune(wanted: Wanted): Iterable<boolean>;
  /** Whether the object is in the kernel as given. Absent: the full pass simply updates again. */
  verify?(object: T): boolean;
}

/** The ids of what should exist, as it is when it is asked; a Map or a Set will do. */
export interface Wanted {
  has(id: string): boolean;
  keys(): Iterable<string>;
}

export interface ObjectStatus {
  readonly id: string;
  readonly state: 'pending' | 'done' | 'failed';
  readonly attempts: number;
  readonly error?: string;
}

/** Values of desired state are plain data, so their text tells whether they changed. */
export const sameJson = (a: unknown, b: unknown): boolean =>
  JSON.stringify(a, (_, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v)) ===
  JSON.stringify(b, (_, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v));
