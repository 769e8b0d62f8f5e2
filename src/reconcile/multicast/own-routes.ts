// cnpd's routes for groups, remembered: there may be thousands, and each look at the kernel reads all of them.
import type { TreeRoute, TreeRoutes } from '../../kernel/netlink/tree-routes.ts';
import type { IpAddress } from '../../model/address.ts';

type Kernel = Pick<TreeRoutes, 'own' | 'add' | 'replace' | 'remove'>;
type Place = Pick<TreeRoute, 'table' | 'destination' | 'metric'>;

const keyOf = ({ table, destination, metric }: Place): string => `${table} ${destination.value} ${metric ?? ''}`;

export class OwnRoutes {
  readonly #kernel: Kernel;
  #known: Map<string, TreeRoute> | undefined;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Reads the kernel again at the next use: another program may have removed a route. */
  refresh(): void {
    this.#known = undefined;
  }

  /** @throws KernelError when the kernel must be read, as all methods */
  all(): TreeRoute[] {
    return [...this.#routes.values()];
  }

  find(table: number, destination: IpAddress, metric?: number): TreeRoute | undefined {
    return this.#routes.get(keyOf({ table, destination, metric }));
  }

  /** Adds a route, or replaces cnpd's own. @throws KernelError EEXIST (another program has one to this address) */
  put(route: TreeRoute): void {
    const key = keyOf(route);
    if (this.#routes.has(key)) this.#kernel.replace(route);
    else this.#kernel.add(route);
    this.#routes.set(key, route);
  }

  /** Returns false when there was none. */
  remove(place: Place): boolean {
    const route = this.#routes.get(keyOf(place));
    if (!route) return false;
    this.#routes.delete(keyOf(place));
    return this.#kernel.remove(route);
  }

  get #routes(): Map<string, TreeRoute> {
    this.#known ??= new Map(this.#kernel.own().map((route) => [keyOf(route), route]));
    return this.#known;
  }
}

export const sameRoute = (a: TreeRoute | undefined, b: TreeRoute): boolean =>
  a !== undefined &&
  a.ifindex === b.ifindex &&
  a.mtu === b.mtu &&
  Buffer.compare(a.srh ?? new Uint8Array(0), b.srh ?? new Uint8Array(0)) === 0;
