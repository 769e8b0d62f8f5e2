// Path MTUs of groups. That a packet was too big for a path from here is passed on to the router that it came from, hop
// by hop up to the root. The root lowers the MTU of its route into the tree, and its kernel notifies the source.
//
// The SRH of a packet stays as it is from the root to the edge. So the octets that would pass are the same at each hop.
import { readU32Key, u32Key } from '../../kernel/dataplane/layout.ts';
import { type MulticastRole, multicastRoleOf, multicastStateIndex } from '../../kernel/dataplane/multicast-lists.ts';
import {
  type MulticastTooBig,
  decodeMulticastState,
  decodeMulticastTooBig,
} from '../../kernel/dataplane/multicast-state.ts';
import { type IpAddress, sameAddress } from '../../model/address.ts';
import type { Clock } from '../../model/clock.ts';
import { messageOf } from '../../model/error-text.ts';
import type { Count, Log } from '../../model/log.ts';
import type { Problem } from '../../model/problem.ts';
import { concat } from '../../packet/bytes.ts';
import { buildPacketTooBig } from '../../packet/icmpv6/packet-too-big.ts';
import { IPV6_HEADER, IPV6_LEAST_MTU, encodeIpv6 } from '../../packet/ip/ipv6.ts';
import { PROTOCOL_ROUTING } from '../../packet/srv6/srh.ts';
import { encodeTreeSrh } from '../../packet/srv6/tree-srh.ts';
import type { MulticastGroupPlan, MulticastPlan } from '../../plan/multicast-plan.ts';
import { narrowPathProblems } from '../../plan/narrow-paths.ts';
import type { MulticastMaps } from './maps.ts';

/** RFC 8201 §4: a larger path MTU is tried again no sooner. */
const PATH_MTU_MS = 600_000;
/** Between two messages about the same MTU: the first one may have been lost. */
const REPEAT_MS = 1000;
const PROTOCOL_IPV6 = 41;
const HOP_LIMIT = 64;

export interface PathMtusOptions {
  readonly clock: Clock;
  readonly count: Count;
  readonly log: Log;
  readonly maps: Pick<MulticastMaps, 'tooBig' | 'states'>;
  /** By its number in the kernel. */
  readonly routerSid: (number: number) => IpAddress | undefined;
  /** Sends a whole IPv6 packet. @throws KernelError */
  readonly send: (packet: Uint8Array) => void;
  readonly onChange: () => void;
}

interface PathMtu {
  readonly group: string;
  /** Octets of a packet in the tree, outer header included. */
  readonly mtu: number;
  readonly until: number;
}

/** Messages to the parent. */
interface PassedOn {
  readonly mtu: number;
  readonly againAt: number;
}

/** Times are milliseconds of the clock. */
export class PathMtus {
  readonly #options: PathMtusOptions;
  /** By role and group. */
  readonly #known = new Map<string, PathMtu>();
  readonly #passedOn = new Map<string, PassedOn>();

  constructor(options: PathMtusOptions) {
    this.#options = options;
  }

  /** Undefined: none is known. */
  of(group: string, role: MulticastRole): number | undefined {
    return this.#known.get(`${role} ${group}`)?.mtu;
  }

  /** From the root of the group, if this router is it: over its branches and to its own receivers. */
  fromRoot(group: string): number | undefined {
    const found = (['branching', 'edge'] as const).flatMap((role) => this.of(group, role) ?? []);
    return found.length === 0 ? undefined : Math.min(...found);
  }

  /**
   * Adapters do not heed Packet Too Big: a connection whose packets are larger stands still, and no branch looks
   * stalled, since nothing enters the tree.
   */
  problems(): Problem[] {
    const narrowest = new Map<string, number>();
    for (const { group, mtu } of this.#known.values())
      narrowest.set(group, Math.min(mtu, narrowest.get(group) ?? Infinity));
    return narrowPathProblems([...narrowest].map(([group, mtu]) => ({ group, mtu })));
  }

  /**
   * Takes what the programs have noted. `names`: groups of the kernel by number.
   * @throws KernelError when the kernel's map cannot be read
   */
  look(plan: MulticastPlan | undefined, names: ReadonlyMap<number, string>): void {
    this.#expire();
    const { maps } = this.#options;
    for (const [key, value] of [...maps.tooBig.entries()]) {
      maps.tooBig.delete(key);
      const index = readU32Key(key);
      const group = plan?.groups.find(({ id }) => id === names.get(index >> 1));
      if (!plan || !group) continue;
      const tooBig = decodeMulticastTooBig(value);
      let role = multicastRoleOf(index);
      let mtu = this.#learn(role, group.id, tooBig.mtu);
      let parent = this.#parentOf(index);
      if (role === 'edge' && parent && this.#isItself(parent, group)) {
        // The edge role is a branch of this router's own replication, and the parent is that of the latter.
        role = 'branching';
        mtu = this.#learn(role, group.id, mtu);
        parent = this.#parentOf(multicastStateIndex(index >> 1, role));
      }
      if (parent) this.#passOn(plan, { group, role, parent, tooBig: { ...tooBig, mtu } });
    }
  }

  /** Number of the router that data come from; 0 at the root, undefined before any data. */
  #parentOf(index: number): number | undefined {
    const state = this.#options.maps.states.lookup(u32Key(index));
    return state && decodeMulticastState(state).current?.parent;
  }

