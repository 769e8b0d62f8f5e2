// TLV 1, Area Addresses (ISO/IEC 10589 §9.5): a list of length-prefixed area addresses.
import { ok } from '../../../model/result.ts';
import { concat } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import type { AreaAddresses } from './types.ts';
import type { TlvCodec } from './codec.ts';

/** ISO/IEC 8348 allows an NSAP of 20 bytes; routers stop at 13. */
const MAX_AREA = 20;

export const AREA_ADDRESSES: TlvCodec<AreaAddresses> = {
  type: 1,
  name: 'area-addresses',
  decode(value) {
    const areas: Uint8Array[] = [];
    for (let at = 0; at < value.length;) {
      const length = value[at]!;
      if (length === 0 || length > MAX_AREA) return malformed('bad-area-length', at, `area address of ${length} bytes`);
      if (at + 1 + length > value.length) return malformed('area-overrun', at, 'an area address exceeds the TLV');
      areas.push(value.subarray(at + 1, at + 1 + length));
      at += 1 + length;
    }
    return ok({ kind: 'area-addresses', areas });
  },
  encode({ areas }) {
    for (const area of areas) {
      if (area.length === 0 || area.length > MAX_AREA)
        throw new EncodeError('bad-field', `area address of ${area.length} bytes`);
    }
    return concat(...areas.flatMap((area) => [Uint8Array.of(area.length), area]));
  },
};
