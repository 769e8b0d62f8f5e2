// For tests: a kind of advertisement that the daemon does not have, as its author would add it: one file and one row.
// It is the color of a prefix, in a TLV of its own in the private characteristic of this router's host routes.
import { count } from '../../effects.ts';
import { addressBytes } from '../../../model/address.ts';
import type { Advertisement, LearnedAdvertisement } from '../../../model/advertisement.ts';
import { type Prefix, prefixKey } from '../../../model/prefix.ts';
import { prefixBytes, readPrefix } from '../../../packet/bytes.ts';
import { type ContainerTlv, containerTlvSize } from '../../../packet/sid-container.ts';
import { placeInHostRoutes } from './host-routes.ts';
import { type BgpKind, NOTHING_FOUND } from './kind.ts';
import { BGP_KINDS, BgpKinds } from './table.ts';

interface ColorFields {
  readonly kind: 'color';
  readonly prefix: Prefix;
  readonly color: number;
}
interface OwnColor extends ColorFields {
  readonly key: string;
}

/** Value: color, prefix length (1 octet each), prefix of IPv6. */
export const COLOR_TLV = 250;
const FIXED = 2;

const contained = ({ prefix, color }: ColorFields): ContainerTlv => {
  const bytes = addressBytes(prefix.address).subarray(0, prefixBytes(prefix.length));
  return { tlv: 'unknown', type: COLOR_TLV, value: Uint8Array.of(color, prefix.length, ...bytes) };
};

export const COLOR: BgpKind<ColorFields, OwnColor, ColorFields> = {
  kind: 'color',
  own: {
    declare(advertisements, paths, s) {
      const usable = advertisements.filter(({ color }) => color > 0 && color < 256);
      if (usable.length < advertisements.length) count(s, 'originate.unusable-color');
      const entries = usable.map((one) => ({ ...one, key: prefixKey(one.prefix) }));
      placeInHostRoutes(entries, paths, s, 'colors');
      return [];
    },
    entries: {
      size: (entry) => containerTlvSize(contained(entry)),
      /** Of two the higher. */
      preferred: (a, b) => (b.color > a.color ? b : a),
      encode: (entry) => ({ container: [contained(entry)] }),
    },
  },
  received: {
    read({ container = [] }) {
      const values = container.flatMap((one) =>
        one.tlv === 'unknown' && one.type === COLOR_TLV ? [readColor(one.value)] : [],
      );
      const entries = values.filter((one) => one !== undefined);
      const bad = values.length - entries.length;
      const warnings = Array.from({ length: bad }, () => 'characteristic.bad-color');
      return { ...NOTHING_FOUND, entries, status: entries.length > 0 ? 'used' : 'nothing', warnings };
    },
    learned: (entries) => entries.map(learnedColor),
    shown: () => ({}),
  },
  viaNextHop: 'never',
};

function readColor(value: Uint8Array): ColorFields | undefined {
  const [color = 0, length = 129] = value;
  if (color === 0 || length > 128 || value.length < FIXED + prefixBytes(length)) return undefined;
  return { kind: 'color', prefix: readPrefix(value, FIXED, 6, length), color };
}

/** The model has no such kind, and no table of it has the row. */
export const colorOf = (prefix: Prefix, color: number): Advertisement =>
  ({ kind: 'color', prefix, color }) as unknown as Advertisement;
const learnedColor = (fields: ColorFields): LearnedAdvertisement => fields as unknown as LearnedAdvertisement;

/** The shipped rows and one more. */
export const WITH_COLOR = new BgpKinds([...BGP_KINDS.rows, COLOR]);
