// The reverse-path check of packets that the agent itself receives, by the rule of the proxy's program
// (bpf/lib/proxy/port-roles.h). A packet is believed only if a next hop of the route back to its source is at its
// ingress interface. It is also believed if source and interface both belong to the core, whose paths are asymmetric. A
// host that forges a router's address is elsewhere than that router, and no other host has an address of this router.
// The check does not stop attackers on the path, or behind the same port. Answers are cached and look-ups are limited
// per interface, so a flood of sources costs little and does not affect other interfaces. While an interface is
// flooded, older positive answers stay valid.
import type { IpAddress } from '../model/address.ts';
import { TokenBucket } from '../model/token-bucket.ts';
import type { PortRole } from './dataplane/port-roles.ts';
import type { WayBack } from './netlink/routes-back.ts';

/** Routes change: an answer expires after this time. Milliseconds. */
export const FRESH_MS = 1000;
/** A positive answer stays valid for this time when no more look-ups are allowed. Milliseconds. */
export const STALE_MS = 60_000;
/** Look-ups an interface: 1 % of a processor. */
const LOOK_UPS = { perSecond: 200, burst: 200 };
/** Most sources cached for each answer; the least recently used one is evicted. */
export const MOST_REMEMBERED = 2048;

interface ReversePathDependencies {
  /** Next hops of the route to an address. @throws when the kernel cannot be asked */
  readonly waysTo: (address: IpAddress) => readonly WayBack[];
  /** A packet at the first of these ports was not believed, and its source is behind the others. */
  readonly onDoubts?: (ports: readonly number[]) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** `reverse-path.…`: limited, unreadable. */
  readonly count: (name: string) => void;
}

export class ReversePath {
  readonly #dependencies: ReversePathDependencies;
  /**
   * Source and interface → time of the answer. Positive and negative answers are kept apart, so that a flood of forged
   * sources evicts no positive one.
   */
  readonly #right = new Map<string, number>();
  readonly #wrong = new Map<string, number>();
  readonly #lookUps = new Map<number, TokenBucket>();
  /** `router.reverse-path-check` */
  enabled = true;
  /** Core ports, and ports of one bridge or bond, by their index, as planned. */
  ports: ReadonlyMap<number, Pick<PortRole, 'link' | 'isCore'>> = new Map();

  constructor(dependencies: ReversePathDependencies) {
    this.#dependencies = dependencies;
  }

  /** @param ifindex ingress interface; undefined: unknown, and the packet is not believed */
  refuses(source: IpAddress, ifindex: number | undefined): boolean {
    // A link-local address is only meaningful on its link, where every sender is equally near.
    if (!this.enabled || isLinkLocal(source)) return false;
    if (ifindex === undefined) return true;
    const now = this.#dependencies.now();
    const key = `${source.family} ${source.value} ${ifindex}`;
    const rightAt = this.#right.get(key);
    if (rightAt !== undefined && now - rightAt < FRESH_MS) return false;
    const wrongAt = this.#wrong.get(key);
    if (wrongAt !== undefined && now - wrongAt < FRESH_MS) return true;
    if (!this.#mayAsk(ifindex, now)) {
      this.#dependencies.count('reverse-path.limited');
      return rightAt === undefined || now - rightAt >= STALE_MS;
    }
    return !this.#ask(source, ifindex, key, now);
  }

  #ask(source: IpAddress, ifindex: number, key: string, now: number): boolean {
    let right: boolean;
    try {
      right = this.#leadsBack(this.#dependencies.waysTo(source), ifindex);
    } catch {
      this.#dependencies.count('reverse-path.unreadable');
      right = false;
    }
    remember(right ? this.#right : this.#wrong, key, now);
    (right ? this.#wrong : this.#right).delete(key);
    return right;
  }

  #leadsBack(ways: readonly WayBack[], ifindex: number): boolean {
    const linkOf = (port: number): number => this.ports.get(port)?.link ?? port;
    const isCore = (port: number): boolean => this.ports.get(port)?.isCore ?? false;
    // Into a tunnel: the port of that route proves nothing.
    if (ways.some((way) => way.through !== 'tunnel' && linkOf(way.ifindex) === linkOf(ifindex))) return true;
    // An on-link source is believed at its own port only.
    const routed = ways.filter((way) => way.through !== 'link');
    if (routed.length === 0) return false;
    if (isCore(ifindex) && routed.some((way) => way.through === 'tunnel' || isCore(way.ifindex))) return true;
    const others = routed.filter((way) => way.through === 'gateway').map((way) => way.ifindex);
    this.#dependencies.onDoubts?.([ifindex, ...others]);
    return false;
  }

  #mayAsk(ifindex: number, now: number): boolean {
    let bucket = this.#lookUps.get(ifindex);
    if (!bucket) this.#lookUps.set(ifindex, (bucket = new TokenBucket(LOOK_UPS, now)));
    // New interfaces always have new numbers.
    if (this.#lookUps.size > MOST_REMEMBERED) this.#lookUps.delete(this.#lookUps.keys().next().value!);
    return bucket.take(now);
  }
}

const isLinkLocal = ({ family, value }: IpAddress): boolean => family === 6 && value >> 118n === 0xfe80n >> 6n;

function remember(map: Map<string, number>, key: string, now: number): void {
  map.delete(key);
  map.set(key, now);
  if (map.size > MOST_REMEMBERED) map.delete(map.keys().next().value!);
}
