// Which notifications senders understand besides standard CNPs, as a set. There are eight sets: each is one object, so
// that a million prefixes share them, and equal sets are identical.
import type { NotificationFormat } from './notification.ts';
import type { Prefix } from './prefix.ts';

/** A format that reaches the sender itself. */
export type SenderFormat = Exclude<NotificationFormat, 'proxy'>;

export const SENDER_FORMATS = ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'] as const satisfies SenderFormat[];

/** Never empty, in the order of SENDER_FORMATS. Equal sets are the same object. */
export type Understood = readonly SenderFormat[];

const SETS: readonly (Understood | undefined)[] = Array.from({ length: 1 << SENDER_FORMATS.length }, (_, bits) =>
  bits === 0 ? undefined : Object.freeze(SENDER_FORMATS.filter((_format, i) => (bits >> i) & 1)),
);

/** The set of these formats; undefined: none. */
export const understood = (formats: readonly SenderFormat[]): Understood | undefined =>
  SETS[formats.reduce((bits, format) => bits | (1 << SENDER_FORMATS.indexOf(format)), 0)];

/** The widest block that one domain can own: 10.0.0.0/8 and fc00::/7. */
export const WIDEST_OF_ONE_DOMAIN = { 4: 8, 6: 7 } as const;

/**
 * Of these formats, those that some sender in the prefix may be sent, by the prefix alone: Fast CNP and the ICMPv6 form
 * are IPv6 (FCNP-3-d, LHCNP-4-a), and the RoCEv2 form is for senders of one domain (LHCNP-10.5-b).
 */
export function possibleIn(
  { address: { family }, length }: Prefix,
  formats: readonly SenderFormat[],
): Understood | undefined {
  const oneDomain = length >= WIDEST_OF_ONE_DOMAIN[family];
  return understood(formats.filter((format) => (format === 'long-haul-roce' ? oneDomain : family === 6)));
}
