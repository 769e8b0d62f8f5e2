// For tests: a kind of advertisement that the daemon does not have, as its author would add it: one file and one row.
// It is the colour of a prefix, in a TLV of its own in the private characteristic of this router's host routes.
import { count } from '../../effects.ts';
import { addressBytes } from '../../../model/address.ts';
import type { Advertisement, LearnedAdvertisement } from '../../../model/advertisement.ts';
import { type Prefix, prefixKey } from '../../../model/prefix.ts';
import { prefixBytes, readPrefix } from '../../../packet/bytes.ts';
import { type ContainerTlv, containerTlvSize } from '../../../packet/sid-container.ts';
import { placeInHostRoutes } from './host-routes.ts';
import { type BgpKind, NOTHING_FOUND } from './kind.ts';
import { BGP_KINDS, BgpKinds } from './table.ts';

interface ColourFields {
  readonly kind: 'colour';
  readonly prefix: Prefix;
  readonly colour: number;
}
interface OwnColour extends ColourFields {
  readonly key: string;
}

/** Value: colour, prefix length (1 octet each), prefix of IPv6. */
export const COLOUR_TLV = 250;
const FIXED = 2;

const contained = ({ prefix, colour }: ColourFields): ContainerTlv => {
  const bytes = addressBytes(prefix.address).subarray(0, prefixBytes(prefix.length));
  return { tlv: 'unknown', type: COLOUR_TLV, value: Uint8Array.of(colour, prefix.length, ...bytes) };
};

export const COLOUR: BgpKind<ColourFields, OwnColour, ColourFields> = {
  kind: 'colour',
  own: {
    declare(advertisements, paths, s) {
      const usable = advertisements.filter(({ colour }) => colour > 0 && colour < 256);
      if (usable.length < advertisements.length) count(s, 'originate.unusable-colour');
      const entries = usable.map((one) => ({ ...one, key: prefixKey(one.prefix) }));
      placeInHostRoutes(entries, paths, s, 'colours');
      return [];
    },
    entries: {
      size: (entry) => containerTlvSize(contained(entry)),
      /** Of two the higher. */
      preferred: (a, b) => (b.colour > a.colour ? b : a),
      encode: (entry) => ({ container: [contained(entry)] }),
    },
  },
  received: {
    read({ container = [] }) {
      const values = container.flatMap((one) =>
        one.tlv === 'unknown' && one.type === COLOUR_TLV ? [readColour(one.value)] : [],
      );
      const entries = values.filter((one) => one !== undefined);
      const bad = values.length - entries.length;
      const warnings = Array.from({ length: bad }, () => 'characteristic.bad-colour');
      return { ...NOTHING_FOUND, entries, status: entries.length > 0 ? 'used' : 'nothing', warnings };
    },
    learned: (entries) => entries.map(learnedColour),
    shown: () => ({}),
  },
  viaNextHop: 'never',
};

function readColour(value: Uint8Array): ColourFields | undefined {
  const [colour = 0, length = 129] = value;
  if (colour === 0 || length > 128 || value.length < FIXED + prefixBytes(length)) return undefined;
  return { kind: 'colour', prefix: readPrefix(value, FIXED, 6, length), colour };
}

/** The model has no such kind, and no table of it has the row. */
export const colourOf = (prefix: Prefix, colour: number): Advertisement =>
  ({ kind: 'colour', prefix, colour }) as unknown as Advertisement;
const learnedColour = (fields: ColourFields): LearnedAdvertisement => fields as unknown as LearnedAdvertisement;

/** The shipped rows and one more. */
export const WITH_COLOUR = new BgpKinds([...BGP_KINDS.rows, COLOUR]);
