// IS-IS on Ethernet: 802.3 LLC (FE FE 03), and EtherType 0x8870 for what is longer than an 802.3 length can say.
import type { Decoded } from '../decode.ts';

/** 09:00:2b:00:00:05, where point-to-point circuits over Ethernet send (RFC 5309). */
export const ALL_ISS: Uint8Array = Uint8Array.of(0x09, 0x00, 0x2b, 0x00, 0x00, 0x05);
export const ALL_L1_ISS: Uint8Array = Uint8Array.of(0x01, 0x80, 0xc2, 0x00, 0x00, 0x14);
export const ALL_L2_ISS: Uint8Array = Uint8Array.of(0x01, 0x80, 0xc2, 0x00, 0x00, 0x15);

export interface IsisFrame {
  /** 6 bytes each. */
  readonly destination: Uint8Array;
  readonly source: Uint8Array;
  /** A view of the frame; still with Ethernet padding in the EtherType form (decodePdu cuts it). */
  readonly pdu: Uint8Array;
}

/** A whole Ethernet frame → its IS-IS PDU. Code `not-isis` when the frame is something else (drop silently); other codes are errors. */
export function decodeFrame(_frame: Uint8Array): Decoded<IsisFrame> {
  throw new Error('being written');
}

/** @returns a whole Ethernet frame, not padded to 60 bytes (the driver does that). */
export function encodeFrame(_source: Uint8Array, _destination: Uint8Array, _pdu: Uint8Array): Uint8Array {
  throw new Error('being written');
}
