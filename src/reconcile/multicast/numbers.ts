// Numbers of groups and of routers in the maps of End.MT. They are found again in the pinned maps, so that a restart
// disturbs no transfer.
import { readU32Key, u32Key, unmappedAddress } from '../../kernel/dataplane/layout.ts';
import {
  MULTICAST_GROUPS,
  MULTICAST_GROUP_SIZE,
  MULTICAST_ROUTERS,
  type MulticastGroup,
  decodeMulticastDestination,
  decodeMulticastGroup,
  encodeMulticastDestination,
  encodeMulticastGroup,
} from '../../kernel/dataplane/multicast.ts';
import { multicastStateIndex } from '../../kernel/dataplane/multicast-lists.ts';
import { MULTICAST_STATE_SIZE } from '../../kernel/dataplane/multicast-state.ts';
import { addressKey } from '../../kernel/dataplane/srv6.ts';
import { type IpAddress, formatAddress } from '../../model/address.ts';
import type { MulticastGroupPlan, MulticastPlan } from '../../plan/multicast-plan.ts';
import type { Operations } from '../operations.ts';
import { BlockAllocator } from './block-allocator.ts';
import type { MulticastMaps } from './maps.ts';

export type RouterPlan = MulticastPlan['routers'][number];

interface NumbersOptions {
  /** Whether what an earlier run used and is no longer desired may go. */
  readonly mayForget: () => boolean;
  /** Whether packets use the group or the router with this number; as of the call. It stays then, for now. */
  readonly inUse: () => (number: number) => boolean;
}

/** The kernel's table of groups is full, or that of routers: names the table and its size. */
const tableFull = (what: string, size: number): Error =>
  new Error(`the kernel's table of ${what} is full: ${size} are possible`);

/** Routers by their SIDs. Number 0 is no router. */
export class RouterNumbers implements Operations<RouterPlan> {
  readonly kind = 'multicast-router';
  readonly #maps: Pick<MulticastMaps, 'routers' | 'routerSids'>;
  readonly #options: NumbersOptions;
  readonly #free = new BlockAllocator(1, MULTICAST_ROUTERS);
  /** By the SID as text. */
  readonly #numbers = new Map<string, { readonly sid: IpAddress; readonly number: number }>();
  /** Plan's id → SID as text. */
  readonly #sidOf = new Map<string, string>();

