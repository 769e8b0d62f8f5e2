// The section `proxy`: this router is the congestion notification proxy of senders (PNC §5).
import type * as z from 'zod';
import type { IpAddress } from '../model/address.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import { SENDER_FORMATS, type SenderFormat } from '../model/understood.ts';
import { hostAddress, senderPrefix, trustedPrefix } from './address-values.ts';
import { allowedIn, impossibleFor } from './formats.ts';
import { defaulted, enabled, filled, list, section, value, wordOrList } from './schema-parts.ts';
import { type Report, type Rule, type Seen, each, itself, oneAFamily, unique } from './seen.ts';
import { interfaceName, oneOf, rate, time } from './values.ts';

/** The formats that the senders behind the proxy understand (PNC-1-a). */
type ProxyOutputFormat = 'standard-cnp' | SenderFormat;

export interface SenderIntent {
  readonly prefix: Prefix;
  readonly format: ProxyOutputFormat;
}

export interface ProxyIntent {
  /** A unicast address of this router. Notices arrive here. */
  readonly address: IpAddress;
  /** One of the other family, where there is: each sender prefix is advertised with that of its own family. */
  readonly otherAddress?: IpAddress;
  readonly senders: readonly SenderIntent[];
  /**
   * Interfaces at which notices arrive and RoCEv2 traffic is observed. Empty: all Ethernet-like ones but the carriers'
   * own.
   */
  readonly interfaces: readonly string[];
  /** Sources from which notices are accepted. Never empty: there is no "from any source". */
  readonly acceptFrom: readonly Prefix[];
  /** Least time between two CNPs for one flow. */
  readonly perFlowIntervalMs: number;
  /** Notices accepted per second, all flows together. */
  readonly noticesPerSecond: number;
}

const sender = section(
  {
    prefix: value(senderPrefix, 'source prefix of the senders'),
    format: value(
      oneOf<ProxyOutputFormat>('standard-cnp', ...SENDER_FORMATS),
      'the notification that these senders understand (PNC §1); sent from router.loopback, except standard-cnp',
    ),
  },
  'senders behind this proxy',
);

export const schema = section(
  {
    enabled: enabled(),
    address: wordOrList(
      hostAddress(),
      hostAddress(),
      'address of this router to which notices are sent, or one of each family: ' +
        'each sender prefix is then advertised with that of its own family',
    ),
    senders: list(sender, 'the prefixes whose proxy this router is, with the format that their senders understand'),
    'accept-from': list(
      value(trustedPrefix, 'prefix of routers whose notices are accepted'),
      'prefixes of routers whose notices are accepted; there is no default',
    ),
    interfaces: list(
      value(interfaceName, 'interface'),
      'where notices arrive and RoCEv2 is observed; default: all Ethernet-like interfaces except border-ports',
    ).optional(),
    'per-flow-interval': defaulted(time('1us', '60s'), '50us', 'shortest time between two CNPs for one flow'),
    rate: defaulted(rate('1/s', '10M/s'), '10000/s', 'notices accepted per second, all flows together'),
  },
  'this router is the congestion notification proxy of senders (PNC §5)',
);

interface Sections {
  readonly proxy?: Seen<typeof schema> | undefined;
}

function uniqueEntries({ proxy }: Sections, report: Report): void {
  unique(proxy?.interfaces, (i) => ['proxy', 'interfaces', i], itself, 'interface', report);
  unique(
    proxy?.senders,
    (i) => ['proxy', 'senders', i, 'prefix'],
    (entry) => entry.prefix && formatPrefix(entry.prefix),
    'prefix',
    report,
  );
  unique(proxy?.['accept-from'], (i) => ['proxy', 'accept-from', i], formatPrefix, 'prefix', report);
}

function notEmpty({ proxy }: Sections, report: Report): void {
  if (proxy?.senders?.length === 0)
    report(
      ['proxy', 'senders'],
      'at least one entry',
      'a proxy without senders does nothing: remove the section or set enabled: off',
    );
  if (proxy?.['accept-from']?.length === 0)
    report(
      ['proxy', 'accept-from'],
      'at least one prefix',
      'an empty allow-list accepts no notice: name the prefixes of the routers whose notices are accepted',
    );
}

/** A single value is a list of one. */
export const addressesOf = (proxy: Seen<typeof schema> | undefined): readonly (IpAddress | undefined)[] =>
  proxy ? [proxy.address].flat() : [];

function addresses({ proxy }: Sections, report: Report): void {
  const path = ['proxy', 'address'] as const;
  if (proxy && addressesOf(proxy).length === 0)
    report(path, 'one address, or one of each family', 'a proxy without an address gets no notices');
  oneAFamily(addressesOf(proxy), path, 'address', report);
}

/** PNC §1: the formats in which a proxy may notify its senders. The entry declares that they understand it. */
function formatsFitTheSenders({ proxy }: Sections, report: Report): void {
  for (const [i, { prefix, format }] of each(proxy?.senders)) {
    if (format === undefined || format === 'standard-cnp') continue;
    const refused = prefix && impossibleFor(format, prefix);
    if (refused) report(['proxy', 'senders', i, 'format'], allowedIn(refused, 'standard-cnp'), refused.reason);
  }
}

export const rules: readonly Rule<Sections>[] = [uniqueEntries, notEmpty, addresses, formatsFitTheSenders];

export function build(declared: z.output<typeof schema>): ProxyIntent {
  const proxy = filled(schema, declared);
  const [address, otherAddress] = [proxy.address].flat();
  return {
    address: address!,
    ...(otherAddress && { otherAddress }),
    senders: proxy.senders,
    interfaces: proxy.interfaces ?? [],
    acceptFrom: proxy['accept-from'],
    perFlowIntervalMs: proxy['per-flow-interval'],
    noticesPerSecond: proxy.rate,
  };
}
