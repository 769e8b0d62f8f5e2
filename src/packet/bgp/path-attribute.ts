// The frame of a BGP path attribute (RFC 4271 §4.3): flags 1, type 1, length 1 or (extended) 2, value. The path
// attributes field of an UPDATE is a list of them.
import { ok } from '../../model/result.ts';
import { concat, put16, u16 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { field } from '../field.ts';

/** Type of the Next Hop Dependent Characteristics attribute (IANA). */
export const NHC_TYPE = 39;
export const ATTRIBUTE_FLAG = { optional: 0x80, transitive: 0x40, partial: 0x20, extendedLength: 0x10 } as const;
/** 0xC0: as cnpd sends its attribute. A speaker that does not know the attribute passes it on with 0xE0. */
export const OPTIONAL_TRANSITIVE = ATTRIBUTE_FLAG.optional | ATTRIBUTE_FLAG.transitive;

/**
 * Whether the flags are those of an optional transitive attribute. If not, the attribute is malformed (RFC 7606 §3 c).
 */
export const isOptionalTransitive = (flags: number): boolean => (flags & OPTIONAL_TRANSITIVE) === OPTIONAL_TRANSITIVE;

export interface PathAttribute {
  /** The lower four bits are sent 0 and ignored. */
  readonly flags: number;
  readonly type: number;
  readonly value: Uint8Array;
}

/** Uses the extended length if the flag is set or the value needs it. @throws EncodeError `bad-field` */
export function encodePathAttribute({ flags, type, value }: PathAttribute): Uint8Array {
  const extended = (flags & ATTRIBUTE_FLAG.extendedLength) !== 0 || value.length > 0xff;
  const head = new Uint8Array(extended ? 4 : 3);
  head[0] = (field('attribute flags', flags, 8) & 0xf0) | (extended ? ATTRIBUTE_FLAG.extendedLength : 0);
  head[1] = field('attribute type', type, 8);
  if (extended) put16(head, 2, field('attribute length', value.length, 16));
  else head[2] = value.length;
  return concat(head, value);
}

/** All attributes of an UPDATE; values are views. Codes: `truncated` (in a header), `attribute-overrun`. */
export function decodePathAttributes(bytes: Uint8Array): Decoded<PathAttribute[]> {
  const attributes: PathAttribute[] = [];
  for (let at = 0; at < bytes.length;) {
    const header = bytes[at]! & ATTRIBUTE_FLAG.extendedLength ? 4 : 3;
    const value = at + header;
    if (value > bytes.length)
      return malformed('truncated', at, `${bytes.length - at} bytes are left, shorter than the header of an attribute`);
    const end = value + (header === 4 ? u16(bytes, at + 2) : bytes[at + 2]!);
    const [flags, type] = [bytes[at]! & 0xf0, bytes[at + 1]!];
    if (end > bytes.length)
      return malformed('attribute-overrun', at, `attribute ${type} of ${end - value} bytes in ${bytes.length - value}`);
    attributes.push({ flags, type, value: bytes.subarray(value, end) });
    at = end;
  }
  return ok(attributes);
}
