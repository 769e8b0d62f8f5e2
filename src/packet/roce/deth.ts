// The Datagram Extended Transport Header (InfiniBand vol. 1 §9.3.1): what UD adds, above all the source Queue Pair.
// Connection management uses it.
import { ok } from '../../model/result.ts';
import { put24, put32, u24, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';

export interface Deth {
  readonly qkey: number;
  readonly sourceQpn: number;
}

const LENGTH = 8;

/** Code: `truncated`. */
export function decodeDeth(bytes: Uint8Array, offset = 0, end = bytes.length): Decoded<Deth> {
  if (offset + LENGTH > end) return malformed('truncated', offset, 'shorter than a DETH');
  return ok({ qkey: u32(bytes, offset), sourceQpn: u24(bytes, offset + 5) });
}

/** 8 bytes. */
export function encodeDeth({ qkey, sourceQpn }: Deth): Uint8Array {
  const out = new Uint8Array(LENGTH);
  put32(out, 0, qkey);
  put24(out, 5, sourceQpn);
  return out;
}
