// A walk over the prefix TLVs of an LSA without allocations: Extended Prefix TLVs of OSPFv2 (RFC 7684 §2.1), prefix
// TLVs of OSPFv3's extended LSAs (RFC 8362 §3). Thousands of sender prefixes may arrive at once, and building a value
// of every TLV would cost more than using it. The walk reads TLVs and their fixed parts with the codecs' functions. Its
// result equals that of decodeBody, TLV by TLV (prefix-walk.test.ts).
import type { IpAddress } from '../../model/address.ts';
import type { Prefix } from '../../model/prefix.ts';
import { readAddress, readPrefix, u16, u32 } from '../bytes.ts';
import { type PrefixTlvPlace, readPrefixTlv } from './lsa/extended-lsa.ts';
import { type ExtendedPrefixPlace, readExtendedPrefix } from './lsa/extended-prefix.ts';
import type { Version } from './numbers.ts';
import { TLV_HEADER, nextTlv, tlvValueEnd } from './tlv.ts';

/**
 * One prefix TLV as positions in `bytes`. Every visit gets the same object: copy what must outlive the call. The route
 * type is 0 in OSPFv3; metric and prefix options are 0 in OSPFv2.
 */
export interface PrefixTlvCursor extends ExtendedPrefixPlace, PrefixTlvPlace {
  readonly bytes: Uint8Array;
  readonly version: Version;
  type: number;
  /** Offset of the value of the first Prefix Extended Flags; −1 if absent. */
  flagsOffset: number;
  flagsLength: number;
  /** Offsets of the values of the first well-formed Prefix Source Router Address and Source Router ID; −1 if absent. */
  addressOffset: number;
  routerOffset: number;
  /** The value of the first sub-TLV of the type that the caller asks for; −1 if absent. */
  wantedOffset: number;
  wantedLength: number;
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
  wantedOffset: -1,
  wantedLength: 0,
});

/** Type numbers of TLVs and sub-TLVs, and the length of an address. */
const LAYOUT = {
  2: { prefixes: new Set([1]), router: 4, address: 5, flags: 11, addressLength: 4 },
  3: { prefixes: new Set([3, 5, 6]), router: 27, address: 28, flags: 37, addressLength: 16 },
} as const;

const WORD = 4;
/** No sub-TLV has this type. */
const NOTHING = -1;

/**
 * Visits every prefix TLV, in order. Other TLVs and malformed ones are skipped.
 * @param start where the TLVs begin; they fill the rest of `bytes`
 * @param wanted type of one more sub-TLV, without a codec
 * @returns how many TLVs and sub-TLVs were malformed; undefined if the whole LSA is, and then no TLV is visited
 */
export function forEachPrefixTlv(
  version: Version,
  bytes: Uint8Array,
  start: number,
  visit: (cursor: PrefixTlvCursor) => void,
  wanted = NOTHING,
): number | undefined {
  if (start > bytes.length) return undefined;
  const cursor = newCursor(version, bytes);
  const bad = walkTlvs(cursor, start, wanted, undefined);
  if (bad !== undefined) walkTlvs(cursor, start, wanted, visit);
  return bad;
}

/** The first pass, without `visit`, checks; the second visits. */
function walkTlvs(
  cursor: PrefixTlvCursor,
  start: number,
  wanted: number,
  visit: ((cursor: PrefixTlvCursor) => void) | undefined,
): number | undefined {
  const { bytes, version } = cursor;
  const { prefixes } = LAYOUT[version];
  let bad = 0;
  for (let at = start; at < bytes.length;) {
    const valueAt = at + TLV_HEADER;
    if (valueAt > bytes.length) return undefined;
    const end = tlvValueEnd(bytes, at);
    const next = nextTlv(at, end);
    if (next > bytes.length) return undefined;
    cursor.type = u16(bytes, at);
    if (prefixes.has(cursor.type)) {
      const subTlvsAt =
        version === 2 ? readExtendedPrefix(bytes, valueAt, end, cursor) : readPrefixTlv(bytes, valueAt, end, cursor);
      const badSubTlvs = subTlvsAt < 0 ? 1 : walkSubTlvs(cursor, subTlvsAt, end, wanted);
      if (badSubTlvs === undefined) return undefined;
      bad += badSubTlvs;
      if (visit && subTlvsAt >= 0) visit(cursor);
    }
    at = next;
  }
  return bad;
}

function walkSubTlvs(cursor: PrefixTlvCursor, start: number, end: number, wanted: number): number | undefined {
  const { bytes, version } = cursor;
  const { router, address, flags, addressLength } = LAYOUT[version];
  cursor.flagsOffset = cursor.addressOffset = cursor.routerOffset = cursor.wantedOffset = -1;
  cursor.flagsLength = cursor.wantedLength = 0;
  let bad = 0;
  for (let at = start; at < end;) {
    const valueAt = at + TLV_HEADER;
    if (valueAt > end) return undefined;
    const type = u16(bytes, at);
    const valueEnd = tlvValueEnd(bytes, at);
    const length = valueEnd - valueAt;
    at = nextTlv(at, valueEnd);
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
    } else if (type === wanted && cursor.wantedOffset < 0) {
      cursor.wantedOffset = valueAt;
      cursor.wantedLength = length;
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
