// The IPv4 header (RFC 791). Options are skipped on receipt and never sent.
import { type IpAddress, addressBytes } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { put16, readAddress, u16 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { addWords, foldChecksum } from './checksum.ts';

export const IPV4_HEADER = 20;

interface Ipv4Header {
  /** Bytes, options included. */
  readonly headerLength: number;
  /** The whole TOS octet: DSCP in the upper six bits, ECN in the lower two. */
  readonly trafficClass: number;
  /** As declared, bytes, header included. */
  readonly totalLength: number;
  readonly identification: number;
  readonly dontFragment: boolean;
  readonly moreFragments: boolean;
  /** Bytes. */
  readonly fragmentOffset: number;
  readonly hopLimit: number;
  readonly protocol: number;
  readonly source: IpAddress;
  readonly destination: IpAddress;
}

/**
 * The header at `offset`, whose packet ends before `end` at the latest. Codes: `truncated`, `bad-version`,
 * `bad-header-length`, `bad-length`.
 */
export function decodeIpv4(bytes: Uint8Array, offset = 0, end = bytes.length): Decoded<Ipv4Header> {
  if (offset + IPV4_HEADER > end) return malformed('truncated', offset, 'shorter than an IPv4 header');
  if (bytes[offset]! >>> 4 !== 4) return malformed('bad-version', offset, `IP version ${bytes[offset]! >>> 4}`);
  const headerLength = (bytes[offset]! & 0xf) * 4;
  if (headerLength < IPV4_HEADER) return malformed('bad-header-length', offset, `IPv4 header of ${headerLength} bytes`);
  if (offset + headerLength > end) return malformed('truncated', offset, 'IPv4 options are cut');
  const totalLength = u16(bytes, offset + 2);
  if (totalLength < headerLength) return malformed('bad-length', offset + 2, `IPv4 total length ${totalLength}`);
  const fragment = u16(bytes, offset + 6);
  return ok({
    headerLength,
    trafficClass: bytes[offset + 1]!,
    totalLength,
    identification: u16(bytes, offset + 4),
    dontFragment: (fragment & 0x4000) !== 0,
    moreFragments: (fragment & 0x2000) !== 0,
    fragmentOffset: (fragment & 0x1fff) * 8,
    hopLimit: bytes[offset + 8]!,
    protocol: bytes[offset + 9]!,
    source: readAddress(bytes, offset + 12, 4),
    destination: readAddress(bytes, offset + 16, 4),
  });
}

/** Whether the header checksum at `offset` is right; the header must have decoded. */
export const ipv4ChecksumValid = (bytes: Uint8Array, offset: number, headerLength: number): boolean =>
  foldChecksum(addWords(0, bytes, offset, offset + headerLength)) === 0;

interface Ipv4Fields {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly protocol: number;
  readonly payloadLength: number;
  readonly trafficClass: number;
  readonly hopLimit: number;
  readonly identification?: number;
  readonly dontFragment?: boolean;
}

/** 20 bytes, checksum set. @throws EncodeError */
export function encodeIpv4(fields: Ipv4Fields): Uint8Array {
  const totalLength = IPV4_HEADER + fields.payloadLength;
  if (fields.source.family !== 4 || fields.destination.family !== 4)
    throw new EncodeError('bad-field', 'IPv4 needs IPv4 addresses');
  if (totalLength > 0xffff) throw new EncodeError('packet-too-long', `an IPv4 packet of ${totalLength} bytes`);
  const out = new Uint8Array(IPV4_HEADER);
  out[0] = 0x45;
  out[1] = fields.trafficClass;
  put16(out, 2, totalLength);
  put16(out, 4, fields.identification ?? 0);
  put16(out, 6, fields.dontFragment ? 0x4000 : 0);
  out[8] = fields.hopLimit;
  out[9] = fields.protocol;
  out.set(addressBytes(fields.source), 12);
  out.set(addressBytes(fields.destination), 16);
  put16(out, 10, foldChecksum(addWords(0, out)));
  return out;
}
