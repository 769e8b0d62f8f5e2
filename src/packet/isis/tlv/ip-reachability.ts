// Prefixes: TLV 135 (RFC 5305 §4), 236 (RFC 5308 §2), and 235/237, the same with a topology ID in front (RFC 5120 §7.3,
// §7.4). The two families differ in the control byte: 135 keeps the prefix length in it, 236 a byte further on.
import { type Family, addressBytes } from '../../../model/address.ts';
import { ok } from '../../../model/result.ts';
import { concat, prefixBytes, put16, put32, readPrefix, u16, u32 } from '../../bytes.ts';
import { type Decoded, malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import { decodeSubTlvs, encodeSubTlvs } from '../sub-tlvs.ts';
import type { IpReachability, MtIpReachability, PrefixReachability } from './types.ts';
import { MAX_VALUE, type SubTlvReport, type TlvCodec } from './codec.ts';

/** What the control byte has, and the size of the fields before the prefix bytes. */
interface EntryLayout {
  readonly lengthInControl: boolean;
  readonly down: number;
  readonly external: number;
  readonly subTlvs: number;
  readonly fixed: number;
  readonly maxLength: number;
}

export const ENTRY_LAYOUT: Readonly<Record<Family, EntryLayout>> = {
  4: { lengthInControl: true, down: 0x80, external: 0, subTlvs: 0x40, fixed: 5, maxLength: 32 },
  6: { lengthInControl: false, down: 0x80, external: 0x40, subTlvs: 0x20, fixed: 6, maxLength: 128 },
};

/** One prefix entry as positions in the bytes that it is read from. */
export interface EntryPlace {
  metric: number;
  down: boolean;
  external: boolean;
  prefixLength: number;
  /** Where ceil(prefixLength / 8) prefix bytes begin. */
  prefixOffset: number;
  /** The whole list of sub-TLVs (length 0 when none). */
  subTlvsOffset: number;
  subTlvsLength: number;
}

const newEntryPlace = (): EntryPlace => ({
  metric: 0,
  down: false,
  external: false,
  prefixLength: 0,
  prefixOffset: 0,
  subTlvsOffset: 0,
  subTlvsLength: 0,
});

/** What is wrong with an entry: its fixed part, or all of it, exceeds the TLV; there is no such prefix length. */
const FIXED_OVERRUN = -1;
const ENTRY_OVERRUN = -2;
const BAD_LENGTH = -3;

/**
 * Reads where the entry at `at` has its prefix and sub-TLVs; what is in these is not looked at. The rest is read by
 * readEntryFields: a walk checks every entry before it visits one, and needs it only then.
 * @param end of the TLV
 * @returns where the next entry begins; below 0 when this one is malformed
 */
export function readEntry(bytes: Uint8Array, at: number, end: number, layout: EntryLayout, place: EntryPlace): number {
  const prefixOffset = at + layout.fixed;
  if (prefixOffset > end) return FIXED_OVERRUN;
  const control = bytes[at + 4]!;
  const prefixLength = layout.lengthInControl ? control & 0x3f : bytes[at + 5]!;
  place.prefixLength = prefixLength;
  if (prefixLength > layout.maxLength) return BAD_LENGTH;
  place.prefixOffset = prefixOffset;
  let next = prefixOffset + prefixBytes(prefixLength);
  let subTlvsLength = 0;
  if (control & layout.subTlvs) {
    if (next >= end) return ENTRY_OVERRUN;
    subTlvsLength = bytes[next++]!;
  }
  place.subTlvsOffset = next;
  place.subTlvsLength = subTlvsLength;
  next += subTlvsLength;
  return next > end ? ENTRY_OVERRUN : next;
}

/** Metric and bits of an entry that readEntry has found well-formed. */
export function readEntryFields(bytes: Uint8Array, at: number, layout: EntryLayout, place: EntryPlace): void {
  const control = bytes[at + 4]!;
  place.metric = u32(bytes, at);
  place.down = (control & layout.down) !== 0;
  place.external = (control & layout.external) !== 0;
}

function entryError(flaw: number, at: number, family: Family, { prefixLength }: EntryPlace): Decoded<never> {
  if (flaw === FIXED_OVERRUN) return malformed('prefix-overrun', at, 'a prefix exceeds the TLV');
  return flaw === BAD_LENGTH
    ? malformed('bad-prefix-length', at + ENTRY_LAYOUT[family].fixed - 1, `IPv${family} prefix of ${prefixLength} bits`)
    : malformed('prefix-overrun', at, 'a prefix or its sub-TLVs exceed the TLV');
}

function decodePrefixes(
  value: Uint8Array,
  start: number,
  family: Family,
  report: SubTlvReport,
): Decoded<PrefixReachability[]> {
  const layout = ENTRY_LAYOUT[family];
  const place = newEntryPlace();
  const prefixes: PrefixReachability[] = [];
  for (let at = start; at < value.length;) {
    const next = readEntry(value, at, value.length, layout, place);
    if (next < 0) return entryError(next, at, family, place);
    readEntryFields(value, at, layout, place);
    const { metric, down, external, prefixOffset, prefixLength, subTlvsOffset, subTlvsLength } = place;
    const subTlvs = decodeSubTlvs(value, subTlvsOffset, subTlvsOffset + subTlvsLength, report);
    if (!subTlvs.ok) return subTlvs;
    const prefix = readPrefix(value, prefixOffset, family, prefixLength);
    prefixes.push({ prefix, metric, down, external, subTlvs: subTlvs.value });
    at = next;
  }
  return ok(prefixes);
}

function encodePrefix(entry: PrefixReachability, family: Family): Uint8Array {
  const { address, length } = entry.prefix;
  if (address.family !== family)
    throw new EncodeError('bad-field', `an IPv${address.family} prefix in a TLV of IPv${family}`);
  const layout = ENTRY_LAYOUT[family];
  const subTlvs = encodeSubTlvs(entry.subTlvs);
  const head = new Uint8Array(layout.fixed);
  put32(head, 0, field('metric', entry.metric, 32));
  head[4] =
    (entry.down ? layout.down : 0) |
    (entry.external ? layout.external : 0) |
    (subTlvs.length > 0 ? layout.subTlvs : 0) |
    (family === 4 ? length : 0);
  if (family === 6) head[5] = length;
  const prefix = addressBytes(address).subarray(0, prefixBytes(length));
  return subTlvs.length > 0 ? concat(head, prefix, Uint8Array.of(subTlvs.length), subTlvs) : concat(head, prefix);
}

function single(type: number, name: IpReachability['kind'], family: Family): TlvCodec<IpReachability> {
  return {
    type,
    name,
    decode(value, report) {
      const prefixes = decodePrefixes(value, 0, family, report);
      return prefixes.ok ? ok({ kind: name, prefixes: prefixes.value }) : prefixes;
    },
    encode: ({ prefixes }) => concat(...prefixes.map((entry) => encodePrefix(entry, family))),
  };
}

function multi(type: number, name: MtIpReachability['kind'], family: Family): TlvCodec<MtIpReachability> {
  return {
    type,
    name,
    decode(value, report) {
      if (value.length < 2) return malformed('bad-length', 0, 'no topology ID');
      const prefixes = decodePrefixes(value, 2, family, report);
      return prefixes.ok ? ok({ kind: name, mtId: u16(value, 0) & 0xfff, prefixes: prefixes.value }) : prefixes;
    },
    encode({ mtId, prefixes }) {
      const topology = new Uint8Array(2);
      put16(topology, 0, field('topology ID', mtId, 12));
      return concat(topology, ...prefixes.map((entry) => encodePrefix(entry, family)));
    },
  };
}

export const IPV4_REACHABILITY = single(135, 'ipv4-reachability', 4);
export const IPV6_REACHABILITY = single(236, 'ipv6-reachability', 6);
export const MT_IPV4_REACHABILITY = multi(235, 'mt-ipv4-reachability', 4);
export const MT_IPV6_REACHABILITY = multi(237, 'mt-ipv6-reachability', 6);

/** Bytes that an entry takes inside its TLV. */
export const prefixEntryLength = (entry: PrefixReachability): number =>
  encodePrefix(entry, entry.prefix.address.family).length;

/**
 * Distributes prefixes, in their order, over as few TLVs 135 (IPv4) and 236 (IPv6) as filling one after the other
 * gives.
 */
export function packPrefixes(entries: readonly PrefixReachability[]): IpReachability[] {
  const tlvs: { kind: IpReachability['kind']; prefixes: PrefixReachability[]; headroom: number }[] = [];
  for (const entry of entries) {
    const kind = entry.prefix.address.family === 4 ? 'ipv4-reachability' : 'ipv6-reachability';
    const size = prefixEntryLength(entry);
    let tlv = tlvs.findLast((t) => t.kind === kind);
    if (!tlv || tlv.headroom < size) tlvs.push((tlv = { kind, prefixes: [], headroom: MAX_VALUE }));
    tlv.prefixes.push(entry);
    tlv.headroom -= size;
  }
  return tlvs.map(({ kind, prefixes }) => ({ kind, prefixes }));
}