  #isItself(parent: number, { replicationSid }: MulticastGroupPlan): boolean {
    const sid = this.#options.routerSid(parent);
    return sid !== undefined && replicationSid !== null && sameAddress(sid, replicationSid);
  }

  #expire(): void {
    const now = this.#options.clock.now();
    const over = [...this.#known].filter(([, { until }]) => until <= now).map(([key]) => key);
    for (const key of over) {
      this.#known.delete(key);
      this.#passedOn.delete(key);
    }
    if (over.length > 0) this.#options.onChange();
  }

  /** Returns the MTU in force: a path that has become wider counts once the smaller one has expired. */
  #learn(role: MulticastRole, group: string, mtu: number): number {
    const key = `${role} ${group}`;
    const known = this.#known.get(key);
    const next = Math.max(IPV6_LEAST_MTU, mtu);
    if (known && known.mtu <= next) return known.mtu;
    const { clock, count, onChange } = this.#options;
    this.#known.set(key, { group, mtu: next, until: clock.now() + PATH_MTU_MS });
    count('groups.path-mtu-lowered');
    onChange();
    return next;
  }

  #passOn(plan: MulticastPlan, { group, role, parent, tooBig }: Finding): void {
    const { clock, count, log, routerSid, send } = this.#options;
    const key = `${role} ${group.id}`;
    const before = this.#passedOn.get(key);
    const now = clock.now();
    if (before && before.mtu <= tooBig.mtu && now < before.againAt) return;
    this.#passedOn.set(key, { mtu: tooBig.mtu, againAt: now + REPEAT_MS });
    const own = role === 'edge' ? group.edgeSid : group.replicationSid;
    const destination = routerSid(parent);
    try {
      if (!own || !destination) throw new Error('the SID of the parent is not known');
      send(packetTooBig(plan, { group, tooBig, own, parent: destination }));
      count('groups.too-big.passed-on');
    } catch (error) {
      // Tried again at the next packet that is too big.
      count('groups.too-big.not-sent');
      log.warn({ group: group.id, error: messageOf(error) }, 'cannot pass on that packets of a group are too big');
    }
  }
}

interface Finding {
  readonly group: MulticastGroupPlan;
  readonly role: MulticastRole;
  /** Number of the router. */
  readonly parent: number;
  readonly tooBig: MulticastTooBig;
}

/**
 * A Packet Too Big about the copy that came from `parent`, as far as the parent reads it: the outer header and the SRH
 * up to its tree TLV. The programs note no more of a packet. Its length is not among that, so it is the least possible.
 */
function packetTooBig(
  plan: MulticastPlan,
  {
    group,
    tooBig,
    own,
    parent,
  }: {
    readonly group: MulticastGroupPlan;
    readonly tooBig: MulticastTooBig;
    readonly own: IpAddress;
    readonly parent: IpAddress;
  },
): Uint8Array {
  const { mtu, ...name } = tooBig;
  const tree = { proxyAddress: group.proxyAddress, replicationSid: group.rootSid, endMtTlvs: [], ...name };
  const srh = encodeTreeSrh(tree, plan);
  srh[0] = PROTOCOL_IPV6;
  const header = encodeIpv6({
    source: parent,
    destination: own,
    trafficClass: 0,
    flowLabel: 0,
    hopLimit: HOP_LIMIT,
    nextHeader: PROTOCOL_ROUTING,
    payloadLength: mtu + 1 - IPV6_HEADER,
  });
  return buildPacketTooBig({ source: own, destination: parent }, { mtu, invoking: concat(header, srh) });
}
