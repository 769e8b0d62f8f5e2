// The rules of the section `groups` (groups.ts), and of members declared at run time (effective-groups.ts).
import { type IpAddress, formatAddress, sameAddress } from '../model/address.ts';
import { branchesAreTree } from './group-branches.ts';
import { GROUP_SIDS, groupSid } from './group-sids.ts';
import type * as groups from './groups.ts';
import type * as router from './router.ts';
import { type Report, type Rule, type Seen, each, unique } from './seen.ts';
import type * as srv6 from './srv6.ts';

/** Declared by one router, of one group. */
export const MOST_RECEIVERS = 4096;
/** One copy of a packet each: as many as the programs make. */
const MOST_OF_EDGE = 64;

export interface Sections {
  readonly groups?: Seen<typeof groups.schema> | undefined;
  readonly srv6?: Seen<typeof srv6.schema> | undefined;
  readonly router?: Seen<typeof router.schema> | undefined;
}

const shown = (address: IpAddress | undefined): string | undefined => address && formatAddress(address);

function uniqueGroups({ groups }: Sections, report: Report): void {
  unique(
    groups,
    (i) => ['groups', i, 'name'],
    ({ name }) => name,
    'name',
    report,
  );
  unique(
    groups,
    (i) => ['groups', i, 'proxy-address'],
    (entry) => shown(entry['proxy-address']),
    'Proxy Address',
    report,
  );
}

/** RMC-5.1-d: a receiver is a member once, and a host is either source or receiver. */
function membersOnce({ groups }: Sections, report: Report): void {
  for (const [i, { source: from, receivers }] of each(groups)) {
    const path = (j: number) => ['groups', i, 'receivers', j, 'address'];
    unique(receivers, path, ({ address }) => shown(address), 'receiver', report);
    for (const [j, { address }] of each(receivers))
      if (address && from?.address && sameAddress(address, from.address))
        report(path(j), 'a host that is not the source', `${formatAddress(address)} is the source of the group`);
  }
}

/** What each address is, by its text, of those that a Proxy Address must not be. */
function takenAddresses({ groups, srv6: sids, router }: Sections): ReadonlyMap<string, string> {
  const members = each(groups).flatMap(([, { source: from, receivers }]) => [
    [from?.address, 'a source'] as const,
    ...each(receivers).map(([, { address }]) => [address, 'a receiver'] as const),
  ]);
  const declared = each(groups).flatMap(([, { receivers, branches }]) => [
    ...each(receivers).map(([, { edge }]) => edge),
    ...each(branches).flatMap(([, { node, children }]) => [node, ...(children ?? [])]),
  ]);
  const own = GROUP_SIDS.map((key) => groupSid({ srv6: sids }, key));
  const endCon = each(sids?.['end-con']).map(([, { sid }]) => sid);
  const all = [...own, ...endCon, ...declared].map((sid) => [sid, 'a SID'] as const);
  const loopback = [router?.loopback?.ipv6, 'router.loopback.ipv6'] as const;
  return new Map(
    [loopback, ...all, ...members].flatMap(([address, what]) => (address ? [[formatAddress(address), what]] : [])),
  );
}

/** Receivers check the source address, and the head end takes what goes to the Proxy Address (decision C5). */
function proxyAddressIsNoHost(file: Sections, report: Report): void {
  const taken = takenAddresses(file);
  for (const [i, { 'proxy-address': address }] of each(file.groups)) {
    const other = address && taken.get(formatAddress(address));
    if (other)
      report(
        ['groups', i, 'proxy-address'],
        'an address of its own',
        `${formatAddress(address)} is also ${other}: a Proxy Address belongs to no host`,
      );
  }
}

function sidsForMembers({ groups, srv6: section }: Sections, report: Report): void {
  const sids = section?.enabled === false ? undefined : section;
  for (const [i, entry] of each(groups)) {
    const receivers = entry.receivers ?? [];
    if (!('source' in entry) && receivers.length === 0)
      report(['groups', i], 'a source, or receivers', 'without a source and receivers the group does nothing here');
    if (entry.source && !sids?.replication)
      report(
        ['groups', i, 'source'],
        'srv6.replication',
        'the router of the source is the root of the tree: it needs srv6.replication',
      );
    if (receivers.length > MOST_RECEIVERS)
      report(
        ['groups', i, 'receivers'],
        `at most ${MOST_RECEIVERS} receivers`,
        `${receivers.length} receivers are too many for one router to declare`,
      );
  }
}

/** What one edge can make of one packet. */
function copiesOfEdges(file: Sections, report: Report): void {
  const own = groupSid(file, 'end-mt');
  for (const [i, { receivers }] of each(file.groups)) {
    const counts = new Map<string, number>();
    for (const [j, one] of each(receivers)) {
      const edge = 'edge' in one ? one.edge : own;
      if (!edge) continue;
      const count = (counts.get(formatAddress(edge)) ?? 0) + 1;
      counts.set(formatAddress(edge), count);
      if (count === MOST_OF_EDGE + 1)
        report(
          ['groups', i, 'receivers', j],
          `at most ${MOST_OF_EDGE} receivers of an edge`,
          `${formatAddress(edge)} makes at most ${MOST_OF_EDGE} copies of a packet: ` +
            'name another edge, or divide the receivers among several groups',
        );
    }
  }
}

function trees({ groups, srv6: section }: Sections, report: Report): void {
  const root = groupSid({ srv6: section }, 'replication');
  for (const [i, { branches, source: from }] of each(groups)) {
    branchesAreTree(branches, ['groups', i], report);
    const nodes = each(branches).map(([, { node }]) => node);
    if (branches && from && root && nodes.every((node) => node && !sameAddress(node, root)))
      report(
        ['groups', i, 'branches'],
        'an entry for the router of the source',
        `the source is here: ${formatAddress(root)} has to be the node of an entry`,
      );
  }
}

export const rules: readonly Rule<Sections>[] = [
  uniqueGroups,
  membersOnce,
  proxyAddressIsNoHost,
  sidsForMembers,
  copiesOfEdges,
  trees,
];
