// The reverse-path check of what the agent itself receives, by the rule of the proxy's program
// (bpf/lib/proxy/port-roles.h): a packet is believed only if the route back to its source leads out of the interface
// that it came in by, through any of its next hops; or if source and interface are both the core's, whose paths are
// asymmetric. A host that writes a router's address into its packets is not where that router is; and nobody outside
// has an address of this router. Who is on the path, or behind the same port, is not stopped by this. Answers are
// remembered and look-ups are limited, by interface, so that a flood of sources costs little and takes nothing from
// others: what was right a while ago stays right while an interface is flooded.
import type { IpAddress } from '../model/address.ts';
import { TokenBucket } from '../model/token-bucket.ts';
import type { PortRole } from './dataplane/port-roles.ts';
import type { WayBack } from './netlink/routes-back.ts';

/** Routes change: an answer is asked for again after this time. Milliseconds. */
export const FRESH_MS = 1000;
/** For so long an answer `right` stands in when no more look-ups are allowed. Milliseconds. */
export const STALE_MS = 60_000;
/** Look-ups an interface: 1 % of a processor. */
const LOOK_UPS = { perSecond: 200, burst: 200 };
/** Sources remembered, of either answer; the longest unused goes. */
export const MOST_REMEMBERED = 2048;

interface ReversePathDependencies {
  /** Next hops of the route to an address. @throws when the kernel cannot be asked */
  readonly waysTo: (address: IpAddress) => readonly WayBack[];
  /** Something came by the first of these ports and was not believed, and its source is behind the others. */
  readonly onDoubts?: (ports: readonly number[]) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** `reverse-path.…`: limited, unreadable. */
  readonly count: (name: string) => void;
}

export class ReversePath {
  readonly #dependencies: ReversePathDependencies;
  /**
   * Source and interface → when the answer was had; those that were right, and those that were not: a flood of the
   * latter drives out none of the former.
   */
  readonly #right = new Map<string, number>();
  readonly #wrong = new Map<string, number>();
  readonly #lookUps = new Map<number, TokenBucket>();
  /** `router.reverse-path-check` */
  enabled = true;
  /** Ports of the core, and those that are one with others, by their index; as planned. */
  ports: ReadonlyMap<number, Pick<PortRole, 'link' | 'isCore'>> = new Map();

  constructor(dependencies: ReversePathDependencies) {
    this.#dependencies = dependencies;
  }

  /** @param ifindex by which the packet came in; undefined: the kernel did not say, and it is not believed */
  refuses(source: IpAddress, ifindex: number | undefined): boolean {
    // A link-local address says nothing beyond its link, where nobody is nearer than who sends from it.
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
    // Into a tunnel: the port that such a route names says nothing.
    if (ways.some((way) => way.through !== 'tunnel' && linkOf(way.ifindex) === linkOf(ifindex))) return true;
    // What is on-link is at its own port only.
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
    // Interfaces that come and go have new numbers for ever.
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
