// Walks the headers of a packet from its outermost IP header inwards: IPv4 with options, IPv6 with extension headers
// (segment routing header among them), and IP in IP (protocols 4 and 41). Used to find a customer flow below a VPN
// encapsulation (PNC §4), in packets that may be cut anywhere. Bounded by construction: every step moves forward, and
// there are at most MAX_HEADERS of them, as in bpf/lib/wire/walk.h. GRE, MPLS, VXLAN and Ethernet in IP are followed as
// far as shims.ts recognizes them; ESP and all others end the walk.
import type { Family, IpAddress } from '../../model/address.ts';
import { readAddress, u16 } from '../bytes.ts';
import { decodeIpv4 } from './ipv4.ts';
import { IPV6_HEADER, decodeIpv6 } from './ipv6.ts';
import { ipBehindShims } from './shims.ts';

/** IP headers and extension headers together. */
export const MAX_HEADERS = 12;

const PROTOCOL = {
  hopByHop: 0,
  ipv4: 4,
  ipv6: 41,
  routing: 43,
  fragment: 44,
  authentication: 51,
  destinationOptions: 60,
  mobility: 135,
  hip: 139,
  shim6: 140,
} as const;
const SEGMENT_ROUTING = 4;

/**
 * Length in bytes of an extension header at `at`, after its two first bytes (RFC 8200 §4; RFC 4302 §2.2 counts AH in
 * other units).
 */
const EXTENSION_LENGTH: ReadonlyMap<number, (bytes: Uint8Array, at: number) => number> = new Map([
  [PROTOCOL.hopByHop, eights],
  [PROTOCOL.routing, eights],
  [PROTOCOL.fragment, () => 8],
  [PROTOCOL.authentication, (b: Uint8Array, at: number) => 8 + b[at + 1]! * 4],
  [PROTOCOL.destinationOptions, eights],
  [PROTOCOL.mobility, eights],
  [PROTOCOL.hip, eights],
  [PROTOCOL.shim6, eights],
]);

function eights(b: Uint8Array, at: number): number {
  return 8 + b[at + 1]! * 8;
}

/** One IP header of the chain, and its payload. */
export interface IpLayer {
  readonly family: Family;
  /** Where the IP header begins. */
  readonly offset: number;
  readonly source: IpAddress;
  readonly destination: IpAddress;
  /** The last segment, when a segment routing header still has segments left. */
  readonly finalDestination?: IpAddress;
  readonly trafficClass: number;
  readonly hopLimit: number;
  /** The protocol after IP and its extension headers. */
  readonly protocol: number;
  /** The offset of that protocol's header: may be at the end of the buffer, or beyond a cut. */
  readonly transportOffset: number;
  /** End of this packet: by its own length field, or of the buffer when it is cut before. */
  readonly end: number;
  /** A fragment other than the first: no transport header is there. */
  readonly laterFragment: boolean;
  /** Any fragment: the transport's length fields describe more than this packet. */
  readonly fragment: boolean;
}

/** Why the walk ended: at a transport header, or before one. */
type WalkEnd = 'transport' | 'fragment' | 'truncated' | 'malformed' | 'too-deep';

interface HeaderChain {
  /** Outermost first. Only layers whose protocol could be read. */
  readonly layers: readonly IpLayer[];
  readonly end: WalkEnd;
}

/** Never throws; a chain that cannot be followed further ends with the reason. */
export function walkHeaders(packet: Uint8Array): HeaderChain {
  const layers: IpLayer[] = [];
  let offset = 0;
  let limit = packet.length;
  let budget = MAX_HEADERS;
  let expected: Family | undefined;
  for (;;) {
    const step = readLayer(packet, offset, limit, budget);
    if (typeof step === 'string') return { layers, end: step };
    const { layer } = step;
    // The outer header names the version of the inner one; a mismatch is no tunnel.
    if (expected !== undefined && expected !== layer.family) return { layers, end: 'malformed' };
    layers.push(layer);
    if (layer.laterFragment) return { layers, end: 'fragment' };
    const inner = innerPacket(packet, layer);
    if (!inner) return { layers, end: 'transport' };
    ({ offset, family: expected } = inner);
    limit = layer.end;
    budget = step.budget;
  }
}

