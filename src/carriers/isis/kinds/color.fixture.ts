// For tests: a kind of advertisement that the daemon does not have, as its author would add it: one file and one row.
// It is the color of a prefix, in a TLV of its own, and it has leaking rules of its own: colors from 100 on stay in
// their level, and of two the higher is leaked.
import { addressBytes } from '../../../model/address.ts';
import type { Advertisement, LearnedAdvertisement } from '../../../model/advertisement.ts';
import { type Prefix, prefixKey } from '../../../model/prefix.ts';
import { prefixBytes, readPrefix } from '../../../packet/bytes.ts';
import type { SubTlvReport } from '../../../packet/isis/tlv/codec.ts';
import type { Level } from '../../../packet/isis/types.ts';
import { count } from '../../effects.ts';
import { type EntryCodec, type IsisKind, type LeakingRules, NOTHING_FOUND } from './kind.ts';
import { ISIS_KINDS, IsisKinds } from './table.ts';

interface ColorFields {
  readonly kind: 'color';
  readonly prefix: Prefix;
  readonly color: number;
}
interface ReadColor extends ColorFields {
  readonly down: boolean;
  readonly copy: boolean;
}
interface OwnColor extends ReadColor {
  readonly key: string;
}

/** TLV 250 is for experiments (RFC 8202). Entries: flags, color (1 each), prefix length 1, prefix. */
export const COLOR_TLV = 250;
const DOWN = 0x80;
const COPY = 0x40;
const FIXED = 3;
/** Colors from here on do not leave their level. */
export const LEVEL_LOCAL = 100;

const keyOf = (prefix: Prefix): string => `color:${prefixKey(prefix)}`;

const ENTRIES: EntryCodec<OwnColor> = {
  packings: [{ capacity: 255, overhead: 2 }],
  packingOf: () => 0,
  size: ({ prefix }) => FIXED + prefixBytes(prefix.length),
  same: (a, b) => a.color === b.color && a.down === b.down && a.copy === b.copy,
  encode(entries) {
    const tlvs: number[][] = [];
    for (const { prefix, color, down, copy } of entries) {
      const bytes = [
        (down ? DOWN : 0) | (copy ? COPY : 0),
        color,
        prefix.length,
        ...addressBytes(prefix.address).subarray(0, prefixBytes(prefix.length)),
      ];
      if (tlvs.length === 0 || tlvs.at(-1)!.length + bytes.length > 255) tlvs.push([]);
      tlvs.at(-1)!.push(...bytes);
    }
    return tlvs.map((value) => ({ kind: 'unknown', type: COLOR_TLV, value: Uint8Array.from(value) }));
  },
};

const LEAKING: LeakingRules<OwnColor, ReadColor> = {
  keyOf: ({ prefix }) => keyOf(prefix),
  isCopy: ({ copy }) => copy,
  mayLeak: ({ color, down }, from: Level) => color < LEVEL_LOCAL && (from === 2 || !down),
  compare: (a, b) => b.entry.color - a.entry.color,
  copy: ({ entry }, to) => ({ ...entry, key: keyOf(entry.prefix), down: to === 1, copy: true }),
};

export const COLOR: IsisKind<ColorFields, OwnColor, ReadColor> = {
  kind: 'color',
  own: {
    addressOf: ({ prefix }) => prefix.address,
    desired(advertisements, s) {
      const usable = advertisements.filter(({ color }) => color > 0 && color < 256);
      if (usable.length < advertisements.length) count(s, 'originate.unusable-color');
      const entries = usable.map((one) => ({ ...one, key: keyOf(one.prefix), down: false, copy: false }));
      return { entries, fragment0: [] };
    },
    entries: ENTRIES,
  },
  received: {
    walked: [],
    reader() {
      const entries: ReadColor[] = [];
      return {
        tlv(tlv, report) {
          if (tlv.kind === 'unknown' && tlv.type === COLOR_TLV) entries.push(...readColors(tlv.value, report));
        },
        end: (_node, keepLeakable) => ({
          ...NOTHING_FOUND,
          entries,
          leakable: keepLeakable ? entries : [],
          cost: entries.length,
        }),
      };
    },
    learned: (entries) => entries.map(({ kind, prefix, color }) => learnedColor({ kind, prefix, color })),
  },
  leaking: LEAKING,
};

function readColors(value: Uint8Array, report: SubTlvReport): ReadColor[] {
  const found: ReadColor[] = [];
  for (let at = 0; at < value.length;) {
    const length = value[at + 2] ?? 129;
    const next = at + FIXED + prefixBytes(length);
    if (length > 128 || next > value.length) {
      report(COLOR_TLV, { code: 'color-overrun', offset: at, detail: 'a colored prefix that is cut off' });
      break;
    }
    const [flags, color] = [value[at]!, value[at + 1]!];
    if (color === 0) report(COLOR_TLV, { code: 'color-zero', offset: at, detail: 'a prefix of no color' });
    else {
      const prefix = readPrefix(value, at + FIXED, 6, length);
      found.push({ kind: 'color', prefix, color, down: (flags & DOWN) !== 0, copy: (flags & COPY) !== 0 });
    }
    at = next;
  }
  return found;
}

/** The model has no such kind, and no table of it has the row. */
export const colorOf = (prefix: Prefix, color: number): Advertisement =>
  ({ kind: 'color', prefix, color }) as unknown as Advertisement;
const learnedColor = (fields: ColorFields): LearnedAdvertisement => fields as unknown as LearnedAdvertisement;

/** The shipped rows and one more. */
export const WITH_COLOR = new IsisKinds([...ISIS_KINDS.rows, COLOR]);
