// RoCEv2 names that more than one component uses. Sizes: QPN and PSN are 24 bits (InfiniBand vol. 1 §9.2).
import type { IpAddress } from './address.ts';

export const ROCE_UDP_PORT = 4791;

/** A reliable connection between two Queue Pairs, named from the data sender's side. */
export interface QueuePairs {
  readonly sender: IpAddress;
  readonly receiver: IpAddress;
  readonly senderQpn: number;
  readonly receiverQpn: number;
}

/**
 * The longest RoCEv2 frame, bytes, as a queue counts it: Ethernet 14, IPv6 40, UDP 8, BTH 12, XRCETH 4, RETH 16,
 * immediate data 4, the largest path MTU of InfiniBand 4096, ICRC 4. The least K_base (LHCNP-5.3.2-c).
 */
export const LONGEST_ROCE_FRAME = 14 + 40 + 8 + 12 + 4 + 16 + 4 + 4096 + 4;

export const PSN_MODULUS = 1 << 24;

/** Signed distance a − b in 24-bit serial arithmetic, −2²³ … 2²³−1 (InfiniBand vol. 1 §9.7). */
export const psnDistance = (a: number, b: number): number => ((a - b) << 8) >> 8;
