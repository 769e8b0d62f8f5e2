// What OSPF says for cnpd, the same in both versions: sender prefixes with the P-flag (PNC §5.2, §5.3) and SIDs, each
// with the kind of route that RFC 2328 §11 would call it. Which LSA holds it and how it is written there is
// v2/dialect.ts and v3/dialect.ts.
import { type IpAddress, isUnicastHost } from '../../../model/address.ts';
import { type Prefix, prefixContains, prefixKey } from '../../../model/prefix.ts';

/**
 * `external`: from outside OSPF, flooded through the whole AS or within an NSSA. `unspecified`: whoever says it does
 * not know (RFC 7684 §2.1).
 */
export type RouteKind = 'intra-area' | 'inter-area' | 'external' | 'unspecified';

export interface PrefixEntry {
  readonly prefix: Prefix;
  /** Proxy Node Capability. */
  readonly pnc: boolean;
  readonly metric: number;
  readonly route: RouteKind;
  /** Prefix Extended Flags (RFC 9792), all of them. */
  readonly flags: Uint8Array;
  /** N-flag: it identifies a node. */
  readonly node: boolean;
  /** A-flag of OSPFv2: in an area that the border router is attached to (RFC 7684 §2.1). */
  readonly attached: boolean;
  /** Prefix Source Router Address and Router ID (RFC 9084). */
  readonly proxy?: IpAddress | undefined;
  readonly sourceRouter?: number | undefined;
}

export interface SidEntry {
  readonly sid: IpAddress;
  readonly behavior: number;
  readonly locator: Prefix;
  readonly algorithm: number;
  readonly route: RouteKind;
}

export type Entry = PrefixEntry | SidEntry;

export const isSid = (entry: Entry): entry is SidEntry => 'sid' in entry;

/** What an entry is known by: a prefix, or a SID. */
export const entryKey = (entry: Entry): string =>
  isSid(entry) ? `sid:${entry.sid.value.toString(32)}` : prefixKey(entry.prefix);

/**
 * A SID that is not from its locator MUST be ignored (RFC 9513 §8); one that is no host's address could not be answered
 * to.
 */
export const usableSid = ({ sid, locator }: Pick<SidEntry, 'sid' | 'locator'>): boolean =>
  sid.family === 6 && locator.length > 0 && prefixContains(locator, sid) && isUnicastHost(sid);
