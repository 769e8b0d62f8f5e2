// A router of a group with the programs of End.MT at its ports (multicast-network.ts), and what its maps hold.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import type { TcxLink } from '../../../src/kernel/bpf/tc-attachment.ts';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import { u32Key } from '../../../src/kernel/dataplane/layout.ts';
import {
  type MulticastBranch,
  type MulticastRole,
  encodeMulticastBranch,
  encodeMulticastList,
  multicastListKey,
  multicastMemberKey,
  multicastStateIndex,
} from '../../../src/kernel/dataplane/multicast-lists.ts';
import {
  type MulticastRecord,
  type MulticastState,
  type MulticastTooBig,
  MULTICAST_STATE_SIZE,
  decodeMulticastRecord,
  decodeMulticastState,
  decodeMulticastTooBig,
  newMulticastRecord,
} from '../../../src/kernel/dataplane/multicast-state.ts';
import {
  MULTICAST_MAPS,
  MULTICAST_NOTIFIER,
  MULTICAST_PROGRAMS,
  type MulticastDestination,
  type MulticastGroup,
  encodeMulticastConfig,
  encodeMulticastDestination,
  encodeMulticastGroup,
  encodeMulticastPort,
} from '../../../src/kernel/dataplane/multicast.ts';
import { addressKey } from '../../../src/kernel/dataplane/srv6.ts';
import type { IpAddress } from '../../../src/model/address.ts';
import { object } from './congested-router.ts';
import { clearCounters, countOf, multicastCounts } from './counters.ts';
import { LOCAL } from './multicast-branches.ts';
import { MulticastNetwork } from './multicast-network.ts';
import { CODES } from './notifier-plan.ts';
import { EDGE, GROUP, MEMBERS, PARENT, REPLICATION, TREE } from './multicast-packets.ts';

type Direction = 'ingress' | 'egress';

export class MulticastRouter extends MulticastNetwork {
  readonly bpf: BpfObject;
  readonly #links: TcxLink[] = [];

  private constructor() {
    super();
    this.bpf = openBpfObject(object('multicast'));
  }

  static async create(): Promise<MulticastRouter> {
    const router = new MulticastRouter();
    try {
      await router.build();
      router.#attach('ingress', 'core', 'ingress');
      router.#attach('ingress', 'c1', 'ingress');
      router.#attach('root', 'mc', 'egress');
      router.reset();
      return router;
    } catch (error) {
      router.close();
      throw error;
    }
  }

