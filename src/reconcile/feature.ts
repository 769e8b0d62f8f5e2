// What the dataplane's features have in common. A feature is one eBPF object with its maps: opened when it is first
// wanted, because a feature that is not configured must not run (PNC-6-e), and told its share of the desired state.
import type { BpfObject } from '../kernel/bpf/object.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Attachment } from './attachments.ts';
import { type Table, type TableCodec, tableOperations } from './map-table.ts';
import type { ObjectStatus, Operations } from './operations.ts';
import { Reconciler, type ReconcilerModules, type ReconcilerOptions } from './reconciler.ts';

export type FeatureModules = ReconcilerModules;

/** One feature, opened. */
export interface Feature {
  readonly object: BpfObject;
  /** Writes configuration and tables; programs that are attached already see it at once. */
  apply(desired: DesiredState): void;
  /** Programs and hooks that the desired state asks for. */
  attachments(desired: DesiredState): readonly Attachment[];
  /** Objects that the kernel refused, for `cnpctl show status`. */
  status(): readonly ObjectStatus[];
  /** Checks and prunes everything. */
  fullPass(): void;
  /**
   * From now on what an earlier run had learned and nobody says any more is removed too. Absent: the feature learns
   * nothing.
   */
  forgetUnknown?(): void;
  close(): void;
}

export interface FeatureKind<F extends Feature> {
  readonly name: string;
  /** File in dist/bpf. */
  readonly objectFile: string;
  /** Maps that hold nothing worth keeping. */
  readonly scratchMaps: readonly string[];
  wanted(desired: DesiredState): boolean;
  open(object: BpfObject, modules: FeatureModules): F;
}

/** The table of one map, reconciled. */
export const reconciledTable = <T extends { readonly id: string }>(
  table: Table,
  codec: TableCodec<T>,
  modules: FeatureModules,
): Reconciler<T> => new Reconciler(tableOperations(table, codec), modules);

/**
 * A table of what the network has taught: until `mayForget`, entries of an earlier run stay in force, so that a restart
 * forgets nobody.
 */
export function learnedTable<T extends { readonly id: string }>(
  table: Table,
  codec: TableCodec<T>,
  modules: FeatureModules,
  mayForget: () => boolean,
  options: Partial<ReconcilerOptions> = {},
): Reconciler<T> {
  const operations = tableOperations(table, codec);
  return new Reconciler(
    { ...operations, prune: (wanted) => (mayForget() ? operations.prune(wanted) : []) },
    modules,
    options,
  );
}

/** A map with one entry at index 0: the configuration of a feature. `value` may look at what is there. */
export function configurationOperations<T extends { readonly id: string }>(opts: {
  readonly kind: string;
  readonly map: { lookup(key: Uint8Array): Uint8Array | undefined; update(key: Uint8Array, value: Uint8Array): void };
  readonly value: (object: T, before: Uint8Array | undefined) => Uint8Array;
  /** What the map holds when the feature is off. */
  readonly off: Uint8Array;
}): Operations<T> {
  const key = new Uint8Array(4);
  return {
    kind: opts.kind,
    update: (object) => opts.map.update(key, opts.value(object, opts.map.lookup(key))),
    delete: () => opts.map.update(key, opts.off),
    prune: () => [],
    verify: (object) => {
      const found = opts.map.lookup(key);
      return found !== undefined && Buffer.compare(found, opts.value(object, found)) === 0;
    },
  };
}
