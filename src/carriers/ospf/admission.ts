// Whether a packet can come from the other end of the link. Anybody can have packets routed to the link. The router's
// kernel drops those with the source address of FRR's end, because that address is its own (RFC 1812 §5.3.7). No router
// forwards packets to 224.0.0.0/24 (§5.2.1.2). But the router does forward packets with any other source address,
// including that of our end. So OSPFv2 packets must come from FRR's end (RFC 2328 §8.2). They must go to AllSPFRouters,
// as all packets do on a point-to-point network (§8.1). In OSPFv3 the source is link-local (RFC 5340 §4.2.2), and no
// router forwards such packets (RFC 4291 §2.5.6). ospf6d may use any of its link-local addresses, and sends some
// packets to our address alone. The TTL proves nothing: a sender can choose 2 so that 1 arrives, and ospf6d's unicast
// packets have 64.
import { type IpAddress, isLinkLocal, sameAddress } from '../../model/address.ts';
import type { PacketAddresses } from '../../packet/ospf/packet-header.ts';
import type { OspfVersion } from './version.ts';

export interface LinkEnds {
  /** Our address: IPv4, or IPv6 link-local. */
  readonly address: IpAddress;
  /** The neighbor's address; required in OSPFv2. */
  readonly peer: IpAddress | undefined;
}

export function isFromLink(
  { version, destination: group }: OspfVersion,
  { address, peer }: LinkEnds,
  { source, destination }: PacketAddresses,
): boolean {
  if (version === 2) return peer !== undefined && sameAddress(source, peer) && sameAddress(destination, group);
  return (
    isLinkLocal(source) &&
    !sameAddress(source, address) &&
    (sameAddress(destination, group) || sameAddress(destination, address))
  );
}
