// The IPv6 header (RFC 8200 §3). Extension headers are walk.ts.
import { type IpAddress, addressBytes } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { put16, put32, readAddress, u16, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';

export const IPV6_HEADER = 40;
/** RFC 8200 §5: the least MTU of a link. */
export const IPV6_LEAST_MTU = 1280;

interface Ipv6Header {
  /** DSCP in the upper six bits, ECN in the lower two. */
  readonly trafficClass: number;
  readonly flowLabel: number;
  /** As declared, bytes after this header. */
  readonly payloadLength: number;
  readonly nextHeader: number;
  readonly hopLimit: number;
  readonly source: IpAddress;
  readonly destination: IpAddress;
}

/** The header at `offset`, whose packet ends before `end` at the latest. Codes: `truncated`, `bad-version`. */
export function decodeIpv6(bytes: Uint8Array, offset = 0, end = bytes.length): Decoded<Ipv6Header> {
  if (offset + IPV6_HEADER > end) return malformed('truncated', offset, 'shorter than an IPv6 header');
  if (bytes[offset]! >>> 4 !== 6) return malformed('bad-version', offset, `IP version ${bytes[offset]! >>> 4}`);
  const word = u32(bytes, offset);
  return ok({
    trafficClass: (word >>> 20) & 0xff,
    flowLabel: word & 0xfffff,
    payloadLength: u16(bytes, offset + 4),
    nextHeader: bytes[offset + 6]!,
    hopLimit: bytes[offset + 7]!,
    source: readAddress(bytes, offset + 8, 6),
    destination: readAddress(bytes, offset + 24, 6),
  });
}

/** 40 bytes. @throws EncodeError */
export function encodeIpv6(fields: Ipv6Header): Uint8Array {
  if (fields.source.family !== 6 || fields.destination.family !== 6)
    throw new EncodeError('bad-field', 'IPv6 needs IPv6 addresses');
  if (fields.payloadLength > 0xffff)
    throw new EncodeError('packet-too-long', `an IPv6 payload of ${fields.payloadLength} bytes`);
  const out = new Uint8Array(IPV6_HEADER);
  put32(out, 0, (0x60000000 | ((fields.trafficClass & 0xff) << 20) | (fields.flowLabel & 0xfffff)) >>> 0);
  put16(out, 4, fields.payloadLength);
  out[6] = fields.nextHeader;
  out[7] = fields.hopLimit;
  out.set(addressBytes(fields.source), 8);
  out.set(addressBytes(fields.destination), 24);
  return out;
}
