// Rules of `srv6` (FCN §4.2.2, decision E6) and `stamp` (RFC 8762).
import { formatAddress, sameAddress } from '../model/address.ts';
import { formatPrefix, prefixContains } from '../model/prefix.ts';
import { LONGEST_ALLOCATING_LOCATOR } from './sid-allocation.ts';
import { type EndCon, type Report, type Rule, type View, each, unique } from './rules-view.ts';

function sidInsideLocator({ srv6 }: View, report: Report): void {
  for (const [i, { sid, locator }] of each(srv6?.endCon)) {
    if (!sid || !locator || prefixContains(locator, sid)) continue;
    report(
      ['srv6', 'end-con', i, 'sid'],
      `an address in ${formatPrefix(locator)}`,
      `${formatAddress(sid)} is not in its locator ${formatPrefix(locator)}: no router would know the way to it`,
    );
  }
}

function roomForSid({ srv6 }: View, report: Report): void {
  for (const [i, entry] of each(srv6?.endCon)) {
    if ('sid' in entry || !entry.locator) continue;
    report(
      ['srv6', 'end-con', i],
      'a sid, or a locator of at most 80 bits',
      `${formatPrefix(entry.locator)} has no room for a SID to be allocated: ` +
        `that takes ${128 - LONGEST_ALLOCATING_LOCATOR} bits`,
    );
  }
}

/** A SID is no address of an interface (RFC 8986 §3): what is sent to it is decapsulated instead of delivered. */
function sidIsNoAddress(view: View, report: Report): void {
  const proxies = each(view.proxyAddresses).map(([, address]) => ['proxy.address', address] as const);
  const own = [['router.loopback.ipv6', view.loopback?.ipv6] as const, ...proxies];
  for (const [i, { sid }] of each(view.srv6?.endCon)) {
    for (const [name, address] of own) {
      if (sid && address && sameAddress(sid, address))
        report(
          ['srv6', 'end-con', i, 'sid'],
          'an address of its own',
          `${formatAddress(sid)} is ${name}: packets to a SID are decapsulated, not delivered`,
        );
    }
  }
}

function uniqueSrv6({ srv6 }: View, report: Report): void {
  const itself = (name: string): string => name;
  unique(
    srv6?.endCon,
    (i) => ['srv6', 'end-con', i, 'sid'],
    (entry) => entry.sid && formatAddress(entry.sid),
    'SID',
    report,
  );
  unique(srv6?.corePorts, (i) => ['srv6', 'core-ports', i], itself, 'interface', report);
  for (const [i, entry] of each(srv6?.endCon)) {
    unique(entry.interfaces, (j) => ['srv6', 'end-con', i, 'interfaces', j], itself, 'interface', report);
    unique(entry.senders, (j) => ['srv6', 'end-con', i, 'senders', j], formatPrefix, 'prefix', report);
  }
}

const selectors = ({ interfaces, senders }: Partial<EndCon>): string[] => {
  const names = interfaces?.length ? interfaces : ['any interface'];
  const prefixes = senders?.length ? senders.map((prefix) => prefix && formatPrefix(prefix)) : ['any sender'];
  return names.flatMap((name) => prefixes.map((prefix) => `${name}, ${prefix}`));
};

/** Which SID a tunnel gets must be one answer. */
function oneSourceATunnel({ srv6 }: View, report: Report): void {
  const taken = new Map<string, number>();
  for (const [i, entry] of each(srv6?.endCon)) {
    const clash = selectors(entry).find((selector) => taken.has(selector));
    if (clash !== undefined) {
      report(
        ['srv6', 'end-con', i],
        'interfaces or senders that tell the SIDs apart',
        `traffic of ${clash} would have two sources: srv6.end-con[${taken.get(clash)!}] takes it already`,
      );
    }
    for (const selector of selectors(entry)) if (!taken.has(selector)) taken.set(selector, i);
  }
}

function corePorts(view: View, report: Report): void {
  if (view.srv6?.corePorts?.length === 0)
    report(
      ['srv6', 'core-ports'],
      'at least one interface',
      'without core ports no tunnel leaves or enters: remove the section or say enabled: off',
    );
  const border = new Set(view.borderPorts);
  for (const [i, name] of each(view.srv6?.corePorts)) {
    if (border.has(name))
      report(
        ['srv6', 'core-ports', i],
        'an interface inside the domain',
        `${name} is a border port: notifications to END.CON would be dropped there`,
      );
  }
}

export const SRV6_RULES: readonly Rule[] = [
  roomForSid,
  sidInsideLocator,
  sidIsNoAddress,
  uniqueSrv6,
  oneSourceATunnel,
  corePorts,
];

/** An open reflector answers whoever asks, at whatever address the question pretends to come from. */
function reflectorNeedsAllowList({ stamp }: View, report: Report): void {
  if (stamp?.reflector !== true || ('accept-from' in stamp && stamp.acceptFrom?.length !== 0)) return;
  report(
    ['stamp', 'accept-from'],
    'at least one prefix',
    'a reflector answers only whom it is told to: name the prefixes of the routers that probe',
  );
}

function idleStamp({ stamp }: View, report: Report): void {
  if (
    !stamp ||
    ('reflector' in stamp && stamp.reflector !== false) ||
    ('learn' in stamp && stamp.learn !== false) ||
    stamp.targets.length > 0
  )
    return;
  report(
    ['stamp'],
    'reflector: on, learn: on, or targets',
    'stamp neither probes nor answers: say reflector: on, learn: on, or name targets',
  );
}

function learnsFromSomewhere({ stamp, isis, ospfv2, ospfv3, bgp }: View, report: Report): void {
  if (stamp?.learn !== true || isis || ospfv2 || ospfv3 || bgp) return;
  report(
    ['stamp', 'learn'],
    'learn only with isis, ospfv2, ospfv3 or bgp',
    'router addresses are learned from the network, and there is no carrier that could',
  );
}

function uniqueStamp({ stamp }: View, report: Report): void {
  unique(stamp?.targets, (i) => ['stamp', 'targets', i], formatAddress, 'address', report);
  unique(stamp?.acceptFrom, (i) => ['stamp', 'accept-from', i], formatPrefix, 'prefix', report);
}

export const STAMP_RULES: readonly Rule[] = [reflectorNeedsAllowList, idleStamp, learnsFromSomewhere, uniqueStamp];
