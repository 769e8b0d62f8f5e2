// The base of the dataplane's features. A feature is one eBPF object with its maps. It is opened when it is first
// needed, because a feature that is not configured must not run (PNC-6-e). It applies its share of the desired state.
import type { BpfObject } from '../kernel/bpf/object.ts';
import type { TableUse } from '../model/telemetry-state.ts';
import type { Steps } from '../model/work.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Attachment } from './attachments.ts';
import { type Table, type TableCodec, tableOperations } from './map-table.ts';
import type { ObjectStatus, Operations } from './operations.ts';
import type { ReconcilerDependencies, ReconcilerOptions } from './reconciler-options.ts';
import { Reconciler } from './reconciler.ts';

export type FeatureDependencies = ReconcilerDependencies;

/** A reconciler of any kind of object. */
type Reconciled = Pick<Reconciler<{ readonly id: string }>, 'unfinished' | 'fullPass' | 'close'>;

/**
 * One open feature. A subclass maps the desired state to its maps and programs; this class runs the reconcilers, which
 * all features do alike.
 */
export abstract class Feature {
  readonly object: BpfObject;
  readonly #dependencies: FeatureDependencies;
  /** In order of creation. */
  readonly #reconciled: Reconciled[] = [];
  readonly #learned: Reconciled[] = [];
  readonly #tables: { readonly name: string; readonly limit: number; readonly entries: () => number }[] = [];
  #mayForget = false;

  constructor(object: BpfObject, dependencies: FeatureDependencies) {
    this.object = object;
    this.#dependencies = dependencies;
  }

  /** Writes configuration and tables; attached programs see the change at once. */
  abstract apply(desired: DesiredState): void;

  /** The programs that the desired state needs, and their hooks. */
  abstract attachments(desired: DesiredState): readonly Attachment[];

  /** Called when kept() has become less. */
  onKept: () => void = () => {};

  /** Attachments that the desired state does not need any more, and that have to stay for a moment. */
  kept(_desired: DesiredState): readonly Attachment[] {
    return [];
  }

  /** Objects that the kernel refused or that are still pending, for `cnpctl show status`. */
  status(): ObjectStatus[] {
    return this.#reconciled.flatMap((reconciled) => reconciled.unfinished());
  }

  /** Checks and prunes everything. */
  fullPass(): void {
    for (const reconciled of this.#reconciled) reconciled.fullPass();
  }

  /** From now on, also removes entries that an earlier run learned and no router advertises any more. */
  forgetUnknown(): void {
    this.#mayForget = true;
    this.object.settle();
    for (const reconciled of this.#learned) reconciled.fullPass();
  }

  /** Releases descriptors; programs, maps and routes stay in the kernel. */
  close(): void {
    for (const reconciled of this.#reconciled) reconciled.close();
    this.object.close();
  }

  /** Registers a reconciler, so that the feature's status, full pass and close include it. */
  protected keep<R extends Reconciled>(reconciled: R): R {
    this.#reconciled.push(reconciled);
    return reconciled;
  }

  /** The table of one map. */
  protected table<T extends { readonly id: string }>(map: Table, codec: TableCodec<T>): Reconciler<T> {
    return this.measured(map, this.keep(reconciledTable(map, codec, this.#dependencies)));
  }

  /** Counts its entries in tableUse. */
  protected measured<R extends Pick<Reconciler<{ readonly id: string }>, 'size'>>(map: Table, table: R): R {
    const { name, limit } = map;
    if (name !== undefined && limit !== undefined) this.#tables.push({ name, limit, entries: () => table.size });
    return table;
  }

  /**
   * How full its tables are. What the programs write is counted, a batch a step; of what this agent writes the number
   * is known.
   */
  *tableUse(): Steps<TableUse[]> {
    const use: TableUse[] = this.#tables.map(({ name, limit, entries }) => ({ name, limit, entries: entries() }));
    for (const name of this.programTables()) {
      const map = this.object.map(name);
      let entries = 0;
      for (const count of map.counts()) {
        entries += count;
        yield;
      }
      use.push({ name, limit: map.limit, entries });
    }
    return use;
  }

  /** Maps of bounded size into which the programs write. */
  protected programTables(): readonly string[] {
    return [];
  }

  /** The table of one map whose entries are learned from the network; see forgetUnknown. */
  protected learnedTable<T extends { readonly id: string }>(
    map: Table,
    codec: TableCodec<T>,
    options: Partial<ReconcilerOptions<T>> = {},
  ): Reconciler<T> {
    const table = this.measured(
      map,
      this.keep(learnedTable(map, codec, this.#dependencies, () => this.#mayForget, options)),
    );
    this.#learned.push(table);
    return table;
  }

  /** The entry at index 0 of one map. */
  protected configuration<T extends { readonly id: string }>(options: ConfigurationOptions<T>): Reconciler<T> {
    return this.keep(new Reconciler(configurationOperations(options), this.#dependencies));
  }
}

export interface FeatureKind<F extends Feature> {
  readonly name: string;
  /** Name of the file in dist/bpf. */
  readonly objectFile: string;
  /** Maps whose content need not survive a restart. They are not pinned. */
  readonly scratchMaps: readonly string[];
  /** Whether the desired state needs the feature. */
  desired(state: DesiredState): boolean;
  open(object: BpfObject, dependencies: FeatureDependencies): F;
}

/** Reconciles the table of one map. */
export const reconciledTable = <T extends { readonly id: string }>(
  table: Table,
  codec: TableCodec<T>,
  dependencies: FeatureDependencies,
): Reconciler<T> => new Reconciler(tableOperations(table, codec), dependencies);

/**
 * Reconciles a table that is learned from the network. Entries of an earlier run stay in force until `mayForget`, so
 * that a restart loses none.
 */
export function learnedTable<T extends { readonly id: string }>(
  table: Table,
  codec: TableCodec<T>,
  dependencies: FeatureDependencies,
  mayForget: () => boolean,
  options: Partial<ReconcilerOptions<T>> = {},
): Reconciler<T> {
  const operations = tableOperations(table, codec);
  return new Reconciler(
    { ...operations, prune: (desired) => (mayForget() ? operations.prune(desired) : []) },
    dependencies,
    options,
  );
}

export interface ConfigurationOptions<T> {
  readonly kind: string;
  readonly map: { lookup(key: Uint8Array): Uint8Array | undefined; update(key: Uint8Array, value: Uint8Array): void };
  readonly value: (object: T, before: Uint8Array | undefined) => Uint8Array;
  /** Content of the map while the feature is off. */
  readonly off: Uint8Array;
}

/** Operations on a map with one entry at index 0: the configuration of a feature. `value` gets the current entry. */
export function configurationOperations<T extends { readonly id: string }>(
  opts: ConfigurationOptions<T>,
): Operations<T> {
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
