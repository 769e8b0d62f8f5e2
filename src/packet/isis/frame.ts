// IS-IS on Ethernet: an 802.3 length and LLC FE FE 03, or EtherType 0x8870 for frames beyond the range of an 802.3
// length (ISO/IEC 10589 §8.4.8; draft-ietf-isis-ext-eth). VLAN tags do not occur: the interface is cnpd's own.
import { ok } from '../../model/result.ts';
import { concat, put16, u16 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';

/** 09:00:2b:00:00:05, where point-to-point circuits over Ethernet send (RFC 5309 §4.2). */
export const ALL_ISS: Uint8Array = Uint8Array.of(0x09, 0x00, 0x2b, 0x00, 0x00, 0x05);
export const ALL_L1_ISS: Uint8Array = Uint8Array.of(0x01, 0x80, 0xc2, 0x00, 0x00, 0x14);
export const ALL_L2_ISS: Uint8Array = Uint8Array.of(0x01, 0x80, 0xc2, 0x00, 0x00, 0x15);

const ETHERNET_HEADER = 14;
const LLC = Uint8Array.of(0xfe, 0xfe, 0x03);
const ETHERTYPE_LONG_LLC = 0x8870;
/** Below this the field is a length, from here on an EtherType. */
const FIRST_ETHERTYPE = 0x600;

interface IsisFrame {
  /** 6 bytes each. */
  readonly destination: Uint8Array;
  readonly source: Uint8Array;
  /** A view of the frame; still with Ethernet padding in the EtherType form (decodePdu cuts it). */
  readonly pdu: Uint8Array;
}

/**
 * A whole Ethernet frame → its IS-IS PDU. Code `not-isis` when the frame is something else (drop silently); other codes
 * are errors.
 */
export function decodeFrame(frame: Uint8Array): Decoded<IsisFrame> {
  if (frame.length < ETHERNET_HEADER + LLC.length)
    return malformed('not-isis', 0, 'shorter than Ethernet and LLC headers');
  const lengthOrType = u16(frame, 12);
  const isLength = lengthOrType < FIRST_ETHERTYPE;
  if (!isLength && lengthOrType !== ETHERTYPE_LONG_LLC)
    return malformed('not-isis', 12, `EtherType 0x${lengthOrType.toString(16)}`);
  if (frame[14] !== LLC[0] || frame[15] !== LLC[1] || frame[16] !== LLC[2])
    return malformed('not-isis', ETHERNET_HEADER, 'another LLC service');
  const end = isLength ? ETHERNET_HEADER + lengthOrType : frame.length;
  if (end > frame.length)
    return malformed(
      'truncated',
      12,
      `802.3 length ${lengthOrType}, but ${frame.length - ETHERNET_HEADER} bytes arrived`,
    );
  if (end < ETHERNET_HEADER + LLC.length)
    return malformed('bad-length', 12, `802.3 length ${lengthOrType} is shorter than LLC`);
  return ok({
    destination: frame.subarray(0, 6),
    source: frame.subarray(6, 12),
    pdu: frame.subarray(ETHERNET_HEADER + LLC.length, end),
  });
}

/** @returns a whole Ethernet frame, not padded to 60 bytes (the driver does that) */
export function encodeFrame(source: Uint8Array, destination: Uint8Array, pdu: Uint8Array): Uint8Array {
  const length = LLC.length + pdu.length;
  const lengthOrType = new Uint8Array(2);
  put16(lengthOrType, 0, length < FIRST_ETHERTYPE ? length : ETHERTYPE_LONG_LLC);
  return concat(destination, source, lengthOrType, LLC, pdu);
}
