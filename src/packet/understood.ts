// Which notifications the senders of a prefix understand, as all carriers encode it: in a sub-TLV of the prefix in
// IS-IS and OSPF, in a characteristic in BGP. Its types are experimental (model/code-points.ts):
//
//   version 1 (1), formats 1: 0x80 Fast CNP, 0x40 ICMPv6 form of Long-haul CNP, 0x20 RoCEv2 form
//
// The other bits are sent as 0 and ignored. The version tells it from what others may try with the same type.
import type { SenderFormat, Understood } from '../model/understood.ts';
import { understood } from '../model/understood.ts';
import { ok } from '../model/result.ts';
import { type Decoded, malformed } from './decode.ts';

export const UNDERSTOOD_LENGTH = 2;
const VERSION = 1;
const BIT: Readonly<Record<SenderFormat, number>> = {
  'fast-cnp': 0x80,
  'long-haul-icmpv6': 0x40,
  'long-haul-roce': 0x20,
};
const FORMATS = Object.keys(BIT) as SenderFormat[];

export const encodeUnderstood = (formats: Understood): Uint8Array =>
  Uint8Array.of(
    VERSION,
    formats.reduce((bits, format) => bits | BIT[format], 0),
  );

/** Undefined: none that this version knows. Codes: `bad-length`, `unknown-version`. */
export function decodeUnderstood(value: Uint8Array): Decoded<Understood | undefined> {
  const [version, bits] = value as unknown as readonly [number, number];
  if (value.length !== UNDERSTOOD_LENGTH)
    return malformed('bad-length', 0, `understood formats of ${value.length} bytes, not ${UNDERSTOOD_LENGTH}`);
  if (version !== VERSION) return malformed('unknown-version', 0, `understood formats of version ${version}`);
  return ok(understood(FORMATS.filter((format) => (bits & BIT[format]) !== 0)));
}
