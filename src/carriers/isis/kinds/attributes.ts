// The attributes that prefixes and locators share (RFC 7794, RFC 9352 §7.1), and their rules for leaking.
import { type IpAddress, sameOptional } from '../../../model/address.ts';
import { hasFlag, withFlag } from '../../../packet/bit-string.ts';
import { ATTRIBUTE_BIT } from '../../../packet/isis/attribute-flags.ts';
import type { PrefixSubTlv } from '../../../packet/isis/tlv/types.ts';
import type { Level } from '../../../packet/isis/types.ts';

/** At most one address per family. */
export interface NodeAddresses {
  readonly v4?: IpAddress;
  readonly v6?: IpAddress;
}

export interface OwnAttributes {
  /** The up/down bit of prefixes, the D bit of locators. */
  readonly down: boolean;
  /** Sub-TLV 4, empty when absent. */
  readonly flags: Uint8Array;
  /** Sub-TLVs 11 and 12. */
  readonly source4?: IpAddress | undefined;
  readonly source6?: IpAddress | undefined;
}

export interface EntryAttributes extends OwnAttributes {
  readonly metric: number;
}

export const sameAttributes = (a: OwnAttributes, b: OwnAttributes): boolean =>
  a.down === b.down &&
  Buffer.compare(a.flags, b.flags) === 0 &&
  sameOptional(a.source4, b.source4) &&
  sameOptional(a.source6, b.source6);

/** Bytes of sub-TLVs 11 and 12. */
export const sourcesSize = ({ source4, source6 }: OwnAttributes): number => (source4 ? 6 : 0) + (source6 ? 18 : 0);

export const sourceSubTlvs = ({ source4, source6 }: OwnAttributes): PrefixSubTlv[] => [
  ...(source4 ? [{ kind: 'ipv4-source-router-id', address: source4 } as const] : []),
  ...(source6 ? [{ kind: 'ipv6-source-router-id', address: source6 } as const] : []),
];

/**
 * Whether an entry was leaked from the other level: down has the up/down bit; both directions have the R flag (RFC 7794
 * §2.1).
 */
export const isCopy = ({ down, flags }: OwnAttributes): boolean => down || hasFlag(flags, ATTRIBUTE_BIT.readvertised);

/** An entry leaked down is never leaked up again (RFC 5302 §3.3). */
export const mayLeak = ({ down }: OwnAttributes, from: Level): boolean => from === 2 || !down;

/** The attributes of a leaked copy: flags preserved and R set. */
export const copiedAttributes = ({ flags, source4, source6 }: OwnAttributes, to: Level): OwnAttributes => ({
  down: to === 1,
  flags: withFlag(flags, ATTRIBUTE_BIT.readvertised),
  ...(source4 && { source4 }),
  ...(source6 && { source6 }),
});
