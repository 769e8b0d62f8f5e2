// A walk over the prefix TLVs of an LSA without allocating: Extended Prefix TLVs of OSPFv2 (RFC 7684 §2.1), prefix TLVs
// of OSPFv3's extended LSAs (RFC 8362 §3). Thousands of sender prefixes come at once, and building every TLV as a value
// would cost more than using it. It agrees with decodeBody TLV by TLV (prefix-walk.test.ts).
import type { IpAddress } from '../../model/address.ts';
import type { Prefix } from '../../model/prefix.ts';
import { readAddress, readPrefix, u16, u24, u32 } from '../bytes.ts';
import type { Version } from './numbers.ts';
import { paddedPrefixBytes } from './prefix.ts';

/**
 * One prefix TLV as positions in `bytes`. The same object is handed to every visit: copy what must outlive the call.
 */
export interface PrefixTlvCursor {
  readonly bytes: Uint8Array;
  readonly version: Version;
  type: number;
  /** OSPFv2; 0 in OSPFv3. */
  routeType: number;
  flags: number;
  /** OSPFv3; 0 in OSPFv2. */
  metric: number;
  prefixOptions: number;
  prefixLength: number;
  prefixOffset: number;
  /** Value of the first Prefix Extended Flags; −1 when absent. */
  flagsOffset: number;
  flagsLength: number;
  /** Values of the first well-formed Prefix Source Router Address and Source Router ID; −1 when absent. */
  addressOffset: number;
  routerOffset: number;
}

const newCursor = (version: Version, bytes: Uint8Array): PrefixTlvCursor => ({
  bytes,
  version,
  type: 0,
  routeType: 0,
  flags: 0,
  metric: 0,
  prefixOptions: 0,
  prefixLength: 0,
  prefixOffset: 0,
  flagsOffset: -1,
  flagsLength: 0,
  addressOffset: -1,
  routerOffset: -1,
});

/** Numbers of TLVs and sub-TLVs, and how long an address is. */
const LAYOUT = {
  2: { prefixes: new Set([1]), router: 4, address: 5, flags: 11, addressLength: 4 },
  3: { prefixes: new Set([3, 5, 6]), router: 27, address: 28, flags: 37, addressLength: 16 },
} as const;

const TLV_HEADER = 4;
const FIXED = 8;
const WORD = 4;
const padded = (length: number): number => (length + 3) & ~3;

/**
 * Visits every prefix TLV, in order; others, and those that are malformed, are left out.
 * @param start where the TLVs begin, which fill the rest of `bytes`
 * @returns how many TLVs and sub-TLVs were malformed; undefined when the whole LSA is, of which nothing is visited then
 */
export function forEachPrefixTlv(
  version: Version,
  bytes: Uint8Array,
  start: number,
  visit: (cursor: PrefixTlvCursor) => void,
): number | undefined {
  if (start > bytes.length) return undefined;
  const cursor = newCursor(version, bytes);
  const bad = walkTlvs(cursor, start, undefined);
  if (bad !== undefined) walkTlvs(cursor, start, visit);
  return bad;
}

/** One pass checks (without `visit`), the other visits. */
function walkTlvs(
  cursor: PrefixTlvCursor,
  start: number,
  visit: ((cursor: PrefixTlvCursor) => void) | undefined,
): number | undefined {
  const { bytes, version } = cursor;
  const { prefixes } = LAYOUT[version];
  let bad = 0;
  for (let at = start; at < bytes.length;) {
    const valueAt = at + TLV_HEADER;
    if (valueAt > bytes.length) return undefined;
    const end = valueAt + u16(bytes, at + 2);
    const next = valueAt + padded(end - valueAt);
    if (next > bytes.length) return undefined;
    cursor.type = u16(bytes, at);
    if (prefixes.has(cursor.type)) {
      const subTlvsAt = version === 2 ? readFixedV2(cursor, valueAt, end) : readFixedV3(cursor, valueAt, end);
      const badSubTlvs = subTlvsAt < 0 ? 1 : walkSubTlvs(cursor, subTlvsAt, end);
      if (badSubTlvs === undefined) return undefined;
      bad += badSubTlvs;
      if (visit && subTlvsAt >= 0) visit(cursor);
    }
    at = next;
  }
  return bad;
}

/**
 * Route type, prefix length, address family, flags, address.
 * @returns where the sub-TLVs begin; −1 when it is malformed
 */
function readFixedV2(cursor: PrefixTlvCursor, at: number, end: number): number {
  const { bytes } = cursor;
  if (at + FIXED > end || bytes[at + 2] !== 0 || bytes[at + 1]! > 32) return -1;
  cursor.routeType = bytes[at]!;
  cursor.prefixLength = bytes[at + 1]!;
  cursor.flags = bytes[at + 3]!;
  cursor.prefixOffset = at + 4;
  return at + FIXED;
}

/**
 * Flags, metric, prefix length, prefix options, two reserved bytes, as many words of the prefix as it has.
 * @returns as readFixedV2
 */
function readFixedV3(cursor: PrefixTlvCursor, at: number, end: number): number {
  const { bytes } = cursor;
  if (at + FIXED > end || bytes[at + 4]! > 128) return -1;
  cursor.flags = bytes[at]!;
  cursor.metric = u24(bytes, at + 1);
  cursor.prefixLength = bytes[at + 4]!;
  cursor.prefixOptions = bytes[at + 5]!;
  cursor.prefixOffset = at + FIXED;
  const subTlvsAt = at + FIXED + paddedPrefixBytes(cursor.prefixLength);
  return subTlvsAt > end ? -1 : subTlvsAt;
}

function walkSubTlvs(cursor: PrefixTlvCursor, start: number, end: number): number | undefined {
  const { bytes, version } = cursor;
  const { router, address, flags, addressLength } = LAYOUT[version];
  cursor.flagsOffset = cursor.addressOffset = cursor.routerOffset = -1;
  cursor.flagsLength = 0;
  let bad = 0;
  for (let at = start; at < end;) {
    const valueAt = at + TLV_HEADER;
    if (valueAt > end) return undefined;
    const type = u16(bytes, at);
    const length = u16(bytes, at + 2);
    at = valueAt + padded(length);
    if (at > end) return undefined;
    if (type === flags) {
      // RFC 9792 §2: the whole LSA is malformed and MUST be ignored.
      if (length % WORD !== 0) return undefined;
      if (cursor.flagsOffset >= 0) continue;
      cursor.flagsOffset = valueAt;
      cursor.flagsLength = length;
    } else if (type === address) {
      if (length !== addressLength) bad++;
      else if (cursor.addressOffset < 0) cursor.addressOffset = valueAt;
    } else if (type === router) {
      if (length !== 4) bad++;
      else if (cursor.routerOffset < 0) cursor.routerOffset = valueAt;
    }
  }
  return bad;
}

export const cursorPrefix = ({ version, bytes, prefixOffset, prefixLength }: PrefixTlvCursor): Prefix =>
  readPrefix(bytes, prefixOffset, version === 2 ? 4 : 6, prefixLength);

export const cursorAddress = ({ version, bytes, addressOffset }: PrefixTlvCursor): IpAddress | undefined =>
  addressOffset < 0 ? undefined : readAddress(bytes, addressOffset, version === 2 ? 4 : 6);

export const cursorRouter = ({ bytes, routerOffset }: PrefixTlvCursor): number | undefined =>
  routerOffset < 0 ? undefined : u32(bytes, routerOffset);
