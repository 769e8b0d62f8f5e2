// What a source transfers: bytes that any program can compute again, cut into messages and packets. Each packet's
// payload begins with its offset in the transfer, so that a packet that is missing, repeated or in the wrong place
// changes the hash of what arrives. Pure.
import { createHash } from 'node:crypto';
import { put32 } from '../../packet/bytes.ts';
import type { Reth } from '../../packet/roce/reth.ts';

export interface TransferOptions {
  readonly bytes: number;
  /** Of a full packet. */
  readonly payloadSize: number;
  readonly packetsPerMessage: number;
  /** Where a WRITE puts the first byte; absent: the transfer is made of SENDs. */
  readonly write?: { readonly virtualAddress: bigint; readonly rkey: number } | undefined;
}

const OFFSET_LENGTH = 4;
const NOISE_LENGTH = 1 << 16;

/** Bytes without a short period (xorshift32), the same in every process. */
function makeNoise(): Uint8Array {
  const noise = new Uint8Array(NOISE_LENGTH);
  let state = 0x2545f491;
  for (let i = 0; i < NOISE_LENGTH; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    noise[i] = state;
  }
  return noise;
}
const NOISE = makeNoise();

export class Transfer {
  readonly packets: number;
  readonly #opts: TransferOptions;

  constructor(opts: TransferOptions) {
    this.#opts = opts;
    this.packets = Math.ceil(opts.bytes / opts.payloadSize);
  }

  /** Of the packet with this index. */
  payload(index: number): Uint8Array {
    const { bytes, payloadSize } = this.#opts;
    const offset = index * payloadSize;
    const out = new Uint8Array(Math.min(payloadSize, bytes - offset));
    for (let i = 0; i < out.length; i += 1) out[i] = NOISE[(offset + i) % NOISE_LENGTH]!;
    if (out.length >= OFFSET_LENGTH) put32(out, 0, offset % 2 ** 32);
    return out;
  }

  /** Of a WRITE's packet that begins a message; undefined for all others. */
  reth(index: number): Reth | undefined {
    const { bytes, payloadSize, packetsPerMessage, write } = this.#opts;
    if (!write || index % packetsPerMessage !== 0) return undefined;
    const offset = index * payloadSize;
    return {
      virtualAddress: write.virtualAddress + BigInt(offset),
      rkey: write.rkey,
      length: Math.min(packetsPerMessage * payloadSize, bytes - offset),
    };
  }

  /** SHA-256 over the bytes of the first packets in order, hexadecimal. */
  hash(packets = this.packets): string {
    const hash = createHash('sha256');
    for (let i = 0; i < packets; i++) hash.update(this.payload(i));
    return hash.digest('hex');
  }
}
