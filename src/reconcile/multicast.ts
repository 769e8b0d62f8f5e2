// End.MT in the kernel (draft RMC; decision "Groups"): the tables of the programs, the routes from Proxy Addresses into
// trees, and the device where this router replicates as a root. What an earlier run has made stays in force until the
// network has had the time to advertise everything again: a restart disturbs no transfer.
import { isDeepStrictEqual } from 'node:util';
import type { BpfObject } from '../kernel/bpf/object.ts';
import { mappedAddress, u32Key } from '../kernel/dataplane/layout.ts';
import {
  MULTICAST_CONFIG_SIZE,
  MULTICAST_NOTIFIER,
  MULTICAST_PROGRAMS,
  MULTICAST_SCRATCH_MAPS,
  encodeMulticastConfig,
  encodeMulticastPort,
} from '../kernel/dataplane/multicast.ts';
import { multicastWindowPacket } from '../kernel/dataplane/multicast-state.ts';
import { formatAddress } from '../model/address.ts';
import { Deadline } from '../model/deadline.ts';
import type { GroupRoleView } from '../model/group-view.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState } from '../plan/desired.ts';
import type {
  DiscardPlan,
  HeadEndPlan,
  MulticastGroupPlan,
  MulticastListPlan,
  MulticastPlan,
} from '../plan/multicast-plan.ts';
import { type Attachment, LOOPBACK, attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import { RootDevice, rootAttachments } from './multicast/device.ts';
import { discardOperations } from './multicast/discards.ts';
import { type HeadEndRoute, foundHeadEnds, headEndOperations } from './multicast/head-end-routes.ts';
import { groupViews } from './multicast/group-views.ts';
import { HeadEnds } from './multicast/head-ends.ts';
import { Housekeeping } from './multicast/housekeeping.ts';
import { type MulticastKernel, openMulticastKernel } from './multicast/kernel.ts';
import { type MulticastMaps, multicastMaps } from './multicast/maps.ts';
import type { RouterPlan } from './multicast/numbers.ts';
import { OwnRoutes } from './multicast/own-routes.ts';
import { PathMtus } from './multicast/path-mtus.ts';
import { multicastSidOperations } from './multicast/sids.ts';
import { TreeTables } from './multicast/tree-tables.ts';
import type { ObjectStatus } from './operations.ts';
import { Reconciler } from './reconciler.ts';

interface Configuration extends Pick<MulticastPlan, 'endMtTlv' | 'treeTlv' | 'fastCnpOption' | 'fastCnpIoamOption'> {
  readonly id: 'multicast';
}

const nowNs = (): bigint => process.hrtime.bigint();

export class Multicast extends Feature {
  readonly #kernel: MulticastKernel;
  readonly #dependencies: FeatureDependencies;
  readonly #maps: MulticastMaps;
  readonly #trees: TreeTables;
  readonly #device: RootDevice;
  readonly #headEnds: HeadEnds;
  readonly #pathMtus: PathMtus;
  readonly #housekeeping: Housekeeping;
  readonly #tables;
  readonly #update: Deadline;
  #plan: MulticastPlan | undefined;
  #mayForgetTrees = false;

  constructor(object: BpfObject, kernel: MulticastKernel, dependencies: FeatureDependencies) {
    super(object, dependencies);
    this.#kernel = kernel;
    this.#dependencies = dependencies;
    const { clock, count, log } = dependencies;
    const maps = multicastMaps(object);
    this.#maps = maps;
    this.#trees = new TreeTables(maps, { mayForget: () => this.#mayForgetTrees, nowNs });
    this.#device = new RootDevice({ ...kernel, count, log });
    const routes = new OwnRoutes(kernel.routes);
    this.#headEnds = new HeadEnds({
      found: foundHeadEnds(routes),
      isInstalled: (headEnd) => this.#isInstalled(headEnd),
      pathMtu: (group) => this.#pathMtus.fromRoot(group),
    });
    this.#pathMtus = new PathMtus({
      ...{ clock, count, log, maps },
      routerSid: (number) => this.#trees.routers.sidOf(number),
      send: (packet) => kernel.socket.send(packet),
      onChange: () => this.#update.by(clock.now()),
    });
    this.#housekeeping = new Housekeeping({
      ...{ clock, count, log, maps, nowNs, lists: this.#trees.lists, pathMtus: this.#pathMtus },
      groups: () => this.#trees.groups.all(),
      closeWindow: (state) =>
        void object.program(MULTICAST_PROGRAMS.closeWindow).testRun({ data: multicastWindowPacket(state) }),
    });
    this.#update = new Deadline(clock, () => this.#apply());
    this.#tables = { ...this.#settings(), ...this.#treeTables(routes) };
  }

  /** What programs know of this router. */
  #settings() {
    const { object } = this;
    return {
      configuration: this.configuration<Configuration>({
        kind: 'multicast',
        map: object.map('multicast_config'),
        value: encodeMulticastConfig,
        off: new Uint8Array(MULTICAST_CONFIG_SIZE),
      }),
      ports: this.table<MulticastPlan['ports'][number]>(object.map('multicast_ports'), {
        kind: 'multicast-port',
        key: (port) => u32Key(port.ifindex),
        value: encodeMulticastPort,
      }),
      notifiers: this.table<MulticastPlan['notifiers'][number]>(object.map('multicast_notifiers'), {
        kind: 'multicast-notifier',
        key: ({ address }) => mappedAddress(address),
        value: () => MULTICAST_NOTIFIER,
      }),
    };
  }

  /** What they know of trees, in the order of a removal by full passes: what refers to others first. */
  #treeTables(routes: OwnRoutes) {
    const { routes: rules, devices } = this.#kernel;
    const { lists, groups, routers } = this.#trees;
    // By its JSON text, a thousand groups would take most of the time of a plan.
    const reconciler = <T extends { readonly id: string }>(
      operations: ConstructorParameters<typeof Reconciler<T>>[0],
      same: (a: T, b: T) => boolean = isDeepStrictEqual,
    ) => this.keep(new Reconciler<T>(operations, this.#dependencies, { same }));
    const mayForget = (): boolean => this.#mayForgetTrees;
    return {
      headEnds: reconciler<HeadEndRoute>(
        headEndOperations(routes, { rules, device: () => devices.ensure(), mayForget }),
      ),
      // One that is planned again is the same: its name has the digest of all that is in it.
      lists: reconciler<MulticastListPlan>(lists, () => true),
      discards: reconciler<DiscardPlan>(discardOperations(routes)),
      sids: reconciler(multicastSidOperations(this.#maps.destinations, routes)),
      groups: reconciler<MulticastGroupPlan>(groups),
      routers: reconciler<RouterPlan>(routers),
    };
  }

  apply({ multicast }: Pick<DesiredState, 'multicast'>): void {
    this.#plan = multicast;
    this.#apply();
  }

  /** Everything up to the head ends, in the order in which one refers to the other. */
  #apply(): void {
    const plan = this.#plan;
    const now = this.#dependencies.clock.now();
    const tables = this.#tables;
    const { routers, groups, lists } = this.#trees.update(plan, now);
    tables.ports.replace(plan?.ports ?? []);
    tables.notifiers.replace(plan?.notifiers ?? []);
    tables.routers.replace(routers);
    tables.groups.replace(groups);
    tables.lists.replace(lists);
    tables.sids.replace(plan?.sids ?? []);
    tables.discards.replace(plan?.discards ?? []);
    tables.configuration.replace(plan ? [configurationOf(plan)] : []);
    tables.headEnds.replace(this.#headEnds.update(plan, now, this.#mayForgetTrees));
    if (this.#mayForgetTrees && !plan?.headEnds.length && this.#headEnds.due === undefined) this.#device.remove();
    this.#housekeeping.follow(plan);
    for (const due of [...this.#trees.due, this.#headEnds.due]) this.#update.by(due);
  }

  /** Whether the kernel has this router's part of the tree. */
  #isInstalled({ id, treeDigest, membersDigest }: HeadEndPlan): boolean {
    const own = this.#plan?.lists.filter(({ group }) => group === id) ?? [];
    const has = (role: 'edge' | 'branching', digest: Uint8Array): boolean =>
      !own.some((list) => list.role === role && Buffer.compare(list.digest, digest) === 0) ||
      this.#trees.lists.has(id, role, digest);
    return this.#trees.lists.has(id, 'branching', treeDigest) && has('edge', membersDigest);
  }

  /** HeadEnds.restart(); the kernel has the new route on return, unless it refuses it, which is retried. */
  restart(group: string): boolean {
    const isRoot = this.#headEnds.restart(group);
    if (isRoot) this.#apply();
    return isRoot;
  }

  attachments({ multicast }: Pick<DesiredState, 'multicast'>): readonly Attachment[] {
    if (!multicast) return [];
    return [
      ...portAttachments(multicast),
      ...this.#device.attachments(multicast.headEnds.length > 0, this.#mayForgetTrees),
    ];
  }

  /** Whether the programs have their configuration: they cannot read a packet of a tree without it. */
  get isConfigured(): boolean {
    return this.#tables.configuration.status().some(({ state }) => state === 'done');
  }

  /** This router's SIDs for groups that are not programmed, as text. */
  refusedSids(): Set<string> {
    const planned = new Map(this.#plan?.sids.map(({ id, sid }) => [id, sid]));
    return new Set(
      this.#tables.sids
        .status()
        .filter(({ state, id }) => state !== 'done' && planned.has(id))
        .map(({ id }) => formatAddress(planned.get(id)!)),
    );
  }

  /** Every role that this router has in a group. Read lazily. @throws KernelError */
  groupsView(): Generator<GroupRoleView> {
    const roots = new Set(this.#plan?.headEnds.map(({ id }) => id));
    return groupViews(
      {
        ...{ maps: this.#maps, lists: this.#trees.lists },
        groups: () => this.#trees.groups.all(),
        routerSid: (number) => this.#trees.routers.sidOf(number),
        isRoot: (group) => roots.has(group),
        stalledMs: (list, slot) => this.#housekeeping.stalledMs(list, slot),
        pathMtu: (group, role) => this.#pathMtus.of(group, role),
      },
      nowNs(),
    );
  }

  /** Groups of which packets pass here, by their Proxy Addresses. @throws KernelError */
  transfers(): string[] {
    return this.#trees.transfers();
  }

  /** Branches that stall, and paths that are too narrow. */
  problems(): Problem[] {
    return [...this.#housekeeping.problems(), ...this.#pathMtus.problems()];
  }

  override status(): ObjectStatus[] {
    return [...super.status(), ...this.#device.status()];
  }

  override forgetUnknown(): void {
    this.#mayForgetTrees = true;
    super.forgetUnknown();
    this.#apply();
    this.fullPass();
  }

  override close(): void {
    this.#update.cancel();
    this.#housekeeping.close();
    super.close();
    this.#kernel.close();
  }
}

const configurationOf = ({ endMtTlv, treeTlv, fastCnpOption, fastCnpIoamOption }: MulticastPlan): Configuration => ({
  id: 'multicast',
  ...{ endMtTlv, treeTlv, fastCnpOption, fastCnpIoamOption },
});

const portAttachments = ({ ports, sids }: MulticastPlan): Attachment[] => [
  ...ports.map((port) => attachment(MULTICAST_PROGRAMS.ingress, port, 'ingress', true)),
  // This router's own Fast CNPs about copies, behind the builder that finishes them there.
  ...(sids.some(({ kind }) => kind === 'edge') ? [attachment(MULTICAST_PROGRAMS.ingress, LOOPBACK, 'ingress')] : []),
];

/** As far as a plan tells: the devices of a root are made when they are needed. */
export const plannedMulticastAttachments = ({ multicast }: Pick<DesiredState, 'multicast'>): Attachment[] =>
  multicast
    ? [...portAttachments(multicast), ...(multicast.headEnds.length > 0 ? rootAttachments({ outer: 0, inner: 0 }) : [])]
    : [];

export const multicast: FeatureKind<Multicast> = {
  name: 'multicast',
  objectFile: 'multicast.bpf.o',
  scratchMaps: MULTICAST_SCRATCH_MAPS,
  desired: (state) => state.multicast !== undefined,
  open: (object, dependencies) => {
    const kernel = openMulticastKernel();
    try {
      return new Multicast(object, kernel, dependencies);
    } catch (error) {
      kernel.close();
      throw error;
    }
  },
};
