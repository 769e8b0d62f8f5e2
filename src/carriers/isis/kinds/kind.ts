// What IS-IS must know about a kind of advertisement. Each kind is one file in this folder and one row of table.ts;
// nothing outside the folder depends on particular kinds. Elsewhere an entry is identified by its `kind`, and one of
// our own also by its `key`.
//
// No part of a row is optional: a row states explicitly what its kind does not do.
import type { Sink } from '../../effects.ts';
import type { IpAddress } from '../../../model/address.ts';
import type { LearnedAdvertisement } from '../../../model/advertisement.ts';
import type { CodePointValues } from '../../../model/code-points.ts';
import type { SubTlvReport } from '../../../packet/isis/tlv/codec.ts';
import type { IsisTlv } from '../../../packet/isis/tlv/types.ts';
import type { Level, Lsp, Received } from '../../../packet/isis/types.ts';
import type { NodeAddresses } from './attributes.ts';

export interface IsisKind<
  A extends { readonly kind: string } = { readonly kind: string },
  O extends OwnEntry = OwnEntry,
  R extends ReadEntry = ReadEntry,
> {
  readonly kind: A['kind'];
  /** The kind in our own LSP. */
  readonly own: OwnPart<A, O>;
  /** The kind in the LSPs of others. */
  readonly received: ReceivedPart<R>;
  /** How the kind is leaked between levels; `never`: its flooding scope is the level. */
  readonly leaking: LeakingRules<O, R> | 'never';
}

/** One entry of our own LSP, declared or leaked. */
export interface OwnEntry {
  readonly kind: string;
  /** Unique among the entries of all kinds. An entry and its copy in the other level have the same key. */
  readonly key: string;
}

/** One entry of a received LSP. */
export interface ReadEntry {
  readonly kind: string;
}

/** Code points for encoding and decoding. */
export interface KindOptions {
  readonly codePoints: CodePointValues;
}

export interface OwnPart<A, O extends OwnEntry> {
  /** The address of this router that an advertisement names, if it does. TLV 242 needs one, of any kind. */
  addressOf(advertisement: A): IpAddress | undefined;
  /**
   * What our LSP must advertise, each key once.
   * @param s counts and warns of what cannot be advertised
   * @param identity the addresses that identify this router
   */
  desired(
    advertisements: readonly A[],
    s: Sink & { readonly config: KindOptions },
    identity: NodeAddresses,
  ): Desired<O>;
  /** How its entries are encoded; `none`: the kind has only TLVs of fragment 0. */
  readonly entries: EntryCodec<O> | 'none';
}

export interface EntryCodec<O extends OwnEntry> {
  /** The TLVs that hold the entries. */
  readonly packings: readonly Packing[];
  /** Index in `packings` for an entry. */
  packingOf(entry: O): number;
  /** Bytes of an entry in its TLV, including sub-TLVs: exactly, or an upper bound. */
  size(entry: O): number;
  /** Whether two entries with one key are encoded identically. */
  same(a: O, b: O): boolean;
  /** The TLVs of one fragment. @param mtIpv6 the neighbor uses topology 2 for IPv6 (RFC 5120) */
  encode(entries: readonly O[], mtIpv6: boolean): readonly IsisTlv[];
}

export interface Desired<O> {
  /** Entries for fragments from 1 on (own/placement.ts). */
  readonly entries: readonly O[];
  /** Additional TLVs of fragment 0, for this router as a whole. */
  readonly fragment0: readonly IsisTlv[];
}

/** How entries share TLVs. */
export interface Packing {
  /** Bytes for entries in one TLV. 0: each entry has a TLV to itself. */
  readonly capacity: number;
  /** Bytes of a TLV before the entries: type, length, topology. */
  readonly overhead: number;
}

export interface ReceivedPart<R extends ReadEntry> {
  /** TLV types that the reader walks in the encoded LSP, because decoding each entry would cost more than using it. */
  readonly walked: readonly number[];
  /** @param lsp has passed the structural checks of an LSP */
  reader(lsp: Lsp & Received, options: KindOptions): Reader<R>;
  /** The learned advertisements for the entries of one LSP. */
  learned(entries: readonly R[], node: NodeLookup): readonly LearnedAdvertisement[];
}

/** Reads one LSP. */
export interface Reader<R extends ReadEntry> {
  /**
   * Handles a TLV that is not walked, in the order of the LSP. @param report called for each part that must be ignored
   */
  tlv(tlv: IsisTlv, report: SubTlvReport): void;
  /** Called after the last TLV. @param keepLeakable whether this router leaks between levels */
  end(node: LspAddresses, keepLeakable: boolean): Found<R>;
}

export interface Found<R extends ReadEntry> {
  /** All entries found. */
  readonly entries: readonly R[];
  /** Entries that may be leaked. They are kept with the LSP, and are the largest part of a large database. */
  readonly leakable: readonly R[];
  /** How many entries the learned table reserves headroom for (ENTRY_COST). */
  readonly cost: number;
  /** Prefixes with a proxy, shown to the operator. */
  readonly proxyPrefixes: number;
  /** Whether an entry has no address itself, so that the node's addresses apply (decision D6). */
  readonly needsAddress: boolean;
  /** Whether a walked TLV is malformed: then the full decoder names the error. */
  readonly faulty: boolean;
  /** Warnings for the operator, by counter. */
  readonly warnings: readonly { readonly counter: string; readonly message: string; readonly times: number }[];
}

/** Addresses of an LSP or a node: TLVs 134 and 140, and TLVs 132 and 232. */
export interface LspAddresses {
  readonly routerIds: NodeAddresses;
  readonly interfaces: NodeAddresses;
}

/** The addresses from all fragments of the node. Evaluated only when needed; most entries do not need it. */
export type NodeLookup = () => LspAddresses;

/** An entry that may be leaked, and the node that advertises it. */
export interface Candidate<R extends ReadEntry> {
  readonly entry: R;
  readonly node: NodeLookup;
}

export interface LeakingRules<O extends OwnEntry, R extends ReadEntry> {
  keyOf(entry: R): string;
  /** Whether the entry is itself a leaked copy: then an original takes precedence. */
  isCopy(entry: R): boolean;
  /**
   * Whether a copy may be made for the other level. Without a limit two routers would leak each other's copies forever.
   */
  mayLeak(entry: R, from: Level): boolean;
  /** Which of two entries with one key is leaked: `a` if negative. */
  compare(a: Candidate<R>, b: Candidate<R>): number;
  /** The entry of our LSP in the other level. */
  copy(candidate: Candidate<R>, to: Level): O;
}

export const NOTHING_FOUND: Found<never> = {
  entries: [],
  leakable: [],
  cost: 0,
  proxyPrefixes: 0,
  needsAddress: false,
  faulty: false,
  warnings: [],
};
