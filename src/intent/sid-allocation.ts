// The END.CON SID of an entry that names none: taken out of its locator by the table that it looks senders up in, so
// that it is the same after every reload and restart, and two tables have two (decision E6). In `2001:db8:c::/48` it is
// 2001:db8:c::c0:0:fe for the main table.
import type { IpAddress } from '../model/address.ts';
import type { Prefix } from '../model/prefix.ts';

/** RT_TABLE_MAIN. */
export const MAIN_TABLE = 254;
/** "Congestion": keeps allocated SIDs apart from those that people number from 1. */
const FUNCTION = 0xc0n;
const TABLE_BITS = 32n;
/** The function's 16 bits and the table number's 32 have to be free. */
export const LONGEST_ALLOCATING_LOCATOR = 80;

/** Undefined: the locator leaves no room. @param table as the kernel numbers it, 32 bits */
export function allocatedSid(locator: Prefix, table: number): IpAddress | undefined {
  if (locator.length > LONGEST_ALLOCATING_LOCATOR) return undefined;
  return { family: 6, value: locator.address.value | (FUNCTION << TABLE_BITS) | BigInt(table) };
}
