// The learned table (PNC §5; PNC-5-b, PNC-5-c): which proxy serves which senders, from all carriers together. It
// answers by longest match over all prefixes, flagged or not; reports the changes since the last call, for the
// dataplane; and lists its entries, for the operator. Files: trie.ts holds the prefixes, advertised.ts the
// advertisements of each, preference.ts chooses among them, candidate-heap.ts among very many, originators.ts holds
// after loss, forwarding.ts makes the dataplane's table. SIDs and router addresses, which are about routers and not
// about prefixes, are in routers.ts; sources.ts has the sources.
//
// A flag without a usable address is counted and means "no proxy", as an unflagged prefix does: notices for these
// senders have nowhere to go, and a shorter prefix's proxy is not theirs.
//
// This router's own declarations belong here too (declareOwn): a congested port of the router that is itself the proxy
// of the senders finds itself by the same lookup. The notice then goes to an own address; reconcile attaches the
// proxy's program to lo as well.
import { type IpAddress, isIpv4Mapped } from '../model/address.ts';
import type {
  CarrierName,
  LearnedAdvertisement,
  LearnedReport,
  Origination,
  ReachabilityReport,
} from '../model/advertisement.ts';
import type { Clock } from '../model/clock.ts';
import type { Count } from '../model/log.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import type { SenderState } from '../model/state.ts';
import { Advertised } from './advertised.ts';
import { Forwarding, type ForwardingChanges, type ForwardingEntry } from './forwarding.ts';
import { newKey, setAddress, setPrefix } from './key.ts';
import { type SenderAdvertisement, isSender, routersIn } from './kinds.ts';
import { Originators } from './originators.ts';
import {
  type Advertisement,
  type Origin,
  type Originator,
  type Reachability,
  type Source,
  advertisementsOf,
  comparePreference,
} from './preference.ts';
import { LearnedRouters } from './routers.ts';
import { Senders } from './senders.ts';
import { senderState } from './show.ts';
import { Sources } from './sources.ts';
import { PrefixTrie, ROOT } from './trie.ts';
import { WallTime } from './wall-time.ts';

interface LearnedTableOptions {
  /**
   * How long entries outlive the reachability of their originator, milliseconds; for all carriers, or for each of those
   * that run.
   */
  readonly holdMs: number | Readonly<Partial<Record<CarrierName, number>>>;
}

interface LearnedTableModules {
  /** Deadlines are on this clock, so that setting the time of day neither shortens nor prolongs a hold. */
  readonly clock: Pick<Clock, 'now'>;
  /** Milliseconds since 1970, for display only. */
  readonly wallClock?: () => number;
  readonly count: Count;
}

interface LookupResult {
  /** The longest match. */
  readonly prefix: Prefix;
  /** null: the match says that there is none. */
  readonly proxy: IpAddress | null;
  readonly carrier: Origin;
  readonly originator: string;
}

interface LearnedSizes {
  readonly advertisements: number;
  /** Prefixes with a proxy, by the family of its address. */
  readonly proxies4: number;
  readonly proxies6: number;
  readonly sids: number;
  readonly routerAddresses: number;
  readonly originators: number;
  readonly held: number;
  readonly dormant: number;
}

const OWN: { readonly carrier: Origin; readonly source: string; readonly originator: string } = {
  carrier: 'local',
  source: 'cnpd.yaml',
  originator: 'this router',
};

const NONE: readonly never[] = [];

export class LearnedTable {
  /** SIDs and router addresses, fed and dropped like the prefixes. */
  readonly routers: LearnedRouters;
  private holdMs: LearnedTableOptions['holdMs'];
  private readonly modules: LearnedTableModules;
  private readonly trie = new PrefixTrie();
  private readonly key = newKey();
  private readonly ipv4Base: number;
  private readonly minimal: Forwarding;
  private readonly originators = new Originators((originator, before) => this.touch(originator, before));
  private readonly sources = new Sources();
  private readonly wallTime: WallTime;
  private readonly advertised: Advertised;
  /**
   * Originators whose reachability has changed, and whether one was dormant: what they say is looked at a part at a
   * time.
   */
  private readonly touched = new Map<Originator, boolean>();
  private touching: Iterator<void> | undefined;
  private taken = new Senders(() => this.forwarding());

