// The rules of the section `source`: what its keys have to be to each other, and to other sections.
import { type Prefix, covering, formatPrefix } from '../model/prefix.ts';
import { allowedIn, impossibleFor } from './formats.ts';
import type * as ospf from './ospf.ts';
import type * as ports from './ports.ts';
import { addressesOf, type schema as proxySchema } from './proxy.ts';
import { type Report, type Rule, type Seen, each, itself, unique } from './seen.ts';
import { type schema, supportsOf } from './source.ts';

interface Sections {
  readonly source?: Seen<typeof schema> | undefined;
  readonly ports?: Seen<typeof ports.schema> | undefined;
  readonly proxy?: Seen<typeof proxySchema> | undefined;
  readonly ospfv2?: Seen<typeof ospf.schema2> | undefined;
  readonly ospfv3?: Seen<typeof ospf.schema3> | undefined;
}

function uniqueEntries({ source }: Sections, report: Report): void {
  unique(source?.interfaces, (i) => ['source', 'interfaces', i], itself, 'interface', report);
  unique(
    source?.senders,
    (i) => ['source', 'senders', i, 'prefix'],
    (entry) => entry.prefix && formatPrefix(entry.prefix),
    'prefix',
    report,
  );
  unique(source?.['accept-from'], (i) => ['source', 'accept-from', i], formatPrefix, 'prefix', report);
}

function notEmpty({ source }: Sections, report: Report): void {
  if (source?.senders?.length === 0)
    report(
      ['source', 'senders'],
      'at least one entry',
      'without senders there is nothing to take: remove the section or set enabled: off',
    );
  if (source?.['accept-from']?.length === 0)
    report(
      ['source', 'accept-from'],
      'at least one prefix',
      'an empty allow-list accepts no notification: name the prefixes of the congested nodes',
    );
}

function possibleFormats({ source }: Sections, report: Report): void {
  const senders = source?.senders;
  for (const [i, { prefix, supports }] of each(senders)) {
    const path = ['source', 'senders', i, 'supports'] as const;
    unique(
      supports,
      (j) => [...path, j],
      (format) => format,
      'format',
      report,
    );
    for (const [j, format] of each(supports)) {
      const refused = prefix && impossibleFor(format, prefix);
      if (refused) report([...path, j], allowedIn(refused, undefined), refused.reason);
    }
  }
}

/** Something to advertise, if that is asked for. */
function somethingToAdvertise({ source }: Sections, report: Report): void {
  const senders = source?.senders;
  if (source?.advertise !== true || !senders || senders.length === 0) return;
  const silent = senders.every(
    (entry) =>
      entry?.prefix && entry.action && !('supports' in entry) && !supportsOf(entry.prefix, entry.action, undefined),
  );
  if (silent)
    report(
      ['source', 'advertise'],
      'off, or supports of some sender',
      'there is nothing to advertise: with action: pass only the operator knows what the hosts understand',
    );
}

/**
 * The longest match counts at the learner: of senders without an advertisement of their own it would believe what a
 * shorter prefix says. A proxy's prefixes are advertised in any case.
 */
function saysOfEach(file: Sections, report: Report): void {
  const { source } = file;
  if (source?.advertise !== true) return;
  const readable = each(source.senders).flatMap(([i, entry]) => {
    const { prefix, action, supports } = entry;
    const formats = each(supports).map(([, format]) => format);
    const isRead = !('supports' in entry) || formats.length === supports?.length;
    if (!prefix || !action || !isRead) return [];
    return [{ i, prefix, says: supportsOf(prefix, action, supports && formats) }];
  });
  const isProxied = proxied(file);
  const claimOf = covering(readable.filter(({ says }) => says));
  for (const { i, prefix, says } of readable) {
    const shorter = says || isProxied(prefix) ? undefined : claimOf(prefix);
    if (shorter)
      report(
        ['source', 'senders', i],
        'supports of these senders',
        `what is advertised for ${formatPrefix(shorter.prefix)} would be believed of ${formatPrefix(prefix)}, too: ` +
          'say under supports what these senders understand, or set source.advertise: off',
      );
  }
}

/**
 * Whether a prefix is advertised with a proxy, or may be, where the file cannot be read. OSPF has no form for a proxy
 * of the other family.
 */
function proxied({ proxy, ospfv2, ospfv3 }: Sections): (prefix: Prefix) => boolean {
  if (!proxy || proxy.enabled === false) return () => false;
  const addresses = addressesOf(proxy);
  if (!proxy.senders || [...proxy.senders.map((entry) => entry?.prefix), ...addresses].includes(undefined))
    return () => true;
  const proxyOf = covering(each(proxy.senders).flatMap(([, { prefix }]) => (prefix ? [{ prefix }] : [])));
  return (prefix) => {
    const { family } = prefix.address;
    const ospf = family === 4 ? ospfv2 : ospfv3;
    const isCarried = !ospf || ospf.enabled === false || addresses.some((address) => address?.family === family);
    return isCarried && proxyOf(prefix) !== undefined;
  };
}

/** Each change of a hold is one of a class at each port. */
const MOST_PORTS = 64;

/** Both or neither: ports without a sender to hold, and senders without a port to hold them at, are mistakes. */
function enforcement({ source }: Sections, report: Report): void {
  if (!source) return;
  const held = source.senders?.findIndex((entry) => entry?.action === 'enforce') ?? -1;
  if (held >= 0 && !('enforce' in source))
    report(
      ['source', 'senders', held, 'action'],
      'pass or convert, or a section enforce',
      'action: enforce needs source.enforce with the ports by which these senders’ flows leave',
    );
  if ('enforce' in source && held < 0 && source.senders?.every((entry) => entry?.action !== undefined))
    report(['source', 'enforce'], 'no section enforce', 'no sender has action: enforce');
  if (source.enforce?.ports?.length === 0)
    report(['source', 'enforce', 'ports'], 'at least one interface', 'without a port no flow is slowed down');
  const ports = source.enforce?.ports?.length ?? 0;
  if (ports > MOST_PORTS)
    report(
      ['source', 'enforce', 'ports'],
      `at most ${MOST_PORTS} interfaces`,
      `${ports} ports are more than cnpd holds flows at`,
    );
  unique(source.enforce?.ports, (i) => ['source', 'enforce', 'ports', i], itself, 'interface', report);
}

/** What waits in a class counts as the port's queue: senders would be notified of congestion that there is none. */
function heldWhereWatched({ source, ports: watched }: Sections, report: Report): void {
  const names = new Set(each(watched).map(([, port]) => port.interface));
  for (const [i, name] of each(source?.enforce?.ports))
    if (name !== undefined && names.has(name))
      report(
        ['source', 'enforce', 'ports', i],
        'an interface that is not under ports',
        `${name} is watched (ports): what a held flow has waiting there would be taken for its queue`,
      );
}

export const rules: readonly Rule<Sections>[] = [
  uniqueEntries,
  notEmpty,
  possibleFormats,
  somethingToAdvertise,
  saysOfEach,
  enforcement,
  heldWhereWatched,
];
