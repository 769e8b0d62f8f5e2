// The Segment Routing Header (RFC 8754 §2): a routing header of type 4 whose segment list is in reverse order, then
// TLVs.
import { type IpAddress, addressBytes } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { concat, put16, readAddress, u16 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';

export const PROTOCOL_ROUTING = 43;
const ROUTING_TYPE = 4;
const FIXED = 8;
const SEGMENT = 16;
/** Length octet 255. */
const MAX_LENGTH = 8 + 255 * 8;

/** TLV types (RFC 8754 §8.2). 124-126 and 252-254 are experimental; the former do not change on the way. */
const SRH_TLV = { pad1: 0, padN: 4, hmac: 5 } as const;

interface SrhTlv {
  readonly type: number;
  /** When decoded, a view. */
  readonly value: Uint8Array;
}

export interface Srh {
  readonly nextHeader: number;
  readonly segmentsLeft: number;
  readonly flags: number;
  readonly tag: number;
  /** As on the wire: the last segment of the path comes first. */
  readonly segments: readonly IpAddress[];
  /** Without padding. */
  readonly tlvs: readonly SrhTlv[];
}

interface DecodedSrh extends Srh {
  /** Bytes. */
  readonly length: number;
}

/**
 * The header at `offset`, which ends before `end`. Codes: `truncated`, `not-srh` (another routing type),
 * `bad-last-entry` (more segments than the header holds), `bad-segments-left`, `srh-tlv-overrun`.
 */
export function decodeSrh(bytes: Uint8Array, offset = 0, end = bytes.length): Decoded<DecodedSrh> {
  if (offset + FIXED > end) return malformed('truncated', offset, 'shorter than a routing header');
  const length = 8 + bytes[offset + 1]! * 8;
  if (offset + length > end)
    return malformed('truncated', offset + 1, `a routing header of ${length} bytes in ${end - offset}`);
  if (bytes[offset + 2] !== ROUTING_TYPE) return malformed('not-srh', offset + 2, `routing type ${bytes[offset + 2]}`);
  const count = bytes[offset + 4]! + 1;
  const tlvsAt = offset + FIXED + count * SEGMENT;
  if (tlvsAt > offset + length) return malformed('bad-last-entry', offset + 4, `${count} segments in ${length} bytes`);
  const segmentsLeft = bytes[offset + 3]!;
  // RFC 8754 §4.3.1.1: Segments Left may be Last Entry + 1, when the first segment is only in the destination address.
  if (segmentsLeft > count)
    return malformed('bad-segments-left', offset + 3, `${segmentsLeft} of ${count} segments left`);
  const tlvs = decodeTlvs(bytes, tlvsAt, offset + length);
  if (!tlvs.ok) return tlvs;
  return ok({
    nextHeader: bytes[offset]!,
    length,
    segmentsLeft,
    flags: bytes[offset + 5]!,
    tag: u16(bytes, offset + 6),
    segments: Array.from({ length: count }, (_, i) => readAddress(bytes, offset + FIXED + i * SEGMENT, 6)),
    tlvs: tlvs.value,
  });
}

function decodeTlvs(bytes: Uint8Array, from: number, end: number): Decoded<readonly SrhTlv[]> {
  const tlvs: SrhTlv[] = [];
  for (let at = from; at < end;) {
    const type = bytes[at]!;
    if (type === SRH_TLV.pad1) {
      at++;
      continue;
    }
    const next = at + 2 + (bytes[at + 1] ?? 0);
    if (next > end) return malformed('srh-tlv-overrun', at, `TLV ${type} exceeds the header`);
    if (type !== SRH_TLV.padN) tlvs.push({ type, value: bytes.subarray(at + 2, next) });
    at = next;
  }
  return ok(tlvs);
}

function encodeTlv({ type, value }: SrhTlv): Uint8Array {
  if (value.length > 255) throw new EncodeError('bad-field', `an SRH TLV of ${value.length} bytes`);
  return concat(Uint8Array.of(type, value.length), value);
}

/** The header, padded to 8 bytes behind its TLVs. @throws EncodeError */
export function encodeSrh({ nextHeader, segmentsLeft, flags, tag, segments, tlvs }: Srh): Uint8Array {
  if (segments.length === 0 || segments.some((s) => s.family !== 6))
    throw new EncodeError('bad-field', 'a segment list has one IPv6 address at least');
  if (segmentsLeft > segments.length)
    throw new EncodeError('bad-field', `${segmentsLeft} of ${segments.length} segments left`);
  const fixed = new Uint8Array(FIXED);
  const list = tlvs.map(encodeTlv);
  const used = FIXED + segments.length * SEGMENT + list.reduce((sum, tlv) => sum + tlv.length, 0);
  const tail = -used & 7;
  if (used + tail > MAX_LENGTH) throw new EncodeError('packet-too-long', `an SRH of ${used + tail} bytes`);
  fixed.set([nextHeader, (used + tail) / 8 - 1, ROUTING_TYPE, segmentsLeft, segments.length - 1, flags]);
  put16(fixed, 6, tag);
  const padding =
    tail === 0
      ? []
      : tail === 1
        ? [new Uint8Array(1)]
        : [encodeTlv({ type: SRH_TLV.padN, value: new Uint8Array(tail - 2) })];
  return concat(fixed, ...segments.map(addressBytes), ...list, ...padding);
}
