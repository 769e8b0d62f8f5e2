// What the network advertises about routers rather than prefixes: their SIDs (END.CON, FCN §4.2.2), and the addresses
// for RTT probes. Like prefixes, they are in force while their originator is (originators.ts). They are few, one SID
// per routing table of a PE and one address per router, so the whole list is rebuilt on request. `takeChanged` reports
// whether that is necessary.
import { type IpAddress, compareAddresses, isUnicastHost, mapKey } from '../model/address.ts';
import type { LearnedOf } from '../model/advertisement.ts';
import { type GroupMember, compareClaims, memberKey } from '../model/group.ts';
import type { Count } from '../model/log.ts';
import { ROUTER_KINDS, type RouterAdvertisement, type RouterKindName, routerKind } from './kinds.ts';
import { type Origin, type Source, compareSources } from './preference.ts';

export interface SidEntry {
  readonly sid: IpAddress;
  readonly behavior: number;
  readonly carrier: Origin;
  readonly originator: string;
  /** RFC 3339; set while the originator is unreachable: when the entry will be dropped. */
  readonly heldUntil?: string;
}

/** A claim of a router that a host is a member of a group. */
export interface GroupClaim {
  readonly member: GroupMember;
  readonly carrier: Origin;
  readonly originator: string;
  /** RFC 3339; set while the originator is unreachable: when the claim will be dropped. */
  readonly heldUntil?: string;
}

interface LearnedRoutersDependencies {
  readonly count: Count;
  /** The difference from the table's clock to the time of day, ms. */
  readonly wallOffset: () => number;
}

export class LearnedRouters {
  readonly #dependencies: LearnedRoutersDependencies;
  readonly #limit: number;
  /** Sources with entries. */
  readonly #sources = new Set<Source>();
  readonly #sizes = new Map<RouterKindName, number>();
  /** Members of groups beyond the limits, by source. */
  readonly #membersLeftOut = new Map<Source, number>();
  #changed = false;
  /** As long as nothing changes, sids and members return the same lists: what is computed from them stays, too. */
  #sids: readonly SidEntry[] | undefined;
  #members: readonly GroupMember[] | undefined;

  /** @param limit entries of each kind, if that is less than kinds.ts allows */
  constructor(dependencies: LearnedRoutersDependencies, limit = Infinity) {
    this.#dependencies = dependencies;
    this.#limit = limit;
  }

  get sizes(): { readonly sids: number; readonly routerAddresses: number } {
    return { sids: this.#size('sid'), routerAddresses: this.#size('router-address') };
  }

  #size(kind: RouterKindName): number {
    return this.#sizes.get(kind) ?? 0;
  }

