// What BGP has to know of a kind of advertisement. One file in this folder answers for one kind, as a row of table.ts;
// nothing outside of the folder knows one kind from another. There an entry is known by its `kind`, and one of our own
// by its `key` as well.
//
// A row has no optional part: a kind states what it does not do.
import type { Sink } from '../../effects.ts';
import type { Family, IpAddress } from '../../../model/address.ts';
import type { LearnedAdvertisement } from '../../../model/advertisement.ts';
import type { BgpPathState } from '../../../model/carrier-state.ts';
import type { CodePointValues } from '../../../model/code-points.ts';
import type { Prefix } from '../../../model/prefix.ts';
import type { Capabilities, ReadCharacteristics } from '../../../packet/bgp/characteristics.ts';

export interface BgpKind<
  A extends { readonly kind: string } = { readonly kind: string },
  O extends OwnEntry = OwnEntry,
  R extends ReadEntry = ReadEntry,
> {
  readonly kind: A['kind'];
  /** What our own paths contain of it. */
  readonly own: OwnPart<A, O>;
  /** What the paths of others contain of it. */
  readonly received: ReceivedPart<R>;
  /**
   * How the paths through a host get what its host route contains, with `via-next-hop: on`; `never`: that counts for
   * the host route alone.
   */
  readonly viaNextHop: NextHopRules<R> | 'never';
}

/** An entry of one of our own paths. */
export interface OwnEntry {
  readonly kind: string;
  /** Unique among the entries that a path has of its kind. */
  readonly key: string;
}

/** An entry of a path that was received. */
export interface ReadEntry {
  readonly kind: string;
}

/** What decides which entries are read. */
export interface KindOptions {
  readonly codePoints: CodePointValues;
}

export interface OwnPart<A, O extends OwnEntry> {
  /**
   * Places what is declared in paths; a step for each advertisement where there may be thousands.
   * @param s counts and warns of what cannot be advertised
   */
  declare(advertisements: readonly A[], paths: OwnPaths<O>, s: Sink): Iterable<void>;
  readonly entries: EntryCodec<O>;
}

/** What a path contains is compared by its bytes. */
export interface EntryCodec<O extends OwnEntry> {
  /** Bytes that an entry takes of PATH_CAPACITY (constants.ts): exactly, or at most. */
  size(entry: O): number;
  /** Which of two entries of one key a path contains. @param s counts what is lost */
  preferred(a: O, b: O, s: Sink): O;
  /** What the attribute of its path contains because of it. */
  encode(entry: O): Capabilities;
}

/** The paths that a declaration makes. */
export interface OwnPaths<O extends OwnEntry = OwnEntry> {
  /** What a sender prefix is advertised with: a path of its own, or the host route of its proxy. */
  readonly advertise: 'senders' | 'proxy-host';
  /** Undefined: none is configured, and no path of that family is advertised. */
  nextHopOf(family: Family): IpAddress | undefined;
  /**
   * @param when `at-once`: a path that is new can be with gobgpd while the rest of the declaration is still looked at;
   *   for entries that are nearly always alone in their path
   */
  place(entry: O, prefix: Prefix, when: 'at-once' | 'at-end'): Placed;
  /** So many advertisements are in no path. */
  leaveOut(times: number): void;
}

export type Placed = 'placed' | 'no-next-hop' | 'full';

export interface ReceivedPart<R extends ReadEntry> {
  /** What a path contains of it; once for all paths with the same content. */
  read(attribute: ReadAttribute, options: KindOptions): Found<R>;
  /** What the learned table hears of a path with these entries. */
  learned(entries: readonly R[], path: LearnedPath): readonly LearnedAdvertisement[];
  /** What `show bgp paths` has of them. */
  shown(entries: readonly R[]): Partial<ShownEntries>;
}

/** Attribute 39 of a path, and what decides what it means. */
export interface ReadAttribute extends ReadCharacteristics {
  /** Of the path and of the attribute's header. */
  readonly nextHop: IpAddress;
  /** Whether some sender can be in its prefix: else the learned table gives it no proxy, whatever the path contains. */
  readonly hasSenders: boolean;
  /** A path of our own, which is only shown. */
  readonly isOwn: boolean;
}

export interface LearnedPath {
  readonly prefix: Prefix;
  readonly metric: number;
  readonly best: boolean;
}

export interface Found<R extends ReadEntry> {
  readonly entries: readonly R[];
  /** What `show bgp paths` says of them; `nothing`: it is for other kinds to say. */
  readonly status: Extract<BgpPathState['status'], 'used' | 'no-senders' | 'no-proxy-address'> | 'nothing';
  /** Counters of what must be ignored, without `bgp.`. */
  readonly warnings: readonly string[];
}

export type ShownEntries = Pick<BgpPathState, 'proxy' | 'sids'>;

export interface NextHopRules<R extends ReadEntry> {
  /** Whether these entries of a path's own leave nothing to get from the host route; never without any. */
  suffices(own: readonly R[]): boolean;
  /** What a path has whose own entries do not suffice. @param host those of the host route, if it has any */
  combined(own: readonly R[], host: readonly R[]): readonly R[];
  /** Whether two host routes have the same for the paths through that host. Neither list is empty. */
  same(a: readonly R[], b: readonly R[]): boolean;
}

export const NOTHING_FOUND: Found<never> = { entries: [], status: 'nothing', warnings: [] };
