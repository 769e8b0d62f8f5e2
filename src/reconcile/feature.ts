// What the dataplane's features have in common. A feature is one eBPF object with its maps: opened when it is first
// wanted, because a feature that is not configured must not run (PNC-6-e), and told its share of the desired state.
import type { BpfObject } from '../kernel/bpf/object.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Attachment } from './attachments.ts';
import { type Table, type TableCodec, tableOperations } from './map-table.ts';
import type { ObjectStatus, Operations } from './operations.ts';
import { Reconciler, type ReconcilerDependencies, type ReconcilerOptions } from './reconciler.ts';

export type FeatureDependencies = ReconcilerDependencies;

/** What a feature keeps in step with the kernel: a reconciler, whatever it reconciles. */
type Reconciled = Pick<Reconciler<{ readonly id: string }>, 'status' | 'fullPass' | 'close'>;

/**
 * One feature, opened. It says what the desired state means to its maps and programs; what all features do with their
 * reconcilers is done here.
 */
export abstract class Feature {
  readonly object: BpfObject;
  readonly #dependencies: FeatureDependencies;
  /** In the order in which they were made. */
  readonly #reconciled: Reconciled[] = [];
  readonly #learned: Reconciled[] = [];
  #mayForget = false;

  constructor(object: BpfObject, dependencies: FeatureDependencies) {
    this.object = object;
    this.#dependencies = dependencies;
  }

  /** Writes configuration and tables; programs that are attached already see it at once. */
  abstract apply(desired: DesiredState): void;

  /** Programs and hooks that the desired state asks for. */
  abstract attachments(desired: DesiredState): readonly Attachment[];

  /** Objects that the kernel refused or has not got yet, for `cnpctl show status`. */
  status(): ObjectStatus[] {
    return this.#reconciled.flatMap((reconciled) => reconciled.status().filter((s) => s.state !== 'done'));
  }

  /** Checks and prunes everything. */
  fullPass(): void {
    for (const reconciled of this.#reconciled) reconciled.fullPass();
  }

  /** From now on what an earlier run had learned and nobody advertises any more is removed too. */
  forgetUnknown(): void {
    this.#mayForget = true;
    for (const reconciled of this.#learned) reconciled.fullPass();
  }

  /** Lets go; programs, maps and routes stay in the kernel. */
  close(): void {
    for (const reconciled of this.#reconciled) reconciled.close();
    this.object.close();
  }

  /** From now on part of the feature's status, full pass and close. */
  protected keep<R extends Reconciled>(reconciled: R): R {
    this.#reconciled.push(reconciled);
    return reconciled;
  }

  /** The table of one map. */
  protected table<T extends { readonly id: string }>(map: Table, codec: TableCodec<T>): Reconciler<T> {
    return this.keep(reconciledTable(map, codec, this.#dependencies));
  }

  /** The table of one map that the network fills; see forgetUnknown. */
  protected learnedTable<T extends { readonly id: string }>(
    map: Table,
    codec: TableCodec<T>,
    options: Partial<ReconcilerOptions<T>> = {},
  ): Reconciler<T> {
    const table = this.keep(learnedTable(map, codec, this.#dependencies, () => this.#mayForget, options));
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
  /** File in dist/bpf. */
  readonly objectFile: string;
  /** Maps that hold nothing worth keeping. */
  readonly scratchMaps: readonly string[];
  /** Whether the desired state asks for it. */
  desired(state: DesiredState): boolean;
  open(object: BpfObject, dependencies: FeatureDependencies): F;
}

/** The table of one map, reconciled. */
export const reconciledTable = <T extends { readonly id: string }>(
  table: Table,
  codec: TableCodec<T>,
  dependencies: FeatureDependencies,
): Reconciler<T> => new Reconciler(tableOperations(table, codec), dependencies);

/**
 * A table of what the network has taught: until `mayForget`, entries of an earlier run stay in force, so that a restart
 * forgets nobody.
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
    { ...operations, prune: (wanted) => (mayForget() ? operations.prune(wanted) : []) },
    dependencies,
    options,
  );
}

export interface ConfigurationOptions<T> {
  readonly kind: string;
  readonly map: { lookup(key: Uint8Array): Uint8Array | undefined; update(key: Uint8Array, value: Uint8Array): void };
  readonly value: (object: T, before: Uint8Array | undefined) => Uint8Array;
  /** What the map holds when the feature is off. */
  readonly off: Uint8Array;
}

/** A map with one entry at index 0: the configuration of a feature. `value` may look at what is there. */
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
