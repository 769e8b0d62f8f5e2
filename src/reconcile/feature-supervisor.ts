// Opens one feature when it is first needed and remembers why it could not be. A feature that is not configured must
// not run (PNC-6-e).
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type BpfObject, openBpfObject } from '../kernel/bpf/object.ts';
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
  /** It has been told to forget what nobody advertises any more. */
  #forgets = false;

  constructor(kind: FeatureKind<F>, directories: FeatureDirectories, dependencies: FeatureDependencies) {
    this.#kind = kind;
    this.#directories = directories;
    this.#dependencies = dependencies;
  }

  /** Undefined until it is needed, and while it cannot be loaded. */
  get feature(): F | undefined {
    return this.#feature;
  }

  /** Why it could not be loaded. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** Opens the feature if this state asks for it. What could not be opened is tried again each time. */
  openFor(state: DesiredState): void {
    if (this.#feature || !this.#kind.desired(state)) return;
    const path = join(this.#directories.objectDir, this.#kind.objectFile);
    let object: BpfObject | undefined;
    try {
      object = openBpfObject(path, { pinDir: this.#directories.bpfDir, unpinned: this.#kind.scratchMaps });
      this.#reportReplaced(object);
      this.#feature = this.#kind.open(object, this.#dependencies);
      this.#problem = undefined;
    } catch (error) {
      object?.close();
      this.#notLoaded(path, error);
    }
  }

  attachments(state: DesiredState): readonly Attachment[] {
    return this.#feature && this.#kind.desired(state) ? this.#feature.attachments(state) : [];
  }

  opened(): Opened[] {
    return this.#feature ? [{ object: this.#feature.object, scratchMaps: this.#kind.scratchMaps }] : [];
  }

  /** Costs nothing when the feature was told before. */
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

  #notLoaded(path: string, error: unknown): void {
    const { name } = this.#kind;
    const problem = error instanceof Error ? error.message : String(error);
    const remedy = existsSync(path)
      ? 'run `cnpctl doctor`: it names what this kernel lacks'
      : 'build cnpd again: its eBPF objects are not there';
    this.#problem = { code: 'dataplane.not-loaded', feature: name, problem, remedy };
    this.#dependencies.count(`dataplane.${name}.load-failed`);
    this.#dependencies.log.error({ feature: name, error: problem }, 'an eBPF object could not be loaded');
  }
}
