// The headers between two packets in tunnels: MPLS label stacks (RFC 3032; in IP and UDP: RFC 4023, 7510), GRE (RFC
// 2784, 2890), VXLAN (RFC 7348), Ethernet. The same as bpf/lib/wire/walk.h follows, so that both find the same
// innermost flow. A label stack has no protocol field: bytes count as an IP header if their lengths hold, and over IPv4
// the checksum.
import type { Family } from '../../model/address.ts';
import { u16 } from '../bytes.ts';
import { ipv4ChecksumValid } from './ipv4.ts';

const PROTOCOL = { ipv4: 4, udp: 17, ipv6: 41, gre: 47, mpls: 137, ethernet: 143 } as const;
const UDP = { vxlan: 4789, mpls: 6635 } as const;
const ETHERTYPE = {
  ipv4: 0x0800,
  ipv6: 0x86dd,
  mpls: 0x8847,
  mplsMulticast: 0x8848,
  ethernet: 0x6558,
  tag: 0x8100,
  serviceTag: 0x88a8,
} as const;
const GRE = { checksum: 0x8000, key: 0x2000, sequence: 0x1000, unknown: 0x4f07 } as const;
const MOST_LABELS = 16;
const MOST_SHIMS = 12;

/** What begins where: a protocol number of IP, or that of a shim. */
interface Place {
  readonly protocol: number;
  readonly offset: number;
}

/**
 * The next IP header behind the protocol at `offset`; undefined: there is none that can be recognized. The packet ends
 * at `limit`.
 */
export function ipBehindShims(
  packet: Uint8Array,
  protocol: number,
  offset: number,
  limit: number,
): { readonly family: Family; readonly offset: number } | undefined {
  let place: Place | undefined = { protocol, offset };
  for (let i = 0; place && i < MOST_SHIMS; i++) {
    place = behind(packet, place, limit);
    if (place?.protocol === PROTOCOL.ipv4 || place?.protocol === PROTOCOL.ipv6)
      return { family: place.protocol === PROTOCOL.ipv4 ? 4 : 6, offset: place.offset };
  }
  return undefined;
}

function behind(packet: Uint8Array, { protocol, offset }: Place, limit: number): Place | undefined {
  if (protocol === PROTOCOL.gre) return behindGre(packet, offset, limit);
  if (protocol === PROTOCOL.mpls) return behindLabels(packet, offset, limit);
  if (protocol === PROTOCOL.ethernet) return behindType(packet, offset + 12, limit);
  if (protocol !== PROTOCOL.udp || offset + 16 > limit) return undefined;
  const port = u16(packet, offset + 2);
  if (port === UDP.mpls) return { protocol: PROTOCOL.mpls, offset: offset + 8 };
  return port === UDP.vxlan && (packet[offset + 8]! & 8) !== 0
    ? { protocol: PROTOCOL.ethernet, offset: offset + 16 }
    : undefined;
}

function behindGre(packet: Uint8Array, offset: number, limit: number): Place | undefined {
  if (offset + 4 > limit) return undefined;
  const flags = u16(packet, offset);
  if (flags & GRE.unknown) return undefined;
  const size = 4 + [GRE.checksum, GRE.key, GRE.sequence].filter((flag) => (flags & flag) !== 0).length * 4;
  return ofType(u16(packet, offset + 2), offset + size);
}

function behindLabels(packet: Uint8Array, offset: number, limit: number): Place | undefined {
  for (let at = offset, i = 0; i < MOST_LABELS && at + 4 <= limit; i++, at += 4)
    if (packet[at + 2]! & 1) return guessIp(packet, at + 4, limit);
  return undefined;
}

/** Behind Ethernet's type at `offset`, or two tags at most. */
function behindType(packet: Uint8Array, offset: number, limit: number): Place | undefined {
  let at = offset;
  for (let tags = 0; tags <= 2 && at + 2 <= limit; tags++, at += 4) {
    const type = u16(packet, at);
    if (type !== ETHERTYPE.tag && type !== ETHERTYPE.serviceTag)
      return type === ETHERTYPE.ethernet ? undefined : ofType(type, at + 2);
  }
  return undefined;
}

function ofType(type: number, offset: number): Place | undefined {
  if (type === ETHERTYPE.ipv4) return { protocol: PROTOCOL.ipv4, offset };
  if (type === ETHERTYPE.ipv6) return { protocol: PROTOCOL.ipv6, offset };
  if (type === ETHERTYPE.mpls || type === ETHERTYPE.mplsMulticast) return { protocol: PROTOCOL.mpls, offset };
  return type === ETHERTYPE.ethernet ? { protocol: PROTOCOL.ethernet, offset } : undefined;
}

/** A packet may be cut, so its length is not compared with the buffer's. */
function guessIp(packet: Uint8Array, offset: number, limit: number): Place | undefined {
  if (offset + 20 > limit) return undefined;
  const [version, headerLength] = [packet[offset]! >>> 4, (packet[offset]! & 15) * 4];
  if (version === 6) return packet[offset + 7] === 0 ? undefined : { protocol: PROTOCOL.ipv6, offset };
  if (version !== 4 || headerLength < 20 || packet[offset + 8] === 0) return undefined;
  return headerLength > 20 || ipv4ChecksumValid(packet, offset, 20) ? { protocol: PROTOCOL.ipv4, offset } : undefined;
}