  constructor(maps: Pick<MulticastMaps, 'routers' | 'routerSids'>, options: NumbersOptions) {
    this.#maps = maps;
    this.#options = options;
    for (const [key, value] of maps.routers.entries()) {
      const [sid, number] = [unmappedAddress(key), readU32Key(value)];
      if (this.#free.take(number)) this.#numbers.set(formatAddress(sid), { sid, number });
    }
  }

  /** Undefined: the SID is not one of a router. */
  numberOf(sid: IpAddress): number | undefined {
    return this.#numbers.get(formatAddress(sid))?.number;
  }

  sidOf(number: number): IpAddress | undefined {
    return [...this.#numbers.values()].find((entry) => entry.number === number)?.sid;
  }

  update({ id, sid }: RouterPlan): void {
    const text = formatAddress(sid);
    const before = this.#sidOf.get(id);
    if (before !== undefined && before !== text) this.delete(id);
    this.#sidOf.set(id, text);
    const number = this.#numbers.get(text)?.number ?? this.#free.allocate();
    if (number === undefined) throw tableFull('routers', MULTICAST_ROUTERS - 1);
    this.#numbers.set(text, { sid, number });
    // The number first: whoever finds the router can then answer it.
    this.#maps.routerSids.update(u32Key(number), addressKey(sid));
    this.#maps.routers.update(addressKey(sid), u32Key(number));
  }

  delete(id: string): void {
    const text = this.#sidOf.get(id);
    this.#sidOf.delete(id);
    // Another router may have the same SID by now.
    if (text !== undefined && ![...this.#sidOf.values()].includes(text)) this.#forget(text);
  }

  *prune(): Generator<boolean> {
    if (!this.#options.mayForget()) return;
    const known = new Set(this.#sidOf.values());
    const isInUse = this.#options.inUse();
    for (const [text, { number }] of [...this.#numbers])
      yield !known.has(text) && !isInUse(number) && this.#forget(text);
  }

  verify({ sid }: RouterPlan): boolean {
    const number = this.numberOf(sid);
    const found = this.#maps.routers.lookup(addressKey(sid));
    return number !== undefined && found !== undefined && readU32Key(found) === number;
  }

  #forget(text: string): boolean {
    const entry = this.#numbers.get(text);
    if (!entry) return false;
    this.#numbers.delete(text);
    this.#maps.routers.delete(addressKey(entry.sid));
    this.#maps.routerSids.update(u32Key(entry.number), new Uint8Array(16));
    this.#free.release(entry.number);
    return true;
  }
}

/** Groups by their Proxy Addresses: their entry, and the destination that leads to it. */
export class GroupNumbers implements Operations<MulticastGroupPlan> {
  readonly kind = 'multicast-group';
  readonly #maps: Pick<MulticastMaps, 'groups' | 'states' | 'destinations'>;
  readonly #options: NumbersOptions;
  readonly #free = new BlockAllocator(0, MULTICAST_GROUPS);
  /** By the Proxy Address as text, which is the plan's id. */
  readonly #numbers = new Map<string, { readonly proxy: IpAddress; readonly number: number }>();

  constructor(maps: Pick<MulticastMaps, 'groups' | 'states' | 'destinations'>, options: NumbersOptions) {
    this.#maps = maps;
    this.#options = options;
    for (const [key, value] of maps.destinations.entries()) {
      const destination = decodeMulticastDestination(value);
      const proxy = unmappedAddress(key);
      if (destination?.kind === 'proxy' && this.#free.take(destination.group))
        this.#numbers.set(formatAddress(proxy), { proxy, number: destination.group });
    }
  }

  numberOf(group: string): number | undefined {
    return this.#numbers.get(group)?.number;
  }

  /** Ids of the groups in the kernel, by number. */
  *all(): Generator<readonly [string, number]> {
    for (const [id, { number }] of this.#numbers) yield [id, number];
  }

  update(group: MulticastGroupPlan): void {
    const proxy = group.proxyAddress;
    const known = this.#numbers.get(group.id)?.number;
    const number = known ?? this.#free.allocate();
    if (number === undefined) throw tableFull('groups', MULTICAST_GROUPS);
    if (known === undefined) {
      // The number may have been another group's. No program uses it before the destination is written.
      this.#clearStates(number);
      this.#numbers.set(group.id, { proxy, number });
    }
    this.#maps.groups.update(u32Key(number), this.#value(group, number));
    this.#maps.destinations.update(addressKey(proxy), encodeMulticastDestination({ kind: 'proxy', group: number }));
  }

  delete(id: string): void {
    const entry = this.#numbers.get(id);
    if (!entry) return;
    this.#numbers.delete(id);
    this.#maps.destinations.delete(addressKey(entry.proxy));
    this.#maps.groups.update(u32Key(entry.number), new Uint8Array(MULTICAST_GROUP_SIZE));
    // They must not name lists any more.
    this.#clearStates(entry.number);
    this.#free.release(entry.number);
  }

  #clearStates(number: number): void {
    for (const role of ['edge', 'branching'] as const)
      this.#maps.states.update(u32Key(multicastStateIndex(number, role)), new Uint8Array(MULTICAST_STATE_SIZE));
  }

  *prune(desired: { has(id: string): boolean }): Generator<boolean> {
    if (!this.#options.mayForget()) return;
    const isInUse = this.#options.inUse();
    for (const [id, { number }] of [...this.#numbers]) {
      const isStray = !desired.has(id) && !isInUse(number);
      if (isStray) this.delete(id);
      yield isStray;
    }
  }

  verify(group: MulticastGroupPlan): boolean {
    const number = this.numberOf(group.id);
    if (number === undefined) return false;
    const destination = this.#maps.destinations.lookup(addressKey(group.proxyAddress));
    const found = this.#maps.groups.lookup(u32Key(number));
    return (
      destination !== undefined &&
      Buffer.compare(destination, encodeMulticastDestination({ kind: 'proxy', group: number })) === 0 &&
      found !== undefined &&
      Buffer.compare(found, this.#value(group, number)) === 0
    );
  }

  #value(group: MulticastGroupPlan, number: number): Uint8Array {
    const found = this.#maps.groups.lookup(u32Key(number));
    return encodeMulticastGroup(
      groupEntry(group, this.#options.mayForget() || !found ? undefined : decodeMulticastGroup(found)),
    );
  }
}

/**
 * The entry as the programs read it. `before`: that of an earlier run, which may have learned what this one has not
 * learned yet: the source and its Queue Pair.
 */
export function groupEntry(group: MulticastGroupPlan, before?: MulticastGroup): MulticastGroup {
  const { source } = group;
  const isKnown = before?.source && (!source || source.address.value === before.source.value);
  return {
    proxy: group.proxyAddress,
    source: source?.address ?? (isKnown ? before.source : null),
    edge: group.edgeSid,
    replication: group.replicationSid,
    designatedQpn: group.designatedQpn,
    sourceQpn: source?.qpn ?? (isKnown ? before.sourceQpn : null),
    cnpWindowNs: group.cnpWindowNs,
    copiesPerSecond: group.copiesPerSecond,
    copiesBurst: group.copiesBurst,
    isRoot: source !== null || (isKnown === true && before.isRoot),
    keepSource: group.keepSource,
  };
}
