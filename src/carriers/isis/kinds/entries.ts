// What the entries of an LSP say, prefixes and locators alike, and which address a prefix leads to.
import { type Family, type IpAddress, isUnicastHost } from '../../../model/address.ts';
import type { LearnedOf } from '../../../model/advertisement.ts';
import type { Prefix } from '../../../model/prefix.ts';

/** What prefixes and locators have in common; leaking between levels depends on it. */
export interface EntryAttributes {
  readonly metric: number;
  /** The up/down bit of prefixes, the D bit of locators. */
  readonly down: boolean;
  /** Sub-TLV 4, empty when absent. */
  readonly flags: Uint8Array;
  /** Sub-TLVs 11 and 12. */
  readonly source4?: IpAddress | undefined;
  readonly source6?: IpAddress | undefined;
}

/** One prefix entry of TLV 135, 235, 236 or 237. */
export interface PrefixEntry extends EntryAttributes {
  readonly kind: 'sender-prefix';
  readonly prefix: Prefix;
  readonly external: boolean;
  readonly pnc: boolean;
}

/** Usable addresses of the node itself: TLVs 134/140 first, then 132/232. */
export interface NodeAddresses {
  readonly v4?: IpAddress;
  readonly v6?: IpAddress;
}

/** A prefix without the P-flag needs no more than this. */
export type PlainEntry = Pick<PrefixEntry, 'kind' | 'prefix' | 'metric' | 'pnc'>;

export const isFlagged = (entry: PlainEntry | PrefixEntry): entry is PrefixEntry => entry.pnc;

export const sameOptional = (a: IpAddress | undefined, b: IpAddress | undefined): boolean =>
  a?.value === b?.value && a?.family === b?.family;

/**
 * Where notices for an entry go (decision D6): its own sub-TLVs 12/11, else the node's TLVs 140/134, else 232/132; own
 * family first. An entry that names what can be no proxy has none: the learned table counts it by name.
 */
export function proxyOf(
  entry: PrefixEntry,
  routerIds: NodeAddresses,
  interfaces: NodeAddresses,
): IpAddress | undefined {
  const { family } = entry.prefix.address;
  return (
    usable(family, entry.source4, entry.source6) ??
    entry.source6 ??
    entry.source4 ??
    usable(family, routerIds.v4, routerIds.v6) ??
    usable(family, interfaces.v4, interfaces.v6)
  );
}

function usable(family: Family, v4: IpAddress | undefined, v6: IpAddress | undefined): IpAddress | undefined {
  const first = family === 4 ? v4 : v6;
  const second = family === 4 ? v6 : v4;
  if (first && isUnicastHost(first)) return first;
  return second && isUnicastHost(second) ? second : undefined;
}

export function learnedPrefix(
  entry: PlainEntry | PrefixEntry,
  routerIds: NodeAddresses,
  interfaces: NodeAddresses,
): LearnedOf<'sender-prefix'> {
  if (!isFlagged(entry)) return entry;
  const { kind, prefix, pnc, metric } = entry;
  return { kind, prefix, pnc, metric, proxy: proxyOf(entry, routerIds, interfaces) };
}
