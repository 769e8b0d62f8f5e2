// The section `srv6`: END.CON and tunnels (FCN §4.2).
import type * as z from 'zod';
import { type IpAddress, formatAddress, sameAddress } from '../model/address.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import { hostAddress, locatorPrefix, senderPrefix } from './address-values.ts';
import type * as border from './border.ts';
import * as groupSids from './group-sids.ts';
import type { GroupSidIntent } from './group-sids.ts';
import * as multicast from './multicast.ts';
import type { MulticastIntent } from './multicast.ts';
import * as proxy from './proxy.ts';
import type * as router from './router.ts';
import {
  defaulted,
  defaultsOf,
  enabled,
  filled,
  list,
  section,
  value,
  withDefault,
  wordOrSection,
} from './schema-parts.ts';
import { type Report, type Rule, type Seen, each, itself, unique } from './seen.ts';
import { allocatedSid, checkInsideLocator, checkSpace } from './sid-allocation.ts';
import { integer, interfaceName, oneOf, routingTable } from './values.ts';

/** END.CON: one SID a routing table (decision E6). */
export interface EndConIntent {
  readonly sid: IpAddress;
  readonly locator: Prefix;
  /** The table in which senders are looked up after decapsulation; 254 is main. */
  readonly table: number;
  /**
   * Traffic whose tunnels carry this SID as outer source: from these interfaces (empty: any) and these inner source
   * prefixes (empty: any).
   */
  readonly interfaces: readonly string[];
  readonly senders: readonly Prefix[];
}

export interface Srv6Intent {
  readonly endCon: readonly EndConIntent[];
  /** Present: this router is an edge of End.MT groups. */
  readonly endMt?: GroupSidIntent;
  /** Present: this router replicates packets of End.MT groups. */
  readonly replication?: GroupSidIntent;
  /** What is the same for all End.MT groups. */
  readonly multicast: MulticastIntent;
  /** Interfaces towards the SRv6 domain: where tunnels leave and enter. */
  readonly corePorts: readonly string[];
  /** RFC 6040 at encapsulation (FCN-4.2.1-a). */
  readonly ecnMode: 'normal' | 'compatibility';
  /** RFC 2983. Pipe: inner and outer DSCP are independent. */
  readonly dscpModel: { readonly kind: 'pipe'; readonly outerDscp?: number } | { readonly kind: 'uniform' };
}

const endCon = section(
  {
    sid: value(
      hostAddress(6),
      'the SID, inside its locator; notifications for senders behind this router are sent ' +
        'to it; default: allocated from the table number, ::c0:TABLE in the locator',
    ).optional(),
    locator: value(locatorPrefix, 'locator of the SID, as FRR has it'),
    table: defaulted(routingTable, 'main', 'routing table in which senders are looked up after decapsulation'),
    interfaces: list(
      value(interfaceName, 'interface'),
      'tunneled traffic from these interfaces carries the SID as outer source; default: from any',
    ).optional(),
    senders: list(
      value(senderPrefix, 'prefix'),
      'tunneled traffic of these inner source prefixes carries the SID as outer source; default: of any',
    ).optional(),
  },
  'an END.CON SID of this router (FCN §4.2.2); one per routing table',
);

const DSCP_MODEL = 'pipe';
const dscp = wordOrSection(
  { ...oneOf('pipe', 'uniform'), allowed: 'pipe, uniform, or { pipe: DSCP }' },
  section({ pipe: value(integer(0, 63), 'DSCP of the outer header') }, 'pipe model with its own DSCP'),
  `RFC 2983: pipe, uniform, or { pipe: DSCP }; default ${DSCP_MODEL}`,
);

export const schema = section(
  {
    enabled: enabled(),
    'end-con': list(endCon, 'END.CON SIDs of this router').optional(),
    'end-mt': groupSids.endMt.optional(),
    replication: groupSids.replication.optional(),
    multicast: multicast.schema.optional(),
    'core-ports': list(
      value(interfaceName, 'interface'),
      'interfaces towards the SRv6 domain, where tunnels leave and enter',
    ),
    ecn: defaulted(
      oneOf('normal', 'compatibility'),
      'normal',
      (text) => `RFC 6040 at encapsulation; default ${text} (FCN §4.2.1)`,
    ),
    dscp: withDefault(dscp, DSCP_MODEL),
  },
  'SRv6: END.CON, ECN and DSCP of tunnels (FCN §4.2)',
);

interface Sections {
  readonly srv6?: Seen<typeof schema> | undefined;
  readonly router?: Seen<typeof router.schema> | undefined;
  readonly proxy?: Seen<typeof proxy.schema> | undefined;
  readonly 'border-ports'?: Seen<typeof border.ports> | undefined;
}

/** With the SIDs of those that name none. One that could not be read is not there either, but its name is. */
const endCons = ({ srv6 }: Sections): readonly (Seen<typeof endCon> | undefined)[] =>
  (srv6?.['end-con'] ?? []).map((entry) => entry && withSid(entry));