  /** Replaces the source's previous report. */
  replace(source: Source, advertisements: readonly RouterAdvertisement[]): void {
    const leftOut = this.#membersLeftOut.get(source) ?? 0;
    if (advertisements.length === 0 && !this.#sources.has(source) && leftOut === 0) return;
    this.#membersLeftOut.delete(source);
    const before = textOf(source);
    for (const { kind } of source.routers) this.#sizes.set(kind, this.#size(kind) - 1);
    source.routers = []; // does not count against the limit of its originator
    source.routers = ROUTER_KINDS.flatMap((kind) => this.#kept(kind, source, advertisements));
    for (const { kind } of source.routers) this.#sizes.set(kind, this.#size(kind) + 1);
    if (source.routers.length > 0) this.#sources.add(source);
    else this.#sources.delete(source);
    if (before !== textOf(source) || leftOut !== (this.#membersLeftOut.get(source) ?? 0)) this.#change();
  }

  #kept(
    kind: RouterKindName,
    source: Source,
    advertisements: readonly RouterAdvertisement[],
  ): readonly RouterAdvertisement[] {
    const { counter, addressOf, most, mostOfOriginator } = routerKind(kind);
    const all = advertisements.filter((learned) => learned.kind === kind);
    if (all.length === 0) return all;
    const usable = all.filter((learned) => isUnicastHost(addressOf(learned)));
    const left = Math.min(most, this.#limit) - this.#size(kind);
    const headroom = Math.min(left, mostOfOriginator - this.#ofOriginator(kind, source));
    if (usable.length < all.length) this.#dependencies.count(`${counter}.unusable`, all.length - usable.length);
    if (usable.length <= headroom) return usable;
    this.#dependencies.count(`${counter}.table-full`, usable.length - headroom);
    if (kind === 'group-membership') this.#membersLeftOut.set(source, usable.length - headroom);
    return usable.slice(0, headroom);
  }

  /** Members that are advertised, and not kept because there are too many, with the originator of the first ones. */
  membersLeftOut(): { readonly count: number; readonly originator: string } | undefined {
    const [first] = this.#membersLeftOut.keys();
    if (!first) return undefined;
    const count = [...this.#membersLeftOut.values()].reduce((sum, one) => sum + one, 0);
    return { count, originator: first.originator.name };
  }

  /** Whether members of this source were not kept: it is remembered until it has none. */
  leavesOut(source: Source): boolean {
    return this.#membersLeftOut.has(source);
  }

  /** How many the other sources of its originator have. */
  #ofOriginator(kind: RouterKindName, { originator }: Source): number {
    if (routerKind(kind).mostOfOriginator === Infinity) return 0;
    let found = 0;
    for (const source of this.#sources)
      if (source.originator === originator) found += source.routers.filter((learned) => learned.kind === kind).length;
    return found;
  }

  /** Some originator has become reachable, held or dormant. */
  reachabilityChanged(): void {
    if (this.#sources.size > 0) this.#change();
  }

  /** A source's originator has changed. */
  touch(source: Source): void {
    if (this.#sources.has(source)) this.#change();
  }

  #change(): void {
    this.#changed = true;
    this.#sids = this.#members = undefined;
  }

  /** Whether any of these lists may differ from that of the last call. */
  takeChanged(): boolean {
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  /**
   * The SIDs of other routers that count and have this behavior, each once, in address order.
   * @param behavior a code point, such as `end-con-behavior`
   */
  sidsOf(behavior: number): SidEntry[] {
    const best = new Map<string, { readonly sid: LearnedOf<'sid'>; readonly source: Source }>();
    for (const source of this.#counting()) {
      for (const sid of source.routers) {
        if (sid.kind !== 'sid') continue;
        const other = best.get(mapKey(sid.sid));
        if (sid.behavior === behavior && (!other || compareSources(source, other.source) < 0))
          best.set(mapKey(sid.sid), { sid, source });
      }
    }
    const toWall = this.#dependencies.wallOffset();
    return [...best.values()]
      .sort((a, b) => compareAddresses(a.sid.sid, b.sid.sid))
      .map(({ sid, source }) => sidEntry(sid, source, toWall));
  }

  /**
   * All SIDs of other routers that count, of every behavior, in address order. A SID is listed once for each behavior,
   * carrier and originator that it has.
   */
  sids(): readonly SidEntry[] {
    return (this.#sids ??= this.#allSids());
  }

  #allSids(): SidEntry[] {
    const toWall = this.#dependencies.wallOffset();
    const seen = new Set<string>();
    return this.#counting()
      .flatMap((source) => source.routers.flatMap((one) => (one.kind === 'sid' ? [{ sid: one, source }] : [])))
      .sort((a, b) => compareAddresses(a.sid.sid, b.sid.sid) || compareSources(a.source, b.source))
      .flatMap(({ sid, source }) => {
        const { carrier, name } = source.originator;
        const before = seen.size;
        const isRepeated = seen.add(`${sid.sid.value} ${sid.behavior} ${carrier} ${name}`).size === before;
        return isRepeated ? [] : [sidEntry(sid, source, toWall)];
      });
  }

  /** As groupMembers, without their originators. */
  members(): readonly GroupMember[] {
    return (this.#members ??= this.groupMembers().map(({ member }) => member));
  }

  /**
   * All claims for members of groups, with their originators, in the order of compareClaims. A router that repeats a
   * claim has it once.
   */
  groupMembers(): GroupClaim[] {
    const toWall = this.#dependencies.wallOffset();
    const seen = new Set<string>();
    return this.#counting()
      .flatMap((source) =>
        source.routers.flatMap((one) => (one.kind === 'group-membership' ? [{ member: one, source }] : [])),
      )
      .sort((a, b) => compareClaims(a.member, b.member) || compareSources(a.source, b.source))
      .flatMap(({ member, source: { originator } }) => {
        const { carrier, name } = originator;
        const before = seen.size;
        const isRepeated = seen.add(`${carrier} ${name} ${memberKey(member)}`).size === before;
        return isRepeated ? [] : [{ member, carrier, originator: name, ...held(originator, toWall) }];
      });
  }

  /**
   * Addresses of the reachable routers, each once, in order. A router that is only held would not answer a probe. FRR
   * beside cnpd may advertise this router's own address.
   */
  routerAddresses(): IpAddress[] {
    const found = new Map<string, IpAddress>();
    for (const source of this.#counting()) {
      if (source.originator.reachability !== 'reachable') continue;
      for (const learned of source.routers) {
        if (learned.kind === 'router-address') found.set(routerKind(learned.kind).text(learned), learned.address);
      }
    }
    return [...found.values()].sort(compareAddresses);
  }

  #counting(): Source[] {
    return [...this.#sources].filter((source) => source.originator.reachability !== 'dormant');
  }
}

const textOf = ({ originator, routers }: Source): string =>
  JSON.stringify([
    originator.name,
    ...routers.map((learned) => [learned.kind, routerKind(learned.kind).text(learned)]),
  ]);

const sidEntry = ({ sid, behavior }: LearnedOf<'sid'>, { originator }: Source, toWall: number): SidEntry => ({
  sid,
  behavior,
  carrier: originator.carrier,
  originator: originator.name,
  ...held(originator, toWall),
});

const held = ({ reachability, heldUntil }: Source['originator'], toWall: number): { readonly heldUntil?: string } =>
  reachability === 'held' ? { heldUntil: new Date(heldUntil + toWall).toISOString() } : {};
