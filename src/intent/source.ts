// The section `source`: this router takes the notifications for hosts behind it (LHCNP §5.6, FCNP §4), and passes them,
// or turns them into standard CNPs.
import type * as z from 'zod';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import type { SourceAction } from '../model/source.ts';
import { senderPrefix, trustedPrefix } from './address-values.ts';
import { defaulted, enabled, filled, list, section, value } from './schema-parts.ts';
import { type Report, type Rule, type Seen, itself, unique } from './seen.ts';
import { interfaceName, oneOf, rate, time } from './values.ts';

export interface SourceIntent {
  /** By longest match on the destination of a notification. Notifications for others pass untouched. */
  readonly senders: readonly { readonly prefix: Prefix; readonly action: SourceAction }[];
  /** Congested nodes whose notifications are accepted. Never empty: there is no "from any node". */
  readonly acceptFrom: readonly Prefix[];
  /**
   * Interfaces at which notifications arrive. Empty: all Ethernet-like ones but the carriers' own and the border ports.
   */
  readonly interfaces: readonly string[];
  /** What the ICRC of a Fast CNP covers (decision B2). */
  readonly icrc: 'cover' | 'skip';
  /** Least time between two CNPs for one flow. */
  readonly perFlowIntervalMs: number;
  /** Notifications accepted per second, all senders together. */
  readonly perSecond: number;
}

const sender = section(
  {
    prefix: value(senderPrefix, 'prefix of the senders; the longest match is used'),
    action: value(
      oneOf<SourceAction>('pass', 'convert'),
      'pass: the host gets the notification, once it is checked; convert: the host gets a standard CNP in its place',
    ),
  },
  'senders behind this router',
);

export const schema = section(
  {
    enabled: enabled(),
    senders: list(sender, 'the senders for which this router takes notifications, and what becomes of them'),
    'accept-from': list(
      value(trustedPrefix, 'prefix of routers whose notifications are accepted'),
      'prefixes of congested nodes whose notifications are accepted; there is no default',
    ),
    interfaces: list(
      value(interfaceName, 'interface'),
      'where notifications arrive; default: all Ethernet-like interfaces except border-ports',
    ).optional(),
    icrc: defaulted(
      oneOf('cover', 'skip'),
      'cover',
      'whether the ICRC of a Fast CNP covers its Destination Options header; as at the congested nodes',
    ),
    'per-flow-interval': defaulted(time('1us', '60s'), '50us', 'shortest time between two CNPs for one flow'),
    rate: defaulted(rate('1/s', '10M/s'), '10000/s', 'notifications accepted per second, all senders together'),
  },
  'this router takes Fast CNPs and Long-haul CNPs for hosts behind it (LHCNP §5.6, FCNP §4)',
);

interface Sections {
  readonly source?: Seen<typeof schema> | undefined;
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

export const rules: readonly Rule<Sections>[] = [uniqueEntries, notEmpty];

export function build(declared: z.output<typeof schema>): SourceIntent {
  const source = filled(schema, declared);
  return {
    senders: source.senders,
    acceptFrom: source['accept-from'],
    interfaces: source.interfaces ?? [],
    icrc: source.icrc,
    perFlowIntervalMs: source['per-flow-interval'],
    perSecond: source.rate,
  };
}