/** The packet inside; undefined: the layer's payload is no packet, or cannot be parsed. */
function innerPacket(
  packet: Uint8Array,
  { protocol, transportOffset, fragment, end }: IpLayer,
): { readonly family: Family; readonly offset: number } | undefined {
  if (protocol === PROTOCOL.ipv4 || protocol === PROTOCOL.ipv6)
    return { family: protocol === PROTOCOL.ipv4 ? 4 : 6, offset: transportOffset };
  return fragment ? undefined : ipBehindShims(packet, protocol, transportOffset, end);
}

/** A layer and how many headers may follow it. */
type Step = { readonly layer: IpLayer; readonly budget: number } | WalkEnd;

function readLayer(packet: Uint8Array, offset: number, limit: number, budget: number): Step {
  if (budget === 0) return 'too-deep';
  if (offset >= limit) return 'truncated';
  const version = packet[offset]! >>> 4;
  const layer =
    version === 4 ? readIpv4(packet, offset, limit) : version === 6 ? readIpv6(packet, offset, limit) : 'malformed';
  return typeof layer === 'string' ? layer : readExtensions(packet, layer, budget - 1);
}

function readIpv4(packet: Uint8Array, offset: number, limit: number): IpLayer | WalkEnd {
  const header = decodeIpv4(packet, offset, limit);
  if (!header.ok) return header.error.code === 'truncated' ? 'truncated' : 'malformed';
  const { value } = header;
  return {
    family: 4,
    offset,
    source: value.source,
    destination: value.destination,
    trafficClass: value.trafficClass,
    hopLimit: value.hopLimit,
    protocol: value.protocol,
    transportOffset: offset + value.headerLength,
    end: Math.min(limit, offset + value.totalLength),
    laterFragment: value.fragmentOffset > 0,
    fragment: value.fragmentOffset > 0 || value.moreFragments,
  };
}

function readIpv6(packet: Uint8Array, offset: number, limit: number): IpLayer | WalkEnd {
  const header = decodeIpv6(packet, offset, limit);
  if (!header.ok) return header.error.code === 'truncated' ? 'truncated' : 'malformed';
  const { value } = header;
  return {
    family: 6,
    offset,
    source: value.source,
    destination: value.destination,
    trafficClass: value.trafficClass,
    hopLimit: value.hopLimit,
    protocol: value.nextHeader,
    transportOffset: offset + IPV6_HEADER,
    end: Math.min(limit, offset + IPV6_HEADER + value.payloadLength),
    laterFragment: false,
    fragment: false,
  };
}

/** Behind IPv4 too, where only AH is at home: nothing else has these numbers. */
function readExtensions(packet: Uint8Array, start: IpLayer, left: number): Step {
  let layer = start;
  let budget = left;
  for (let lengthOf; !layer.laterFragment && (lengthOf = EXTENSION_LENGTH.get(layer.protocol)); budget--) {
    if (budget === 0) return 'too-deep';
    const at = layer.transportOffset;
    if (at + 8 > layer.end) return 'truncated';
    const length = lengthOf(packet, at);
    if (at + length > layer.end) return 'truncated';
    layer = {
      ...layer,
      ...extensionFacts(packet, at, length, layer.protocol),
      protocol: packet[at]!,
      transportOffset: at + length,
    };
  }
  return { layer, budget };
}

/** What an extension header means for the packet: fragment, or the last segment of a segment list. */
function extensionFacts(packet: Uint8Array, at: number, length: number, protocol: number): Partial<IpLayer> {
  if (protocol === PROTOCOL.fragment) {
    const word = u16(packet, at + 2);
    return { laterFragment: word >>> 3 > 0, fragment: (word & 0xfff9) !== 0 };
  }
  if (protocol === PROTOCOL.routing && packet[at + 2] === SEGMENT_ROUTING && packet[at + 3]! > 0 && length >= 24) {
    return { finalDestination: readAddress(packet, at + 8, 6) };
  }
  return {};
}
