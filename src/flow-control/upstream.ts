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

interface NeighborRouter {
  readonly address: IpAddress;
  readonly mac: Uint8Array;
}

interface UpstreamDependencies {
  /** Routers behind the interface on the route to an address. @throws when the kernel cannot be asked */
  readonly routersTo: (address: IpAddress, ifindex: number) => readonly IpAddress[];
  /** IPv6 addresses of neighboring routers, those to be preferred first. @throws when the kernel cannot be asked */
  readonly routersAt: (ifindex: number) => readonly NeighborRouter[];
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

interface Answer<T> {
  readonly at: number;
  readonly found: T;
}

export class UpstreamNeighbors {
  readonly #dependencies: UpstreamDependencies;
  #declared: ReadonlyMap<number, readonly IpAddress[]> = new Map();
  readonly #answers = new Map<string, Answer<readonly Upstream[]>>();
  /** By interface: what a sender writes must not make the kernel list its table each time. */
  readonly #routersAt = new Map<number, Answer<readonly NeighborRouter[]>>();

  constructor(dependencies: UpstreamDependencies) {
    this.#dependencies = dependencies;
  }

  configure(neighbors: readonly { readonly ifindex: number; readonly address: IpAddress }[]): void {
    const declared = new Map<number, IpAddress[]>();
    for (const { ifindex, address } of neighbors) declared.set(ifindex, [...(declared.get(ifindex) ?? []), address]);
    this.#declared = declared;
    this.#answers.clear();
    this.#routersAt.clear();
  }

  /** None: there is nobody to ask. */
  of({ ingress, cameFrom, sourceMac }: FilledQueue): readonly Upstream[] {
    const now = this.#dependencies.now();
    const key = `${ingress} ${familyKey(cameFrom)} ${Buffer.from(sourceMac).toString('latin1')}`;
    return this.#once(this.#answers, key, now, () =>
      this.#find(ingress, cameFrom, sourceMac).map((address) => ({ address, ifindex: ingress })),
    );
  }

  #once<K, T>(answers: Map<K, Answer<T>>, key: K, now: number, find: () => T): T {
    const known = answers.get(key);
    if (known && now - known.at < FRESH_MS) return known.found;
    const found = find();
    answers.delete(key);
    answers.set(key, { at: now, found });
    if (answers.size > MOST_REMEMBERED) answers.delete(answers.keys().next().value!);
    return found;
  }

  #find(ingress: number, cameFrom: IpAddress, sourceMac: Uint8Array): readonly IpAddress[] {
    const declared = this.#declared.get(ingress);
    if (declared) return declared;
    const { routersTo, routersAt, now } = this.#dependencies;
    const routers = this.#orNone(() => routersTo(cameFrom, ingress).filter(({ family }) => family === 6));
    if (routers.length > 0) return routers.slice(0, MOST_ROUTERS);
    const present = this.#once(this.#routersAt, ingress, now(), () => this.#orNone(() => routersAt(ingress)));
    const sender = present.find(({ mac }) => Buffer.compare(mac, sourceMac) === 0);
    return sender ? [sender.address] : [];
  }

  #orNone<T>(find: () => readonly T[]): readonly T[] {
    try {
      return find();
    } catch {
      this.#dependencies.count('flow-control.upstream.unreadable');
      return [];
    }
  }
}
