// IPv6 options in Hop-by-Hop and Destination Options headers (RFC 8200 §4.2): type, length, data; Pad1 and PadN between
// them.
import { ok } from '../../model/result.ts';
import { concat } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';

export const NEXT_HEADER = { hopByHop: 0, destinationOptions: 60 } as const;
const PAD1 = 0;
const PADN = 1;
/** Next header and length, before the first option. */
const OPTIONS_HEADER = 2;

interface Ipv6Option {
  readonly type: number;
  /** Without type and length. When decoded, a view. */
  readonly data: Uint8Array;
  /** The offset of its type in the decoded buffer. */
  readonly offset: number;
}

interface OptionsHeader {
  readonly nextHeader: number;
  /** Bytes, next header and length included. */
  readonly length: number;
  /** Without padding. */
  readonly options: readonly Ipv6Option[];
}

/** The header at `offset`, which ends before `end`. Codes: `truncated`, `option-overrun`. */
export function decodeOptionsHeader(bytes: Uint8Array, offset: number, end: number): Decoded<OptionsHeader> {
  if (offset + 8 > end) return malformed('truncated', offset, 'shorter than an options header');
  const length = 8 + bytes[offset + 1]! * 8;
  const stop = offset + length;
  if (stop > end) return malformed('truncated', offset + 1, `an options header of ${length} bytes in ${end - offset}`);
  const options: Ipv6Option[] = [];
  for (let at = offset + OPTIONS_HEADER; at < stop;) {
    const type = bytes[at]!;
    if (type === PAD1) {
      at++;
      continue;
    }
    const next = at + 2 + (bytes[at + 1] ?? 0);
    if (next > stop) return malformed('option-overrun', at, `option 0x${type.toString(16)} exceeds its header`);
    if (type !== PADN) options.push({ type, data: bytes.subarray(at + 2, next), offset: at });
    at = next;
  }
  return ok({ nextHeader: bytes[offset]!, length, options });
}

/** `bytes` of padding: Pad1 for one, PadN for more. */
function padding(bytes: number): Uint8Array {
  const out = new Uint8Array(bytes);
  if (bytes > 1) {
    out[0] = PADN;
    out[1] = bytes - 2;
  }
  return out;
}

/**
 * A header with one option, which begins `gap` bytes of padding after the first two bytes; padded to 8.
 * @throws EncodeError when the data exceed 255 bytes
 */
export function encodeOptionHeader(nextHeader: number, gap: number, type: number, data: Uint8Array): Uint8Array {
  if (data.length > 255) throw new EncodeError('bad-field', `option data of ${data.length} bytes`);
  const used = OPTIONS_HEADER + gap + 2 + data.length;
  const tail = -used & 7;
  return concat(
    Uint8Array.of(nextHeader, (used + tail) / 8 - 1),
    padding(gap),
    Uint8Array.of(type, data.length),
    data,
    padding(tail),
  );
}
