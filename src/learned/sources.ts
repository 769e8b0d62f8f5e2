// The sources of reports, by carrier and name. In BGP each prefix is a source: a combined key would cost one more
// string
// for each.
import { TextMap } from '../model/text-map.ts';
import type { Origin, Originator, Source } from './preference.ts';

/** Most sources advertise nothing about routers. */
const NONE: readonly never[] = [];

export class Sources {
  readonly #byCarrier = new Map<Origin, TextMap<Source>>();

  get(carrier: Origin, name: string): Source | undefined {
    return this.#byCarrier.get(carrier)?.get(name);
  }

  /** A source without advertisements yet. */
  create(carrier: Origin, name: string, originator: Originator): Source {
    let names = this.#byCarrier.get(carrier);
    if (!names) this.#byCarrier.set(carrier, (names = new TextMap()));
    const source: Source = { name, originator, place: 0, advertisements: undefined, routers: NONE };
    names.set(name, source);
    return source;
  }

  delete(carrier: Origin, name: string): void {
    this.#byCarrier.get(carrier)?.delete(name);
  }

  of(carrier: Origin): Iterable<Source> {
    return this.#byCarrier.get(carrier)?.values() ?? [];
  }
}
