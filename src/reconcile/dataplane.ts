// The dataplane as a whole: the features, each opened when it is first wanted, and one list of attachments for all of
// them. What is pinned outlives this object: close() lets go, it does not undo.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BpfObject, openBpfObject } from '../kernel/bpf/object.ts';
import type { BpfProgram } from '../kernel/bpf/program.ts';
import { EGRESS_PROGRAMS } from '../kernel/dataplane/egress.ts';
import { COUNTERS_MAP, decodeCounters } from '../kernel/dataplane/counters.ts';
import { SidRoutes } from '../kernel/netlink/sid-routes.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState } from '../plan/desired.ts';
import { type Attachment, attachmentOperations } from './attachments.ts';
import { type BorderGuard, borderGuard } from './border-guard.ts';
import { type CongestedNode, congestedNode } from './congested-node.ts';
import type { Feature, FeatureKind, FeatureModules } from './feature.ts';
import { pinnedHooks } from './hooks.ts';
import { type MapPin, mapPinOperations, mapPins } from './pins.ts';
import { Reconciler } from './reconciler.ts';
import { type Proxy, proxy } from './proxy.ts';
import { removeSidRoutes } from './sid-routes.ts';
import { type Srv6, srv6 } from './srv6.ts';

export interface DataplaneOptions {
  /** A BPF file system: maps are pinned here. */
  readonly bpfDir: string;
  /** A directory in it, for links. */
  readonly linksDir: string;
  /** Where the compiled objects are. */
  readonly objectDir: string;
}

interface Slot {
  readonly kind: FeatureKind<Feature>;
  feature: Feature | undefined;
  problem: Problem | undefined;
  /** It has been told to forget what nobody says any more. */
  forgets: boolean;
}

export class Dataplane {
  readonly #options: DataplaneOptions;
  readonly #modules: FeatureModules;
  readonly #slots: readonly Slot[];
  readonly #hooks: ReturnType<typeof attachmentOperations>;
  readonly #attachments: Reconciler<Attachment>;
  readonly #mapPins: Reconciler<MapPin>;
  /** Programs and maps of an earlier run were found and taken over. */
  readonly adopted: boolean;

