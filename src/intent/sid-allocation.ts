// The SID of an entry of cnpd.yaml, and the rules for every such entry. An entry that names no SID gets one in its
// locator. An END.CON SID is allocated from the number of its look-up table, so it is the same after every reload and
// restart, and two tables have two SIDs (decision E6). In `2001:db8:c::/48` it is 2001:db8:c::c0:0:fe for the main
// table.
import { type IpAddress, formatAddress } from '../model/address.ts';
import { type Prefix, formatPrefix, prefixContains } from '../model/prefix.ts';
import type { Report } from './seen.ts';
import type { Path } from './words.ts';

/** RT_TABLE_MAIN. */
export const MAIN_TABLE = 254;
/** Functions of allocated SIDs: far from those that people number from 1. */
export const ALLOCATED = { 'end-con': 0xc0n, 'end-mt': 0xc1n, replication: 0xc2n } as const;
const TABLE_BITS = 32n;
/** The function's 16 bits and the table number's 32 have to be free. */
const LONGEST_ALLOCATING_LOCATOR = 80;

/** Undefined: the locator is too long. @param table as the kernel numbers it, 32 bits */
export function allocatedSid(
  locator: Prefix,
  table: number,
  behavior: bigint = ALLOCATED['end-con'],
): IpAddress | undefined {
  if (locator.length > LONGEST_ALLOCATING_LOCATOR) return undefined;
  return { family: 6, value: locator.address.value | (behavior << TABLE_BITS) | BigInt(table) };
}

interface SidEntry {
  readonly sid?: IpAddress | undefined;
  readonly locator?: Prefix | undefined;
}

/** There must be space for a SID that is to be allocated. @param allocated undefined: there is none */
export function checkSpace(entry: SidEntry, allocated: IpAddress | undefined, path: Path, report: Report): void {
  if ('sid' in entry || !entry.locator || allocated) return;
  report(
    path,
    'a sid, or a locator of at most 80 bits',
    `${formatPrefix(entry.locator)} is too long for a SID to be allocated: ` +
      `a SID takes ${128 - LONGEST_ALLOCATING_LOCATOR} bits`,
  );
}

/** @param entry with the allocated SID, if it names none */
export function checkInsideLocator({ sid, locator }: SidEntry, path: Path, report: Report): void {
  if (!sid || !locator || prefixContains(locator, sid)) return;
  report(
    [...path, 'sid'],
    `an address in ${formatPrefix(locator)}`,
    `${formatAddress(sid)} is not in its locator ${formatPrefix(locator)}: no router would have a route to it`,
  );
}
