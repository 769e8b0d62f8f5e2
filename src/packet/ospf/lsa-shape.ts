// Whether an LSA has the shape of its type, as ospfd and ospf6d require (ospf_lsa_examin, ospf6_lsa_examin). They drop
// a whole packet that contains an LSA of another shape: an update, or a Database Description or acknowledgment that
// only lists its header. An adjacency over such an LSA never becomes Full. The content of a body is not checked here.
// An LSA of the right shape with invalid content is stored and flooded (RFC 2328 §13), and its readers ignore it.
import { u16, u32 } from '../bytes.ts';
import { LSA_HEADER_LENGTH } from './lsa-header.ts';
import { lsaFunction } from './lsa-type.ts';
import type { Version } from './numbers.ts';
import { paddedPrefixBytes } from './prefix.ts';
import type { Lsa, LsaHeader } from './types.ts';

/** Bytes after the header. */
interface Shape {
  /** The fixed part. */
  readonly least: number;
  readonly most?: number;
  /** What follows the fixed part consists of whole units of this size. */
  readonly unit?: number;
}

/** By LS type (RFC 2328 §A.4; RFC 3101 appendix C; RFC 5250 §3: padded to whole words). */
const SHAPES_V2: Readonly<Record<number, Shape>> = {
  1: { least: 4, unit: 4 },
  2: { least: 8, unit: 4 },
  3: { least: 8, unit: 4 },
  4: { least: 8, unit: 4 },
  5: { least: 16, unit: 12 },
  7: { least: 16, unit: 12 },
  9: { least: 0, unit: 4 },
  10: { least: 0, unit: 4 },
  11: { least: 0, unit: 4 },
};

/** By function code (RFC 5340 §A.4; RFC 5187 §2.2: two TLVs). */
const LEAST_V3: Readonly<Record<number, number>> = { 1: 4, 2: 4, 3: 8, 4: 12, 5: 8, 7: 8, 8: 24, 9: 12, 11: 16 };
/**
 * Extended LSAs with a fixed part in front of their TLVs (RFC 8362 §4): E-Router, E-Network, E-Link,
 * E-Intra-Area-Prefix. FRR does not know them and accepts any.
 */
const LEAST_EXTENDED: Readonly<Record<number, number>> = { 33: 4, 34: 4, 40: 4, 41: 12 };
/** By whole type: ospf6d does not know them in another scope. */
const UNITS_V3: Readonly<Record<number, Shape>> = {
  0x2001: { least: 4, unit: 16 },
  0x2002: { least: 4, unit: 4 },
  0x2004: { least: 12, most: 12 },
};

/** ospf6d looks up the fixed part by the lower eight bits of the function code alone. */
const leastV3 = (type: number): number => LEAST_EXTENDED[lsaFunction(type)] ?? LEAST_V3[lsaFunction(type) & 0xff] ?? 0;

const shapeOf = (version: Version, type: number): Shape =>
  (version === 2 ? SHAPES_V2[type] : UNITS_V3[type]) ?? { least: version === 2 ? 0 : leastV3(type) };

/**
 * Describes why the length in a header is invalid for its type; undefined if it is valid. A Database Description allows
 * no further check.
 */
export function lengthFlaw(version: Version, { type, length }: Pick<LsaHeader, 'type' | 'length'>): string | undefined {
  const { least, most = Infinity, unit = 1 } = shapeOf(version, type);
  const body = length - LSA_HEADER_LENGTH;
  if (body < least) return `${length} bytes, shorter than the fixed part of its type (${least + LSA_HEADER_LENGTH})`;
  if (body > most) return `${length} bytes, longer than its type (${most + LSA_HEADER_LENGTH})`;
  return (body - least) % unit === 0
    ? undefined
    : `${length} bytes are not whole units of its type (${unit} bytes after ${least + LSA_HEADER_LENGTH})`;
}

/** The same for a whole LSA, whose lists must fill it: links of an OSPFv2 Router-LSA, prefixes of OSPFv3 LSAs. */
export function shapeFlaw(version: Version, lsa: Lsa): string | undefined {
  return lengthFlaw(version, lsa) ?? (version === 2 ? LISTS_V2 : LISTS_V3)[lsa.type]?.(lsa.raw);
}

const at = LSA_HEADER_LENGTH;

/** ospfd allows up to an incomplete link at the end. */
function linksFlaw(raw: Uint8Array): string | undefined {
  const declared = u16(raw, at + 2);
  let links = 0;
  for (let link = at + 4; raw.length - link >= 12; links++) {
    link += 12 + raw[link + 9]! * 4;
    if (link > raw.length) return 'a link exceeds the LSA';
  }
  return links === declared ? undefined : `${declared} links declared, ${links} present`;
}

/** Prefixes from `start` to `end`. */
function prefixesFlaw(raw: Uint8Array, start: number, end: number, declared: number): string | undefined {
  let prefixes = 0;
  for (let prefix = start; prefix < end; prefixes++) {
    if (prefix + 4 > end || raw[prefix]! > 128) return 'a malformed prefix';
    prefix += 4 + paddedPrefixBytes(raw[prefix]!);
    if (prefix > end) return 'a prefix exceeds the LSA';
  }
  return prefixes === declared ? undefined : `${declared} prefixes declared, ${prefixes} present`;
}

/**
 * Bits of the first byte, and the referenced type, announce the fields after the prefix: forwarding address, tag,
 * referenced link-state ID (RFC 5340 §A.4.7).
 */
function externalFlaw(raw: Uint8Array): string | undefined {
  const bits = raw[at]!;
  const optional = ((bits & 0x02) !== 0 ? 16 : 0) + ((bits & 0x01) !== 0 ? 4 : 0) + (u16(raw, at + 6) !== 0 ? 4 : 0);
  if (at + 4 + optional > raw.length) return 'shorter than the fields that it announces';
  return prefixesFlaw(raw, at + 4, raw.length - optional, 1);
}

type ListCheck = (raw: Uint8Array) => string | undefined;
const LISTS_V2: Readonly<Record<number, ListCheck>> = { 1: linksFlaw };
const LISTS_V3: Readonly<Record<number, ListCheck>> = {
  0x2003: (raw) => prefixesFlaw(raw, at + 4, raw.length, 1),
  0x4005: externalFlaw,
  0x2007: externalFlaw,
  0x0008: (raw) => prefixesFlaw(raw, at + 24, raw.length, u32(raw, at + 20)),
  0x2009: (raw) => prefixesFlaw(raw, at + 12, raw.length, u16(raw, at)),
};
