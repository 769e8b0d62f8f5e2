// ICMPv6 messages (RFC 4443 §2.1): type, code, checksum, body; and whole IPv6 packets of them. The checksum covers a
// pseudo header whose destination is the final one.
import type { IpAddress } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { concat, put16, put32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { addWords, foldChecksum, pseudoHeaderSum } from '../ip/checksum.ts';
import { IPV6_HEADER, IPV6_LEAST_MTU, encodeIpv6 } from '../ip/ipv6.ts';
import { walkHeaders } from '../ip/walk.ts';

export const PROTOCOL_ICMPV6 = 58;
export const ICMPV6_HEADER = 4;

export interface Icmpv6Fields {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly type: number;
  readonly code: number;
  /** What follows the checksum. */
  readonly body: Uint8Array;
  /** DSCP and ECN; 0 when absent. */
  readonly trafficClass?: number;
  /** 64 when absent. */
  readonly hopLimit?: number;
}

/**
 * A whole IPv6 packet, checksum set.
 * @throws EncodeError when an address is IPv4: there is no ICMPv6 for an IPv4 flow (LHCNP-4-a)
 */
export function buildIcmpv6({
  source,
  destination,
  type,
  code,
  body,
  trafficClass = 0,
  hopLimit = 64,
}: Icmpv6Fields): Uint8Array {
  const message = concat(Uint8Array.of(type, code, 0, 0), body);
  const header = encodeIpv6({
    source,
    destination,
    trafficClass,
    hopLimit,
    flowLabel: 0,
    payloadLength: message.length,
    nextHeader: PROTOCOL_ICMPV6,
  });
  put16(
    message,
    2,
    foldChecksum(addWords(pseudoHeaderSum(source, destination, PROTOCOL_ICMPV6, message.length), message)),
  );
  return concat(header, message);
}

/** The whole packet is no longer than the least IPv6 MTU (RFC 4443 §2.4 c). */
const MAX_QUOTE = IPV6_LEAST_MTU - IPV6_HEADER - ICMPV6_HEADER - 4;

/** The body of an error message (RFC 4443 §3): 32 bits, and as much of the packet that it is about as fits. */
export function errorBody(word: number, invoking: Uint8Array): Uint8Array {
  const first = new Uint8Array(4);
  put32(first, 0, word);
  return concat(first, invoking.subarray(0, MAX_QUOTE));
}

interface Icmpv6Packet {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly trafficClass: number;
  readonly hopLimit: number;
  readonly type: number;
  readonly code: number;
  /** From the type on, as a raw ICMPv6 socket delivers it. A view. */
  readonly message: Uint8Array;
}

/**
 * Parses a packet that begins with its IPv6 header and checks the checksum. Codes: `truncated`, `malformed`,
 * `too-deep`, `not-icmpv6`, `fragment`, `bad-icmpv6-checksum`.
 */
export function parseIcmpv6(packet: Uint8Array): Decoded<Icmpv6Packet> {
  const { layers, end: reason } = walkHeaders(packet);
  const layer = layers[0];
  if (!layer) return malformed(reason, 0, 'no IP header chain');
  const { transportOffset: at, end } = layer;
  if (layer.family !== 6 || layer.protocol !== PROTOCOL_ICMPV6)
    return malformed('not-icmpv6', at, `IP protocol ${layer.protocol}`);
  if (layer.fragment) return malformed('fragment', layer.offset, 'a fragment');
  if (at + ICMPV6_HEADER > end) return malformed('truncated', at, 'shorter than an ICMPv6 header');
  const destination = layer.finalDestination ?? layer.destination;
  const sum = addWords(pseudoHeaderSum(layer.source, destination, PROTOCOL_ICMPV6, end - at), packet, at, end);
  if (foldChecksum(sum) !== 0) return malformed('bad-icmpv6-checksum', at + 2, 'the ICMPv6 checksum is wrong');
  const { source, trafficClass, hopLimit } = layer;
  return ok({
    source,
    destination,
    trafficClass,
    hopLimit,
    type: packet[at]!,
    code: packet[at + 1]!,
    message: packet.subarray(at, end),
  });
}
