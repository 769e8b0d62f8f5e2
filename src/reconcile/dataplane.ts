// The whole dataplane: the features, each opened when it is first needed, and one list of attachments for all of them.
// Pinned objects outlive this one: close() releases descriptors and removes nothing.
import { readdirSync } from 'node:fs';
import { removeKept } from '../kernel/bpf/kept-object.ts';
import type { BpfProgram } from '../kernel/bpf/program.ts';
import { EGRESS_PROGRAMS } from '../kernel/dataplane/egress.ts';
import { HOLD_PROGRAM } from '../kernel/dataplane/holds.ts';
import { COUNTERS_MAP } from '../kernel/dataplane/counters.ts';
import { removeHoldQueues } from '../kernel/netlink/fq.ts';
import { SidRoutes } from '../kernel/netlink/sid-routes.ts';
import { messageOf } from '../model/error-text.ts';
import type { Problem } from '../model/problem.ts';
import type { TableUse } from '../model/telemetry-state.ts';
import type { Steps } from '../model/work.ts';
import type { DesiredState } from '../plan/desired.ts';
import { type Attachment, attachment, attachmentOperations } from './attachments.ts';
import { type BorderGuard, borderGuard } from './border-guard.ts';
import { type CongestedNode, congestedNode } from './congested-node.ts';
import type { Feature, FeatureDependencies } from './feature.ts';
import { MULTICAST_PROGRAMS } from '../kernel/dataplane/multicast.ts';
import { FeatureSupervisor, type FeatureDirectories } from './feature-supervisor.ts';
import { type Hold, hold } from './hold.ts';
import { pinnedHooks } from './hooks.ts';
import { type Multicast, multicast } from './multicast.ts';
import { type MapPin, type Opened, mapPinOperations, mapPins } from './pins.ts';
import { lookUpCounters, readCounters } from './program-counters.ts';
import { Reconciler } from './reconciler.ts';
import { type Proxy, proxy } from './proxy.ts';
import { removeTrees } from './multicast/remove-trees.ts';
import { removeSidRoutes } from './sid-routes.ts';
import { type Source, source } from './source.ts';
import { type Srv6, srv6 } from './srv6.ts';

export interface DataplaneOptions extends FeatureDirectories {
  /** A directory in the BPF file system, for links. */
  readonly linksDir: string;
}

/** One property per feature; the daemon and the tests use these names. */
interface Features {
  readonly congestedNode: FeatureSupervisor<CongestedNode>;
  readonly proxy: FeatureSupervisor<Proxy>;
  readonly source: FeatureSupervisor<Source>;
  readonly hold: FeatureSupervisor<Hold>;
  readonly guard: FeatureSupervisor<BorderGuard>;
  readonly srv6: FeatureSupervisor<Srv6>;
  readonly multicast: FeatureSupervisor<Multicast>;
}

/**
 * To attach one program takes 10 to 30 ms, most of which the kernel waits for its processors. A router with many ports
 * does it in many turns.
 */
const ATTACHING = { atOnce: 8, perStep: 1 } as const;

function removedSids(): string[] {
  const routes = SidRoutes.open();
  try {
    return removeSidRoutes(routes);
  } finally {
    routes.close();
  }
}

/** Compares by identity: unchanged parts of a plan are the same objects. */
const differOnlyInSenders = (a: DesiredState, b: DesiredState): boolean =>
  [...new Set([...Object.keys(a), ...Object.keys(b)] as (keyof DesiredState)[])].every(
    (part) => part === 'senderProxies' || a[part] === b[part],
  );

export class Dataplane {
  readonly #dependencies: FeatureDependencies;
  readonly #bpfDir: string;
  readonly #features: Features;
  readonly #hooks: ReturnType<typeof attachmentOperations>;
  readonly #attachments: Reconciler<Attachment>;
  readonly #mapPins: Reconciler<MapPin>;
  #applied: DesiredState | undefined;
  /** forgetUnknown() was called; it also applies to features that are opened later. */
  #mayForget = false;
  /** Programs and maps of an earlier run were found and taken over. */
  readonly adopted: boolean;

