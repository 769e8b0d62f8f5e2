// Rules of `notifications`: which formats a sender may be sent (LHCNP-4-a, LHCNP-6.2.1-c, LHCNP-10.5-b, FCNP-3-d,
// FCNP-4-b). What Long-haul CNPs say is in rules-long-haul.ts.
import type { NotificationFormat } from '../model/notification.ts';
import { formatPrefix } from '../model/prefix.ts';
import { WIDEST_OF_ONE_DOMAIN } from './address-values.ts';
import { type Policy, type Report, type Rule, type View, each, unique } from './rules-view.ts';

function uniquePolicies(view: View, report: Report): void {
  const policies = view.notifications?.policies;
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

function tellsSomebody(view: View, report: Report): void {
  const policies = view.notifications?.policies;
  if (policies?.length === 0)
    report(
      ['notifications', 'senders'],
      'at least one policy',
      'without policies nobody is told: name sender prefixes, or say enabled: off for notices to proxies alone',
    );
  for (const [i, policy] of each(policies)) {
    if (policy.order?.length === 0)
      report(
        ['notifications', 'senders', i, 'order'],
        'at least one format',
        'an empty order tells these senders nothing: leave the policy out',
      );
  }
}

/** Why a format is refused for the senders of a policy, and what is allowed. Undefined: it is not. */
function refusal(
  format: NotificationFormat,
  { prefix, supports }: Partial<Policy>,
  supportsRead: boolean,
): readonly [allowed: string, reason: string] | undefined {
  if (format === 'proxy') return undefined;
  const senders = prefix ? formatPrefix(prefix) : 'these senders';
  if (prefix?.address.family === 4 && format === 'fast-cnp')
    return ['proxy or long-haul-roce', `Fast CNP is an IPv6 packet; the senders in ${senders} are IPv4 (FCNP §3)`];
  if (prefix?.address.family === 4 && format === 'long-haul-icmpv6') {
    return [
      'long-haul-roce or proxy',
      'the ICMPv6 form of Long-haul CNP is for IPv6 alone: ' +
        `IPv4 senders such as ${senders} take the RoCEv2 form (LHCNP §4)`,
    ];
  }
  if (format === 'long-haul-roce' && prefix && prefix.length < WIDEST_OF_ONE_DOMAIN[prefix.address.family]) {
    return [
      `prefixes not wider than /${WIDEST_OF_ONE_DOMAIN[prefix.address.family]}`,
      'the RoCEv2 form of Long-haul CNP may be sent only to senders that are known to accept it, ' +
        `and ${senders} is more than one domain has (LHCNP §10.5)`,
    ];
  }
  if (!supportsRead || (Array.isArray(supports) && supports.some((known) => known === undefined || known === format)))
    return undefined;
  if (format === 'long-haul-roce') {
    const list = 'supports: [long-haul-roce]';
    return [
      list,
      'the RoCEv2 form of Long-haul CNP may be sent only to senders that are known to accept it (LHCNP §6.2.1, ' +
        `§10.5): list it under supports of ${senders}`,
    ];
  }
  const known = supports === undefined || supports === 'unknown';
  return known
    ? undefined
    : [
        `proxy, or ${format} under supports`,
        `the senders in ${senders} are declared not to understand ${format}: it is not under supports`,
      ];
}

function formatsFitTheSenders(view: View, report: Report): void {
  for (const [i, policy] of each(view.notifications?.policies)) {
    const supportsRead = !('supports' in policy) || policy.supports !== undefined;
    for (const [j, format] of each(policy.order)) {
      const refused = refusal(format, policy, supportsRead);
      if (refused) report(['notifications', 'senders', i, 'order', j], ...refused);
    }
  }
}

/** PNC §1: what a proxy may tell its senders. That they understand it is what the entry declares. */
function proxyFormatsFitTheSenders(view: View, report: Report): void {
  for (const [i, { prefix, format }] of each(view.senders)) {
    if (format === undefined || format === 'standard-cnp') continue;
    const refused = refusal(format, { ...(prefix && { prefix }), supports: [format] }, true);
    if (refused) report(['proxy', 'senders', i, 'format'], refused[0].replace(/\bproxy\b/, 'standard-cnp'), refused[1]);
  }
}

/** FCNP-4-a, FCNP-4-b. */
function ceWithFastCnp(view: View, report: Report): void {
  for (const [i, policy] of each(view.notifications?.policies)) {
    const path = ['notifications', 'senders', i, 'ce-with-fast-cnp'];
    if (!('ce-with-fast-cnp' in policy)) continue;
    if (policy.order && !policy.order.some((format) => format === undefined || format === 'fast-cnp'))
      report(path, 'no ce-with-fast-cnp', 'these senders are never sent a Fast CNP');
    if (policy['ce-with-fast-cnp'] !== true || policy.supports === undefined || policy.supports === 'unknown') continue;
    const reason =
      'packets of senders that are known to understand Fast CNP must not be CE-marked while one is sent (FCNP §4)';
    report(path, 'off, or supports: unknown', reason);
  }
}

export const NOTIFICATION_RULES: readonly Rule[] = [
  uniquePolicies,
  tellsSomebody,
  formatsFitTheSenders,
  proxyFormatsFitTheSenders,
  ceWithFastCnp,
];
