// PDUs without what authenticates them, for recordings: the value of TLV 10 is masked, be it a digest or a password.
// The checksum of an LSP covers that value. So two bytes of an LSP's mask are chosen such that the checksum stays what
// it was; of the digest they tell what the checksum tells anyway.
import { copyOf, u16 } from '../bytes.ts';
import { PDU_BY_TYPE } from './pdu-format.ts';
import { AUTHENTICATION_TLV } from './tlv/authentication.ts';

/** @returns the PDU itself if nothing in it is secret, else a copy */
export function maskPdu(pdu: Uint8Array): Uint8Array {
  const format = pdu.length < 8 ? undefined : PDU_BY_TYPE.get(pdu[4]! & 0x1f);
  if (!format || pdu.length < format.headerLength) return pdu;
  const end = Math.min(pdu.length, Math.max(format.headerLength, u16(pdu, format.lengthOffset)));
  let masked: Uint8Array | undefined;
  for (let at = format.headerLength; at + 2 <= end; at += 2 + pdu[at + 1]!) {
    if (pdu[at] !== AUTHENTICATION_TLV) continue;
    masked ??= copyOf(pdu);
    // Behind the type of the authentication.
    maskBytes(masked, at + 3, Math.min(end, at + 2 + pdu[at + 1]!), format.kind === 'lsp');
  }
  return masked ?? pdu;
}

function maskBytes(bytes: Uint8Array, from: number, to: number, keepSums: boolean): void {
  if (to <= from) return;
  const [first, second] = keepSums ? sameSums(bytes, from, to) : [0, 0];
  bytes.fill(0, from, to);
  bytes[from] = first;
  if (to - from > 1) bytes[from + 1] = second;
}

const MODULUS = 255;
const modulo = (value: number): number => ((value % MODULUS) + MODULUS) % MODULUS;

/** Two bytes at the begin of the range that add as much as the range to both sums of Fletcher's checksum. */
function sameSums(bytes: Uint8Array, from: number, to: number): [number, number] {
  let [sum, weighted] = [0, 0];
  for (let at = from; at < to; at++) {
    sum += bytes[at]!;
    weighted += (to - at) * bytes[at]!;
  }
  if (to - from === 1) return [modulo(sum), 0];
  const first = modulo(weighted - (to - from - 1) * sum);
  return [first, modulo(sum - first)];
}
