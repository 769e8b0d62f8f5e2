// Which neighbor sends traffic to this router, and is asked to pause it: the one that is declared for the interface;
// else the router behind that interface to which the route back leads, which is an adjacency of the IGP or a peer of
// BGP; else, where paths are asymmetric, the router that has the frame's hardware address. Hosts are not asked: a
// source that is on the link has no router before it.
//
// What a sender writes can choose among the neighbors of the interface at which its packet arrived, no others.
import { type IpAddress, familyKey } from '../model/address.ts';
import type { FilledQueue } from '../model/flow-control.ts';
import type { Count } from '../model/log.ts';
import type { Upstream } from './asked.ts';

interface UpstreamDependencies {
  /** Routers behind the interface on the route to an address. @throws when the kernel cannot be asked */
  readonly routersTo: (address: IpAddress, ifindex: number) => readonly IpAddress[];
  /** IPv6 addresses of a neighboring router. @throws when the kernel cannot be asked */
  readonly routerWith: (mac: Uint8Array, ifindex: number) => readonly IpAddress[];
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly count: Count;
}

/** Routes change: an answer is used for so long. */
const FRESH_MS = 1000;
/** Answers that are remembered; the oldest goes first. */
const MOST_REMEMBERED = 1024;
/** Of several routers behind the interface, all of which may have sent the packet. */
const MOST_ROUTERS = 4;

export class UpstreamNeighbors {
  readonly #dependencies: UpstreamDependencies;
  #declared: ReadonlyMap<number, readonly IpAddress[]> = new Map();
  readonly #answers = new Map<string, { readonly at: number; readonly neighbors: readonly Upstream[] }>();

  constructor(dependencies: UpstreamDependencies) {
    this.#dependencies = dependencies;
  }

  configure(neighbors: readonly { readonly ifindex: number; readonly address: IpAddress }[]): void {
    const declared = new Map<number, IpAddress[]>();
    for (const { ifindex, address } of neighbors) declared.set(ifindex, [...(declared.get(ifindex) ?? []), address]);
    this.#declared = declared;
    this.#answers.clear();
  }

  /** None: there is nobody to ask. */
  of({ ingress, cameFrom, sourceMac }: FilledQueue): readonly Upstream[] {
    const now = this.#dependencies.now();
    const key = `${ingress} ${familyKey(cameFrom)} ${Buffer.from(sourceMac).toString('latin1')}`;
    const known = this.#answers.get(key);
    if (known && now - known.at < FRESH_MS) return known.neighbors;
    const neighbors = this.#find(ingress, cameFrom, sourceMac).map((address) => ({ address, ifindex: ingress }));
    this.#answers.delete(key);
    this.#answers.set(key, { at: now, neighbors });
    if (this.#answers.size > MOST_REMEMBERED) this.#answers.delete(this.#answers.keys().next().value!);
    return neighbors;
  }

  #find(ingress: number, cameFrom: IpAddress, sourceMac: Uint8Array): readonly IpAddress[] {
    const declared = this.#declared.get(ingress);
    if (declared) return declared;
    const { routersTo, routerWith, count } = this.#dependencies;
    try {
      const routers = routersTo(cameFrom, ingress).filter(({ family }) => family === 6);
      if (routers.length > 0) return routers.slice(0, MOST_ROUTERS);
      return routerWith(sourceMac, ingress).slice(0, 1);
    } catch {
      count('flow-control.upstream.unreadable');
      return [];
    }
  }
}