  /** Starts empty; touches nothing. */
  constructor(options: LearnedTableOptions, modules: LearnedTableModules) {
    this.holdMs = options.holdMs;
    this.modules = modules;
    this.wallTime = new WallTime(modules.clock, modules.wallClock ?? Date.now);
    this.advertised = new Advertised({ count: modules.count, wallTime: this.wallTime });
    this.routers = new LearnedRouters({ count: modules.count, wallOffset: () => this.wallTime.offset() });
    setPrefix(this.key, { address: { family: 4, value: 0n }, length: 0 });
    this.ipv4Base = this.trie.insert(this.key);
    this.minimal = new Forwarding(this.trie, this.ipv4Base);
  }

  /** For a reload; deadlines that run keep running. */
  configure(options: LearnedTableOptions): void {
    this.holdMs = options.holdMs;
  }

  /** Replaces the previous report of the same source. An empty report withdraws it. Never throws. */
  learned(report: LearnedReport): void {
    this.apply(report.carrier, report.source, report.originator, report.advertisements);
  }

  /**
   * Which originators the carrier reaches. One that was never in such a report does not count: its LSP may be a dead
   * router's.
   */
  reachability(report: ReachabilityReport): void {
    const holdMs = typeof this.holdMs === 'number' ? this.holdMs : (this.holdMs[report.carrier] ?? 0);
    this.originators.report(report, this.modules.clock.now(), holdMs);
  }

  /** Replaces what this router declares of senders. Metric 0: for its own senders it is the nearest proxy. */
  declareOwn(origination: Origination): void {
    const own = origination.flatMap((declared): SenderAdvertisement[] =>
      declared.kind === 'sender-prefix' ? [{ ...declared, pnc: true, metric: 0 }] : [],
    );
    this.apply(OWN.carrier, OWN.source, OWN.originator, own);
  }

  /** The sources of a carrier that say something, with the originator of each. */
  *sourcesOf(carrier: CarrierName): Generator<{ readonly source: string; readonly originator: string }> {
    for (const { name, originator } of this.sources.of(carrier)) yield { source: name, originator: originator.name };
  }

  /**
   * Drops entries that were held long enough.
   * @param now milliseconds of the clock.
   * @returns whether anything was dropped
   */
  tick(now: number = this.modules.clock.now()): boolean {
    return this.originators.expire(now);
  }

  /** When tick has work to do, milliseconds of the clock; undefined: not before something is lost. */
  nextDeadline(): number | undefined {
    return this.originators.nextDeadline();
  }

  /** Which senders have which proxy, as of the last takeChanges. */
  get senders(): Senders {
    return this.taken;
  }

  /** Whether takeChanges may have something to say. */
  get pending(): boolean {
    return (
      this.touching !== undefined || this.touched.size > 0 || this.advertised.changed.size > 0 || this.minimal.pending
    );
  }

  /**
   * What the dataplane must change since the last call. It also frees unneeded nodes, so it must be called.
   * @param limit prefixes to visit in one go, so that a flood of reports does not hold up the event loop; `more` says
   *   that some are left
   */
  takeChanges(limit = Infinity): ForwardingChanges {
    this.settle(limit);
    const changes = this.minimal.take(limit, (node) => this.release(node));
    this.taken = this.taken.after(changes);
    return { ...changes, more: this.pending };
  }

  /** The whole table of the dataplane, minimal; the changes from takeChanges add up to it. */
  forwarding(): Iterable<ForwardingEntry> {
    this.settle(Infinity);
    return this.minimal.all();
  }

