// The learned table (PNC §5; PNC-5-b, PNC-5-c): which proxy serves which senders, from all carriers together. It answers by longest match over all prefixes,
// flagged or not; says what changed since it was last asked, for the dataplane; and lists what it knows, for the operator. Files: trie.ts holds
// the prefixes, preference.ts chooses among advertisements of one, originators.ts holds after loss, forwarding.ts makes the dataplane's table.
//
// A flag without a usable address is counted and means "no proxy", as an unflagged prefix does: notices for these senders have nowhere to go, and a
// shorter prefix's proxy is not theirs.
//
// This router's own declarations belong here too (declareOwn): a congested port of the router that is itself the proxy of the senders finds
// itself by the same lookup. The notice then goes to an own address; reconcile attaches the proxy's program to lo as well.
import { type IpAddress, formatAddress, isIpv4Mapped, isUnicastHost, sameAddress } from '../model/address.ts';
import type { LearnedPrefix, LearnedReport, ProxyPrefix, ReachabilityReport } from '../model/advertisement.ts';
import type { Clock } from '../model/clock.ts';
import type { Count } from '../model/log.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import type { SenderState } from '../model/state.ts';
import { Forwarding, type ForwardingChanges, type ForwardingEntry, put } from './forwarding.ts';
import { newKey, setAddress, setPrefix } from './key.ts';
import { Originators } from './originators.ts';
import { type Advertisement, type Origin, type Originator, type Reachability, type Source, comparePreference, mostPreferred } from './preference.ts';
import { PrefixTrie, ROOT } from './trie.ts';

export interface LearnedTableOptions {
  /** How long entries outlive the reachability of their originator, milliseconds. */
  readonly holdMs: number;
}

export interface LearnedTableModules {
  /** Deadlines are on this clock, so that setting the time of day neither shortens nor prolongs a hold. */
  readonly clock: Pick<Clock, 'now'>;
  /** Milliseconds since 1970, for display only. */
  readonly wallClock?: () => number;
  readonly count: Count;
}

export interface LookupResult {
  /** The longest match. */
  readonly prefix: Prefix;
  /** null: the match says that there is none. */
  readonly proxy: IpAddress | null;
  readonly carrier: Origin;
  readonly originator: string;
}

export interface LearnedSizes {
  readonly advertisements: number;
  /** Prefixes with a proxy, by the family of its address. */
  readonly proxies4: number;
  readonly proxies6: number;
  readonly originators: number;
  readonly held: number;
  readonly dormant: number;
}

const OWN: { readonly carrier: Origin; readonly source: string; readonly originator: string } = { carrier: 'local', source: 'cnpd.yaml', originator: 'this router' };

export class LearnedTable {
  private holdMs: number;
  private readonly modules: LearnedTableModules;
  private readonly trie = new PrefixTrie();
  private readonly key = newKey();
  private readonly ipv4Base: number;
  private readonly minimal: Forwarding;
  private readonly originators = new Originators((originator, before) => this.touch(originator, before));
  private readonly sources = new Map<string, Source>();
  /** By node: the first of its advertisements. */
  private readonly heads: (Advertisement | undefined)[] = [];
  /** Nodes whose advertisements changed since forwarding was told. Chosen among only once, however many changes there were. */
  private readonly stale = new Set<number>();
  private advertisements = 0;
  private shownOffset = -Infinity;
  /** A million prefixes have few proxies: the value is shared with the one before. */
  private lastProxy: IpAddress | undefined;

  /** Starts empty; touches nothing. */
  constructor(options: LearnedTableOptions, modules: LearnedTableModules) {
    this.holdMs = options.holdMs;
    this.modules = modules;
    setPrefix(this.key, { address: { family: 4, value: 0n }, length: 0 });
    this.ipv4Base = this.trie.insert(this.key);
    this.minimal = new Forwarding(this.trie, this.ipv4Base);
  }

  /** For a reload; deadlines that run keep running. */
  configure(options: LearnedTableOptions): void {
    this.holdMs = options.holdMs;
  }

  /** Replaces what the same source said before. An empty report withdraws it. Never throws. */
  learned(report: LearnedReport): void {
    this.apply(report.carrier, report.source, report.originator, report.prefixes);
  }

