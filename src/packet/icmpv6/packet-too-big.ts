// The ICMPv6 Packet Too Big (RFC 4443 §3.2): the MTU of the next hop, and as much of the packet as fits.
import { type Icmpv6Fields, buildIcmpv6, errorBody } from './message.ts';

export const PACKET_TOO_BIG = 2;

/**
 * A whole IPv6 packet. `mtu`: octets, 32 bits. `invoking`: the packet that was too big, from its IPv6 header on.
 * @throws EncodeError when an address is IPv4
 */
export const buildPacketTooBig = (
  ip: Omit<Icmpv6Fields, 'type' | 'code' | 'body'>,
  { mtu, invoking }: { readonly mtu: number; readonly invoking: Uint8Array },
): Uint8Array => buildIcmpv6({ ...ip, type: PACKET_TOO_BIG, code: 0, body: errorBody(mtu, invoking) });
