// Prefixes of OSPFv3 (RFC 5340 §A.4.1): as many 32-bit words as the length needs; none for ::/0.
import { type Prefix } from '../../model/prefix.ts';
import { addressBytes } from '../../model/address.ts';
import { readPrefix } from '../bytes.ts';
import { EncodeError } from '../encode-error.ts';

/** Bytes that a prefix of this length takes. */
export const paddedPrefixBytes = (length: number): number => ((length + 31) >>> 5) * 4;

/** The prefix whose words begin at `at`; undefined if it is longer than 128 bits or exceeds `bytes`. */
export function readPaddedPrefix(bytes: Uint8Array, at: number, length: number): Prefix | undefined {
  return length > 128 || at + paddedPrefixBytes(length) > bytes.length ? undefined : readPrefix(bytes, at, 6, length);
}

/** @throws EncodeError unless it is an IPv6 prefix */
export function paddedPrefix({ address, length }: Prefix): Uint8Array {
  if (address.family !== 6) throw new EncodeError('bad-field', 'an IPv4 prefix in an LSA of OSPFv3');
  return addressBytes(address).subarray(0, paddedPrefixBytes(length));
}
