// Message digests of OSPF's cryptographic authentication: keyed MD5 (RFC 2328 §D.4.3) and the HMACs of RFC 5709 §3.3
// and RFC 7166 §4.5. These HMACs differ from plain HMAC in two ways. A key longer than the digest is hashed (plain HMAC
// does so only beyond the block size). The digest's own place holds Apad during the computation.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export type DigestAlgorithm = 'md5' | 'hmac-sha-1' | 'hmac-sha-256' | 'hmac-sha-384' | 'hmac-sha-512';

interface Digest {
  /** Bytes. */
  readonly length: number;
  /** Name of the hash function in OpenSSL. */
  readonly hash: string;
}

export const DIGESTS: Readonly<Record<DigestAlgorithm, Digest>> = {
  md5: { length: 16, hash: 'md5' },
  'hmac-sha-1': { length: 20, hash: 'sha1' },
  'hmac-sha-256': { length: 32, hash: 'sha256' },
  'hmac-sha-384': { length: 48, hash: 'sha384' },
  'hmac-sha-512': { length: 64, hash: 'sha512' },
};

export interface AuthenticationKey {
  /** Key ID of OSPFv2 (8 bits), security association ID of OSPFv3 (16 bits). */
  readonly id: number;
  readonly algorithm: DigestAlgorithm;
  readonly secret: Uint8Array;
}

/**
 * `missing`: the packet has no authentication, or another type; `unknown-key`: no key has its ID; `wrong`: the digest
 * differs or is truncated.
 */
export type AuthenticationVerdict =
  | { readonly ok: true; readonly keyId: number; readonly sequence: bigint }
  | { readonly ok: false; readonly reason: 'missing' | 'unknown-key' | 'wrong' };

const APAD = Uint8Array.of(0x87, 0x8f, 0xe1, 0xf3);
const MD5_SECRET_LENGTH = 16;

/** `length` bytes: a prefix (a source address, where the RFC has one), then 0x878FE1F3 repeated. */
export function apad(length: number, prefix: Uint8Array = new Uint8Array()): Uint8Array {
  return new Uint8Array(length).map((_, i) =>
    i < prefix.length ? prefix[i]! : APAD[(i - prefix.length) % APAD.length]!,
  );
}

/** MD5 over the packet and the secret. The secret is truncated or padded with zeros to 16 bytes. */
export function keyedMd5(text: Uint8Array, secret: Uint8Array): Uint8Array {
  const key = new Uint8Array(MD5_SECRET_LENGTH);
  key.set(secret.subarray(0, MD5_SECRET_LENGTH));
  return createHash('md5').update(text).update(key).digest();
}

/** The HMAC over the concatenated texts. */
export function hmac(algorithm: DigestAlgorithm, secret: Uint8Array, ...texts: readonly Uint8Array[]): Uint8Array {
  const { hash, length } = DIGESTS[algorithm];
  const key = secret.length > length ? createHash(hash).update(secret).digest() : secret;
  const computation = createHmac(hash, key);
  for (const text of texts) computation.update(text);
  return computation.digest();
}

export const sameDigest = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);
