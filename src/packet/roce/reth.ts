// The RDMA Extended Transport Header (InfiniBand vol. 1 §9.3.3): where a WRITE goes or a READ comes from.
import { ok } from '../../model/result.ts';
import { put32, put64, u32, u64 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';

export interface Reth {
  readonly virtualAddress: bigint;
  readonly rkey: number;
  /** Bytes of the whole message. */
  readonly length: number;
}

const LENGTH = 16;

/** Code: `truncated`. */
export function decodeReth(bytes: Uint8Array, offset = 0, end = bytes.length): Decoded<Reth> {
  if (offset + LENGTH > end) return malformed('truncated', offset, 'shorter than a RETH');
  return ok({ virtualAddress: u64(bytes, offset), rkey: u32(bytes, offset + 8), length: u32(bytes, offset + 12) });
}

/** 16 bytes. */
export function encodeReth({ virtualAddress, rkey, length }: Reth): Uint8Array {
  const out = new Uint8Array(LENGTH);
  put64(out, 0, virtualAddress);
  put32(out, 8, rkey);
  put32(out, 12, length);
  return out;
}
