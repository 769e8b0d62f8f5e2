// For tests: a kind of advertisement that the daemon does not have, as its author would add it: one file and one row.
// It is the colour of a prefix, in a TLV of its own, and it has leaking rules of its own: colours from 100 on stay in
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

interface ColourFields {
  readonly kind: 'colour';
  readonly prefix: Prefix;
  readonly colour: number;
}
interface ReadColour extends ColourFields {
  readonly down: boolean;
  readonly copy: boolean;
}
interface OwnColour extends ReadColour {
  readonly key: string;
}

/** TLV 250 is for experiments (RFC 8202). Entries: flags, colour (1 each), prefix length 1, prefix. */
export const COLOUR_TLV = 250;
const DOWN = 0x80;
const COPY = 0x40;
const FIXED = 3;
/** Colours from here on do not leave their level. */
export const LEVEL_LOCAL = 100;

const keyOf = (prefix: Prefix): string => `colour:${prefixKey(prefix)}`;

const ENTRIES: EntryCodec<OwnColour> = {
  packings: [{ capacity: 255, overhead: 2 }],
  packingOf: () => 0,
  size: ({ prefix }) => FIXED + prefixBytes(prefix.length),
  same: (a, b) => a.colour === b.colour && a.down === b.down && a.copy === b.copy,
  encode(entries) {
    const tlvs: number[][] = [];
    for (const { prefix, colour, down, copy } of entries) {
      const bytes = [
        (down ? DOWN : 0) | (copy ? COPY : 0),
        colour,
        prefix.length,
        ...addressBytes(prefix.address).subarray(0, prefixBytes(prefix.length)),
      ];
      if (tlvs.length === 0 || tlvs.at(-1)!.length + bytes.length > 255) tlvs.push([]);
      tlvs.at(-1)!.push(...bytes);
    }
    return tlvs.map((value) => ({ kind: 'unknown', type: COLOUR_TLV, value: Uint8Array.from(value) }));
  },
};

const LEAKING: LeakingRules<OwnColour, ReadColour> = {
  keyOf: ({ prefix }) => keyOf(prefix),
  isCopy: ({ copy }) => copy,
  mayLeak: ({ colour, down }, from: Level) => colour < LEVEL_LOCAL && (from === 2 || !down),
  compare: (a, b) => b.entry.colour - a.entry.colour,
  copy: ({ entry }, to) => ({ ...entry, key: keyOf(entry.prefix), down: to === 1, copy: true }),
};

export const COLOUR: IsisKind<ColourFields, OwnColour, ReadColour> = {
  kind: 'colour',
  own: {
    addressOf: ({ prefix }) => prefix.address,
    desired(advertisements, s) {
      const usable = advertisements.filter(({ colour }) => colour > 0 && colour < 256);
      if (usable.length < advertisements.length) count(s, 'originate.unusable-colour');
      const entries = usable.map((one) => ({ ...one, key: keyOf(one.prefix), down: false, copy: false }));
      return { entries, fragment0: [] };
    },
    entries: ENTRIES,
  },
  received: {
    walked: [],
    reader() {
      const entries: ReadColour[] = [];
      return {
        tlv(tlv, report) {
          if (tlv.kind === 'unknown' && tlv.type === COLOUR_TLV) entries.push(...readColours(tlv.value, report));
        },
        end: (_node, keepLeakable) => ({
          ...NOTHING_FOUND,
          entries,
          leakable: keepLeakable ? entries : [],
          cost: entries.length,
        }),
      };
    },
    learned: (entries) => entries.map(({ kind, prefix, colour }) => learnedColour({ kind, prefix, colour })),
  },
  leaking: LEAKING,
};

function readColours(value: Uint8Array, report: SubTlvReport): ReadColour[] {
  const found: ReadColour[] = [];
  for (let at = 0; at < value.length;) {
    const length = value[at + 2] ?? 129;
    const next = at + FIXED + prefixBytes(length);
    if (length > 128 || next > value.length) {
      report(COLOUR_TLV, { code: 'colour-overrun', offset: at, detail: 'a coloured prefix that is cut off' });
      break;
    }
    const [flags, colour] = [value[at]!, value[at + 1]!];
    if (colour === 0) report(COLOUR_TLV, { code: 'colour-zero', offset: at, detail: 'a prefix of no colour' });
    else {
      const prefix = readPrefix(value, at + FIXED, 6, length);
      found.push({ kind: 'colour', prefix, colour, down: (flags & DOWN) !== 0, copy: (flags & COPY) !== 0 });
    }
    at = next;
  }
  return found;
}

/** The model has no such kind, and no table of it has the row. */
export const colourOf = (prefix: Prefix, colour: number): Advertisement =>
  ({ kind: 'colour', prefix, colour }) as unknown as Advertisement;
const learnedColour = (fields: ColourFields): LearnedAdvertisement => fields as unknown as LearnedAdvertisement;

/** The shipped rows and one more. */
export const WITH_COLOUR = new IsisKinds([...ISIS_KINDS.rows, COLOUR]);