  /** Which originators the carrier reaches. One that was never in such a report does not count: its LSP may be a dead router's. */
  reachability(report: ReachabilityReport): void {
    this.originators.report(report, this.modules.clock.now(), this.holdMs);
  }

  /** Replaces what this router declares. Metric 0: for its own senders it is the nearest proxy. */
  declareOwn(prefixes: readonly ProxyPrefix[]): void {
    this.apply(OWN.carrier, OWN.source, OWN.originator, prefixes.map(({ prefix, proxy }) => ({ prefix, proxy, pnc: true, metric: 0 })));
  }

  /** Drops what was held long enough. @param now milliseconds of the clock. @returns whether anything was dropped */
  tick(now: number = this.modules.clock.now()): boolean {
    return this.originators.expire(now);
  }

  /** When tick has work to do, milliseconds of the clock; undefined: not before something is lost. */
  nextDeadline(): number | undefined {
    return this.originators.nextDeadline();
  }

  /** Whether takeChanges may have something to say. */
  get pending(): boolean {
    return this.stale.size > 0 || this.minimal.pending;
  }

  /**
   * What the dataplane has to change since the last call. Also frees what is not needed any more, so somebody has to call it.
   * @param limit prefixes to look at in one go, so that a flood of reports does not hold up the event loop; `more` says that some are left
   */
  takeChanges(limit = Infinity): ForwardingChanges {
    this.settle(limit);
    const changes = this.minimal.take(limit, (node) => this.release(node));
    return { ...changes, more: this.pending };
  }

  /** The whole table of the dataplane, minimal; what takeChanges has told adds up to it. */
  forwarding(): Iterable<ForwardingEntry> {
    this.settle(Infinity);
    return this.minimal.all();
  }

  /** The longest match, or undefined when no prefix contains the address. */
  lookup(address: IpAddress): LookupResult | undefined {
    if (isIpv4Mapped(address)) return undefined;
    setAddress(this.key, address);
    let match: Advertisement | undefined;
    this.trie.forEachCover(this.key, (node) => {
      // What is above the IPv4 default route is IPv6.
      if (node === this.ipv4Base) match = undefined;
      match = mostPreferred(this.heads[node]) ?? match;
    });
    if (!match) return undefined;
    const { carrier, name } = match.source.originator;
    return { prefix: this.trie.prefix(match.node), proxy: match.proxy ?? null, carrier, originator: name };
  }

  /** All advertisements that count, the preferred one of each prefix first; IPv4 before IPv6, in address order. */
  entries(): SenderState[] {
    const four: SenderState[] = [];
    const six: SenderState[] = [];
    const visit = (node: number): boolean => {
      const head = this.heads[node];
      if (head) this.list(head, this.trie.prefix(node), four, six);
      return true;
    };
    visit(ROOT);
    this.trie.forEachBelow(ROOT, visit);
    return four.concat(six);
  }

  sizes(): LearnedSizes {
    this.settle(Infinity);
    return { advertisements: this.advertisements, ...this.minimal.sizes, ...this.originators.counts() };
  }

  private apply(carrier: Origin, name: string, originatorName: string, prefixes: readonly LearnedPrefix[]): void {
    const id = `${carrier} ${name}`;
    const source = this.sourceOf(id, name, this.originators.get(carrier, originatorName));
    const before = new Map(source.advertisements.map((a) => [a.node, a]));
    const after = new Map<number, Advertisement>();
    for (const learned of prefixes) {
      if (!setPrefix(this.key, learned.prefix)) {
        this.modules.count('learned.prefix.invalid');
        continue;
      }
      const node = this.trie.insert(this.key);
      this.merge(after, this.advertisement(before.get(node), node, source, learned));
    }
    for (const [node, old] of before) if (after.get(node) !== old) this.unlink(old);
    for (const [node, a] of after) if (before.get(node) !== a) this.link(a);
    source.advertisements = [...after.values()];
    if (after.size > 0) return;
    this.sources.delete(id);
    this.originators.detach(source);
  }

  private sourceOf(id: string, name: string, originator: Originator): Source {
    let source = this.sources.get(id);
    if (source && source.originator !== originator) {
      for (const { node } of source.advertisements) this.stale.add(node);
      this.originators.detach(source);
      source.originator = originator;
    }
    if (!source) this.sources.set(id, (source = { name, originator, advertisements: [] }));
    originator.sources.add(source);
    return source;
  }

