// The section `notifications`: which senders are notified of congestion, and in which format: through their proxies
// (PNC), by Fast CNP (FCNP), by Long-haul CNP (LHCNP).
import type * as z from 'zod';
import { NOTIFICATION_FORMATS, type NotificationFormat } from '../model/notification.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import { SENDER_FORMATS, type SenderFormat } from '../model/understood.ts';
import { policyPrefix } from './address-values.ts';
import { allowedIn, refusal } from './formats.ts';
import * as longHaul from './long-haul.ts';
import { defaulted, enabled, filled, list, section, value, withDefault, wordOrList } from './schema-parts.ts';
import { type Report, type Rule, type Seen, each, unique } from './seen.ts';
import { oneOf, onOff, time } from './values.ts';

interface SenderPolicyIntent {
  readonly prefix: Prefix;
  /**
   * `unknown`, or all that they understand (empty: standard CNPs only). `advertised`: what the network advertises for
   * the prefix of each.
   */
  readonly supports: 'unknown' | 'advertised' | readonly SenderFormat[];
  /** The formats tried, in this order; the first that is possible is used. Never empty. */
  readonly order: readonly NotificationFormat[];
  /** Whether packets of flows with a Fast CNP are also CE-marked (FCNP-4-a); false when known capable (FCNP-4-b). */
  readonly markCeWithFastCnp: boolean;
}

export interface NotificationsIntent {
  /** By longest match on the data packet's source. Senders outside all of them are not notified. */
  readonly senders: readonly SenderPolicyIntent[];
  /** How long "does not understand", learned from an ICMPv6 Parameter Problem, stays in force. */
  readonly capabilityExpiryMs: number;
  readonly fastCnp: {
    /** Whether the ICRC covers the Destination Options header (decision B2). */
    readonly icrc: 'cover' | 'skip';
  };
  readonly longHaul: longHaul.LongHaulIntent;
}

const SUPPORTS = 'unknown';

const policy = section(
  {
    prefix: value(policyPrefix, 'source prefix of the senders; the longest match is used'),
    supports: withDefault(
      wordOrList(
        oneOf('unknown', 'advertised', 'standard-cnp'),
        oneOf(...SENDER_FORMATS),
        'what these senders are known to understand besides standard CNPs; ' +
          `advertised: what the network advertises for the prefix of each; default ${SUPPORTS}`,
      ),
      SUPPORTS,
    ),
    order: list(
      value(oneOf(...NOTIFICATION_FORMATS), 'format'),
      'formats in the order in which they are tried; the first possible one is sent',
    ),
    'ce-with-fast-cnp': defaulted(
      onOff,
      'on',
      (text) =>
        'whether packets of a flow that is notified by Fast CNP are CE-marked too; ' +
        `with supports: unknown or advertised only; default ${text} (FCNP §4)`,
    ),
  },
  'the format for the senders of a prefix',
);

const fastCnp = section(
  {
    icrc: defaulted(oneOf('cover', 'skip'), 'cover', 'whether the ICRC covers the Destination Options header'),
  },
  'Fast CNP (FCNP §4)',
);

export const schema = section(
  {
    enabled: enabled('off: the section is checked but not run, and senders are notified only through their proxies'),
    senders: list(policy, 'one policy per sender prefix; senders outside all of them are not notified'),
    'capability-expiry': defaulted(
      time('1s', '24h'),
      '10min',
      'how long an ICMPv6 Parameter Problem about an unknown format stays in force',
    ),
    'fast-cnp': fastCnp.optional(),
    'long-haul': longHaul.schema.optional(),
  },
  'which senders are notified of congestion, and in which format; without this section: every sender through its proxy',
);

interface Sections {
  readonly notifications?: Seen<typeof schema> | undefined;
}

