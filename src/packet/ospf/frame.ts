// OSPF on Ethernet: IPv4 or IPv6 with protocol 89, TTL 1, network control (DSCP CS6), to the MAC address of
// AllSPFRouters. An LSA larger than the link's MTU, such as that of a router with a hundred links, is sent and received
// in fragments.
import { ok } from '../../model/result.ts';
import { concat, put16, put32, u16, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { addWords, foldChecksum } from '../ip/checksum.ts';
import { IPV4_HEADER, decodeIpv4, encodeIpv4, ipv4ChecksumValid } from '../ip/ipv4.ts';
import { IPV6_HEADER, decodeIpv6, encodeIpv6 } from '../ip/ipv6.ts';
import { OSPF_PROTOCOL, type Version } from './numbers.ts';
import type { PacketAddresses } from './packet-header.ts';

const ETHERNET_HEADER = 14;
const HOP_LIMIT = 1;
const CS6 = 0xc0;
/** RFC 8200 §4.5. */
const FRAGMENT_HEADER = 44;
const FRAGMENT_LENGTH = 8;

export const ETHERTYPE: Readonly<Record<Version, number>> = { 2: 0x0800, 3: 0x86dd };
/** 224.0.0.5 and ff02::5 as Ethernet multicast (RFC 1112 §6.4; RFC 2464 §7). */
export const ALL_SPF_ROUTERS_MAC: Readonly<Record<Version, Uint8Array>> = {
  2: Uint8Array.of(0x01, 0x00, 0x5e, 0x00, 0x00, 0x05),
  3: Uint8Array.of(0x33, 0x33, 0x00, 0x00, 0x00, 0x05),
};

export interface OspfFrame {
  readonly addresses: PacketAddresses;
  /** The IP payload, a view of the frame: packet and trailer; or a fragment. */
  readonly payload: Uint8Array;
  /** Absent if the payload is a whole datagram. */
  readonly fragment?: FragmentPlace;
}

interface FragmentPlace {
  readonly identification: number;
  /** Bytes. */
  readonly offset: number;
  readonly more: boolean;
}

/**
 * Decodes a whole Ethernet frame. Code `not-ospf`: the frame is not OSPF (drop it silently). Other codes are errors.
 */
export function decodeFrame(version: Version, frame: Uint8Array): Decoded<OspfFrame> {
  if (frame.length < ETHERNET_HEADER || u16(frame, 12) !== ETHERTYPE[version])
    return malformed('not-ospf', 12, 'another EtherType');
  return version === 2 ? decodeInIpv4(frame) : decodeInIpv6(frame);
}

function decodeInIpv4(frame: Uint8Array): Decoded<OspfFrame> {
  const header = decodeIpv4(frame, ETHERNET_HEADER);
  if (!header.ok) return header;
  const {
    protocol,
    headerLength,
    totalLength,
    identification,
    moreFragments: more,
    fragmentOffset: offset,
    source,
    destination,
  } = header.value;
  if (protocol !== OSPF_PROTOCOL) return malformed('not-ospf', ETHERNET_HEADER + 9, `protocol ${protocol}`);
  if (!ipv4ChecksumValid(frame, ETHERNET_HEADER, headerLength))
    return malformed('bad-ip-checksum', ETHERNET_HEADER + 10, 'IPv4 header checksum is wrong');
  const end = ETHERNET_HEADER + totalLength;
  if (end > frame.length)
    return malformed('truncated', ETHERNET_HEADER + 2, `IPv4 total length ${totalLength} exceeds the frame`);
  const whole = { addresses: { source, destination }, payload: frame.subarray(ETHERNET_HEADER + headerLength, end) };
  return ok(more || offset > 0 ? { ...whole, fragment: { identification, offset, more } } : whole);
}

function decodeInIpv6(frame: Uint8Array): Decoded<OspfFrame> {
  const header = decodeIpv6(frame, ETHERNET_HEADER);
  if (!header.ok) return header;
  const { nextHeader, payloadLength, source, destination } = header.value;
  const start = ETHERNET_HEADER + IPV6_HEADER;
  const isFragment =
    nextHeader === FRAGMENT_HEADER && payloadLength >= FRAGMENT_LENGTH && frame[start] === OSPF_PROTOCOL;
  if (nextHeader !== OSPF_PROTOCOL && !isFragment)
    return malformed('not-ospf', ETHERNET_HEADER + 6, `next header ${nextHeader}`);
  if (start + payloadLength > frame.length)
    return malformed('truncated', ETHERNET_HEADER + 4, `IPv6 payload length ${payloadLength} exceeds the frame`);
  const payload = frame.subarray(start, start + payloadLength);
  const addresses = { source, destination };
  if (!isFragment) return ok({ addresses, payload });
  const place = u16(payload, 2);
  return ok({
    addresses,
    payload: payload.subarray(FRAGMENT_LENGTH),
    fragment: { identification: u32(payload, 4), offset: place & 0xfff8, more: (place & 1) !== 0 },
  });
}

/**
 * Encodes whole Ethernet frames to AllSPFRouters: one, or as many fragments as the MTU requires.
 * @param identification of the fragments' datagram, 16 bits
 * @throws EncodeError if the addresses are not of the version's family
 */
export function encodeFrames(
  version: Version,
  mac: Uint8Array,
  addresses: PacketAddresses,
  payload: Uint8Array,
  mtu: number,
  identification: number,
): Uint8Array[] {
  const ethertype = new Uint8Array(2);
  put16(ethertype, 0, ETHERTYPE[version]);
  const ethernet = concat(ALL_SPF_ROUTERS_MAC[version], mac, ethertype);
  const encode = version === 2 ? ipv4Packet : ipv6Packet;
  if (payload.length + (version === 2 ? IPV4_HEADER : IPV6_HEADER) <= mtu)
    return [concat(ethernet, encode(addresses, payload, undefined))];
  const headroom = (mtu - (version === 2 ? IPV4_HEADER : IPV6_HEADER + FRAGMENT_LENGTH)) & ~7;
  return Array.from({ length: Math.ceil(payload.length / headroom) }, (_, i) => {
    const offset = i * headroom;
    const more = offset + headroom < payload.length;
    return concat(
      ethernet,
      encode(addresses, payload.subarray(offset, offset + headroom), { identification, offset, more }),
    );
  });
}

function ipv4Packet(addresses: PacketAddresses, payload: Uint8Array, fragment: FragmentPlace | undefined): Uint8Array {
  const fields = {
    ...addresses,
    payloadLength: payload.length,
    trafficClass: CS6,
    hopLimit: HOP_LIMIT,
    protocol: OSPF_PROTOCOL,
  };
  const header = encodeIpv4({ ...fields, identification: fragment?.identification ?? 0 });
  if (fragment) {
    put16(header, 6, (fragment.more ? 0x2000 : 0) | (fragment.offset >>> 3));
    put16(header, 10, 0);
    put16(header, 10, foldChecksum(addWords(0, header)));
  }
  return concat(header, payload);
}

function ipv6Packet(addresses: PacketAddresses, payload: Uint8Array, fragment: FragmentPlace | undefined): Uint8Array {
  const extension = new Uint8Array(fragment ? FRAGMENT_LENGTH : 0);
  if (fragment) {
    extension[0] = OSPF_PROTOCOL;
    put16(extension, 2, fragment.offset | (fragment.more ? 1 : 0));
    put32(extension, 4, fragment.identification);
  }
  const fields = {
    ...addresses,
    payloadLength: extension.length + payload.length,
    trafficClass: CS6,
    hopLimit: HOP_LIMIT,
    flowLabel: 0,
  };
  return concat(encodeIpv6({ ...fields, nextHeader: fragment ? FRAGMENT_HEADER : OSPF_PROTOCOL }), extension, payload);
}
