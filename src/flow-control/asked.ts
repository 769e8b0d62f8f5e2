// What this router has asked its upstream neighbors to pause (FCN §4.1.2). A pure machine: packets that found a queue
// filled, and the lengths of queues, come in; ARNs to send go out.
//
// A pause is asked for again while the queue is not yet short, but for no more than a few pauses since the last packet
// that came from the neighbor and found the queue above its threshold. So a pause that is not needed ends by itself,
// traffic that no longer fills the queue is left alone, and no ARN causes another one here. Nobody is asked at the
// interface by which the packet leaves.
//
// A neighbor does not learn for which queue it pauses traffic. So it hears that congestion has ended once no queue
// needs the pause any more.
import { type IpAddress, familyKey } from '../model/address.ts';
import type { FilledQueue, FillingTraffic, Traffic } from '../model/flow-control.ts';
import type { AskedTraffic } from '../model/flow-control-state.ts';
import type { Count } from '../model/log.ts';
import { type RateLimit, TokenBucket } from '../model/token-bucket.ts';
import { heldKey, trafficKey } from './traffic-key.ts';

export interface AskedOptions {
  /** Asked for with each ARN. */
  readonly pauseMs: number;
  /** ARNs that ask for a pause. What eliminates one is sent for each of them, and needs no token. */
  readonly limit: RateLimit;
  /** Pauses that are remembered, so that they can be eliminated. */
  readonly mostAsked: number;
}

/** An upstream neighbor at an interface. */
export interface Upstream {
  readonly address: IpAddress;
  readonly ifindex: number;
}

export interface ArnToSend {
  readonly to: Upstream;
  readonly traffic: Traffic;
  /** Undefined: congestion is eliminated. */
  readonly pauseMs: number | undefined;
  /** 0 … 255: how far the queue is above its threshold; 255 is twice the threshold and more. */
  readonly metric: number;
}

/** A queue that is to become short. */
export interface AskedQueue extends FillingTraffic {
  /** heldKey() of the traffic, if it is held where it leaves. */
  readonly key: string;
}

/** What follows from a look at the queues. */
export interface AskedAgain {
  readonly arns: readonly ArnToSend[];
  /** Queues that have become short. */
  readonly emptied: readonly FillingTraffic[];
}

interface Asked extends AskedQueue {
  readonly to: Upstream;
  /** By which the neighbor knows the pause. */
  readonly pause: string;
  readonly since: number;
  /** When a packet found the queue filled last. */
  readonly foundAt: number;
  readonly sentAt: number;
  readonly times: number;
}

/** Pauses that follow from one packet. */
const MOST_PAUSES = 8;

export class AskedNeighbors {
  #opts: AskedOptions;
  readonly #count: Count;
  readonly #bucket: TokenBucket;
  /** In the order in which they were last sent. */
  readonly #asked = new Map<string, Asked>();

  constructor(opts: AskedOptions, dependencies: { readonly count: Count }, now: number) {
    this.#opts = opts;
    this.#count = dependencies.count;
    this.#bucket = new TokenBucket(opts.limit, now);
  }

