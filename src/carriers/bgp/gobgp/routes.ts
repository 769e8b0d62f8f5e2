// What gobgpd has for each prefix, put together from three sources: the list of its table, the events that it sends
// from before the list on, and answers about single prefixes. An event is newer than the list's entry, which is then
// left out. Where an event alone does not show what there is (every path is asked for, several are the best, cnpd's own
// lies under another's), the prefix is looked up; an event that comes before the answer makes the answer worthless,
// and the prefix is looked up again. No I/O, no clock.
import type { Family } from '../../../model/address.ts';
import type { Count, Log } from '../../../model/log.ts';
import { type Prefix, prefixKey } from '../../../model/prefix.ts';
import type { GobgpApi, HeardPath, PathError } from './api.ts';
import { type GobgpPath, type GobgpRoute, type Learn, isOwn } from './gobgp.ts';

export interface RoutesOptions {
  readonly api: Pick<GobgpApi, 'decodePath'>;
  readonly learn: Learn;
  /** gobgpd's `use-multiple-paths`: its events are then differences of a set. */
  readonly multipath: boolean;
}

export interface RoutesDependencies {
  readonly log: Log;
  readonly count: Count;
}

/** Prefixes of one family. */
export interface Question {
  readonly family: Family;
  readonly prefixes: readonly Prefix[];
}

export class Routes {
  readonly #options: RoutesOptions;
  readonly #dependencies: RoutesDependencies;
  /** Prefixes of which cnpd has a path in gobgpd. */
  readonly #own = new Set<string>();
  /** Reported from newer sources while the list comes in; undefined once it has. */
  #newer: Set<string> | undefined = new Set();
  readonly #unsure = new Map<string, Prefix>();
  readonly #asked = new Map<string, Prefix>();
  #reported: GobgpRoute[] = [];

  constructor(options: RoutesOptions, dependencies: RoutesDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** A path of an event. */
  event(bytes: Uint8Array): void {
    const heard = this.#decode(bytes);
    if (!heard) return;
    if ('code' in heard) {
      if (heard.prefix) this.#doubt(heard.prefix);
      return;
    }
    const key = prefixKey(heard.prefix);
    if (this.#options.learn === 'all' || this.#options.multipath || (this.#own.has(key) && !isOwn(heard)))
      return this.#doubt(heard.prefix);
    this.#asked.delete(key);
    if (this.#unsure.has(key)) return;
    this.#report(key, heard.prefix, heard.path && !heard.unreachable ? [{ ...heard.path, best: true }] : []);
  }

  /** A prefix of the list. */
  listed(paths: readonly Uint8Array[]): void {
    const route = this.#route(paths);
    if (!route) return;
    const key = prefixKey(route.prefix);
    if (!this.#newer?.has(key)) this.#report(key, route.prefix, route.paths);
    else if (route.paths.some(isOwn) && !this.#own.has(key)) this.#doubt(route.prefix);
  }

  /** The list is complete. */
  loaded(): void {
    this.#newer = undefined;
  }

  /**
   * Prefixes to ask about now; undefined: none. The answer is handed to `answer`, its end to `answered`.
   */
  ask(limit: number): Question | undefined {
    const [first] = this.#unsure.values();
    if (!first) return undefined;
    const { family } = first.address;
    for (const [key, prefix] of this.#unsure) {
      if (this.#asked.size >= limit) break;
      if (prefix.address.family !== family) continue;
      this.#asked.set(key, prefix);
      this.#unsure.delete(key);
    }
    return { family, prefixes: [...this.#asked.values()] };
  }

  /** Prefixes to ask about. @returns their keys, for `isOpen` */
  doubt(prefixes: readonly Prefix[]): string[] {
    return prefixes.map((prefix) => (this.#doubt(prefix), prefixKey(prefix)));
  }

  /** Whether it is still to be asked about, or to be answered. */
  isOpen(key: string): boolean {
    return this.#unsure.has(key) || this.#asked.has(key);
  }

  answer(paths: readonly Uint8Array[]): void {
    const route = this.#route(paths);
    const key = route && prefixKey(route.prefix);
    if (key !== undefined && this.#asked.delete(key)) this.#report(key, route!.prefix, route!.paths);
  }

  /** Of what was asked about and not answered, gobgpd has nothing. */
  answered(): void {
    for (const [key, prefix] of this.#asked) this.#report(key, prefix, []);
    this.#asked.clear();
  }

  /** cnpd puts paths of these prefixes in; takes them out. */
  put(paths: readonly { readonly prefix: Prefix }[]): void {
    for (const { prefix } of paths) this.#own.add(prefixKey(prefix));
  }

  taken(prefixes: readonly Prefix[]): void {
    for (const prefix of prefixes) this.#own.delete(prefixKey(prefix));
  }

  /** How many routes there are to report. */
  get unreported(): number {
    return this.#reported.length;
  }

  /** What there is to report since the last call, in order. */
  take(): readonly GobgpRoute[] {
    const reported = this.#reported;
    this.#reported = [];
    return reported;
  }

  #doubt(prefix: Prefix): void {
    const key = prefixKey(prefix);
    this.#asked.delete(key);
    this.#unsure.set(key, prefix);
  }

  #report(key: string, prefix: Prefix, paths: readonly GobgpPath[]): void {
    if (paths.some(isOwn)) this.#own.add(key);
    else this.#own.delete(key);
    this.#newer?.add(key);
    this.#reported.push({ prefix, paths });
  }

  /**
   * The prefix that these paths share, and those of them that are asked for; undefined when their prefix is not known.
   */
  #route(paths: readonly Uint8Array[]): GobgpRoute | undefined {
    let prefix: Prefix | undefined;
    const usable: GobgpPath[] = [];
    for (const bytes of paths) {
      const heard = this.#decode(bytes);
      prefix ??= heard?.prefix;
      if (heard && 'path' in heard && heard.path) usable.push(heard.path);
    }
    return prefix && { prefix, paths: this.#options.learn === 'all' ? usable : bestAndOwn(usable) };
  }

  #decode(bytes: Uint8Array): HeardPath | PathError | undefined {
    const decoded = this.#options.api.decodePath(bytes);
    if (decoded?.ok !== false) return decoded?.value;
    const { code, message } = decoded.error;
    this.#dependencies.count(`bgp.gobgp.path.${code}`);
    this.#dependencies.log.debug({ code }, `gobgpd reports ${message}: ignored`);
    return decoded.error;
  }
}

function bestAndOwn(paths: readonly GobgpPath[]): GobgpPath[] {
  const best = paths.find((path) => path.best);
  return [
    ...(best ? [best] : []),
    ...paths.filter((path) => path !== best && isOwn(path)).map((path) => ({ ...path, best: false })),
  ];
}
