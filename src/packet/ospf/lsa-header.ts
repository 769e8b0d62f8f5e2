// The header of an LSA (RFC 2328 §A.4.1; RFC 5340 §A.4.2), 20 bytes in both versions. OSPFv2 has options in the third
// byte; OSPFv3 has a type of two bytes. The checksum is Fletcher's over everything but the age.
import { put16, put32, u16, u32 } from '../bytes.ts';
import { field } from '../field.ts';
import { type FletcherRegion, fletcherChecksum, fletcherValid } from '../fletcher.ts';
import type { Version } from './numbers.ts';
import type { LsaHeader, LsaKey } from './types.ts';

export const LSA_HEADER_LENGTH = 20;
const CHECKSUM: FletcherRegion = { start: 2, checksumAt: 16 };

/** Reads the 20 bytes at `at`; the caller has checked that they are there. */
export function readLsaHeader(version: Version, bytes: Uint8Array, at: number): LsaHeader {
  return {
    age: u16(bytes, at),
    options: version === 2 ? bytes[at + 2]! : 0,
    type: version === 2 ? bytes[at + 3]! : u16(bytes, at + 2),
    lsId: u32(bytes, at + 4),
    advertisingRouter: u32(bytes, at + 8),
    sequence: u32(bytes, at + 12) | 0,
    checksum: u16(bytes, at + 16),
    length: u16(bytes, at + 18),
  };
}

/** @throws EncodeError */
export function writeLsaHeader(version: Version, bytes: Uint8Array, at: number, header: LsaHeader): void {
  put16(bytes, at, field('age', header.age, 16));
  if (version === 2) {
    bytes[at + 2] = field('options', header.options, 8);
    bytes[at + 3] = field('LS type', header.type, 8);
  } else put16(bytes, at + 2, field('LS type', header.type, 16));
  putLsaId(bytes, at + 4, header);
  put32(bytes, at + 12, header.sequence);
  put16(bytes, at + 16, field('checksum', header.checksum, 16));
  put16(bytes, at + 18, field('LSA length', header.length, 16));
}

/** Link-state ID and advertising router: 8 bytes. @throws EncodeError */
export function putLsaId(bytes: Uint8Array, at: number, { lsId, advertisingRouter }: LsaKey): void {
  put32(bytes, at, field('link-state ID', lsId, 32));
  put32(bytes, at + 4, field('advertising router', advertisingRouter, 32));
}

/** The checksum for bytes 16 and 17 of a whole LSA; their present value does not matter. */
export const lsaChecksum = (lsa: Uint8Array): number => fletcherChecksum(lsa, CHECKSUM);

/** Whether the checksum in bytes 16 and 17 is correct. */
export const lsaChecksumValid = (lsa: Uint8Array): boolean => fletcherValid(lsa, CHECKSUM);

/** Sets the age in place; the checksum does not cover it. */
export function setAge(lsa: Uint8Array, seconds: number): void {
  put16(lsa, 0, field('age', seconds, 16));
}
