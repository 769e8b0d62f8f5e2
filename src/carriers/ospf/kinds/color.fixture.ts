// For tests: a kind of advertisement that the daemon does not have, as its author would add it: one file and one row.
// It is the color of a prefix, in a private LSA of its own. Between areas it has its own rules: colors from 100 on
// stay in their area, and of two the higher is copied.
import { addressBytes } from '../../../model/address.ts';
import type { Advertisement, LearnedAdvertisement } from '../../../model/advertisement.ts';
import { type Prefix, comparePrefixes, prefixKey } from '../../../model/prefix.ts';
import { concat, prefixBytes, readPrefix } from '../../../packet/bytes.ts';
import type { LsaBody } from '../../../packet/ospf/lsa/types.ts';
import { LSA_HEADER_LENGTH } from '../../../packet/ospf/lsa-header.ts';
import { TYPE_V2, opaqueLsId, opaqueTypeOf } from '../../../packet/ospf/lsa-type.ts';
import type { LsaKey } from '../../../packet/ospf/types.ts';
import { warnLimited } from '../../effects.ts';
import { FAMILY } from '../constants.ts';
import type { BodyReader, EntryLsa, OspfKind, PerVersion } from './kind.ts';
import { type RouteKind, isCopy, mayLeak } from './route.ts';
import { OSPF_ROWS } from './table.ts';

interface ColorFields {
  readonly kind: 'color';
  readonly prefix: Prefix;
  readonly color: number;
}
interface ColorEntry extends ColorFields {
  readonly route: RouteKind;
}

/** Of the ranges for private use (RFC 5250 §9; RFC 5340 §A.4.2.1: U-bit, area scope, function 8191). */
const OPAQUE_TYPE = 255;
export const COLOR_LSA: PerVersion<Pick<LsaKey, 'type' | 'lsId'>> = {
  2: { type: TYPE_V2.opaqueArea, lsId: opaqueLsId(OPAQUE_TYPE, 0) },
  3: { type: 0xbfff, lsId: 0 },
};
/** An entry: flags, color, prefix length, 0 (1 each), the whole address. */
const COPY = 0x80;
const FIXED = 4;
const sizeOf = { 2: FIXED + 4, 3: FIXED + 16 } as const;
/** Colors from here on do not leave their area. */
export const AREA_LOCAL = 100;

const encode = (entries: readonly ColorEntry[]): LsaBody => ({
  kind: 'unknown',
  content: concat(
    ...entries.flatMap((entry) => [
      Uint8Array.of(isCopy(entry) ? COPY : 0, entry.color, entry.prefix.length, 0),
      addressBytes(entry.prefix.address),
    ]),
  ),
});

const lsa = (version: 2 | 3): EntryLsa<ColorEntry> => ({
  type: () => COLOR_LSA[version].type,
  firstId: () => COLOR_LSA[version].lsId,
  lsas: 1 << 24,
  entries: Infinity,
  overhead: 0,
  size: () => sizeOf[version],
  body: encode,
});

const isColorLsa = (version: 2 | 3, key: LsaKey): boolean =>
  key.type === COLOR_LSA[version].type && (version === 3 || opaqueTypeOf(key) === OPAQUE_TYPE);

const read: BodyReader<LsaBody, ColorEntry> = (_body, key, { version }, warn) => {
  if (!isColorLsa(version, key)) return [];
  const found: ColorEntry[] = [];
  const value = key.raw.subarray(LSA_HEADER_LENGTH);
  for (let at = 0; at < value.length; at += sizeOf[version]) {
    const [flags, color, length] = value.subarray(at, at + FIXED) as unknown as [number, number, number];
    if (at + sizeOf[version] > value.length || FIXED + prefixBytes(length) > sizeOf[version]) {
      warn('color-overrun');
      break;
    }
    if (color === 0) warn('color-zero');
    else {
      const prefix = readPrefix(value, at + FIXED, FAMILY[version], length);
      found.push({ kind: 'color', prefix, color, route: (flags & COPY) !== 0 ? 'inter-area' : 'intra-area' });
    }
  }
  return found;
};

export const COLOR: OspfKind<ColorFields, ColorEntry> = {
  kind: 'color',
  own: {
    others: () => [],
    entries: {
      *desired(advertisements, s) {
        const family = FAMILY[s.config.version];
        const ours = advertisements.filter(({ prefix }) => prefix.address.family === family);
        for (const one of ours.toSorted((a, b) => comparePrefixes(a.prefix, b.prefix))) {
          const usable = one.color > 0 && one.color < 256;
          if (!usable) {
            s.unencodable++;
            warnLimited(s, 'originate.unusable-color', {}, 'there is no such color');
          }
          yield usable ? { ...one, route: 'intra-area' } : undefined;
        }
      },
      keyOf: ({ prefix }) => `color:${prefixKey(prefix)}`,
      same: (a, b) => a.color === b.color,
      encoding: { 2: { lsas: [lsa(2)], lsaOf: () => 0 }, 3: { lsas: [lsa(3)], lsaOf: () => 0 } },
    },
  },
  received: {
    reading: { 2: { walk: 'none', bodies: { unknown: read } }, 3: { walk: 'none', bodies: { unknown: read } } },
    repeated: 'all-count',
    needsAddress: () => false,
    learned: (entries) => entries.map(({ kind, prefix, color }) => learnedColor({ kind, prefix, color })),
  },
  leaking: {
    isLeakable: ({ color }) => color < AREA_LOCAL,
    isCopy,
    mayLeak,
    compare: (a, b) => b.entry.color - a.entry.color,
    copy: ({ entry }) => ({ ...entry, route: 'inter-area' }),
  },
  proxyPrefixes: () => 0,
};

/** The model has no such kind, and no table of it has the row. */
export const colorOf = (prefix: Prefix, color: number): Advertisement =>
  ({ kind: 'color', prefix, color }) as unknown as Advertisement;
const learnedColor = (fields: ColorFields): LearnedAdvertisement => fields as unknown as LearnedAdvertisement;

/** The shipped rows and one more. */
export const WITH_COLOR: readonly OspfKind[] = [...OSPF_ROWS, COLOR];
