// What the network tells about routers rather than prefixes: their SIDs (END.CON, FCN §4.2.2) and the addresses at
// which RTT probes may reach them. They count while their originator does (originators.ts), as prefixes do. They are
// few, a SID a routing table of a PE and an address a router, so the whole list is made anew when somebody asks; that
// there is a reason to ask, `takeChanged` says.
import { type IpAddress, compareAddresses, isUnicastHost } from '../model/address.ts';
import type { LearnedReport, LearnedSid } from '../model/advertisement.ts';
import type { Count } from '../model/log.ts';
import { type Origin, type Source, compareSources } from './preference.ts';

/**
 * As many SIDs and as many addresses as are kept. What comes beyond is counted and not kept until its source says
 * something new.
 */
const ROUTER_TABLE_LIMIT = 16_384;

interface SidEntry extends LearnedSid {
  readonly carrier: Origin;
  readonly originator: string;
  /** RFC 3339; set while the originator is unreachable: when the entry will be dropped. */
  readonly heldUntil?: string;
}

interface LearnedRoutersModules {
  readonly count: Count;
  /** What to add to the table's clock to get the time of day, ms. */
  readonly wallOffset: () => number;
}

export class LearnedRouters {
  readonly #modules: LearnedRoutersModules;
  readonly #limit: number;
  /** Those that say something. */
  readonly #sources = new Set<Source>();
  #sids = 0;
  #addresses = 0;
  #changed = false;

  constructor(modules: LearnedRoutersModules, limit = ROUTER_TABLE_LIMIT) {
    this.#modules = modules;
    this.#limit = limit;
  }

  get sizes(): { readonly sids: number; readonly routerAddresses: number } {
    return { sids: this.#sids, routerAddresses: this.#addresses };
  }

  /** Replaces what the source said before. */
  replace(source: Source, { sids = [], routerAddresses = [] }: Pick<LearnedReport, 'sids' | 'routerAddresses'>): void {
    if (sids.length + routerAddresses.length === 0 && !this.#sources.has(source)) return;
    const before = JSON.stringify(textOf(source));
    this.#sids -= source.sids.length;
    this.#addresses -= source.routerAddresses.length;
    source.sids = this.#kept('learned.sid', sids, (s) => s.sid, this.#limit - this.#sids);
    source.routerAddresses = this.#kept(
      'learned.router-address',
      routerAddresses,
      (a) => a,
      this.#limit - this.#addresses,
    );
    this.#sids += source.sids.length;
    this.#addresses += source.routerAddresses.length;
    if (source.sids.length + source.routerAddresses.length > 0) this.#sources.add(source);
    else this.#sources.delete(source);
    this.#changed ||= before !== JSON.stringify(textOf(source));
  }

  #kept<T>(name: string, all: readonly T[], addressOf: (one: T) => IpAddress, room: number): readonly T[] {
    const usable = all.filter((one) => isUnicastHost(addressOf(one)));
    if (usable.length < all.length) this.#modules.count(`${name}.unusable`, all.length - usable.length);
    if (usable.length > room) this.#modules.count(`${name}.table-full`, usable.length - room);
    return usable.length > room ? usable.slice(0, room) : usable;
  }

  /** Some originator has become reachable, held or dormant. */
  reachabilityChanged(): void {
    this.#changed ||= this.#sources.size > 0;
  }

  /** A source has got another originator. */
  touch(source: Source): void {
    this.#changed ||= this.#sources.has(source);
  }

  /** Whether endConSids or routerAddresses may answer differently from the last time this was asked. */
  takeChanged(): boolean {
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  /**
   * The END.CON SIDs of other routers that count, each once, in address order.
   * @param behavior the code point `end-con-behavior`
   */
  endConSids(behavior: number): SidEntry[] {
    const best = new Map<bigint, { readonly sid: LearnedSid; readonly source: Source }>();
    for (const source of this.#counting()) {
      for (const sid of source.sids) {
        const other = best.get(sid.sid.value);
        if (sid.behavior === behavior && (!other || compareSources(source, other.source) < 0))
          best.set(sid.sid.value, { sid, source });
      }
    }
    const toWall = this.#modules.wallOffset();
    return [...best.values()]
      .sort((a, b) => compareAddresses(a.sid.sid, b.sid.sid))
      .map(({ sid, source }) => sidEntry(sid, source, toWall));
  }

  /**
   * Addresses of the routers that can be reached now, each once, in order: a probe to one that is only held would not
   * come back. FRR beside may name this router's own.
   */
  routerAddresses(): IpAddress[] {
    const found = new Map<string, IpAddress>();
    for (const source of this.#counting()) {
      if (source.originator.reachability !== 'reachable') continue;
      for (const address of source.routerAddresses) found.set(`${address.family} ${address.value}`, address);
    }
    return [...found.values()].sort(compareAddresses);
  }

  #counting(): Source[] {
    return [...this.#sources].filter((source) => source.originator.reachability !== 'dormant');
  }
}

const textOf = ({ originator, sids, routerAddresses }: Source): string[] => [
  originator.name,
  ...sids.map((s) => `${s.sid.value} ${s.behavior}`),
  ...routerAddresses.map((a) => `${a.family} ${a.value}`),
];

const sidEntry = ({ sid, behavior }: LearnedSid, { originator }: Source, toWall: number): SidEntry => ({
  sid,
  behavior,
  carrier: originator.carrier,
  originator: originator.name,
  ...(originator.reachability === 'held' && { heldUntil: new Date(originator.heldUntil + toWall).toISOString() }),
});
