// The parts of a unicast route that cnpd reads besides its own attribute (RFC 4271 §4.3, §5.1): prefix, AS_PATH with
// four-octet AS numbers (RFC 6793, RFC 5065), NEXT_HOP, MULTI_EXIT_DISC, and the next hops of MP_REACH_NLRI (RFC 4760
// §3, RFC 2545 §3). The prefixes of MP_REACH_NLRI are skipped.
import type { Family, IpAddress } from '../../model/address.ts';
import type { Prefix } from '../../model/prefix.ts';
import { ok } from '../../model/result.ts';
import { copyOf, prefixBytes, readAddress, readPrefix, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { NHC_TYPE, type PathAttribute, isOptionalTransitive } from './path-attribute.ts';

export interface AsSegment {
  readonly type: 'set' | 'sequence' | 'confed-sequence' | 'confed-set';
  readonly numbers: readonly number[];
}

/** By their number on the wire. */
export const AS_SEGMENTS: Readonly<Record<number, AsSegment['type']>> = {
  1: 'set',
  2: 'sequence',
  3: 'confed-sequence',
  4: 'confed-set',
};

interface RouteAttributes {
  /** The global address, then the link-local one. Empty: no attribute has a next hop. */
  readonly nextHops: readonly IpAddress[];
  /** Value of attribute 39, a copy. Of several the first is used (RFC 7606 §3 g). */
  readonly nhc?: Uint8Array;
  /** Its flags, if they are not those of an optional transitive attribute. */
  readonly badNhcFlags?: number;
  readonly asPath: readonly AsSegment[];
  /** MULTI_EXIT_DISC; 0 if absent. */
  readonly med: number;
  /** RFC 8092: global administrator, two local data parts. */
  readonly largeCommunities: readonly LargeCommunity[];
}

export type LargeCommunity = readonly [number, number, number];

const TYPE = { asPath: 2, nextHop: 3, multiExitDisc: 4, mpReach: 14, largeCommunities: 32 } as const;
const MP_REACH_FIXED = 4;
const ADDRESS_BYTES = { 4: 4, 6: 16 } as const;
const MAX_LENGTH = { 4: 32, 6: 128 } as const;

/**
 * One prefix of an UPDATE: its length in bits, then as many octets as that length needs. Codes: `truncated`,
 * `bad-prefix-length`, `trailing-bytes`.
 */
export function decodeNlri(bytes: Uint8Array, family: Family): Decoded<Prefix> {
  const length = bytes[0];
  if (length === undefined) return malformed('truncated', 0, 'no prefix');
  if (length > MAX_LENGTH[family]) return malformed('bad-prefix-length', 0, `prefix of ${length} bits in IPv${family}`);
  const end = 1 + prefixBytes(length);
  if (bytes.length < end)
    return malformed('truncated', bytes.length, `prefix of ${length} bits in ${bytes.length - 1} octets`);
  if (bytes.length > end) return malformed('trailing-bytes', end, `${bytes.length - end} octets after the prefix`);
  return ok(readPrefix(bytes, 1, family, length));
}

/**
 * Codes: `bad-length` (offset 0, the detail names the attribute), `bad-segment`. Attributes that are not in
 * RouteAttributes are skipped.
 */
export function decodeRoute(attributes: readonly PathAttribute[]): Decoded<RouteAttributes> {
  let nextHops: readonly IpAddress[] = [];
  let nhc: Pick<RouteAttributes, 'nhc' | 'badNhcFlags'> | undefined;
  let asPath: readonly AsSegment[] = [];
  let med = 0;
  let largeCommunities: readonly LargeCommunity[] = [];
  for (const { flags, type, value } of attributes) {
    if (type === TYPE.nextHop) {
      if (value.length !== 4) return malformed('bad-length', 0, `NEXT_HOP of ${value.length} octets`);
      nextHops = [readAddress(value, 0, 4)];
    } else if (type === TYPE.multiExitDisc) {
      if (value.length !== 4) return malformed('bad-length', 0, `MULTI_EXIT_DISC of ${value.length} octets`);
      med = u32(value, 0);
    } else if (type === TYPE.mpReach) {
      const hops = mpReachNextHops(value);
      if (!hops.ok) return hops;
      nextHops = hops.value;
    } else if (type === TYPE.asPath) {
      const segments = decodeAsPath(value);
      if (!segments.ok) return segments;
      asPath = segments.value;
    } else if (type === TYPE.largeCommunities) largeCommunities = decodeLargeCommunities(value);
    else if (type === NHC_TYPE)
      nhc ??= { nhc: copyOf(value), ...(!isOptionalTransitive(flags) && { badNhcFlags: flags }) };
  }
  return ok({ nextHops, ...nhc, asPath, med, largeCommunities });
}

/** RFC 8092 §3: twelve octets each. Trailing octets are ignored. */
function decodeLargeCommunities(value: Uint8Array): LargeCommunity[] {
  return Array.from(
    { length: Math.floor(value.length / 12) },
    (_, i) => [u32(value, 12 * i), u32(value, 12 * i + 4), u32(value, 12 * i + 8)] as const,
  );
}

function mpReachNextHops(value: Uint8Array): Decoded<IpAddress[]> {
  const length = value[3] ?? 0;
  const family = length === 4 ? 4 : length === 16 || length === 32 ? 6 : undefined;
  if (!family || value.length < MP_REACH_FIXED + length)
    return malformed('bad-length', 0, `MP_REACH_NLRI of ${value.length} octets with a next hop of ${length}`);
  const hops: IpAddress[] = [];
  for (let at = 0; at < length; at += ADDRESS_BYTES[family]) hops.push(readAddress(value, MP_REACH_FIXED + at, family));
  return ok(hops);
}

function decodeAsPath(value: Uint8Array): Decoded<AsSegment[]> {
  const segments: AsSegment[] = [];
  for (let at = 0; at < value.length;) {
    const type = AS_SEGMENTS[value[at]!];
    const end = at + 2 + 4 * (value[at + 1] ?? 0);
    if (!type || end > value.length)
      return malformed(
        'bad-segment',
        at,
        `AS_PATH with a segment of type ${value[at]} and ${value[at + 1] ?? 'no'} AS numbers in ` +
          `${value.length - at} octets`,
      );
    segments.push({ type, numbers: Array.from({ length: value[at + 1]! }, (_, i) => u32(value, at + 2 + 4 * i)) });
    at = end;
  }
  return ok(segments);
}