function withSid(entry: Seen<typeof endCon>): Seen<typeof endCon> {
  if (!entry.locator || 'sid' in entry) return entry;
  // A table that could not be read is taken for the main one.
  const sid = allocatedSid(entry.locator, entry.table ?? defaultsOf(endCon).table);
  return sid ? { ...entry, sid } : entry;
}

function sidInsideLocator(file: Sections, report: Report): void {
  for (const [i, entry] of each(endCons(file))) checkInsideLocator(entry, ['srv6', 'end-con', i], report);
}

function roomForSid(file: Sections, report: Report): void {
  for (const [i, entry] of each(endCons(file))) checkSpace(entry, entry.sid, ['srv6', 'end-con', i], report);
}

/** A SID is not an address of an interface (RFC 8986 §3): packets to it are decapsulated instead of delivered. */
function sidIsNoAddress(file: Sections, report: Report): void {
  const proxies = each(proxy.addressesOf(file.proxy)).map(([, address]) => ['proxy.address', address] as const);
  const own = [['router.loopback.ipv6', file.router?.loopback?.ipv6] as const, ...proxies];
  for (const [i, { sid }] of each(endCons(file))) {
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

/** The END.CON SIDs have rules of their own. */
function groupSidsDiffer(file: Sections, report: Report): void {
  const others = endCons(file).map((entry, i) => [`srv6.end-con[${i}].sid`, entry?.sid] as const);
  groupSids.groupSidsDiffer(file, others, report);
}

function uniqueEntries(file: Sections, report: Report): void {
  const entries = endCons(file);
  unique(
    entries,
    (i) => ['srv6', 'end-con', i, 'sid'],
    (entry) => entry.sid && formatAddress(entry.sid),
    'SID',
    report,
  );
  unique(file.srv6?.['core-ports'], (i) => ['srv6', 'core-ports', i], itself, 'interface', report);
  for (const [i, entry] of each(entries)) {
    unique(entry.interfaces, (j) => ['srv6', 'end-con', i, 'interfaces', j], itself, 'interface', report);
    unique(entry.senders, (j) => ['srv6', 'end-con', i, 'senders', j], formatPrefix, 'prefix', report);
  }
}

const selectors = ({ interfaces, senders }: Seen<typeof endCon>): string[] => {
  const names = interfaces?.length ? interfaces : ['any interface'];
  const prefixes = senders?.length ? senders.map((prefix) => prefix && formatPrefix(prefix)) : ['any sender'];
  return names.flatMap((name) => prefixes.map((prefix) => `${name}, ${prefix}`));
};

/** Which SID a tunnel gets must be one answer. */
function oneSourceATunnel(file: Sections, report: Report): void {
  const taken = new Map<string, number>();
  for (const [i, entry] of each(endCons(file))) {
    const clash = selectors(entry).find((selector) => taken.has(selector));
    if (clash !== undefined) {
      report(
        ['srv6', 'end-con', i],
        'interfaces or senders that distinguish the SIDs',
        `traffic of ${clash} would have two sources: srv6.end-con[${taken.get(clash)!}] already takes it`,
      );
    }
    for (const selector of selectors(entry)) if (!taken.has(selector)) taken.set(selector, i);
  }
}

function corePorts({ srv6, 'border-ports': borderPorts }: Sections, report: Report): void {
  if (srv6?.['core-ports']?.length === 0)
    report(
      ['srv6', 'core-ports'],
      'at least one interface',
      'without core ports no tunnel leaves or enters: remove the section or set enabled: off',
    );
  const border = new Set(borderPorts);
  for (const [i, name] of each(srv6?.['core-ports'])) {
    if (border.has(name))
      report(
        ['srv6', 'core-ports', i],
        'an interface inside the domain',
        `${name} is a border port: notifications to END.CON would be dropped there`,
      );
  }
}

export const rules: readonly Rule<Sections>[] = [
  roomForSid,
  sidInsideLocator,
  sidIsNoAddress,
  uniqueEntries,
  oneSourceATunnel,
  corePorts,
  groupSids.groupSidsFit,
  groupSidsDiffer,
];

/** The rules have checked that there is a SID, or space for one. */
function buildEndCon(declared: z.output<typeof endCon>): EndConIntent {
  const { sid, locator, table, interfaces = [], senders = [] } = filled(endCon, declared);
  return { sid: sid ?? allocatedSid(locator, table)!, locator, table, interfaces, senders };
}

export function build(declared: z.output<typeof schema>): Srv6Intent {
  const { dscp: model, ...srv6 } = filled(schema, declared);
  return {
    endCon: (srv6['end-con'] ?? []).map(buildEndCon),
    ...(srv6['end-mt'] && { endMt: groupSids.buildGroupSid(srv6['end-mt'], 'end-mt') }),
    ...(srv6.replication && { replication: groupSids.buildGroupSid(srv6.replication, 'replication') }),
    multicast: multicast.build(srv6.multicast),
    corePorts: srv6['core-ports'],
    ecnMode: srv6.ecn,
    dscpModel: typeof model === 'object' ? { kind: 'pipe', outerDscp: model.pipe } : { kind: model },
  };
}