  constructor(options: DataplaneOptions, dependencies: FeatureDependencies) {
    this.#dependencies = dependencies;
    this.#bpfDir = options.bpfDir;
    this.#features = {
      congestedNode: new FeatureSupervisor(congestedNode, options, dependencies),
      proxy: new FeatureSupervisor(proxy, options, dependencies),
      source: new FeatureSupervisor(source, options, dependencies),
      hold: new FeatureSupervisor(hold, options, dependencies),
      guard: new FeatureSupervisor(borderGuard, options, dependencies),
      srv6: new FeatureSupervisor(srv6, options, dependencies),
      multicast: new FeatureSupervisor(multicast, options, dependencies),
    };
    this.#hooks = attachmentOperations(pinnedHooks(options, (name) => this.#program(name)));
    this.#mapPins = new Reconciler(
      mapPinOperations(options.bpfDir, () => this.#opened()),
      dependencies,
    );
    this.#attachments = new Reconciler(this.#hooks, dependencies, ATTACHING);
    const links = readdirSync(options.linksDir);
    this.adopted = links.length > 0;
    // Packets may wait for their departure times, although nothing is to be held any more.
    if (links.some((link) => link.startsWith(`${HOLD_PROGRAM}@`))) this.#features.hold.open();
  }

  get congestedNode(): CongestedNode | undefined {
    return this.#features.congestedNode.feature;
  }

  get proxy(): Proxy | undefined {
    return this.#features.proxy.feature;
  }

  get source(): Source | undefined {
    return this.#features.source.feature;
  }

  get hold(): Hold | undefined {
    return this.#features.hold.feature;
  }

  get guard(): BorderGuard | undefined {
    return this.#features.guard.feature;
  }

  get srv6(): Srv6 | undefined {
    return this.#features.srv6.feature;
  }

  get multicast(): Multicast | undefined {
    return this.#features.multicast.feature;
  }

  /**
   * In the order in which they are opened, applied and attached. A program that is to be first is ahead of earlier
   * ones.
   */
  get #supervisors(): readonly FeatureSupervisor<Feature>[] {
    const { congestedNode, proxy, source, hold, guard, srv6, multicast } = this.#features;
    return [congestedNode, proxy, source, hold, guard, srv6, multicast];
  }

  /**
   * Applies the desired state. Whatever the kernel refuses is retried and reported by problems(). Many programs are not
   * all attached at the return: see `attaching`.
   */
  apply(desired: DesiredState): void {
    const before = this.#applied;
    this.#applied = desired;
    if (before && differOnlyInSenders(before, desired)) this.congestedNode?.applySenders(desired);
    else this.#applyAll(desired);
  }

  /** Resolves when every program was tried to be attached; undefined: that is so. */
  get attaching(): Promise<void> | undefined {
    return this.#attachments.applying;
  }

  /** This router's SIDs that the kernel has not accepted, as text. */
  refusedSids(): ReadonlySet<string> {
    return new Set([...(this.srv6?.refusedSids() ?? []), ...this.#refusedGroupSids()]);
  }

  /** All of them while the programs do not run at every core port: packets that arrive there would be lost. */
  #refusedGroupSids(): Iterable<string> {
    const { groupSids = [], multicast: desired } = this.#applied ?? {};
    const { multicast: feature } = this;
    if (!desired || !feature) return groupSids;
    const runs = this.#corePortsWithoutMulticast().length === 0;
    return runs && feature.isConfigured ? feature.refusedSids() : groupSids;
  }

  #corePortsWithoutMulticast(): string[] {
    return (this.#applied?.multicast?.ports ?? [])
      .filter(({ isCore }) => isCore)
      .filter((port) => !this.#attachments.isDone(attachment(MULTICAST_PROGRAMS.ingress, port, 'ingress').id))
      .map((port) => port.interface);
  }

  /** Beside the refusal itself: what follows from it. */
  #withheldSids(): Problem[] {
    const { groupSids = [] } = this.#applied ?? {};
    const ports = this.multicast ? this.#corePortsWithoutMulticast() : [];
    if (ports.length === 0 || groupSids.length === 0) return [];
    return [
      {
        code: 'groups.sids-withheld',
        feature: 'groups',
        problem:
          `${groupSids.join(', ')}: not advertised, so no tree uses this router: the program of groups does not run ` +
          `at ${ports.join(', ')}, and packets that arrive there would be lost`,
        remedy:
          'cnpd tries again, and advertises them once it runs; if other routers do not use the port, ' +
          'remove it from srv6.core-ports',
      },
    ];
  }

  #applyAll(desired: DesiredState): void {
    for (const supervisor of this.#supervisors) supervisor.openFor(desired);
    for (const { feature } of this.#supervisors) if (feature) feature.onKept = () => this.#applyAll(this.#applied!);
    const attachments = this.#supervisors.flatMap((supervisor) => supervisor.attachments(desired));
    const keep = new Set(attachments.map((a) => a.id));
    // Detach programs before their configuration is removed, and attach them after it is written, so that none runs
    // unconfigured.
    this.#attachments.deleteNow(
      this.#attachments
        .status()
        .map((s) => s.id)
        .filter((id) => !keep.has(id)),
    );
    for (const { feature } of this.#supervisors) feature?.apply(desired);
    this.#attachments.replace(attachments);
    this.#mapPins.replace(mapPins(this.#opened()));
    if (this.#mayForget) this.#forgetUnknown();
  }

  #opened(): Opened[] {
    return this.#supervisors.flatMap((supervisor) => supervisor.opened());
  }

  /** Whether the detector runs at this port's egress. */
  isAttached(port: string): boolean {
    return this.#attachments.isDone(`${EGRESS_PROGRAMS.egress}@${port}/egress`);
  }

  /** Removes leftovers of an earlier run that are not desired. Call after the first apply. */
  prune(): void {
    this.#attachments.fullPass();
    for (const { feature } of this.#supervisors) feature?.fullPass();
    const used = this.#supervisors.flatMap(({ feature, objectPath }) => (feature ? [objectPath] : []));
    this.#removeEarlier('programs.not-removed', 'programs', () => removeKept(this.#bpfDir, used));
    if (!this.hold) this.#removeEarlier('hold.release-failed', 'queues', removeHoldQueues);
    if (!this.srv6) this.#removeEarlier('srv6.routes-unreadable', 'SIDs', removedSids);
    if (!this.multicast) this.#removeEarlier('multicast.routes-unreadable', 'trees', removeTrees);
  }

  /** From now on, also removes entries that an earlier run learned and no router advertises any more. */
  forgetUnknown(): void {
    this.#mayForget = true;
    this.#forgetUnknown();
  }

  #forgetUnknown(): void {
    for (const supervisor of this.#supervisors) supervisor.forgetUnknown();
  }

  /**
   * Removes routes, classes and pinned programs of an earlier run, if its configuration had any. An agent that cannot
   * list routes has installed none.
   */
  #removeEarlier(failed: string, what: string, remove: () => string[]): void {
    const { log, count } = this.#dependencies;
    try {
      const removed = remove();
      if (removed.length > 0) log.info({ removed }, `${what} of an earlier run removed`);
    } catch (error) {
      count(`dataplane.${failed}`);
      log.warn({ error: messageOf(error), what }, 'cannot remove what an earlier run has left');
    }
  }

  problems(): Problem[] {
    const refused = [
      ...this.#mapPins.unfinished(),
      ...this.#attachments.unfinished(),
      ...this.#supervisors.flatMap(({ feature }) => feature?.status() ?? []),
    ];
    return [
      ...this.#supervisors.flatMap(({ problem }) => problem ?? []),
      ...(this.hold?.problems() ?? []),
      ...(this.multicast?.problems() ?? []),
      ...this.#withheldSids(),
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

  *tableUse(): Steps<TableUse[]> {
    const use: TableUse[] = [];
    for (const { feature } of this.#supervisors) if (feature) use.push(...(yield* feature.tableUse()));
    return use;
  }

  /** Per-CPU counters of the programs, summed. One map serves all of them. */
  *counters(): Steps<ReadonlyMap<string, bigint>> {
    const [opened] = this.#opened();
    return opened ? yield* readCounters(opened.object.map(COUNTERS_MAP)) : new Map<string, bigint>();
  }

  /** Some of them, at once. */
  countersNamed(names: Iterable<string>): ReadonlyMap<string, bigint> {
    const [opened] = this.#opened();
    return opened ? lookUpCounters(opened.object.map(COUNTERS_MAP), names) : new Map<string, bigint>();
  }

  /** Releases all descriptors; programs, maps and links stay in the kernel. */
  close(): void {
    this.#mapPins.close();
    this.#attachments.close();
    this.#hooks.close();
    for (const { feature } of this.#supervisors) feature?.close();
  }

  #program(name: string): BpfProgram {
    const owner = this.#opened().find(({ object }) => object.programNames.includes(name));
    if (!owner) throw new Error(`no loaded object has the program ${name}`);
    return owner.object.program(name);
  }
}
