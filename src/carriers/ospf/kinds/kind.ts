// What OSPF needs to know about a kind of advertisement. Each kind has one file in this folder, for both versions, and
// one row in table.ts. Nothing outside this folder distinguishes kinds: it knows an entry by its `kind`, and by the key
// that its row computes.
//
// No part of a row is optional: a row states explicitly what its kind does not do.
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
  /** How our own LSAs advertise it. */
  readonly own: OwnPart<A, E>;
  /** How it is read from the LSAs of others. */
  readonly received: ReceivedPart<E>;
  /** How an area border router copies it from one area to another; `never`: it stays in its area. */
  readonly leaking: LeakingRules<E> | 'never';
  /** How many of these entries are prefixes with a proxy, for the operator. */
  proxyPrefixes(entries: readonly E[]): number;
}

/** One entry of an LSA. Entries read from other routers' LSAs and entries written into ours have the same type. */
export interface Entry {
  readonly kind: string;
}

export type PerVersion<T> = { readonly [V in Version]: T };

/** The settings that encoding and decoding depend on. */
export interface KindOptions {
  readonly version: Version;
  readonly routerId: number;
  readonly codePoints: CodePointValues;
  /** Derived from the code points. */
  readonly privateTypes: PrivateTypes;
}

/** Counts and logs what this version of OSPF cannot encode. */
export interface OwnSink extends Sink {
  readonly config: KindOptions;
  /** How many advertisements are not encoded. */
  unencodable: number;
}

export interface OwnPart<A, E extends Entry> {
  /** LSAs that do not consist of entries: they describe this router as a whole. */
  others(advertisements: readonly A[], s: OwnSink): readonly OwnLsa[];
  /** `none`: it has only `others`. */
  readonly entries: OwnEntries<A, E> | 'none';
}

export interface OwnEntries<A, E extends Entry> {
  /**
   * The entries that our LSAs should contain in every area: one step per advertisement, undefined for one that is
   * skipped. The order is fixed, so that each run places entries like the previous one. Of several entries with one key
   * the last one is used.
   */
  desired(advertisements: readonly A[], s: OwnSink): Generator<E | undefined>;
  /** Unique among the entries of all kinds; an entry and its copy in another area have the same. */
  keyOf(entry: E): string;
  /** Whether two entries with the same key, both declared here, have the same encoding. */
  same(a: E, b: E): boolean;
  readonly encoding: PerVersion<EntryEncoding<E>>;
}

export interface EntryEncoding<E extends Entry> {
  /** The LSAs that contain entries. */
  readonly lsas: readonly EntryLsa<E>[];
  /** Index in `lsas` of the LSAs for an entry. */
  lsaOf(entry: E): number;
}

/** LSAs of one type that contain entries, and their limits. */
export interface EntryLsa<E extends Entry = Entry> {
  readonly type: (types: PrivateTypes) => number;
  /** Link-state ID of the first one; the others have the IDs that follow. */
  readonly firstId: (types: PrivateTypes) => number;
  /** The most such LSAs. */
  readonly lsas: number;
  /** The most entries of one such LSA. */
  readonly entries: number;
  /** Bytes of the body beside the entries. */
  readonly overhead: number;
  /** Upper limit of an entry's size in bytes. @throws EncodeError */
  size(entry: E): number;
  body(entries: readonly E[], routerId: number): LsaBody;
}

/** Counts a part of an LSA that is ignored, as `learn.<what>`. */
export type Warn = (what: string) => void;

export interface ReceivedPart<E extends Entry> {
  readonly reading: PerVersion<Reading<E>>;
  /** Which entry is used if a router lists the same key in several LSAs. */
  readonly repeated: LowestCounts<E> | 'all-count';
  /** Whether the learned advertisement depends on the address of the entry's router (decision D6). */
  needsAddress(entry: E): boolean;
  /** The report to the learned table for the entries of one LSA. */
  learned(entries: readonly E[], node: NodeLookup): readonly LearnedAdvertisement[];
}

export interface Reading<E extends Entry> {
  /**
   * Reads LSAs that may list thousands of entries directly from their encoded bytes: decoding each entry would cost
   * more than using it. Returns undefined for other LSAs. `none`: there are no such LSAs.
   */
  readonly walk: Walk<E> | 'none';
  /** Reads the entries of the other LSAs, by body. */
  readonly bodies: BodyReaders<E>;
}

export type Walk<E extends Entry> = (lsa: RawLsa, options: KindOptions, warn: Warn) => Walked<E> | undefined;

export interface Walked<E extends Entry> {
  /** How many malformed TLVs were skipped; decodeBody reports which ones. Undefined: the whole LSA is malformed. */
  readonly bad: number | undefined;
  readonly entries: readonly E[];
}

/** Bodies without a reader contain no entries. */
export type BodyReaders<E extends Entry> = {
  readonly [K in LsaBody['kind']]?: BodyReader<LsaBody & { readonly kind: K }, E>;
};
export type BodyReader<B, E extends Entry> = (body: B, lsa: RawLsa, options: KindOptions, warn: Warn) => readonly E[];

export interface LowestCounts<E extends Entry> {
  /** Whether, of several such LSAs of a router with one key, only the one with the lowest link-state ID is used. */
  appliesTo(version: Version, lsa: LsaKey): boolean;
  /** Equivalent to comparing their keys, but does not compute the keys. */
  sameKey(a: E, b: E): boolean;
}

/** Looks up the address of the router that advertises an entry. Most entries do not need it. */
export type NodeLookup = () => IpAddress | undefined;

/** An entry that may be copied into another area, and the router that advertises it. */
export interface Candidate<E extends Entry> {
  readonly entry: E;
  readonly advertisingRouter: number;
  readonly node: NodeLookup;
}

export interface LeakingRules<E extends Entry> {
  /** Whether the entry is of interest to other areas. */
  isLeakable(entry: E): boolean;
  /** Whether the entry is itself a copy. A copy gives way to an entry that a router of the area originates. */
  isCopy(entry: E): boolean;
  /**
   * Whether the entry may be copied from one area to another. This must prevent two routers from copying the same entry
   * back and forth without end.
   */
  mayLeak(entry: E, from: number, to: number): boolean;
  /** Which of two candidates with one key is copied: `a` if the result is negative. */
  compare(a: Candidate<E>, b: Candidate<E>): number;
  /** The entry of our LSA in the other area. */
  copy(candidate: Candidate<E>): E;
}