function uniqueEntries({ notifications }: Sections, report: Report): void {
  const policies = notifications?.senders;
  unique(
    policies,
    (i) => ['notifications', 'senders', i, 'prefix'],
    (policy) => policy.prefix && formatPrefix(policy.prefix),
    'prefix',
    report,
  );
  for (const [i, policy] of each(policies))
    unique(
      policy.order,
      (j) => ['notifications', 'senders', i, 'order', j],
      (format) => format,
      'format',
      report,
    );
  for (const [i, policy] of each(policies)) {
    if (Array.isArray(policy.supports))
      unique(
        policy.supports,
        (j) => ['notifications', 'senders', i, 'supports', j],
        (format) => format,
        'format',
        report,
      );
  }
}

function tellsSomebody({ notifications }: Sections, report: Report): void {
  const policies = notifications?.senders;
  if (policies?.length === 0)
    report(
      ['notifications', 'senders'],
      'at least one policy',
      'without policies no sender is notified: name sender prefixes, or set enabled: off for notices to proxies only',
    );
  for (const [i, policy] of each(policies)) {
    if (policy.order?.length === 0)
      report(
        ['notifications', 'senders', i, 'order'],
        'at least one format',
        'an empty order never notifies these senders: leave the policy out',
      );
  }
}

function formatsFitTheSenders({ notifications }: Sections, report: Report): void {
  for (const [i, policy] of each(notifications?.senders)) {
    const supportsRead = !('supports' in policy) || policy.supports !== undefined;
    for (const [j, format] of each(policy.order)) {
      const refused = refusal(format, policy, supportsRead);
      if (refused) report(['notifications', 'senders', i, 'order', j], allowedIn(refused, 'proxy'), refused.reason);
    }
  }
}

/** An advertisement is a claim: who makes it may be wrong about the senders, or lie. */
const isKnown = (supports: SenderPolicyIntent['supports'] | 'standard-cnp' | readonly unknown[]): boolean =>
  supports !== 'unknown' && supports !== 'advertised';

/** FCNP-4-a, FCNP-4-b. */
function ceWithFastCnp({ notifications }: Sections, report: Report): void {
  for (const [i, policy] of each(notifications?.senders)) {
    const path = ['notifications', 'senders', i, 'ce-with-fast-cnp'];
    if (!('ce-with-fast-cnp' in policy)) continue;
    if (policy.order && !policy.order.some((format) => format === undefined || format === 'fast-cnp'))
      report(path, 'no ce-with-fast-cnp', 'these senders are never sent a Fast CNP');
    if (policy['ce-with-fast-cnp'] !== true || policy.supports === undefined || !isKnown(policy.supports)) continue;
    const reason =
      'packets of senders that are known to understand Fast CNP must not be CE-marked while one is sent (FCNP §4)';
    report(path, 'off, or supports: unknown or advertised', reason);
  }
}

export const rules: readonly Rule<Sections>[] = [
  uniqueEntries,
  tellsSomebody,
  formatsFitTheSenders,
  ceWithFastCnp,
  ...longHaul.rules,
];

export function build(declared: z.output<typeof schema>): NotificationsIntent {
  const notifications = filled(schema, declared);
  return {
    senders: notifications.senders.map(buildPolicy),
    capabilityExpiryMs: notifications['capability-expiry'],
    fastCnp: filled(fastCnp, notifications['fast-cnp']),
    longHaul: longHaul.build(notifications['long-haul']),
  };
}

/**
 * FCNP-4-a: senders that may not understand a Fast CNP are also notified by CE, unless that is switched off; FCNP-4-b:
 * those known to understand it are not. What is advertised is not known.
 */
function buildPolicy(declared: z.output<typeof policy>): SenderPolicyIntent {
  const { prefix, supports, order, 'ce-with-fast-cnp': ceWithFastCnp } = filled(policy, declared);
  return {
    prefix,
    supports: supports === 'standard-cnp' ? [] : supports,
    order,
    markCeWithFastCnp: !isKnown(supports) && ceWithFastCnp,
  };
}
