// The Internet checksum (RFC 1071) and the pseudo header of UDP and TCP (RFC 768; RFC 8200 §8.1).
import { type IpAddress, addressBytes } from '../../model/address.ts';

/**
 * Adds the 16-bit big-endian words of bytes `start` … `end` − 1 to a running sum; an odd last byte counts as its word's
 * high byte.
 */
export function addWords(sum: number, bytes: Uint8Array, start = 0, end = bytes.length): number {
  let i = start;
  for (; i + 1 < end; i += 2) sum += (bytes[i]! << 8) | bytes[i + 1]!;
  if (i < end) sum += bytes[i]! << 8;
  return sum;
}

/**
 * Folds the carries and complements: the value for the checksum field. Over data that contains a correct checksum it is
 * 0.
 */
export function foldChecksum(sum: number): number {
  while (sum > 0xffff) sum = (sum % 0x10000) + Math.floor(sum / 0x10000);
  return ~sum & 0xffff;
}

/** The sum of the pseudo header. `length` is that of the upper layer, header included. */
export function pseudoHeaderSum(source: IpAddress, destination: IpAddress, protocol: number, length: number): number {
  return (
    addWords(addWords(0, addressBytes(source)), addressBytes(destination)) +
    protocol +
    (length % 0x10000) +
    Math.floor(length / 0x10000)
  );
}
