// The learned table (PNC §5; PNC-5-b, PNC-5-c): which proxy serves which senders, from all carriers together. It
// answers by longest match over all prefixes, flagged or not; reports the changes since the last call, for the
// dataplane; and lists its entries, for the operator. Files: trie.ts holds the prefixes, advertised.ts the
// advertisements of each, and preference.ts chooses among them (candidate-heap.ts where there are very many). claims.ts
// has those that say what senders understand, which is a choice of its own.
// sources.ts has the sources, and source-reports.ts replaces the report of one. originators.ts holds after loss, and
// reachability-changes.ts evaluates what that changes. forwarding.ts makes the dataplane's table. SIDs and router
// addresses are about routers, not prefixes: routers.ts keeps them. topologies.ts keeps the topologies of areas.
//
// A flag without a usable address is counted and means "no proxy", as an unflagged prefix does: there is no destination
// for notices about these senders, and the proxy of a shorter prefix is not theirs.
//
// This router's own declarations are entries too (declareOwn). If the router of a congested port is itself the proxy of
// the senders, the same lookup finds it. The notice then has an address of this router as its destination; reconcile
// attaches the proxy's program to lo as well.
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
import type { Prefix } from '../model/prefix.ts';
import type { SenderState } from '../model/state.ts';
import type { TopologyReport } from '../model/topology.ts';
import { WallTime } from '../model/wall-time.ts';
import type { Steps } from '../model/work.ts';
import { Advertised } from './advertised.ts';
import { Forwarding, type ForwardingChanges, type ForwardingEntry } from './forwarding.ts';
import { newKey, setAddress, setPrefix } from './key.ts';
import { type SenderAdvertisement, isSender, routersIn } from './kinds.ts';
import type { LostFlags } from './lost-flags.ts';
import { Originators } from './originators.ts';
import { type Advertisement, type Origin, type Originator, type Source, advertisementsOf } from './preference.ts';
import { ReachabilityChanges } from './reachability-changes.ts';
import { LearnedRouters } from './routers.ts';
import { Senders } from './senders.ts';
import { senderRows } from './show.ts';
import { SourceReports } from './source-reports.ts';
import { Sources } from './sources.ts';
import { Topologies } from './topologies.ts';
import { PrefixTrie } from './trie.ts';

interface LearnedTableOptions {
  /**
   * How long entries outlive the reachability of their originator, milliseconds; for all carriers, or for each of those
   * that run.
   */
  readonly holdMs: number | Readonly<Partial<Record<CarrierName, number>>>;
}

interface LearnedTableDependencies {
  /** Deadlines are on this clock, so that setting the time of day neither shortens nor prolongs a hold. */
  readonly clock: Pick<Clock, 'now'>;
  /** Milliseconds since 1970, for display only. */
  readonly wallClock?: () => number;
  readonly count: Count;
}

interface LookupResult {
  /** The longest match. */
  readonly prefix: Prefix;
  /** null: the match has none. */
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

/** Prefixes, or sources, in a step of rows(). */
const ROWS_STEP = 64;

export class LearnedTable {
  /** SIDs and router addresses, fed and dropped like the prefixes. */
  readonly routers: LearnedRouters;
  readonly topology = new Topologies();
  private holdMs: LearnedTableOptions['holdMs'];
  private readonly dependencies: LearnedTableDependencies;
  private readonly trie = new PrefixTrie();
  private readonly key = newKey();
  private readonly ipv4Base: number;
  private readonly minimal: Forwarding;
  private readonly originators = new Originators((originator, before) => {
    this.reachabilityChanges.add(originator, before);
    this.routers.reachabilityChanged();
  });
  private readonly sources = new Sources();
  private readonly wallTime: WallTime;
  private readonly advertised: Advertised;
  private readonly reports: SourceReports;
  private readonly reachabilityChanges: ReachabilityChanges;
  private taken = new Senders(() => this.forwarding());

  /** Starts empty; touches nothing. */
  constructor(options: LearnedTableOptions, dependencies: LearnedTableDependencies) {
    this.holdMs = options.holdMs;
    this.dependencies = dependencies;
    this.wallTime = new WallTime(dependencies.clock, dependencies.wallClock ?? Date.now);
    this.advertised = new Advertised({ count: dependencies.count, wallTime: this.wallTime });
    this.routers = new LearnedRouters({ count: dependencies.count, wallOffset: () => this.wallTime.offset() });
    setPrefix(this.key, { address: { family: 4, value: 0n }, length: 0 });
    this.ipv4Base = this.trie.insert(this.key);
    this.reports = new SourceReports({ trie: this.trie, advertised: this.advertised, count: dependencies.count });
    this.reachabilityChanges = new ReachabilityChanges(this.advertised, this.wallTime);
    this.minimal = new Forwarding(this.trie, this.ipv4Base);
  }

