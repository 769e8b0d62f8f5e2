// The keys `srv6.end-mt` and `srv6.replication`: the SIDs of a router that takes part in the trees of End.MT groups.
import type * as z from 'zod';
import { type IpAddress, formatAddress, sameAddress } from '../model/address.ts';
import type { Prefix } from '../model/prefix.ts';
import { hostAddress, locatorPrefix } from './address-values.ts';
import * as proxy from './proxy.ts';
import type * as router from './router.ts';
import { section, value } from './schema-parts.ts';
import type { Report, Seen } from './seen.ts';
import { ALLOCATED, allocatedSid, checkInsideLocator, checkSpace } from './sid-allocation.ts';

export interface GroupSidIntent {
  readonly sid: IpAddress;
  readonly locator: Prefix;
}

const sidOf = (what: string, allocated: string) =>
  section(
    {
      sid: value(
        hostAddress(6),
        `the SID, inside its locator; default: allocated, ${allocated} in the locator`,
      ).optional(),
      locator: value(locatorPrefix, 'locator of the SID, as FRR has it'),
    },
    what,
  );

export const endMt = sidOf(
  "this router's End.MT SID: it makes the copies for receivers that are near it (RMC §6)",
  '::c1:0:0',
);
export const replication = sidOf(
  "this router's replication SID: it copies a group's packets to branches, and collects their answers (RMC §5)",
  '::c2:0:0',
);

export const GROUP_SIDS = ['end-mt', 'replication'] as const;
type Key = (typeof GROUP_SIDS)[number];

interface Sections {
  readonly srv6?: { readonly [K in Key]?: Seen<typeof endMt> | undefined } | undefined;
  readonly router?: Seen<typeof router.schema> | undefined;
  readonly proxy?: Seen<typeof proxy.schema> | undefined;
}

/** The SID, or the one that is allocated. Undefined: there is none, or it could not be read. */
export function groupSid({ srv6 }: Sections, key: Key): IpAddress | undefined {
  const entry = srv6?.[key];
  if (!entry || 'sid' in entry) return entry?.sid;
  return entry.locator && allocatedSid(entry.locator, 0, ALLOCATED[key]);
}

export function groupSidsFit(file: Sections, report: Report): void {
  for (const key of GROUP_SIDS) {
    const entry = file.srv6?.[key];
    if (!entry) continue;
    const sid = groupSid(file, key);
    checkSpace(entry, sid, ['srv6', key], report);
    checkInsideLocator({ ...entry, sid }, ['srv6', key], report);
  }
}

/** Each SID means one thing, and is no address of an interface (RFC 8986 §3). @param others SIDs, by their key */
export function groupSidsDiffer(
  file: Sections,
  others: readonly (readonly [key: string, sid: IpAddress | undefined])[],
  report: Report,
): void {
  const taken: (readonly [string, IpAddress | undefined])[] = [
    ['router.loopback.ipv6', file.router?.loopback?.ipv6],
    ...proxy.addressesOf(file.proxy).map((address) => ['proxy.address', address] as const),
    ...others,
  ];
  for (const key of GROUP_SIDS) {
    const sid = groupSid(file, key);
    const other = taken.find(([, address]) => sid && address && sameAddress(sid, address));
    if (sid && other)
      report(['srv6', key, 'sid'], 'an address of its own', `${formatAddress(sid)} is already ${other[0]}`);
    taken.push([`srv6.${key}`, sid]);
  }
}

/** The rules have checked that there is a SID, or space for one. */
export const buildGroupSid = ({ sid, locator }: z.output<typeof endMt>, key: Key): GroupSidIntent => ({
  sid: sid ?? allocatedSid(locator, 0, ALLOCATED[key])!,
  locator,
});