  /** Ports with a queue that is to become empty. */
  get egress(): ReadonlySet<number> {
    return new Set([...this.#asked.values()].map(({ egress }) => egress));
  }

  get size(): number {
    return this.#asked.size;
  }

  /** @param above the threshold, bytes */
  onFilled(filled: FilledQueue, to: Upstream, above: number, now: number): ArnToSend | undefined {
    const { traffic, ingress, egress, reason, depth } = filled;
    if (to.ifindex === egress) return this.#refuse('hairpin');
    const pause = `${to.ifindex} ${familyKey(to.address)} ${trafficKey(traffic)}`;
    const name = `${egress} ${reason} ${pause}`;
    const before = this.#asked.get(name);
    if (before && now < before.sentAt + this.#opts.pauseMs / 2) {
      this.#asked.set(name, { ...before, foundAt: now });
      return this.#refuse('suppressed');
    }
    if (!before && this.#asked.size >= this.#opts.mostAsked && !this.#forgetOldest(now)) return this.#refuse('full');
    if (!this.#bucket.take(now)) return this.#refuse('limited');
    this.#asked.delete(name);
    const since = before && now < this.#over(before) ? before.since : now;
    const times = before ? before.times + 1 : 1;
    const queue = { to, traffic, ingress, egress, reason, pause, key: heldKey(filled) };
    this.#asked.set(name, { ...queue, since, foundAt: now, sentAt: now, times });
    this.#count('flow-control.ask.sent');
    return { to, traffic, pauseMs: this.#opts.pauseMs, metric: metricOf(depth, above) };
  }

  /** What was paused for queues that are short again goes on; for the others it is asked for again when it is due. */
  onQueues(isShort: (queue: AskedQueue) => boolean, now: number): AskedAgain {
    const arns: ArnToSend[] = [];
    const emptied: Asked[] = [];
    for (const [key, asked] of [...this.#asked]) {
      if (now >= this.#over(asked)) {
        this.#asked.delete(key); // it has ended by itself
      } else if (isShort(asked)) {
        this.#asked.delete(key);
        emptied.push(asked);
      } else if (this.#isDue(asked, now) && this.#bucket.take(now)) {
        this.#asked.delete(key);
        this.#asked.set(key, { ...asked, sentAt: now, times: asked.times + 1 });
        this.#count('flow-control.ask.repeated');
        arns.push({ to: asked.to, traffic: asked.traffic, pauseMs: this.#opts.pauseMs, metric: 0 });
      }
    }
    return { arns: [...arns, ...this.#eliminated(emptied)], emptied };
  }

  /** One for each pause that no other queue needs. */
  #eliminated(emptied: readonly Asked[]): ArnToSend[] {
    if (emptied.length === 0) return [];
    const needed = new Set([...this.#asked.values()].map(({ pause }) => pause));
    const pauses = new Map(emptied.map((asked) => [asked.pause, asked]));
    return [...pauses].flatMap(([pause, { to, traffic }]) => {
      if (needed.has(pause)) return [];
      this.#count('flow-control.ask.eliminated');
      return [{ to, traffic, pauseMs: undefined, metric: 0 }];
    });
  }

  #isDue({ sentAt, foundAt }: Asked, now: number): boolean {
    const { pauseMs } = this.#opts;
    return now >= sentAt + pauseMs / 2 && now < foundAt + MOST_PAUSES * pauseMs;
  }

  configure(opts: AskedOptions, now: number): void {
    this.#opts = opts;
    this.#bucket.configure(opts.limit, now);
  }

  /** Everything goes on. */
  stop(now: number): readonly ArnToSend[] {
    return this.onQueues(() => true, now).arns;
  }

  *views(): Generator<AskedTraffic> {
    for (const { to, traffic, ingress, egress, reason, since, sentAt, times } of this.#asked.values()) {
      const until = sentAt + this.#opts.pauseMs;
      yield { neighbor: to.address, ingress, traffic, egress, reason, since, times, until };
    }
  }

  #over({ sentAt }: Asked): number {
    return sentAt + this.#opts.pauseMs;
  }

  /** Returns whether there is room again. */
  #forgetOldest(now: number): boolean {
    const [oldest] = this.#asked;
    if (!oldest || now < this.#over(oldest[1])) return false;
    this.#asked.delete(oldest[0]);
    return true;
  }

  #refuse(why: 'hairpin' | 'suppressed' | 'full' | 'limited'): undefined {
    this.#count(`flow-control.ask.${why}`);
    return undefined;
  }
}

const HIGHEST_METRIC = 255;

const metricOf = (depth: number, above: number): number =>
  Math.max(0, Math.min(HIGHEST_METRIC, Math.round((HIGHEST_METRIC * (depth - above)) / Math.max(1, above))));
