// Opens one feature when it is first needed, and keeps the problem if it cannot be loaded. A feature that is not
// configured must not run (PNC-6-e).
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openKeptObject } from '../kernel/bpf/kept-object.ts';
import type { BpfObject } from '../kernel/bpf/object.ts';
import { messageOf } from '../model/error-text.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Attachment } from './attachments.ts';
import type { Feature, FeatureDependencies, FeatureKind } from './feature.ts';
import type { Opened } from './pins.ts';

export interface FeatureDirectories {
  /** A BPF file system: maps are pinned here. */
  readonly bpfDir: string;
  /** Where the compiled objects are. */
  readonly objectDir: string;
}

export class FeatureSupervisor<F extends Feature> {
  readonly #kind: FeatureKind<F>;
  readonly #directories: FeatureDirectories;
  readonly #dependencies: FeatureDependencies;
  #feature: F | undefined;
  #problem: Problem | undefined;
  /** The feature's forgetUnknown() was called. */
  #forgets = false;

  constructor(kind: FeatureKind<F>, directories: FeatureDirectories, dependencies: FeatureDependencies) {
    this.#kind = kind;
    this.#directories = directories;
    this.#dependencies = dependencies;
  }

  /** Undefined until the feature is needed, and while it cannot be loaded. */
  get feature(): F | undefined {
    return this.#feature;
  }

  /** Why the feature could not be loaded. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  get objectPath(): string {
    return join(this.#directories.objectDir, this.#kind.objectFile);
  }

  /** Opens the feature if this state needs it. Tries again on every call until it succeeds. */
  openFor(state: DesiredState): void {
    if (this.#kind.desired(state)) this.open();
  }

  /** Also where this state does not: an earlier run may have left what only the feature can end. */
  open(): void {
    if (this.#feature) return;
    const path = this.objectPath;
    let object: BpfObject | undefined;
    try {
      object = openKeptObject(path, {
        bpfDir: this.#directories.bpfDir,
        unpinned: this.#kind.scratchMaps,
        onNotKept: (error) => this.#notKept(error),
      });
      this.#reportReplaced(object);
      this.#feature = this.#kind.open(object, this.#dependencies);
      this.#problem = undefined;
    } catch (error) {
      object?.close();
      this.#notLoaded(path, error);
    }
  }

  attachments(state: DesiredState): readonly Attachment[] {
    if (!this.#feature) return [];
    return [...(this.#kind.desired(state) ? this.#feature.attachments(state) : []), ...this.#feature.kept(state)];
  }

  opened(): Opened[] {
    return this.#feature ? [{ object: this.#feature.object, scratchMaps: this.#kind.scratchMaps }] : [];
  }

  /** Calls the feature's forgetUnknown() once. */
  forgetUnknown(): void {
    if (!this.#feature || this.#forgets) return;
    this.#forgets = true;
    this.#feature.forgetUnknown();
  }

  #reportReplaced({ replacedMaps }: BpfObject): void {
    for (const { map, differences } of replacedMaps) {
      this.#dependencies.count('dataplane.state-replaced');
      this.#dependencies.log.warn(
        { feature: this.#kind.name, map, differences: differences.join(', ') },
        'state of another version replaced',
      );
    }
  }

  #notKept(error: unknown): void {
    const { name } = this.#kind;
    this.#dependencies.count(`dataplane.${name}.not-kept`);
    this.#dependencies.log.warn(
      { feature: name, error: messageOf(error) },
      'programs are not kept: the next start loads them again',
    );
  }

  #notLoaded(path: string, error: unknown): void {
    const { name } = this.#kind;
    const problem = messageOf(error);
    const remedy = existsSync(path)
      ? 'run `cnpctl doctor`: it names what this kernel lacks'
      : 'build cnpd again: its eBPF objects are missing';
    this.#problem = { code: 'dataplane.not-loaded', feature: name, problem, remedy };
    this.#dependencies.count(`dataplane.${name}.load-failed`);
    this.#dependencies.log.error({ feature: name, error: problem }, 'cannot load an eBPF object');
  }
}