  /** The longest match, or undefined when no prefix contains the address. */
  lookup(address: IpAddress): LookupResult | undefined {
    if (isIpv4Mapped(address)) return undefined;
    this.reconsider(Infinity);
    setAddress(this.key, address);
    let match: Advertisement | undefined;
    this.trie.forEachCover(this.key, (node) => {
      // Anything above the IPv4 default route is IPv6.
      if (node === this.ipv4Base) match = undefined;
      match = this.advertised.best(node) ?? match;
    });
    if (!match) return undefined;
    const { carrier, name } = match.source.originator;
    return { prefix: this.trie.prefix(match.node), proxy: match.proxy ?? null, carrier, originator: name };
  }

  /** All advertisements that count, the preferred one of each prefix first; IPv4 before IPv6, in address order. */
  entries(): SenderState[] {
    this.reconsider(Infinity);
    const four: SenderState[] = [];
    const six: SenderState[] = [];
    const visit = (node: number): boolean => {
      const head = this.advertised.first(node);
      if (head) this.list(head, this.trie.prefix(node), four, six);
      return true;
    };
    visit(ROOT);
    this.trie.forEachBelow(ROOT, visit);
    return four.concat(six);
  }

  sizes(): LearnedSizes {
    this.settle(Infinity);
    return {
      advertisements: this.advertised.count,
      ...this.minimal.sizes,
      ...this.routers.sizes,
      ...this.originators.counts(),
    };
  }

  private apply(
    carrier: Origin,
    name: string,
    originatorName: string,
    advertisements: readonly LearnedAdvertisement[],
  ): void {
    const source = this.sourceOf(carrier, name, this.originators.get(carrier, originatorName));
    if (advertisements.every(isSender)) {
      // Nearly always: no list is made.
      this.applySenders(source, advertisements);
      this.routers.replace(source, NONE);
    } else {
      this.applySenders(source, advertisements.filter(isSender));
      this.routers.replace(
        source,
        routersIn(advertisements, () => this.modules.count('learned.kind.unknown')),
      );
    }
    if (source.says || source.routers.length > 0) return;
    this.sources.delete(carrier, name);
    this.originators.detach(source);
  }

  private applySenders(source: Source, senders: readonly SenderAdvertisement[]): void {
    const { says: old } = source;
    if (senders.length <= 1 && (!old || 'node' in old)) source.says = this.applyOne(source, old, senders[0]);
    else source.says = this.applyMany(source, senders);
  }

  private applyMany(source: Source, prefixes: readonly SenderAdvertisement[]): Source['says'] {
    const old = advertisementsOf(source);
    if (this.namesSame(old, prefixes)) return this.applySame(old, prefixes);
    const nodes = prefixes.map(({ prefix }) => this.nodeOf(prefix));
    const before = new Map(old.map((a) => [a.node, a]));
    const after = new Map<number, Advertisement>();
    for (const [i, node] of nodes.entries()) {
      if (node !== undefined) this.merge(after, this.advertised.stated(before.get(node), node, source, prefixes[i]!));
    }
    for (const [node, a] of before) if (after.get(node) !== a) this.advertised.unlink(a);
    for (const [node, a] of after) if (before.get(node) !== a) this.advertised.link(a);
    return after.size > 0 ? [...after.values()] : undefined;
  }

  /** Whether these are the prefixes that the source named before, in the same order. */
  private namesSame(old: readonly Advertisement[], prefixes: readonly SenderAdvertisement[]): boolean {
    if (old.length !== prefixes.length) return false;
    for (let i = 0; i < old.length; i++)
      if (!setPrefix(this.key, prefixes[i]!.prefix) || !this.trie.is(old[i]!.node, this.key)) return false;
    return true;
  }

  /**
   * The same for a source that names the same prefixes as before: the usual case, and cheaper by the look-ups and by
   * new advertisements.
   */
  private applySame(
    advertisements: Advertisement[],
    prefixes: readonly SenderAdvertisement[],
  ): Advertisement[] | undefined {
    for (let i = 0; i < advertisements.length; i++)
      advertisements[i] = this.advertised.change(advertisements[i]!, prefixes[i]!);
    return advertisements.length > 0 ? advertisements : undefined;
  }