  /** The old advertisement when it says the same, so that `since` survives a refresh; else a new one. */
  private advertisement(old: Advertisement | undefined, node: number, source: Source, learned: LearnedPrefix): Advertisement {
    const { pnc, metric } = learned;
    const usable = pnc && learned.proxy !== undefined && isUnicastHost(learned.proxy);
    const proxy = usable ? this.shared(learned.proxy!) : undefined;
    if (old && old.pnc === pnc && old.metric === metric && (old.proxy && proxy ? sameAddress(old.proxy, proxy) : old.proxy === proxy)) return old;
    if (pnc && !usable) this.modules.count(learned.proxy ? 'learned.proxy.unusable' : 'learned.proxy.missing');
    return { node, source, pnc, proxy, metric, since: this.wall(), previous: undefined, next: undefined };
  }

  /** What to add to the clock for the time of day: kept until somebody sets the time, so that a deadline is shown alike every time. */
  private wallOffset(): number {
    const fresh = this.wall() - this.modules.clock.now();
    if (Math.abs(fresh - this.shownOffset) > 50) this.shownOffset = fresh;
    return this.shownOffset;
  }

  private wall(): number {
    return (this.modules.wallClock ?? Date.now)();
  }

  private shared(proxy: IpAddress): IpAddress {
    if (!this.lastProxy || !sameAddress(this.lastProxy, proxy)) this.lastProxy = proxy;
    return this.lastProxy;
  }

  /** A source that names a prefix twice contradicts itself; the preferred of the two counts. */
  private merge(after: Map<number, Advertisement>, a: Advertisement): void {
    const twin = after.get(a.node);
    if (twin) this.modules.count('learned.prefix.duplicate');
    if (!twin || comparePreference(a, twin) < 0) after.set(a.node, a);
  }

  private link(a: Advertisement): void {
    const head = this.heads[a.node];
    a.next = head;
    if (head) head.previous = a;
    put(this.heads, a.node, a);
    this.stale.add(a.node);
    this.advertisements++;
  }

  private unlink(a: Advertisement): void {
    if (a.previous) a.previous.next = a.next;
    else this.heads[a.node] = a.next;
    if (a.next) a.next.previous = a.previous;
    a.previous = a.next = undefined;
    this.stale.add(a.node);
    this.advertisements--;
  }

  private touch(originator: Originator, before: Reachability): void {
    for (const source of originator.sources) {
      for (const a of source.advertisements) {
        if (before === 'dormant') a.since = this.wall();
        this.stale.add(a.node);
      }
    }
  }

  private settle(limit: number): void {
    let looked = 0;
    for (const node of this.stale) {
      if (looked++ >= limit) return;
      this.stale.delete(node);
      const best = mostPreferred(this.heads[node]);
      this.minimal.set(node, best && (best.proxy ?? null));
      this.release(node);
    }
  }

  private release(node: number): void {
    this.trie.prune(node, (n) => this.heads[n] !== undefined || this.stale.has(n) || this.minimal.inUse(n));
  }

  private list(head: Advertisement, prefix: Prefix, four: SenderState[], six: SenderState[]): void {
    const all: Advertisement[] = [];
    for (let a: Advertisement | undefined = head; a; a = a.next) if (a.source.originator.reachability !== 'dormant') all.push(a);
    const text = formatPrefix(prefix);
    const out = prefix.address.family === 4 ? four : six;
    const toWall = this.wallOffset();
    for (const [i, a] of all.sort(comparePreference).entries()) out.push(senderState(a, text, i === 0, toWall));
  }
}

/** @param toWall what to add to the clock's time to get the time of day */
const senderState = (a: Advertisement, prefix: string, best: boolean, toWall: number): SenderState => ({
  prefix,
  proxy: a.proxy ? formatAddress(a.proxy) : null,
  best,
  pnc: a.pnc,
  metric: a.metric,
  carrier: a.source.originator.carrier,
  originator: a.source.originator.name,
  source: a.source.name,
  since: new Date(a.since).toISOString(),
  ...(a.source.originator.reachability === 'held' && { heldUntil: new Date(a.source.originator.heldUntil + toWall).toISOString() }),
});
