// What OSPF has to know of a kind of advertisement. One file in this folder answers for one kind, in both versions, as
// a row of table.ts; nothing outside of the folder knows one kind from another. There an entry is known by its `kind`,
// and by the key that its row gives it.
//
// A row has no optional part: what a kind does not do, it says.
import type { Sink } from '../../effects.ts';
import type { IpAddress } from '../../../model/address.ts';
import type { LearnedAdvertisement } from '../../../model/advertisement.ts';
import type { CodePointValues } from '../../../model/code-points.ts';
import type { PrivateTypes } from '../../../packet/ospf/lsa.ts';
import type { LsaBody } from '../../../packet/ospf/lsa/types.ts';
import type { Version } from '../../../packet/ospf/numbers.ts';
import type { LsaKey, RawLsa } from '../../../packet/ospf/types.ts';
import type { OwnLsa } from '../version.ts';

export interface OspfKind<A extends { readonly kind: string } = { readonly kind: string }, E extends Entry = Entry> {
  readonly kind: A['kind'];
  /** What our own LSAs say of it. */
  readonly own: OwnPart<A, E>;
  /** What the LSAs of others say of it. */
  readonly received: ReceivedPart<E>;
  /** How a border router copies it from one area to another; `never`: its flooding scope is the area. */
  readonly leaking: LeakingRules<E> | 'never';
  /** How many of these prefixes have a proxy, for the operator. */
  proxyPrefixes(entries: readonly E[]): number;
}

/** One entry of an LSA: what is read of others' is what is written into ours. */
export interface Entry {
  readonly kind: string;
}

export type PerVersion<T> = { readonly [V in Version]: T };

/** What decides how it is written and read. */
export interface KindOptions {
  readonly version: Version;
  readonly routerId: number;
  readonly codePoints: CodePointValues;
  /** Made of the code points. */
  readonly privateTypes: PrivateTypes;
}

/** Counts and warns of what this version of OSPF cannot say. */
export interface OwnSink extends Sink {
  readonly config: KindOptions;
  /** How many advertisements are left out. */
  unsayable: number;
}

export interface OwnPart<A, E extends Entry> {
  /** LSAs that are not made of entries: what they say concerns this router as a whole. */
  others(advertisements: readonly A[], s: OwnSink): readonly OwnLsa[];
  /** `none`: it has only `others`. */
  readonly entries: OwnEntries<A, E> | 'none';
}

export interface OwnEntries<A, E extends Entry> {
  /**
   * What our LSAs are to say in every area: a step an advertisement, undefined for one that is left out. In a fixed
   * order, so that a run places entries as the one before did; of several with one key the last counts.
   */
  desired(advertisements: readonly A[], s: OwnSink): Generator<E | undefined>;
  /** Unique among the entries of all kinds; an entry and its copy in another area have the same. */
  keyOf(entry: E): string;
  /** Whether two entries of one key, both declared here, are encoded alike. */
  same(a: E, b: E): boolean;
  readonly encoding: PerVersion<EntryEncoding<E>>;
}

export interface EntryEncoding<E extends Entry> {
  /** The LSAs that hold entries. */
  readonly lsas: readonly EntryLsa<E>[];
  /** Which of `lsas` an entry goes into. */
  lsaOf(entry: E): number;
}

/** LSAs of one type that hold entries, and how many fit. */
export interface EntryLsa<E extends Entry = Entry> {
  readonly type: number;
  /** Link-state ID of the first; the others follow. */
  readonly firstId: (types: PrivateTypes) => number;
  /** How many such LSAs there may be. */
  readonly lsas: number;
  /** How many entries one may have. */
  readonly entries: number;
  /** Bytes of the body beside the entries. */
  readonly overhead: number;
  /** Bytes of an entry, at most. @throws EncodeError */
  size(entry: E): number;
  body(entries: readonly E[], routerId: number): LsaBody;
}

/** A part of an LSA is ignored: counted as `learn.<what>`. */
export type Warn = (what: string) => void;

export interface ReceivedPart<E extends Entry> {
  readonly reading: PerVersion<Reading<E>>;
  /** Which counts of what a router lists in several LSAs. */
  readonly repeated: LowestCounts<E> | 'all-count';
  /** Whether what is learned of it depends on the address of its router (decision D6). */
  needsAddress(entry: E): boolean;
  /** What the learned table is told of the entries of one LSA. */
  learned(entries: readonly E[], node: NodeLookup): readonly LearnedAdvertisement[];
}

export interface Reading<E extends Entry> {
  /**
   * Goes through the encoded bytes of LSAs that may list thousands of entries, and nothing else: decoding each would
   * cost more than using it. Undefined for another LSA. `none`: there are no such LSAs.
   */
  readonly walk: Walk<E> | 'none';
  /** What the other LSAs list, by their body. */
  readonly bodies: BodyReaders<E>;
}

export type Walk<E extends Entry> = (lsa: RawLsa, options: KindOptions, warn: Warn) => Walked<E> | undefined;

export interface Walked<E extends Entry> {
  /** How many TLVs are malformed and left out; decodeBody says which. undefined: the whole LSA is malformed. */
  readonly bad: number | undefined;
  readonly entries: readonly E[];
}

/** Bodies that are not named list nothing. */
export type BodyReaders<E extends Entry> = {
  readonly [K in LsaBody['kind']]?: BodyReader<LsaBody & { readonly kind: K }, E>;
};
export type BodyReader<B, E extends Entry> = (body: B, lsa: RawLsa, options: KindOptions, warn: Warn) => readonly E[];

export interface LowestCounts<E extends Entry> {
  /** Whether of one key in several such LSAs of a router only that in the lowest link-state ID counts. */
  appliesTo(version: Version, lsa: LsaKey): boolean;
  /** The same as comparing their keys, without making them. */
  sameKey(a: E, b: E): boolean;
}

/** The address of the router that advertises an entry. Looked up when asked, which most entries do not. */
export type NodeLookup = () => IpAddress | undefined;

/** An entry that may be copied into another area, and the router that advertises it. */
export interface Candidate<E extends Entry> {
  readonly entry: E;
  readonly advertisingRouter: number;
  readonly node: NodeLookup;
}

export interface LeakingRules<E extends Entry> {
  /** Whether it concerns other areas at all. */
  isLeakable(entry: E): boolean;
  /** Whether it was copied here itself: then it gives way to what an originator of the area says. */
  isCopy(entry: E): boolean;
  /** Whether it may be copied from one area to another; without an end to it, two routers copy back for ever. */
  mayLeak(entry: E, from: number, to: number): boolean;
  /** Which of two with one key is copied: `a` if negative. */
  compare(a: Candidate<E>, b: Candidate<E>): number;
  /** The entry of our LSA in the other area. */
  copy(candidate: Candidate<E>): E;
}
