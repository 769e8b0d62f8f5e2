// A socket filter for messages between neighbors (GTSM, RFC 5082). What a router has forwarded, what has come at
// another interface, and what has come in a tunnel never gets to the socket: a flood of it fills no buffer.
//
// A tunnel that ends in a seg6local route (End.DT6, End.DX6), or in a label of MPLS, delivers the inner packet as if it
// had come at the interface of the frame. Its hop limit is the one that the far end has given it. The frame tells: it
// still lies before the packet. In front of a datagram that has come in no tunnel, the first header is IPv6, and names
// UDP as the next. What is behind a tunnel's own device has that device as its interface.
import type { FilterInstruction } from './socket-filter.ts';

const [LOAD_WORD, LOAD_HALF, LOAD_BYTE, JUMP, JUMP_IF_EQUAL, RETURN] = [0x20, 0x28, 0x30, 0x05, 0x15, 0x06];
/** SKF_AD_OFF with SKF_AD_PKTTYPE, SKF_AD_IFINDEX and SKF_AD_HATYPE; SKF_NET_OFF; SKF_LL_OFF. */
const [PACKET_TYPE, IFINDEX, HARDWARE] = [0xffff_f004, 0xffff_f008, 0xffff_f01c];
const [NETWORK, LINK] = [0xfff0_0000, 0xffe0_0000];
const [PACKET_HOST, ETHERNET] = [0, 1];
const [ETHERTYPE, ETHERNET_HEADER, IPV6_ETHERTYPE] = [12, 14, 0x86dd];
const [NEXT_HEADER, HOP_LIMIT, UDP] = [6, 7, 17];

/** Interfaces that fit into one program: a jump is no longer than this. */
export const MOST_FILTERED = 200;
const ALL = 0xffff_ffff;

/**
 * UDP datagrams over IPv6 that a neighbor at one of the interfaces has sent with this hop limit, and no others.
 * @throws RangeError for more than MOST_FILTERED interfaces
 */
export function neighborFilter(opts: {
  readonly interfaces: readonly number[];
  readonly hopLimit: number;
}): FilterInstruction[] {
  const { interfaces, hopLimit } = opts;
  if (interfaces.length > MOST_FILTERED)
    throw new RangeError(`${interfaces.length} interfaces: at most ${MOST_FILTERED} can be told apart`);
  const drop: FilterInstruction = [RETURN, 0, 0, 0];
  const unless = (value: number): FilterInstruction[] => [[JUMP_IF_EQUAL, 1, 0, value], drop];
  return [
    [LOAD_WORD, 0, 0, PACKET_TYPE],
    ...unless(PACKET_HOST),
    [LOAD_WORD, 0, 0, IFINDEX],
    ...interfaces.map((ifindex, i): FilterInstruction => [JUMP_IF_EQUAL, interfaces.length - i, 0, ifindex]),
    drop,
    [LOAD_BYTE, 0, 0, NETWORK + HOP_LIMIT],
    ...unless(hopLimit),
    [LOAD_WORD, 0, 0, HARDWARE],
    [JUMP_IF_EQUAL, 2, 0, ETHERNET],
    // Other links have no header of their own before the packet.
    [LOAD_BYTE, 0, 0, LINK + NEXT_HEADER],
    [JUMP, 0, 0, 4],
    [LOAD_HALF, 0, 0, LINK + ETHERTYPE],
    ...unless(IPV6_ETHERTYPE),
    [LOAD_BYTE, 0, 0, LINK + ETHERNET_HEADER + NEXT_HEADER],
    ...unless(UDP),
    [RETURN, 0, 0, ALL],
  ];
}
