// Walks over an encoded LSP without allocating: in a large database, building every TLV as a value would cost more than
// using it. Entries are read by the codecs' own functions, and walks agree with decodePdu (walk.test.ts): a TLV
// that is malformed anywhere is skipped whole, a malformed sub-TLV alone.
import type { IpAddress } from '../../model/address.ts';
import type { Prefix } from '../../model/prefix.ts';
import { readAddress, readPrefix, u16 } from '../bytes.ts';
import { LSP_HEADER_LENGTH } from './pdu-format.ts';
import {
  IPV4_SOURCE_ROUTER_ID,
  IPV6_SOURCE_ROUTER_ID,
  PREFIX_ATTRIBUTE_FLAGS,
  SUB_TLV_HEADER,
  subTlvEnd,
  subTlvsFill,
} from './sub-tlvs.ts';
import { ENTRY_LAYOUT, type EntryPlace, readEntry, readEntryFields } from './tlv/ip-reachability.ts';
import { NEIGHBOR_FIXED, neighborLength, neighborMetric } from './tlv/is-reachability.ts';

/**
 * One prefix entry as positions in `bytes`. The same object is handed to every visit: copy what must outlive the call.
 */
export interface PrefixCursor extends EntryPlace {
  bytes: Uint8Array;
  /** 135, 235, 236 or 237. */
  tlv: number;
  family: 4 | 6;
  mtId: number;
  /** Value of the first sub-TLV 4; −1 when absent. */
  flagsOffset: number;
  flagsLength: number;
  /** Values of the first sub-TLVs 11 and 12; −1 when absent. */
  source4Offset: number;
  source6Offset: number;
  /** Value of the first sub-TLV of the type that the caller asks for; −1 when absent. */
  wantedOffset: number;
  wantedLength: number;
}

/** Every field is written out: an object that is made by spreading another one takes far longer to fill. */
const newCursor = (bytes: Uint8Array): PrefixCursor => ({
  bytes,
  tlv: 0,
  family: 4,
  mtId: 0,
  metric: 0,
  down: false,
  external: false,
  prefixLength: 0,
  prefixOffset: 0,
  subTlvsOffset: 0,
  subTlvsLength: 0,
  flagsOffset: -1,
  flagsLength: 0,
  source4Offset: -1,
  source6Offset: -1,
  wantedOffset: -1,
  wantedLength: 0,
});

/** No sub-TLV has this type. */
const NOTHING = -1;

/**
 * Visits every prefix of TLVs 135, 235, 236 and 237, in order; 235 and 237 with topology ID 0 are ignored (RFC 5120
 * §7.3, §7.4).
 * @param lsp a whole LSP, as in `ReceivedPdu.raw`
 * @param wanted type of one more sub-TLV, without a codec
 * @returns how many TLVs were malformed and skipped
 */
export function forEachPrefix(lsp: Uint8Array, visit: (cursor: PrefixCursor) => void, wanted = NOTHING): number {
  const cursor = newCursor(lsp);
  let bad = 0;
  for (let at = LSP_HEADER_LENGTH; at + 2 <= lsp.length; at += 2 + lsp[at + 1]!) {
    const type = lsp[at]!;
    const end = at + 2 + lsp[at + 1]!;
    if (end > lsp.length) return bad + 1;
    if (type !== 135 && type !== 235 && type !== 236 && type !== 237) continue;
    const multi = (type & 1) === 1 && type !== 135;
    const start = at + (multi ? 4 : 2);
    cursor.tlv = type;
    cursor.family = type < 236 ? 4 : 6;
    cursor.mtId = multi && start <= end ? u16(lsp, at + 2) & 0xfff : 0;
    if (start > end || !walkEntries(cursor, start, end, wanted, undefined)) bad++;
    else if (!multi || cursor.mtId !== 0) walkEntries(cursor, start, end, wanted, visit);
  }
  return bad;
}

/** One pass checks (without `visit`), the other visits. @returns whether the entries fill the TLV exactly */
function walkEntries(
  cursor: PrefixCursor,
  start: number,
  end: number,
  wanted: number,
  visit: ((cursor: PrefixCursor) => void) | undefined,
): boolean {
  const { bytes, family } = cursor;
  const layout = ENTRY_LAYOUT[family];
  for (let at = start; at < end;) {
    const next = readEntry(bytes, at, end, layout, cursor);
    if (next < 0) return false;
    if (!visit) {
      if (!subTlvsFill(bytes, cursor.subTlvsOffset, next)) return false;
    } else {
      readEntryFields(bytes, at, layout, cursor);
      walkSubTlvs(cursor, next, wanted);
      visit(cursor);
    }
    at = next;
  }
  return true;
}

