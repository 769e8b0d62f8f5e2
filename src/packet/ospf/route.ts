// The LSAs of RFC 2328 and RFC 5340 that hold one route each, which cnpd reads and never writes: Summary and
// AS-External-LSAs of OSPFv2 (types 3, 4, 5, 7), and their OSPFv3 counterparts (functions 3, 4, 5, 7). Masks, metrics,
// forwarding addresses: what is not returned is skipped.
import { type Prefix, prefixOf } from '../../model/prefix.ts';
import { ok } from '../../model/result.ts';
import { u24, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { LSA_HEADER_LENGTH } from './lsa-header.ts';
import { type Version, PREFIX_OPTION } from './numbers.ts';
import { readPaddedPrefix } from './prefix.ts';
import type { LsaKey } from './types.ts';

type Route =
  | { readonly kind: 'prefix'; readonly prefix: Prefix; readonly metric: number; readonly external: boolean }
  /** A router in another area, mostly one that knows routes from outside. */
  | { readonly kind: 'router'; readonly routerId: number };

/** RFC 2328 appendix B: unreachable. */
const LS_INFINITY = 0xffffff;

type Reader = (lsa: LsaKey & { readonly raw: Uint8Array }) => Decoded<Route | undefined>;

const at = LSA_HEADER_LENGTH;
const tooShort = (raw: Uint8Array): ReturnType<typeof malformed> =>
  malformed('truncated', raw.length, 'shorter than the fixed part of the LSA');

/** The length of a contiguous IPv4 mask; undefined for any other. */
export function maskLength(mask: number): number | undefined {
  const length = Math.clz32(~mask >>> 0);
  return mask >>> 0 === (length === 0 ? 0 : (0xffffffff << (32 - length)) >>> 0) ? length : undefined;
}

const prefixV2 =
  (external: boolean, length: number): Reader =>
  ({ lsId, raw }) => {
    if (raw.length < length) return tooShort(raw);
    const bits = maskLength(u32(raw, at));
    if (bits === undefined) return malformed('bad-mask', at, 'a mask with holes');
    const metric = u24(raw, at + 5);
    if (metric === LS_INFINITY) return ok(undefined);
    return ok({ kind: 'prefix', prefix: prefixOf({ family: 4, value: BigInt(lsId) }, bits), metric, external });
  };

const prefixV3 =
  (external: boolean): Reader =>
  ({ raw }) => {
    if (raw.length < at + 8) return tooShort(raw);
    const prefix = readPaddedPrefix(raw, at + 8, raw[at + 4]!);
    if (!prefix)
      return malformed('bad-prefix-length', at + 4, `a prefix of ${raw[at + 4]} bits in ${raw.length - at - 8} bytes`);
    const metric = u24(raw, at + 1);
    if (metric === LS_INFINITY || (raw[at + 5]! & PREFIX_OPTION.noUnicast) !== 0) return ok(undefined);
    return ok({ kind: 'prefix', prefix, metric, external });
  };

/** By LS type. */
const READERS_V2: Readonly<Record<number, Reader>> = {
  3: prefixV2(false, at + 8),
  4: ({ lsId, raw }) =>
    raw.length < at + 8
      ? tooShort(raw)
      : ok(u24(raw, at + 5) === LS_INFINITY ? undefined : { kind: 'router', routerId: lsId }),
  5: prefixV2(true, at + 16),
  7: prefixV2(true, at + 16),
};

/** By whole type: other scopes do not occur. */
const READERS_V3: Readonly<Record<number, Reader>> = {
  0x2003: prefixV3(false),
  0x2004: ({ raw }) =>
    raw.length < at + 12
      ? tooShort(raw)
      : ok(u24(raw, at + 5) === LS_INFINITY ? undefined : { kind: 'router', routerId: u32(raw, at + 8) }),
  0x4005: prefixV3(true),
  0x2007: prefixV3(true),
};

/** The route of an LSA; undefined when it has none, or one that cannot be used. */
export function readRoute(version: Version, lsa: LsaKey & { readonly raw: Uint8Array }): Decoded<Route | undefined> {
  const reader = version === 2 ? READERS_V2[lsa.type] : READERS_V3[lsa.type];
  return reader?.(lsa) ?? ok(undefined);
}
