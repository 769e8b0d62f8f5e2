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

/** Why a format is refused, and what is allowed in its place: other formats, or what `otherwise` says. */
interface Refusal {
  readonly formats: readonly NotificationFormat[];
  readonly otherwise?: string;
  readonly reason: string;
}

/** What is allowed, in words. @param proxied what the key has in place of `proxy`; undefined: it has nothing */
export const allowedIn = ({ formats, otherwise }: Refusal, proxied: string | undefined): string =>
  [
    ...formats.flatMap((format) => (format === 'proxy' ? (proxied ?? []) : format)),
    ...(otherwise ? [otherwise] : []),
  ].join(' or ');

/** Whether a format is refused for the senders of a policy. Undefined: it is allowed. */
export function refusal(
  format: NotificationFormat,
  { prefix, supports }: SendersSeen,
  supportsRead: boolean,
): Refusal | undefined {
  if (format === 'proxy') return undefined;
  const impossible = prefix && impossibleFor(format, prefix, supports === 'advertised');
  if (impossible) return impossible;
  if (!supportsRead || supports === 'advertised') return undefined;
  if (Array.isArray(supports) && supports.some((known) => known === undefined || known === format)) return undefined;
  const senders = prefix ? formatPrefix(prefix) : 'these senders';
  if (format === 'long-haul-roce')
    return {
      formats: [],
      otherwise: 'supports: [long-haul-roce]',
      reason:
        'the RoCEv2 form of Long-haul CNP may be sent only to senders that are known to accept ' +
        `it (LHCNP §6.2.1, §10.5): list it under supports of ${senders}`,
    };
  const known = supports === undefined || supports === 'unknown';
  return known
    ? undefined
    : {
        formats: ['proxy'],
        otherwise: `${format} under supports`,
        reason: `the senders in ${senders} are declared not to understand ${format}: it is not under supports`,
      };
}

/**
 * Whether the prefix alone rules a format out.
 * @param advertised what senders understand is known of each of their own prefixes
 */
export function impossibleFor(format: SenderFormat, prefix: Prefix, advertised = false): Refusal | undefined {
  const { family } = prefix.address;
  const senders = formatPrefix(prefix);
  if (family === 4 && format === 'fast-cnp')
    return {
      formats: ['proxy', 'long-haul-roce'],
      reason: `Fast CNP is an IPv6 packet; the senders in ${senders} are IPv4 (FCNP §3)`,
    };
  if (family === 4 && format === 'long-haul-icmpv6')
    return {
      formats: ['long-haul-roce', 'proxy'],
      reason:
        'the ICMPv6 form of Long-haul CNP is for IPv6 alone: ' +
        `IPv4 senders such as ${senders} take the RoCEv2 form (LHCNP §4)`,
    };
  if (format === 'long-haul-roce' && !advertised && prefix.length < WIDEST_OF_ONE_DOMAIN[family])
    return {
      formats: [],
      otherwise: `prefixes not wider than /${WIDEST_OF_ONE_DOMAIN[family]}`,
      reason:
        'the RoCEv2 form of Long-haul CNP may be sent only to senders that are known to accept ' +
        `it, and ${senders} is more than one domain has (LHCNP §10.5)`,
    };
  return undefined;
}
