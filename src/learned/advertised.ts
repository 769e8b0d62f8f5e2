// The advertisements of each prefix, by its node in the trie, and which of them is in force. A node has a linked list,
// because most have a single advertisement. Where there are very many, candidate-heap.ts chooses.
import { type IpAddress, isUnicastHost, sameAddress, sameOptional } from '../model/address.ts';
import type { Count } from '../model/log.ts';
import { addressUse, senderlessUse } from '../model/prefix.ts';
import { type Understood, possibleIn } from '../model/understood.ts';
import type { WallTime } from '../model/wall-time.ts';
import { Column } from './column.ts';
import { CandidateHeaps } from './candidate-heap.ts';
import { Claims } from './claims.ts';
import type { Answer } from './forwarding.ts';
import type { SenderAdvertisement } from './kinds.ts';
import { FlaglessPrefixes, type LostFlags } from './lost-flags.ts';
import { NodeQueue } from './node-queue.ts';
import type { Advertisement, Source } from './preference.ts';

interface AdvertisedDependencies {
  readonly count: Count;
  readonly wallTime: WallTime;
}

export class Advertised {
  private readonly heads = new Column<Advertisement>();
  private readonly heaps = new CandidateHeaps();
  private readonly claims = new Claims();
  private readonly flagless = new FlaglessPrefixes();
  /**
   * Nodes whose advertisements have changed since they were last taken from here. The choice is made once per node,
   * however many changes there were.
   */
  readonly changed = new NodeQueue();
  count = 0;
  private readonly dependencies: AdvertisedDependencies;
  /** A million prefixes have few proxies: equal consecutive values share one object. */
  private lastProxy: IpAddress | undefined;
  private lastAnswer: Answer | undefined;

  constructor(dependencies: AdvertisedDependencies) {
    this.dependencies = dependencies;
  }

  /** The first of the node's list, in no order. */
  first(node: number): Advertisement | undefined {
    return this.heads.get(node);
  }

  /** The advertisement in force; undefined: none counts. */
  best(node: number): Advertisement | undefined {
    return this.heaps.best(node, this.heads.get(node));
  }

  /** The advertisement that says what the node's senders understand; undefined: none does. */
  claim(node: number): Advertisement | undefined {
    return this.claims.best(node);
  }

  /** Prefixes whose flag is lost on the way, and of which nothing else is known. */
  lostFlags(): LostFlags {
    return this.flagless.lost((node) => (this.answer(node) ?? null) !== null);
  }

  /** What is known of its senders. null: that the prefix exists; undefined: not even that. */
  answer(node: number): Answer | null | undefined {
    const best = this.best(node);
    if (!best) return undefined;
    const [proxy, supports] = [best.proxy ?? null, this.claim(node)?.supports];
    if (!proxy && !supports) return null;
    const { lastAnswer: last } = this;
    if (last && last.supports === supports && last.proxy === proxy) return last;
    return (this.lastAnswer = { proxy, supports });
  }

  /**
   * A source's advertisement of a prefix, not linked yet: the old one if it is equal, so that `since` survives a
   * refresh; else a new one.
   */
  stated(old: Advertisement | undefined, node: number, source: Source, learned: SenderAdvertisement): Advertisement {
    const [proxy, supports] = [this.usableProxy(learned), usableClaim(learned)];
    if (old && saysSame(old, learned, proxy, supports)) return old;
    this.countUnusable(learned, proxy, supports);
    return {
      node,
      source,
      pnc: learned.pnc,
      proxy,
      metric: learned.metric,
      second: learned.second ?? false,
      supports,
      since: this.dependencies.wallTime.now(),
      previous: undefined,
      next: undefined,
    };
  }

  /**
   * Changes a linked advertisement to what its source reports now, in place. In a heap its position would then be
   * wrong,
   * so there a new advertisement replaces it.
   */
  change(a: Advertisement, learned: SenderAdvertisement): Advertisement {
    const [proxy, supports] = [this.usableProxy(learned), usableClaim(learned)];
    if (saysSame(a, learned, proxy, supports)) return a;
    if (this.heaps.has(a.node) || this.claims.inOrder(a.node))
      return this.replace(a, this.stated(a, a.node, a.source, learned));
    this.countUnusable(learned, proxy, supports);
    this.claims.remove(a);
    this.flagless.remove(a);
    a.pnc = learned.pnc;
    a.proxy = proxy;
    a.metric = learned.metric;
    a.second = learned.second ?? false;
    a.supports = supports;
    this.claims.add(a);
    this.flagless.add(a);
    a.since = this.dependencies.wallTime.now();
    this.changed.add(a.node);
    return a;
  }

  private replace(a: Advertisement, by: Advertisement): Advertisement {
    this.unlink(a);
    this.link(by);
    return by;
  }

  /**
   * No sender is in a multicast or loopback prefix (senderlessUse), and no proxy has such an address. An advertisement
   * of one is never used, whatever its source.
   */
  private usableProxy({ prefix, pnc, proxy }: SenderAdvertisement): IpAddress | undefined {
    if (!pnc || !proxy || !isUnicastHost(proxy) || senderlessUse(prefix) !== undefined) return undefined;
    if (!this.lastProxy || !sameAddress(this.lastProxy, proxy)) this.lastProxy = proxy;
    return this.lastProxy;
  }

  private countUnusable(
    { prefix, pnc, proxy, supports: said = NOTHING }: SenderAdvertisement,
    usable: IpAddress | undefined,
    supports: Understood | undefined,
  ): void {
    if (said.length > (supports ?? NOTHING).length) this.dependencies.count('learned.supports.unusable');
    if (!pnc || usable) return;
    const use = senderlessUse(prefix);
    if (use !== undefined) this.dependencies.count(`learned.prefix.${use}`);
    else this.dependencies.count(proxy ? `learned.proxy.${addressUse(proxy)}` : 'learned.proxy.missing');
  }

  link(a: Advertisement): void {
    const head = this.heads.get(a.node);
    a.next = head;
    if (head) head.previous = a;
    this.heads.set(a.node, a);
    this.heaps.add(a);
    this.claims.add(a);
    this.flagless.add(a);
    this.changed.add(a.node);
    this.count++;
  }

  unlink(a: Advertisement): void {
    if (a.previous) a.previous.next = a.next;
    else this.heads.set(a.node, a.next);
    if (a.next) a.next.previous = a.previous;
    a.previous = a.next = undefined;
    this.heaps.remove(a);
    this.claims.remove(a);
    this.flagless.remove(a);
    this.changed.add(a.node);
    this.count--;
  }

  /** The order of a node's advertisements has changed. */
  reorder(node: number): void {
    this.heaps.reorder(node);
    this.claims.reorder(node);
    this.changed.add(node);
  }
}

const NOTHING: Understood = [];

/** No claim is about senders that the prefix does not have, or that a format cannot reach. */
const usableClaim = ({ prefix, supports }: SenderAdvertisement): Understood | undefined =>
  supports && senderlessUse(prefix) === undefined ? possibleIn(prefix, supports) : undefined;

function saysSame(
  a: Advertisement,
  { pnc, metric, second = false }: SenderAdvertisement,
  proxy: IpAddress | undefined,
  supports: Understood | undefined,
): boolean {
  return (
    a.supports === supports &&
    a.pnc === pnc &&
    a.metric === metric &&
    a.second === second &&
    sameOptional(a.proxy, proxy)
  );
}
