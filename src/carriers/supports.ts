// What a prefix's sub-TLV says that its senders understand, as IS-IS and OSPF keep it: with the bytes as they came, so
// that a copy in another level or area has the bits that this version does not know, too.
import { type IpAddress, compareAddresses } from '../model/address.ts';
import type { Understood } from '../model/understood.ts';
import { copyOf, sameBytes, sameRange } from '../packet/bytes.ts';
import { UNDERSTOOD_LENGTH, decodeUnderstood, encodeUnderstood } from '../packet/understood.ts';

export interface Supports {
  readonly formats: Understood;
  readonly subTlv: { readonly kind: 'unknown'; readonly type: number; readonly value: Uint8Array };
}

/** Of our own prefixes. */
export const supportsOf = (formats: Understood, type: number): Supports => ({
  formats,
  subTlv: { kind: 'unknown', type, value: encodeUnderstood(formats) },
});

/** @param header bytes of type and length, and of padding @returns bytes of the sub-TLV */
export const supportsSize = (supports: Supports | undefined, header: number): number =>
  supports ? header + UNDERSTOOD_LENGTH : 0;

export const supportsSubTlvs = (supports: Supports | undefined): Supports['subTlv'][] =>
  supports ? [supports.subTlv] : [];

export const sameSupports = (a: Supports | undefined, b: Supports | undefined): boolean =>
  a === b || (!!a && !!b && a.subTlv.type === b.subTlv.type && sameBytes(a.subTlv.value, b.subTlv.value));

/** What IS-IS and OSPF compare of entries for one prefix that may be leaked. */
interface Leakable {
  readonly entry: { readonly pnc: boolean; readonly metric: number; readonly supports?: Supports | undefined };
}

/**
 * Which of two entries for one prefix is leaked. Prefers one with the flag, then the lowest metric, then the lowest
 * proxy address (decision D7), then one that says what the senders understand. Negative: the first.
 * @param proxyOf the proxy that an entry names, or that its node is
 */
export function compareLeaked<C extends Leakable>(a: C, b: C, proxyOf: (one: C) => IpAddress | undefined): number {
  if (a.entry.pnc !== b.entry.pnc) return a.entry.pnc ? -1 : 1;
  if (a.entry.metric !== b.entry.metric) return a.entry.metric - b.entry.metric;
  const [proxyA, proxyB] = [proxyOf(a), proxyOf(b)];
  if (!proxyA !== !proxyB) return proxyA ? -1 : 1;
  const byProxy = proxyA && proxyB ? compareAddresses(proxyA, proxyB) : 0;
  return byProxy || Number(a.entry.supports === undefined) - Number(b.entry.supports === undefined);
}

/**
 * Reads the sub-TLVs of one LSP or LSA, one after another. Those equal to the one before share its value.
 * @param ignored called with the error's code for each that is malformed; the prefix counts without it
 */
export function supportsReader(
  type: number,
  ignored: (code: string) => void,
): (bytes: Uint8Array, offset: number, length: number) => Supports | undefined {
  let latest: Supports | undefined;
  let latestAt = -1;
  return (bytes, offset, length) => {
    if (offset < 0) return undefined;
    if (length === UNDERSTOOD_LENGTH && sameRange(bytes, latestAt, offset, length)) return latest;
    const value = copyOf(bytes, offset, offset + length);
    const decoded = decodeUnderstood(value);
    if (!decoded.ok) {
      ignored(decoded.error.code);
      return undefined;
    }
    latestAt = offset;
    latest = decoded.value && { formats: decoded.value, subTlv: { kind: 'unknown', type, value } };
    return latest;
  };
}
