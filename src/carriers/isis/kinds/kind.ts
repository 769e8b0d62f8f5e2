// What IS-IS has to know of a kind of advertisement. One file in this folder answers for one kind, as a row of
// table.ts; nothing outside of the folder knows one kind from another. There an entry is known by its `kind`, and one
// of our own by its `key` as well.
//
// A row has no optional part: what a kind does not do, it says.
import type { Sink } from '../../effects.ts';
import type { IpAddress } from '../../../model/address.ts';
import type { LearnedAdvertisement } from '../../../model/advertisement.ts';
import type { CodePointValues } from '../../../model/code-points.ts';
import type { SubTlvReport } from '../../../packet/isis/tlv/codec.ts';
import type { IsisTlv, Level, Lsp, Received } from '../../../packet/isis/types.ts';
import type { NodeAddresses } from './attributes.ts';

export interface IsisKind<
  A extends { readonly kind: string } = { readonly kind: string },
  O extends OwnEntry = OwnEntry,
  R extends ReadEntry = ReadEntry,
> {
  readonly kind: A['kind'];
  /** What our own LSP says of it. */
  readonly own: OwnPart<A, O>;
  /** What the LSPs of others say of it. */
  readonly received: ReceivedPart<R>;
  /** How it crosses from one level to the other; `never`: its flooding scope is the level. */
  readonly leaking: LeakingRules<O, R> | 'never';
}

/** One entry of our own LSP, declared or leaked. */
export interface OwnEntry {
  readonly kind: string;
  /** Unique among the entries of all kinds; an entry and its copy in the other level have the same. */
  readonly key: string;
}

/** One entry of an LSP that was received. */
export interface ReadEntry {
  readonly kind: string;
}

/** Code points that decide what is advertised and what is read. */
export interface KindOptions {
  readonly codePoints: CodePointValues;
}

export interface OwnPart<A, O extends OwnEntry> {
  /** The address of this router that an advertisement names: TLV 242 needs one, whoever gives it. */
  addressOf(advertisement: A): IpAddress;
  /**
   * What our LSP is to say, each key once.
   * @param s counts and warns of what cannot be advertised
   * @param identity by which this router is known
   */
  desired(
    advertisements: readonly A[],
    s: Sink & { readonly config: KindOptions },
    identity: NodeAddresses,
  ): Desired<O>;
  /** How its entries are encoded; `none`: it has only what it says in fragment 0. */
  readonly entries: EntryCodec<O> | 'none';
}

export interface EntryCodec<O extends OwnEntry> {
  /** The TLVs that entries are packed into. */
  readonly packings: readonly Packing[];
  /** Which of `packings` an entry goes into. */
  packingOf(entry: O): number;
  /** Bytes that an entry takes in its TLV, sub-TLVs included: exactly, or at most. */
  size(entry: O): number;
  /** Whether two entries of one key are encoded alike. */
  same(a: O, b: O): boolean;
  /** The TLVs of one fragment. @param mtIpv6 the neighbour uses topology 2 for IPv6 (RFC 5120) */
  encode(entries: readonly O[], mtIpv6: boolean): readonly IsisTlv[];
}

export interface Desired<O> {
  /** To be placed in fragments from 1 on (own/placement.ts). */
  readonly entries: readonly O[];
  /** What fragment 0 says in addition, for this router as a whole. */
  readonly fragment0: readonly IsisTlv[];
}

/** How entries share TLVs. */
export interface Packing {
  /** Bytes for entries in one TLV. 0: each entry counts as a TLV of its own. */
  readonly capacity: number;
  /** Bytes of a TLV in front of them: type, length, topology. */
  readonly overhead: number;
}

export interface ReceivedPart<R extends ReadEntry> {
  /** TLV types that the reader walks through in the encoded LSP: decoding each entry would cost more than using it. */
  readonly walked: readonly number[];
  /** @param lsp passed the checks of an LSP's structure */
  reader(lsp: Lsp & Received, options: KindOptions): Reader<R>;
  /** What the learned table gets of the entries that one LSP lists. */
  learned(entries: readonly R[], node: NodeLookup): readonly LearnedAdvertisement[];
}

/** Reads one LSP. */
export interface Reader<R extends ReadEntry> {
  /** A TLV that nobody walks, in the order of the LSP. @param report for each part that must be ignored */
  tlv(tlv: IsisTlv, report: SubTlvReport): void;
  /** After the last TLV. @param keepLeakable whether this router leaks between levels */
  end(node: LspAddresses, keepLeakable: boolean): Found<R>;
}

export interface Found<R extends ReadEntry> {
  /** All that there is. */
  readonly entries: readonly R[];
  /** Those that may be leaked; they are kept beside the LSP, of a large database the largest part. */
  readonly leakable: readonly R[];
  /** How many of them the learned table keeps room for (ENTRY_COST). */
  readonly cost: number;
  /** Prefixes with a proxy, for the operator. */
  readonly proxyPrefixes: number;
  /** Whether an entry has no address itself, so that those of the node decide (decision D6). */
  readonly needsAddress: boolean;
  /** Whether a walked TLV has something wrong with it: then the full decoder says what. */
  readonly faulty: boolean;
  /** Warnings for the operator, by counter. */
  readonly warnings: readonly { readonly counter: string; readonly message: string; readonly times: number }[];
}

/** Addresses that an LSP or a node gives for itself: TLVs 134 and 140, and TLVs 132 and 232. */
export interface LspAddresses {
  readonly routerIds: NodeAddresses;
  readonly interfaces: NodeAddresses;
}

/** Those that any fragment of the node gives. Looked up when asked, which most entries do not. */
export type NodeLookup = () => LspAddresses;

/** An entry that may be leaked, and the node that advertises it. */
export interface Candidate<R extends ReadEntry> {
  readonly entry: R;
  readonly node: NodeLookup;
}

export interface LeakingRules<O extends OwnEntry, R extends ReadEntry> {
  keyOf(entry: R): string;
  /** Whether it was leaked here itself: then it gives way to what an originator says. */
  isCopy(entry: R): boolean;
  /** Whether a copy may be made for the other level; without an end to it, two routers leak each other's for ever. */
  mayLeak(entry: R, from: Level): boolean;
  /** Which of two with one key is leaked: `a` if negative. */
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