  /** The same for a source of one prefix at most, before and after. */
  private applyOne(
    source: Source,
    old: Advertisement | undefined,
    learned: SenderAdvertisement | undefined,
  ): Advertisement | undefined {
    const node = learned && this.nodeOf(learned.prefix);
    if (old && old.node === node) return this.advertised.change(old, learned!);
    const now = node === undefined ? undefined : this.advertised.stated(undefined, node, source, learned!);
    if (old) this.advertised.unlink(old);
    if (now) this.advertised.link(now);
    return now;
  }

  /** Undefined for an invalid prefix. */
  private nodeOf(prefix: Prefix): number | undefined {
    if (setPrefix(this.key, prefix)) return this.trie.insert(this.key);
    this.modules.count('learned.prefix.invalid');
    return undefined;
  }

  private sourceOf(carrier: Origin, name: string, originator: Originator): Source {
    let source = this.sources.get(carrier, name);
    if (!source) this.originators.attach((source = this.sources.create(carrier, name, originator)));
    else if (source.originator !== originator) {
      for (const { node } of advertisementsOf(source)) this.advertised.reorder(node);
      this.routers.touch(source);
      this.originators.detach(source);
      source.originator = originator;
      this.originators.attach(source);
    }
    return source;
  }

  /** A source that names a prefix twice contradicts itself; the preferred of the two counts. */
  private merge(after: Map<number, Advertisement>, a: Advertisement): void {
    const twin = after.get(a.node);
    if (twin) this.modules.count('learned.prefix.duplicate');
    if (!twin || comparePreference(a, twin) < 0) after.set(a.node, a);
  }

  private touch(originator: Originator, before: Reachability): void {
    this.touched.set(originator, before === 'dormant' || this.touched.get(originator) === true);
    this.routers.reachabilityChanged();
  }

  /**
   * Re-evaluates the advertisements of originators whose reachability has changed; one may originate all of a table.
   * @returns how much of `limit` is left, 0 when it was not enough
   */
  private reconsider(limit: number): number {
    if (this.touched.size > 0) this.touching ??= this.sourcesOfTouched();
    let left = limit;
    for (; this.touching && left > 0; left--) if (this.touching.next().done) this.touching = undefined;
    return left;
  }

  private *sourcesOfTouched(): Generator<void> {
    for (const [originator, wasDormant] of this.touched) {
      this.touched.delete(originator); // later changes are evaluated again
      // From the end: removing an element moves one that was already visited into its place.
      const { sources } = originator;
      for (let i = sources.length - 1; i >= 0; i--) {
        const source = sources[i];
        if (!source) continue;
        for (const a of advertisementsOf(source)) {
          if (wasDormant) a.since = this.wallTime.now();
          this.advertised.reorder(a.node);
        }
        yield;
      }
    }
  }

  private settle(limit: number): void {
    for (let left = this.reconsider(limit); left > 0; left--) {
      const node = this.advertised.changed.take();
      if (node === undefined) return;
      const best = this.advertised.best(node);
      this.minimal.set(node, best && (best.proxy ?? null));
      this.release(node);
    }
  }

  private release(node: number): void {
    this.trie.prune(
      node,
      (n) => this.advertised.first(n) !== undefined || this.advertised.changed.has(n) || this.minimal.inUse(n),
    );
  }

  private list(head: Advertisement, prefix: Prefix, four: SenderState[], six: SenderState[]): void {
    const all: Advertisement[] = [];
    for (let a: Advertisement | undefined = head; a; a = a.next)
      if (a.source.originator.reachability !== 'dormant') all.push(a);
    const text = formatPrefix(prefix);
    const out = prefix.address.family === 4 ? four : six;
    const toWall = this.wallTime.offset();
    for (const [i, a] of all.sort(comparePreference).entries()) out.push(senderState(a, text, i === 0, toWall));
  }
}
