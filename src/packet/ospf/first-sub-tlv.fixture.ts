// For tests: what the walk over prefixes (prefix-walk.ts) is compared with.
import type { PrefixSubTlv } from './lsa/types.ts';

/** The first sub-TLV of a kind: of repeated ones, it alone counts (RFC 9792 §2; RFC 9084 §3). */
export function firstSubTlv<K extends PrefixSubTlv['kind']>(
  subTlvs: readonly PrefixSubTlv[],
  kind: K,
): Extract<PrefixSubTlv, { kind: K }> | undefined {
  return subTlvs.find((subTlv): subTlv is Extract<PrefixSubTlv, { kind: K }> => subTlv.kind === kind);
}
