// The extension structure of ICMP (RFC 4884 §7, §8): a header with version and checksum, then objects. LHCNP §6.1.1
// uses it after a fixed body in both forms of a Long-haul CNP (LHCNP-6.1.1-b); nothing here knows what an object means.
//
// LHCNP differs from RFC 4884 in one thing: an object's Length does not count its padding (LHCNP-6.1.1-f,
// LHCNP-6.1.1-g). A Length that does count it is read all the same: the next object begins at the same place.
import { ok } from '../../model/result.ts';
import { concat, put16, u16 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { addWords, foldChecksum } from '../ip/checksum.ts';

const EXTENSION_HEADER = 4;
const OBJECT_HEADER = 4;
const VERSION = 2;

export interface ExtensionObject {
  readonly classNum: number;
  readonly cType: number;
  /** Without padding. When decoded, a view. */
  readonly payload: Uint8Array;
}

/** Bytes that an object takes, padded to 4. */
const padded = (length: number): number => (length + 3) & ~3;

function encodeObject({ classNum, cType, payload }: ExtensionObject): Uint8Array {
  const length = OBJECT_HEADER + payload.length;
  if (length > 0xffff) throw new EncodeError('bad-field', `an extension object of ${length} bytes`);
  const out = new Uint8Array(padded(length));
  put16(out, 0, length);
  out[2] = classNum;
  out[3] = cType;
  out.set(payload, OBJECT_HEADER);
  return out;
}

/**
 * Extension Header and objects, checksum set; nothing at all when there are no objects (LHCNP-6.1.1-i).
 * @throws EncodeError
 */
export function encodeExtensions(objects: readonly ExtensionObject[]): Uint8Array {
  if (objects.length === 0) return new Uint8Array();
  const header = new Uint8Array(EXTENSION_HEADER);
  header[0] = VERSION << 4;
  const out = concat(header, ...objects.map(encodeObject));
  // 0 on the wire would say "not transmitted" (RFC 4884 §7).
  put16(out, 2, foldChecksum(addWords(0, out)) || 0xffff);
  return out;
}

/**
 * The Extension Header at `offset` and all objects up to `end`. The 12 reserved bits are ignored; a checksum of 0 was
 * not computed by the sender and is not checked. Codes: `truncated`, `bad-extension-version`, `bad-extension-checksum`,
 * `bad-object-length`.
 */
export function decodeExtensions(bytes: Uint8Array, offset: number, end: number): Decoded<readonly ExtensionObject[]> {
  if (offset + EXTENSION_HEADER > end) return malformed('truncated', offset, 'shorter than an Extension Header');
  const version = bytes[offset]! >>> 4;
  if (version !== VERSION) return malformed('bad-extension-version', offset, `Extension Header version ${version}`);
  if (u16(bytes, offset + 2) !== 0 && foldChecksum(addWords(0, bytes, offset, end)) !== 0) {
    return malformed('bad-extension-checksum', offset + 2, 'the checksum over Extension Header and objects is wrong');
  }
  const objects: ExtensionObject[] = [];
  let at = offset + EXTENSION_HEADER;
  while (at < end) {
    if (at + OBJECT_HEADER > end) return malformed('truncated', at, 'shorter than an object header');
    const length = u16(bytes, at);
    if (length < OBJECT_HEADER) return malformed('bad-object-length', at, `an object of ${length} bytes`);
    if (at + padded(length) > end) return malformed('truncated', at, `an object of ${length} bytes in ${end - at}`);
    objects.push({
      classNum: bytes[at + 2]!,
      cType: bytes[at + 3]!,
      payload: bytes.subarray(at + OBJECT_HEADER, at + length),
    });
    at += padded(length);
  }
  return ok(objects);
}
