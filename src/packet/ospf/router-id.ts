// Router, area and link-state IDs: unsigned 32-bit numbers, written as dotted quads (RFC 2328 §1.2).
import { parseAddress } from '../../model/address.ts';
import type { LsaKey } from './types.ts';

/** `192.0.2.1`. */
export const formatId = (id: number): string => `${id >>> 24}.${(id >>> 16) & 255}.${(id >>> 8) & 255}.${id & 255}`;

/** Undefined unless the text is a dotted quad. */
export function parseId(text: string): number | undefined {
  const address = parseAddress(text);
  return address?.family === 4 ? Number(address.value) : undefined;
}

/** `0xa029 0.0.0.1 192.0.2.1`: type, link-state ID, advertising router, for logs and tables. */
export const formatLsaKey = ({ type, lsId, advertisingRouter }: LsaKey): string =>
  `0x${type.toString(16)} ${formatId(lsId)} ${formatId(advertisingRouter)}`;

/** The key under which maps hold an LSA of one area. */
export const lsaKeyText = ({ type, lsId, advertisingRouter }: LsaKey): string => `${type}/${lsId}/${advertisingRouter}`;