  #attach(
    program: keyof typeof MULTICAST_PROGRAMS,
    port: keyof MulticastRouter['ifindex'],
    direction: Direction,
  ): void {
    this.#links.push(
      attachTcx({
        program: this.bpf.program(MULTICAST_PROGRAMS[program]),
        ifindex: this.ifindex[port],
        direction,
        netns: this.netns,
        first: true,
      }),
    );
  }

  /** `t-mc-c2` stands for cnpd-mc-peer from now on. */
  attachEntry(): void {
    this.#attach('entry', 'c2', 'egress');
  }

  /** As at an edge: for its own Fast CNPs. Returns what detaches it. */
  attachLoopback(): () => void {
    const program = this.bpf.program(MULTICAST_PROGRAMS.ingress);
    const link = attachTcx({ program, ifindex: 1, direction: 'ingress', netns: this.netns });
    return () => link.close();
  }

  #map(name: keyof typeof MULTICAST_MAPS, key: Uint8Array, value: Uint8Array): void {
    this.bpf.map(MULTICAST_MAPS[name]).update(key, value);
  }

  destination(at: IpAddress, destination: MulticastDestination): void {
    this.#map('destinations', addressKey(at), encodeMulticastDestination(destination));
  }

  router(sid: IpAddress, number: number): void {
    this.#map('routers', addressKey(sid), u32Key(number));
    this.#map('routerSids', u32Key(number), addressKey(sid));
  }

  forgetRouter(sid: IpAddress): void {
    this.bpf.map(MULTICAST_MAPS.routers).delete(addressKey(sid));
  }

  /** The receiver in this slot gets packets already, as the agent writes it in a new list. */
  joined(slot: number): void {
    this.#map('records', u32Key(slot), newMulticastRecord(true));
  }

  /** A router whose Fast CNPs are believed. */
  notifier(of: IpAddress): void {
    this.#map('notifiers', addressKey(of), MULTICAST_NOTIFIER);
  }

  port(port: 'core' | 'c1' | 'c2', isCore: boolean): void {
    this.#map('ports', u32Key(this.ifindex[port]), encodeMulticastPort({ isCore }));
  }

  group(over: Partial<MulticastGroup> = {}, index = 5): void {
    const group = { ...GROUP, ...over };
    this.#map('groups', u32Key(index), encodeMulticastGroup(group));
    this.destination(group.proxy, { kind: 'proxy', group: index });
  }

  /** Publishes a list with new slots; its branches are known by their address. */
  list(
    role: MulticastRole,
    branches: readonly MulticastBranch[],
    over: {
      digest?: Uint8Array;
      group?: number;
      index?: number;
      first?: number;
      parent?: number;
      joined?: boolean;
    } = {},
  ): void {
    const { group = 5, index = role === 'edge' ? 11 : 12, first = index * 64, parent = role === 'edge' ? 0 : 2 } = over;
    branches.forEach((branch, i) => {
      this.#map('branches', u32Key(first + i), encodeMulticastBranch(branch));
      this.#map('records', u32Key(first + i), newMulticastRecord(over.joined ?? false));
      if (branch.address)
        this.#map('members', multicastMemberKey({ address: branch.address, list: index }), u32Key(first + i));
    });
    const hasLocal = branches[0]?.address === null;
    this.#map(
      'lists',
      u32Key(index),
      encodeMulticastList({ group, first, count: branches.length, role, hasLocal, parent }),
    );
    const digest = over.digest ?? (role === 'edge' ? MEMBERS : TREE);
    this.#map('listIds', multicastListKey({ digest, group, role }), u32Key(index));
  }

  /** The members of the edge role. */
  members(
    receivers: readonly MulticastBranch[],
    over: { joined?: boolean; digest?: Uint8Array; index?: number } = {},
  ): void {
    this.list('edge', receivers, over);
  }

  /** The children of the branching role, `local` first if it is desired. */
  children(children: readonly MulticastBranch[], over: { local?: boolean; parent?: number } = {}): void {
    this.list('branching', over.local ? [LOCAL, ...children] : children, { parent: over.parent ?? 2 });
  }

  record(slot: number): MulticastRecord {
    return decodeMulticastRecord(this.bpf.map(MULTICAST_MAPS.records).lookup(u32Key(slot))!);
  }

  state(role: MulticastRole): MulticastState {
    return decodeMulticastState(this.bpf.map(MULTICAST_MAPS.states).lookup(u32Key(multicastStateIndex(5, role)))!);
  }

  /** What is noted for the agent of a packet that was too big. */
  tooBig(role: MulticastRole): MulticastTooBig | undefined {
    const value = this.bpf.map(MULTICAST_MAPS.tooBig).lookup(u32Key(multicastStateIndex(5, role)));
    return value && decodeMulticastTooBig(value);
  }

  count(name: string): number {
    return countOf(this.bpf, `multicast.${name}`);
  }

  /** Every counter of End.MT that is not 0, without the common beginning of their names. */
  counts(): Record<string, number> {
    return multicastCounts(this.bpf);
  }

  /** One group with this router as an edge and a branching node, a core port, and the parent. */
  reset(): void {
    const hashes = ['destinations', 'ports', 'routers', 'listIds', 'members', 'tooBig', 'notifiers'] as const;
    for (const name of hashes)
      for (const key of [...this.bpf.map(MULTICAST_MAPS[name]).keys()]) this.bpf.map(MULTICAST_MAPS[name]).delete(key);
    for (const role of ['edge', 'branching'] as const)
      this.#map('states', u32Key(multicastStateIndex(5, role)), new Uint8Array(MULTICAST_STATE_SIZE));
    const tlvs = { endMtTlv: 124, treeTlv: 125 };
    const options = { fastCnpOption: CODES.option, fastCnpIoamOption: CODES.ioamOption };
    this.#map('config', u32Key(0), encodeMulticastConfig({ ...tlvs, ...options }));
    this.port('core', true);
    this.destination(EDGE, { kind: 'edge' });
    this.destination(REPLICATION, { kind: 'replication' });
    this.router(PARENT, 2);
    this.router(REPLICATION, 3);
    this.group();
    clearCounters(this.bpf);
  }

  override close(): void {
    for (const link of this.#links) link.close();
    this.bpf.close();
    super.close();
  }
}

/** A router for the tests of a file, reset before each of them. */
export function withMulticastRouter(use: (router: MulticastRouter) => unknown): void {
  let router: MulticastRouter | undefined;
  beforeAll(async () => {
    router = await MulticastRouter.create();
    await use(router);
  });
  afterAll(() => router?.close());
  beforeEach(() => router!.reset());
}
