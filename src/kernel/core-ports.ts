// Which ports lead to other routers (src/plan/port-roles.ts). The kernel is queried when a port appears, and again when
// the proxy's program has doubted its packets: routes come and go unannounced. At a former core port nothing is
// refused, so no doubt arises. Core ports are therefore queried again whenever the facts are gathered. A query can cost
// the kernel a walk through its routing tables, so a port is not queried again at once.
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Log } from '../model/log.ts';

/** Least time between two queries about a port, milliseconds; and the multiple of the duration of the last query. */
const PATIENCE_MS = 2000;
const PATIENCE_TIMES = 50;
/**
 * Limit of ports that are queried when they appear: a router has fewer; a machine with more interfaces has containers.
 */
const MAX_PORTS = 1024;

interface Port {
  readonly ifindex: number;
  readonly up: boolean;
  /** Frames on it have an Ethernet header. */
  readonly etherLike: boolean;
}

interface Answer {
  isGateway: boolean;
  /** Earliest time of the next query. */
  askAgainAt: number;
}

interface CorePortsDependencies {
  /** @throws Error when the query fails */
  readonly ask: (ifindex: number) => boolean;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

export class CorePorts {
  readonly #dependencies: CorePortsDependencies;
  readonly #answers = new Map<number, Answer>();

  constructor(dependencies: CorePortsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The ports among `links` that have a route through a gateway, as of the last query. */
  among(links: readonly Port[]): ReadonlySet<number> {
    const there = new Set(links.filter((link) => link.etherLike && link.up).map((link) => link.ifindex));
    for (const ifindex of this.#answers.keys()) if (!there.has(ifindex)) this.#answers.delete(ifindex);
    for (const ifindex of there) if (!this.#answers.has(ifindex) && this.#answers.size < MAX_PORTS) this.#ask(ifindex);
    const now = this.#dependencies.clock.now();
    for (const [ifindex, answer] of this.#answers) if (answer.isGateway && answer.askAgainAt <= now) this.#ask(ifindex);
    return new Set([...this.#answers].filter(([, answer]) => answer.isGateway).map(([ifindex]) => ifindex));
  }

  /** Packets at these ports, or with a source behind them, were not believed. Returns whether an answer has changed. */
  doubted(ports: readonly number[]): boolean {
    const now = this.#dependencies.clock.now();
    const due = ports.filter((ifindex) => (this.#answers.get(ifindex)?.askAgainAt ?? Infinity) <= now);
    return due.map((ifindex) => this.#ask(ifindex)).some(Boolean);
  }

  #ask(ifindex: number): boolean {
    const { ask, clock, log } = this.#dependencies;
    const before = this.#answers.get(ifindex)?.isGateway ?? false;
    const start = performance.now();
    let isGateway = before;
    try {
      isGateway = ask(ifindex);
    } catch (error) {
      log.warn({ ifindex, error: messageOf(error) }, 'the routes of a port cannot be looked at');
    }
    const took = performance.now() - start;
    this.#answers.set(ifindex, { isGateway, askAgainAt: clock.now() + Math.max(PATIENCE_MS, PATIENCE_TIMES * took) });
    return isGateway !== before;
  }
}