/** Those of an entry that has been checked. @param end where they end */
function walkSubTlvs(cursor: PrefixCursor, end: number, wanted: number): void {
  const { bytes } = cursor;
  cursor.flagsOffset = cursor.source4Offset = cursor.source6Offset = cursor.wantedOffset = -1;
  cursor.flagsLength = cursor.wantedLength = 0;
  for (let at = cursor.subTlvsOffset; at < end;) {
    const type = bytes[at]!;
    const valueAt = at + SUB_TLV_HEADER;
    at = subTlvEnd(bytes, at);
    const length = at - valueAt;
    if (type === PREFIX_ATTRIBUTE_FLAGS && cursor.flagsOffset < 0) {
      cursor.flagsOffset = valueAt;
      cursor.flagsLength = length;
    } else if (type === IPV4_SOURCE_ROUTER_ID && length === 4 && cursor.source4Offset < 0)
      cursor.source4Offset = valueAt;
    else if (type === IPV6_SOURCE_ROUTER_ID && length === 16 && cursor.source6Offset < 0)
      cursor.source6Offset = valueAt;
    else if (type === wanted && cursor.wantedOffset < 0) {
      cursor.wantedOffset = valueAt;
      cursor.wantedLength = length;
    }
  }
}

/**
 * A bit of sub-TLV 4: bit 0 is the most significant bit of the first byte; bits beyond the end, or of an absent
 * sub-TLV, are clear.
 */
export function cursorFlag(cursor: PrefixCursor, bit: number): boolean {
  const byte = bit >>> 3;
  return byte < cursor.flagsLength && (cursor.bytes[cursor.flagsOffset + byte]! & (0x80 >>> (bit & 7))) !== 0;
}

export const cursorPrefix = (cursor: PrefixCursor): Prefix =>
  readPrefix(cursor.bytes, cursor.prefixOffset, cursor.family, cursor.prefixLength);

export const cursorSource4 = (cursor: PrefixCursor): IpAddress | undefined =>
  cursor.source4Offset < 0 ? undefined : readAddress(cursor.bytes, cursor.source4Offset, 4);

export const cursorSource6 = (cursor: PrefixCursor): IpAddress | undefined =>
  cursor.source6Offset < 0 ? undefined : readAddress(cursor.bytes, cursor.source6Offset, 6);

type NeighborVisitor = (bytes: Uint8Array, offset: number, metric: number, mtId: number) => void;

/**
 * Visits the neighbors of TLVs 2 (narrow metrics), 22 and 222: 7 bytes (system ID, pseudonode) at `offset` of `bytes`.
 * @returns how many TLVs were malformed and skipped
 */
export function forEachNeighbor(lsp: Uint8Array, visit: NeighborVisitor): number {
  let bad = 0;
  for (let at = LSP_HEADER_LENGTH; at + 2 <= lsp.length; at += 2 + lsp[at + 1]!) {
    const end = at + 2 + lsp[at + 1]!;
    if (end > lsp.length) return bad + 1;
    const wellFormed =
      lsp[at] === 2
        ? narrowNeighbors(lsp, at + 2, end, visit)
        : lsp[at] === 22 || lsp[at] === 222
          ? wideNeighbors(lsp, at, end, visit)
          : true;
    if (!wellFormed) bad++;
  }
  return bad;
}

/** A virtual flag byte, then 11 bytes a neighbor: four metrics of which the first is the default one, and the ID. */
function narrowNeighbors(lsp: Uint8Array, start: number, end: number, visit: NeighborVisitor): boolean {
  if (end === start || (end - start - 1) % 11 !== 0) return false;
  for (let at = start + 1; at < end; at += 11) visit(lsp, at + 4, lsp[at]! & 0x3f, 0);
  return true;
}

function wideNeighbors(lsp: Uint8Array, tlvAt: number, end: number, visit: NeighborVisitor): boolean {
  const multi = lsp[tlvAt] === 222;
  const start = tlvAt + (multi ? 4 : 2);
  if (start > end) return false;
  const mtId = multi ? u16(lsp, tlvAt + 2) & 0xfff : 0;
  let at = start;
  while (at + NEIGHBOR_FIXED <= end) at += neighborLength(lsp, at);
  if (at !== end) return false;
  for (at = start; at < end; at += neighborLength(lsp, at)) visit(lsp, at, neighborMetric(lsp, at), mtId);
  return true;
}
