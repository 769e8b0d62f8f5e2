// What is known of gobgpd's paths: the state of learning.ts.
import { TextMap } from '../../../model/text-map.ts';
import type { KindOptions } from '../kinds/kind.ts';
import type { BgpKinds } from '../kinds/table.ts';
import { type Reading, Readings } from './reading.ts';

/** What is known of a prefix; most have one path. */
export type Known = Reading | readonly Reading[];

export type Routes = TextMap<Known>;

export interface LearnState {
  readonly readings: Readings;
  /** ASes that are members of gobgpd's confederation, by paths that it took from them. */
  members: ReadonlySet<number>;
  /** By the prefix as text. */
  known: Routes;
  /** What was known when the connection was lost, and not reported again since; the earliest first. */
  readonly held: { readonly until: number; readonly routes: Routes }[];
  /** Next hops of what is known, and how many paths have each. */
  readonly originators: Map<string, number>;
  originatorsChanged: boolean;
  /** Whole seconds of the clock since when a path with the attribute is as it is, by source. */
  readonly since: TextMap<number>;
  paths: number;
  /** Paths with a characteristic that is used. */
  used: number;
  /** Next hops whose host route has something else for the paths through it. */
  readonly hostsChanged: Set<string>;
  /** Reports anew what has one of those next hops. */
  again: Iterator<void> | undefined;
  /** Drops what was held long enough. */
  dropping: Iterator<void> | undefined;
}

export const newLearnState = (kinds: BgpKinds, options: KindOptions): LearnState => ({
  readings: new Readings(kinds, options),
  members: new Set(),
  known: new TextMap(),
  held: [],
  originators: new Map(),
  originatorsChanged: false,
  since: new TextMap(),
  paths: 0,
  used: 0,
  hostsChanged: new Set(),
  again: undefined,
  dropping: undefined,
});
