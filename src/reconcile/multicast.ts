// End.MT in the kernel (draft RMC; decision "Groups"): the tables of the programs, the routes from Proxy Addresses into
// trees, and the device where this router replicates as a root. A list and whatever it refers to stays for a while
// after it has left the plan, since packets of its tree may still be on their way. What an earlier run has made stays
// in force until the network has had the time to advertise everything again: a restart disturbs no transfer.
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
import { TREE_DEVICE, TreeDevices } from '../kernel/netlink/tree-device.ts';
import { TreeRoutes } from '../kernel/netlink/tree-routes.ts';
import { type RawSocket, openRawSocket } from '../kernel/raw-socket.ts';
import { formatAddress } from '../model/address.ts';
import { Deadline } from '../model/deadline.ts';
import type { GroupRoleView } from '../model/group-view.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { HeadEndPlan, MulticastGroupPlan, MulticastListPlan, MulticastPlan } from '../plan/multicast-plan.ts';
import { type Attachment, LOOPBACK, attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import { type HeadEndRoute, foundHeadEnds, headEndOperations } from './multicast/head-end-routes.ts';
import { groupViews } from './multicast/group-views.ts';
import { HeadEnds } from './multicast/head-ends.ts';
import { Housekeeping } from './multicast/housekeeping.ts';
import { Lingering } from './multicast/lingering.ts';
import { ListTables } from './multicast/lists.ts';
import { type MulticastMaps, multicastMaps } from './multicast/maps.ts';
import { GroupNumbers, RouterNumbers, type RouterPlan } from './multicast/numbers.ts';
import { OwnRoutes } from './multicast/own-routes.ts';
import { PathMtus } from './multicast/path-mtus.ts';
import { multicastSidOperations } from './multicast/sids.ts';
import type { ObjectStatus } from './operations.ts';
import { Reconciler } from './reconciler.ts';

/** Other routers use the lists of a tree at least this long after it is obsolete. */
const LISTS_LINGER_MS = 10_000;
/** What lists refer to stays longer than they. */
const OTHERS_LINGER_MS = 12_000;

export interface MulticastKernel {
  readonly routes: TreeRoutes;
  readonly devices: TreeDevices;
  /** For Packet Too Big to other routers. */
  readonly socket: RawSocket;
}

interface Configuration extends Pick<MulticastPlan, 'endMtTlv' | 'treeTlv' | 'fastCnpOption' | 'fastCnpIoamOption'> {
  readonly id: 'multicast';
}

export class Multicast extends Feature {
  readonly #kernel: MulticastKernel;
  readonly #dependencies: FeatureDependencies;
  readonly #groups: GroupNumbers;
  readonly #routers: RouterNumbers;
  readonly #lists: ListTables;
  readonly #headEnds: HeadEnds;
  readonly #lingering = {
    lists: new Lingering<MulticastListPlan>(LISTS_LINGER_MS),
    groups: new Lingering<MulticastGroupPlan>(OTHERS_LINGER_MS),
    routers: new Lingering<RouterPlan>(OTHERS_LINGER_MS),
  };
  readonly #tables;
  readonly #update: Deadline;
  readonly #housekeeping: Housekeeping;
  readonly #pathMtus: PathMtus;
  readonly #maps: MulticastMaps;
  #plan: MulticastPlan | undefined;
  #mayForgetTrees = false;
  /** Why there is no device, if one is needed. */
  #deviceError: string | undefined;

  constructor(object: BpfObject, kernel: MulticastKernel, dependencies: FeatureDependencies) {
    super(object, dependencies);
    this.#kernel = kernel;
    this.#dependencies = dependencies;
    const maps = multicastMaps(object);
    this.#maps = maps;
    const mayForget = (): boolean => this.#mayForgetTrees;
    this.#groups = new GroupNumbers(maps, mayForget);
    this.#routers = new RouterNumbers(maps, mayForget);
    this.#lists = new ListTables(maps, {
      groupNumber: (group) => this.#groups.numberOf(group),
      routerNumber: (sid) => this.#routers.numberOf(sid),
      mayForget,
    });
    const routes = new OwnRoutes(kernel.routes);
    this.#headEnds = new HeadEnds({
      found: foundHeadEnds(routes),
      isInstalled: (headEnd) => this.#isInstalled(headEnd),
      pathMtu: (group) => this.#pathMtus.fromRoot(group),
    });
    this.#pathMtus = new PathMtus({
      ...{ clock: dependencies.clock, count: dependencies.count, log: dependencies.log, maps },
      routerSid: (number) => this.#routers.sidOf(number),
      send: (packet) => kernel.socket.send(packet),
      onChange: () => this.#update.by(dependencies.clock.now()),
    });
    this.#housekeeping = new Housekeeping({
      ...{ clock: dependencies.clock, count: dependencies.count, log: dependencies.log, maps, lists: this.#lists },
      groups: () => this.#groups.all(),
      closeWindow: (state) =>
        void object.program(MULTICAST_PROGRAMS.closeWindow).testRun({ data: multicastWindowPacket(state) }),
      nowNs: () => process.hrtime.bigint(),
      pathMtus: this.#pathMtus,
    });
    const device = () => kernel.devices.ensure();
    const { clock } = dependencies;
    this.#update = new Deadline(clock, () => this.#apply());
    // By its JSON text, a thousand groups would take most of the time of a plan.
    const reconciler = <T extends { readonly id: string }>(
      operations: ConstructorParameters<typeof Reconciler<T>>[0],
      same: (a: T, b: T) => boolean = isDeepStrictEqual,
    ) => this.keep(new Reconciler<T>(operations, dependencies, { same }));
    this.#tables = {
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
      // In the order of a removal by full passes: what refers to others first.
      headEnds: reconciler<HeadEndRoute>(headEndOperations(routes, { rules: kernel.routes, device, mayForget })),
      // One that is planned again is the same: its name has the digest of all that is in it.
      lists: reconciler<MulticastListPlan>(this.#lists, () => true),
      sids: reconciler(multicastSidOperations(maps.destinations, routes)),
      groups: reconciler<MulticastGroupPlan>(this.#groups),
      routers: reconciler<RouterPlan>(this.#routers),
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
    tables.ports.replace(plan?.ports ?? []);
    tables.notifiers.replace(plan?.notifiers ?? []);
    tables.routers.replace(this.#lingering.routers.update(plan?.routers ?? [], now));
    tables.groups.replace(this.#lingering.groups.update(plan?.groups ?? [], now));
    tables.lists.replace(this.#lingering.lists.update(plan?.lists ?? [], now));
    tables.sids.replace(plan?.sids ?? []);
    tables.configuration.replace(plan ? [configurationOf(plan)] : []);
    tables.headEnds.replace(this.#headEnds.update(plan, now, this.#mayForgetTrees));
    this.#removeUnusedDevice();
    this.#housekeeping.follow(plan);
    const { lists, groups, routers } = this.#lingering;
    for (const { due } of [lists, groups, routers, this.#headEnds]) this.#update.by(due);
  }

  /** Whether the kernel has this router's part of the tree. */
  #isInstalled({ id, treeDigest, membersDigest }: HeadEndPlan): boolean {
    const own = this.#plan?.lists.filter(({ group }) => group === id) ?? [];
    const has = (role: 'edge' | 'branching', digest: Uint8Array): boolean =>
      !own.some((list) => list.role === role && Buffer.compare(list.digest, digest) === 0) ||
      this.#lists.has(id, role, digest);
    return this.#lists.has(id, 'branching', treeDigest) && has('edge', membersDigest);
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
      ...multicast.ports.map((port) => attachment(MULTICAST_PROGRAMS.ingress, port, 'ingress', true)),
      // This router's own Fast CNPs about copies, behind the builder that finishes them there.
      ...(multicast.sids.some(({ kind }) => kind === 'edge')
        ? [attachment(MULTICAST_PROGRAMS.ingress, LOOPBACK, 'ingress')]
        : []),
      ...this.#rootAttachment(multicast),
    ];
  }

  /** Makes the device when it is needed, since only its index says where the program is attached. */
  #rootAttachment({ headEnds }: MulticastPlan): readonly Attachment[] {
    this.#deviceError = undefined;
    try {
      const isNeeded = headEnds.length > 0;
      const device = isNeeded
        ? this.#kernel.devices.ensure()
        : this.#mayForgetTrees
          ? undefined
          : this.#kernel.devices.find();
      if (!device) return [];
      const link = { interface: TREE_DEVICE, ifindex: device.outer };
      return [attachment(MULTICAST_PROGRAMS.root, link, 'egress', true)];
    } catch (error) {
      this.#deviceError = error instanceof Error ? error.message : String(error);
      this.#dependencies.count('reconcile.tree-device.failed');
      return [];
    }
  }

  #removeUnusedDevice(): void {
    if (!this.#mayForgetTrees || this.#plan?.headEnds.length || this.#headEnds.due !== undefined) return;
    try {
      this.#kernel.routes.removeRule(TREE_DEVICE);
      if (this.#kernel.devices.remove()) this.#dependencies.log.info({ device: TREE_DEVICE }, 'removed');
    } catch (error) {
      this.#deviceError = error instanceof Error ? error.message : String(error);
      this.#dependencies.count('reconcile.tree-device.failed');
    }
  }

  /** Whether the programs serve groups: without their configuration they take no packet. */
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
        ...{ maps: this.#maps, lists: this.#lists },
        groups: () => this.#groups.all(),
        routerSid: (number) => this.#routers.sidOf(number),
        isRoot: (group) => roots.has(group),
        stalledMs: (list, slot) => this.#housekeeping.stalledMs(list, slot),
        pathMtu: (group, role) => this.#pathMtus.of(group, role),
      },
      process.hrtime.bigint(),
    );
  }

  /** Branches that stall. */
  problems(): Problem[] {
    return this.#housekeeping.problems();
  }

  override status(): ObjectStatus[] {
    const error = this.#deviceError;
    return [
      ...super.status(),
      ...(error === undefined ? [] : [{ id: TREE_DEVICE, state: 'failed' as const, attempts: 1, error }]),
    ];
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
    this.#kernel.routes.close();
    this.#kernel.devices.close();
    this.#kernel.socket.close();
  }
}

const configurationOf = ({ endMtTlv, treeTlv, fastCnpOption, fastCnpIoamOption }: MulticastPlan): Configuration => ({
  id: 'multicast',
  ...{ endMtTlv, treeTlv, fastCnpOption, fastCnpIoamOption },
});

export const multicast: FeatureKind<Multicast> = {
  name: 'multicast',
  objectFile: 'multicast.bpf.o',
  scratchMaps: MULTICAST_SCRATCH_MAPS,
  desired: (state) => state.multicast !== undefined,
  open: (object, dependencies) => {
    const opened: { close(): void }[] = [];
    const keep = <T extends { close(): void }>(part: T): T => (opened.push(part), part);
    try {
      const kernel = {
        routes: keep(TreeRoutes.open()),
        devices: keep(TreeDevices.open()),
        socket: keep(openRawSocket({ family: 6 })),
      };
      return new Multicast(object, kernel, dependencies);
    } catch (error) {
      for (const part of opened) part.close();
      throw error;
    }
  },
};
