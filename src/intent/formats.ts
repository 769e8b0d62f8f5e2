// Which formats of a notification senders may be sent, by a policy or by their proxy (LHCNP-4-a, LHCNP-6.2.1-c,
// LHCNP-10.5-b, FCNP-3-d).
import type { NotificationFormat } from '../model/notification.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import { type SenderFormat, WIDEST_OF_ONE_DOMAIN } from '../model/understood.ts';

/** As far as they could be read. */
interface SendersSeen {
  readonly prefix?: Prefix | undefined;
  readonly supports?: 'unknown' | 'advertised' | 'standard-cnp' | readonly (SenderFormat | undefined)[] | undefined;
}

/** Why a format is refused for the senders of a policy, and what is allowed. Undefined: it is allowed. */
export function refusal(
  format: NotificationFormat,
  { prefix, supports }: SendersSeen,
  supportsRead: boolean,
): readonly [allowed: string, reason: string] | undefined {
  if (format === 'proxy') return undefined;
  const senders = prefix ? formatPrefix(prefix) : 'these senders';
  const impossible = prefix && impossibleFor(format, prefix, supports === 'advertised');
  if (impossible) return impossible;
  if (!supportsRead || supports === 'advertised') return undefined;
  if (Array.isArray(supports) && supports.some((known) => known === undefined || known === format)) return undefined;
  if (format === 'long-haul-roce') {
    const list = 'supports: [long-haul-roce]';
    return [
      list,
      'the RoCEv2 form of Long-haul CNP may be sent only to senders that are known to accept ' +
        `it (LHCNP §6.2.1, §10.5): list it under supports of ${senders}`,
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

/** By the prefix alone. @param advertised what senders understand is known of each of their own prefixes */
function impossibleFor(
  format: NotificationFormat,
  prefix: Prefix,
  advertised: boolean,
): readonly [allowed: string, reason: string] | undefined {
  const { family } = prefix.address;
  const senders = formatPrefix(prefix);
  if (family === 4 && format === 'fast-cnp')
    return ['proxy or long-haul-roce', `Fast CNP is an IPv6 packet; the senders in ${senders} are IPv4 (FCNP §3)`];
  if (family === 4 && format === 'long-haul-icmpv6')
    return [
      'long-haul-roce or proxy',
      'the ICMPv6 form of Long-haul CNP is for IPv6 alone: ' +
        `IPv4 senders such as ${senders} take the RoCEv2 form (LHCNP §4)`,
    ];
  if (format === 'long-haul-roce' && !advertised && prefix.length < WIDEST_OF_ONE_DOMAIN[family])
    return [
      `prefixes not wider than /${WIDEST_OF_ONE_DOMAIN[family]}`,
      'the RoCEv2 form of Long-haul CNP may be sent only to senders that are known to accept ' +
        `it, and ${senders} is more than one domain has (LHCNP §10.5)`,
    ];
  return undefined;
}
