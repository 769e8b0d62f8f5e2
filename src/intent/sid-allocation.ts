// The SID of an entry that names none: allocated in its locator. An END.CON SID is allocated from the number of its
// look-up table, so it is the same after every reload and restart, and two tables have two SIDs (decision E6). In
// `2001:db8:c::/48` it is 2001:db8:c::c0:0:fe for the main table.
import type { IpAddress } from '../model/address.ts';
import type { Prefix } from '../model/prefix.ts';

/** RT_TABLE_MAIN. */
export const MAIN_TABLE = 254;
/** Functions of allocated SIDs: far from those that people number from 1. */
export const ALLOCATED = { 'end-con': 0xc0n, 'end-mt': 0xc1n, replication: 0xc2n } as const;
const TABLE_BITS = 32n;
/** The function's 16 bits and the table number's 32 have to be free. */
export const LONGEST_ALLOCATING_LOCATOR = 80;

/** Undefined: the locator is too long. @param table as the kernel numbers it, 32 bits */
export function allocatedSid(
  locator: Prefix,
  table: number,
  behavior: bigint = ALLOCATED['end-con'],
): IpAddress | undefined {
  if (locator.length > LONGEST_ALLOCATING_LOCATOR) return undefined;
  return { family: 6, value: locator.address.value | (behavior << TABLE_BITS) | BigInt(table) };
}
