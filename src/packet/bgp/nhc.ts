// The Next Hop Dependent Characteristics attribute of BGP (draft-ietf-idr-nhc, type 39), its value:
//
//   AFI 2, SAFI 1, next-hop length 1, next hop 4 or 16, then characteristics: code 2, length 2 (of the value), value
//
// The next hop is the one that the characteristics were written for. A receiver disregards the attribute if the route
// has another next hop: a speaker that does not know the attribute has changed it. The receiver makes that comparison.
// The meaning of characteristics is in characteristics.ts.
//
// A next hop of 32 octets (a global and a link-local address, RFC 2545 §3) is not in the draft, and FRR refuses it. It
// is malformed, like any other length.
import { type IpAddress, addressBytes } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { concat, put16, readAddress, sameBytes, u16 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { field } from '../field.ts';

/** Address Family Identifiers (IANA). */
export const AFI = { ipv4: 1, ipv6: 2 } as const;
export const SAFI_UNICAST = 1;
const FIXED = 4;
const TLV_HEADER = 4;

export interface Characteristic {
  /** 16 bits. */
  readonly code: number;
  readonly value: Uint8Array;
}

export interface Nhc {
  /** Of the routes that have the attribute. */
  readonly afi: number;
  readonly safi: number;
  readonly nextHop: IpAddress;
  readonly characteristics: readonly Characteristic[];
}

function tlv({ code, value }: Characteristic): Uint8Array {
  const out = new Uint8Array(TLV_HEADER + value.length);
  put16(out, 0, field('characteristic code', code, 16));
  put16(out, 2, field('characteristic length', value.length, 16));
  out.set(value, TLV_HEADER);
  return out;
}

/** By ascending code, without duplicates. */
function inOrder(characteristics: readonly Characteristic[]): Characteristic[] {
  const distinct = characteristics.filter(
    ({ code, value }, i) =>
      !characteristics.slice(0, i).some((other) => other.code === code && sameBytes(other.value, value)),
  );
  return distinct.sort((a, b) => a.code - b.code);
}

/** The attribute's value, without flags, type and length. @throws EncodeError `no-characteristic`, `bad-field` */
export function encodeNhc({ afi, safi, nextHop, characteristics }: Nhc): Uint8Array {
  if (characteristics.length === 0) throw new EncodeError('no-characteristic', 'the attribute needs a characteristic');
  const address = addressBytes(nextHop);
  const head = new Uint8Array(FIXED);
  put16(head, 0, field('AFI', afi, 16));
  head[2] = field('SAFI', safi, 8);
  head[3] = address.length;
  return concat(head, address, ...inOrder(characteristics).map(tlv));
}

/**
 * Returns characteristics as received: in any order, repeated, unknown. Their values are views of `bytes`. An error
 * means that the whole attribute is malformed. Codes: `truncated`, `bad-next-hop-length`, `no-characteristic`,
 * `truncated-characteristic` (not even its header), `characteristic-overrun`.
 */
export function decodeNhc(bytes: Uint8Array): Decoded<Nhc> {
  if (bytes.length < FIXED)
    return malformed('truncated', bytes.length, `${bytes.length} bytes, shorter than the fixed part`);
  const length = bytes[3]!;
  if (length !== 4 && length !== 16)
    return malformed('bad-next-hop-length', 3, `next hop of ${length} bytes, not 4 or 16`);
  const first = FIXED + length;
  if (bytes.length < first)
    return malformed('truncated', bytes.length, `next hop of ${length} bytes in ${bytes.length - FIXED}`);
  if (bytes.length === first) return malformed('no-characteristic', first, 'no characteristic');
  const characteristics: Characteristic[] = [];
  for (let at = first; at < bytes.length;) {
    const value = at + TLV_HEADER;
    if (value > bytes.length)
      return malformed(
        'truncated-characteristic',
        at,
        `${bytes.length - at} bytes are left, shorter than the header of a characteristic`,
      );
    const [code, end] = [u16(bytes, at), value + u16(bytes, at + 2)];
    if (end > bytes.length)
      return malformed(
        'characteristic-overrun',
        at,
        `characteristic ${code} of ${end - value} bytes in ${bytes.length - value}`,
      );
    characteristics.push({ code, value: bytes.subarray(value, end) });
    at = end;
  }
  return ok({
    afi: u16(bytes, 0),
    safi: bytes[2]!,
    nextHop: readAddress(bytes, FIXED, length === 4 ? 4 : 6),
    characteristics,
  });
}