  /** The topology of each carrier that reports one. */
  topologies(): readonly TopologyReport[] {
    return this.topology.all();
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
   * Which originators the carrier reaches. An originator that was never in a report does not count: its LSP may be that
   * of a dead router.
   */
  reachability(report: ReachabilityReport): void {
    const holdMs = typeof this.holdMs === 'number' ? this.holdMs : (this.holdMs[report.carrier] ?? 0);
    this.originators.report(report, this.dependencies.clock.now(), holdMs);
  }

  /** Replaces the senders that this router declares. Metric 0: for its own senders it is the nearest proxy. */
  declareOwn(origination: Origination): void {
    const own = origination.flatMap((declared): SenderAdvertisement[] =>
      declared.kind === 'sender-prefix' ? [{ ...declared, pnc: declared.proxy !== undefined, metric: 0 }] : [],
    );
    this.apply(OWN.carrier, OWN.source, OWN.originator, own);
  }

  /** The sources of a carrier that advertise anything, with the originator of each. */
  *sourcesOf(carrier: CarrierName): Generator<{ readonly source: string; readonly originator: string }> {
    for (const { name, originator } of this.sources.of(carrier)) yield { source: name, originator: originator.name };
  }

  /**
   * Drops entries that were held long enough.
   * @param now milliseconds of the clock.
   * @returns whether anything was dropped
   */
  tick(now: number = this.dependencies.clock.now()): boolean {
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

  /** Whether takeChanges may report changes. */
  get pending(): boolean {
    return this.reachabilityChanges.pending || this.advertised.changed.size > 0 || this.minimal.pending;
  }

  /**
   * What the dataplane must change since the last call. It also frees unneeded nodes, so it must be called.
   * @param limit prefixes to visit in one go, so that a flood of reports does not hold up the event loop; `more`:
   *   some are left
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
    this.reachabilityChanges.apply(Infinity);
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

  /** All of rows() at once. */
  entries(): SenderState[] {
    const steps = this.rows();
    let step = steps.next();
    while (!step.done) step = steps.next();
    return step.value;
  }

  /**
   * All advertisements that count, the preferred one of each prefix first; IPv4 before IPv6, in address order. The
   * table may change between the steps. Each prefix is shown once, as it is at its step, so the rows of one prefix fit
   * together. What comes or goes meanwhile may be shown or not.
   */
  *rows(): Steps<SenderState[]> {
    while (this.reachabilityChanges.pending) {
      this.reachabilityChanges.apply(ROWS_STEP);
      yield;
    }
    return yield* senderRows(this.trie, this.advertised, { toWall: this.wallTime.offset(), atOnce: ROWS_STEP });
  }

  /** Prefixes whose flag is lost on the way, and of which nothing else is known. */
  lostFlags(): LostFlags {
    return this.advertised.lostFlags();
  }

  sizes(): LearnedSizes {
    this.settle(Infinity);
    return this.currentSizes();
  }

  /** Without the changes that are still to be taken in: costs little, however many there are. */
  currentSizes(): LearnedSizes {
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
      this.reports.replace(source, advertisements);
      this.routers.replace(source, NONE);
    } else {
      this.reports.replace(source, advertisements.filter(isSender));
      this.routers.replace(
        source,
        routersIn(advertisements, () => this.dependencies.count('learned.kind.unknown')),
      );
    }
    if (source.advertisements || source.routers.length > 0 || this.routers.leavesOut(source)) return;
    this.sources.delete(carrier, name);
    this.originators.detach(source);
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

  private settle(limit: number): void {
    for (let left = this.reachabilityChanges.apply(limit); left > 0; left--) {
      const node = this.advertised.changed.take();
      if (node === undefined) return;
      this.minimal.set(node, this.advertised.answer(node));
      this.release(node);
    }
  }

  private release(node: number): void {
    this.trie.prune(
      node,
      (n) => this.advertised.first(n) !== undefined || this.advertised.changed.has(n) || this.minimal.inUse(n),
    );
  }
}
