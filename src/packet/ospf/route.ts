// The LSAs of RFC 2328 and RFC 5340 that contain one route each. cnpd reads them and never originates them:
// Summary-LSAs and AS-External-LSAs of OSPFv2 (types 3, 4, 5, 7), and their OSPFv3 counterparts (functions 3, 4, 5, 7).
// Fields that are not returned are skipped.
import { type Prefix, prefixOf } from '../../model/prefix.ts';
import { ok } from '../../model/result.ts';
import { u24, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { LSA_HEADER_LENGTH } from './lsa-header.ts';
import { type Version, PREFIX_OPTION } from './numbers.ts';
import { readPaddedPrefix } from './prefix.ts';
import type { RawLsa } from './types.ts';

interface PrefixRoute {
  readonly prefix: Prefix;
  readonly metric: number;
  readonly external: boolean;
}

/** RFC 2328 appendix B: unreachable. */
const LS_INFINITY = 0xffffff;

type Reader<T> = (lsa: RawLsa) => Decoded<T | undefined>;

const at = LSA_HEADER_LENGTH;
const tooShort = (raw: Uint8Array): ReturnType<typeof malformed> =>
  malformed('truncated', raw.length, 'shorter than the fixed part of the LSA');

/** The length of a contiguous IPv4 mask; undefined for any other mask. */
export function maskLength(mask: number): number | undefined {
  const length = Math.clz32(~mask >>> 0);
  return mask >>> 0 === (length === 0 ? 0 : (0xffffffff << (32 - length)) >>> 0) ? length : undefined;
}

/** The network of a link-state ID or stub link and its mask; undefined if the mask is not contiguous. */
export function maskedPrefix(network: number, mask: number): Prefix | undefined {
  const length = maskLength(mask);
  return length === undefined ? undefined : prefixOf({ family: 4, value: BigInt(network) }, length);
}

const prefixV2 =
  (external: boolean, length: number): Reader<PrefixRoute> =>
  ({ lsId, raw }) => {
    if (raw.length < length) return tooShort(raw);
    const prefix = maskedPrefix(lsId, u32(raw, at));
    if (!prefix) return malformed('bad-mask', at, 'a mask with holes');
    const metric = u24(raw, at + 5);
    return ok(metric === LS_INFINITY ? undefined : { prefix, metric, external });
  };

const prefixV3 =
  (external: boolean): Reader<PrefixRoute> =>
  ({ raw }) => {
    if (raw.length < at + 8) return tooShort(raw);
    const prefix = readPaddedPrefix(raw, at + 8, raw[at + 4]!);
    if (!prefix)
      return malformed('bad-prefix-length', at + 4, `a prefix of ${raw[at + 4]} bits in ${raw.length - at - 8} bytes`);
    const metric = u24(raw, at + 1);
    if (metric === LS_INFINITY || (raw[at + 5]! & PREFIX_OPTION.noUnicast) !== 0) return ok(undefined);
    return ok({ prefix, metric, external });
  };

/** By LS type. */
const PREFIXES_V2: Readonly<Record<number, Reader<PrefixRoute>>> = {
  3: prefixV2(false, at + 8),
  5: prefixV2(true, at + 16),
  7: prefixV2(true, at + 16),
};

/** By whole type: these functions have only this scope. */
const PREFIXES_V3: Readonly<Record<number, Reader<PrefixRoute>>> = {
  0x2003: prefixV3(false),
  0x4005: prefixV3(true),
  0x2007: prefixV3(true),
};

const ROUTER_V2 = 4;
const ROUTER_V3 = 0x2004;

/** The prefix that an LSA is a route to; undefined if the LSA is no such route, or the route is unusable. */
export const readPrefixRoute = (version: Version, lsa: RawLsa): Decoded<PrefixRoute | undefined> =>
  (version === 2 ? PREFIXES_V2 : PREFIXES_V3)[lsa.type]?.(lsa) ?? ok(undefined);

/**
 * The router that an LSA is a route to: in another area, usually an AS boundary router. Undefined as in
 * readPrefixRoute.
 */
export function readRouterRoute(version: Version, { type, lsId, raw }: RawLsa): Decoded<number | undefined> {
  if (type !== (version === 2 ? ROUTER_V2 : ROUTER_V3)) return ok(undefined);
  if (raw.length < at + (version === 2 ? 8 : 12)) return tooShort(raw);
  if (u24(raw, at + 5) === LS_INFINITY) return ok(undefined);
  return ok(version === 2 ? lsId : u32(raw, at + 8));
}