  constructor(options: DataplaneOptions, modules: FeatureModules) {
    this.#options = options;
    this.#modules = modules;
    this.#slots = [congestedNode, proxy, borderGuard, srv6].map((kind) => ({
      kind: kind,
      feature: undefined,
      problem: undefined,
      forgets: false,
    }));
    this.#hooks = attachmentOperations(pinnedHooks(options, (name) => this.#program(name)));
    this.#mapPins = new Reconciler(
      mapPinOperations(options.bpfDir, () => this.#opened()),
      modules,
    );
    this.#attachments = new Reconciler(this.#hooks, modules);
    this.adopted = readdirSync(options.linksDir).length > 0;
  }

  get congestedNode(): CongestedNode | undefined {
    return this.#slots[0]!.feature as CongestedNode | undefined;
  }

  get proxy(): Proxy | undefined {
    return this.#slots[1]!.feature as Proxy | undefined;
  }

  get guard(): BorderGuard | undefined {
    return this.#slots[2]!.feature as BorderGuard | undefined;
  }

  get srv6(): Srv6 | undefined {
    return this.#slots[3]!.feature as Srv6 | undefined;
  }

  /** Makes the kernel as desired, as far as it goes; the rest is retried, and told by problems(). */
  apply(desired: DesiredState): void {
    for (const slot of this.#slots) {
      if (!slot.feature && slot.kind.wanted(desired)) this.#open(slot);
    }
    const wanted = this.#slots.flatMap((slot) =>
      slot.feature && slot.kind.wanted(desired) ? slot.feature.attachments(desired) : [],
    );
    const keep = new Set(wanted.map((a) => a.id));
    // Programs come off before their configuration goes and go on after it has come, so that none runs unconfigured.
    this.#attachments.change(
      [],
      this.#attachments
        .status()
        .map((s) => s.id)
        .filter((id) => !keep.has(id)),
    );
    for (const { feature } of this.#slots) feature?.apply(desired);
    this.#attachments.replace(wanted);
    this.#mapPins.replace(mapPins(this.#opened()));
  }

  #opened(): { object: BpfObject; scratchMaps: readonly string[] }[] {
    return this.#slots.flatMap(({ feature, kind }) =>
      feature ? [{ object: feature.object, scratchMaps: kind.scratchMaps }] : [],
    );
  }

  /** Whether the detector runs at this port's egress. */
  isAttached(port: string): boolean {
    return this.#attachments
      .status()
      .some((s) => s.state === 'done' && s.id === `${EGRESS_PROGRAMS.egress}@${port}/egress`);
  }

  /** Removes what an earlier run left and nobody wants now; call after the first apply. */
  prune(): void {
    this.#attachments.fullPass();
    for (const { feature } of this.#slots) feature?.fullPass();
    if (!this.srv6) this.#removeSidRoutes();
  }

  /**
   * What an earlier run had learned and nobody says any more is removed, now and from now on. Costs nothing for a
   * feature that was told before.
   */
  forgetUnknown(): void {
    for (const slot of this.#slots) {
      if (!slot.feature || slot.forgets) continue;
      slot.forgets = true;
      slot.feature.forgetUnknown?.();
    }
  }

  /** SIDs of an earlier run whose configuration had some. Who cannot ask for them cannot have installed them. */
  #removeSidRoutes(): void {
    const { log, count } = this.#modules;
    try {
      const routes = SidRoutes.open();
      const removed = removeSidRoutes(routes);
      routes.close();
      if (removed.length > 0) log.info({ removed }, 'SIDs of an earlier run removed');
    } catch (error) {
      count('dataplane.srv6.routes-unreadable');
      log.warn(
        { error: error instanceof Error ? error.message : String(error) },
        'the routes of an earlier run cannot be looked for',
      );
    }
  }

  problems(): Problem[] {
    const refused = [this.#mapPins, this.#attachments, ...this.#slots.map((slot) => slot.feature)].flatMap(
      (part) => part?.status() ?? [],
    );
    return [
      ...this.#slots.flatMap((slot) => slot.problem ?? []),
      ...refused
        .filter((s) => s.state === 'failed')
        .map((s) => ({
          code: 'dataplane.refused' as const,
          feature: 'dataplane',
          problem: `${s.id}: ${s.error ?? 'refused'}`,
          remedy: `retried, ${s.attempts} times so far; see the log`,
        })),
    ];
  }

  /** Per-CPU counters of the programs, summed. One map serves all of them. */
  counters(): Map<string, bigint> {
    const object = this.#slots.find((slot) => slot.feature)?.feature?.object;
    return object ? decodeCounters(object.map(COUNTERS_MAP).entries()) : new Map<string, bigint>();
  }

  /** Lets go of everything; programs, maps and links stay in the kernel. */
  close(): void {
    this.#mapPins.close();
    this.#attachments.close();
    this.#hooks.close();
    for (const { feature } of this.#slots) feature?.close();
  }

  #open(slot: Slot): void {
    const path = join(this.#options.objectDir, slot.kind.objectFile);
    let object: BpfObject | undefined;
    try {
      object = openBpfObject(path, { pinDir: this.#options.bpfDir, unpinned: slot.kind.scratchMaps });
      for (const { map, differences } of object.replacedMaps) {
        this.#modules.count('dataplane.state-replaced');
        this.#modules.log.warn(
          { feature: slot.kind.name, map, differences: differences.join(', ') },
          'state of another version replaced',
        );
      }
      slot.feature = slot.kind.open(object, this.#modules);
      slot.problem = undefined;
    } catch (error) {
      object?.close();
      const problem = error instanceof Error ? error.message : String(error);
      const remedy = existsSync(path)
        ? 'run `cnpctl doctor`: it tells what this kernel lacks'
        : 'build cnpd again: its eBPF objects are not there';
      slot.problem = { code: 'dataplane.not-loaded', feature: slot.kind.name, problem, remedy };
      this.#modules.count(`dataplane.${slot.kind.name}.load-failed`);
      this.#modules.log.error({ feature: slot.kind.name, error: problem }, 'an eBPF object could not be loaded');
    }
  }

  #program(name: string): BpfProgram {
    const feature = this.#slots.find((slot) => slot.feature?.object.programNames.includes(name))?.feature;
    if (!feature) throw new Error(`no loaded object has the program ${name}`);
    return feature.object.program(name);
  }
}
