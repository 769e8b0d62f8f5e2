// IS-IS PDUs: bytes ↔ values (ISO/IEC 10589 §9).
import type { Decoded } from '../decode.ts';
import type { IsisPdu, LanHello, ReceivedPdu } from './types.ts';

/** Decodes the PDU that `bytes` begins with (after LLC; trailing Ethernet padding is cut). */
export function decodePdu(_bytes: Uint8Array): Decoded<ReceivedPdu> {
  throw new Error('being written');
}

/** Encodes; the checksum of an LSP is computed. @throws EncodeError when a field does not fit its place */
export function encodePdu(_pdu: Exclude<IsisPdu, LanHello>): Uint8Array {
  throw new Error('being written');
}
