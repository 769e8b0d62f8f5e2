// Whether a packet can come from the other end of the link. Anybody can have packets routed to the link. What pretends
// to come from FRR's end the router's kernel drops, because that is an address of its own (RFC 1812 §5.3.7), and nobody
// forwards what goes to 224.0.0.0/24 (§5.2.1.2); but it does forward what pretends to come from our end, whose address
// is none of its own, or from any other. So OSPFv2 packets must come from FRR's end (RFC 2328 §8.2) and go to
// AllSPFRouters, as all do on a point-to-point network (§8.1). In OSPFv3 the source is link-local (RFC 5340 §4.2.2),
// which no router forwards (RFC 4291 §2.5.6); ospf6d has any link-local address, and sends some packets to ours alone.
// The TTL shows nothing: whoever sends 2 has 1 arrive, and ospf6d's unicast has 64.
import { type IpAddress, isLinkLocal, sameAddress } from '../../model/address.ts';
import type { PacketAddresses } from '../../packet/ospf/packet-header.ts';
import type { OspfVersion } from './version.ts';

export interface LinkEnds {
  /** Ours: IPv4, or IPv6 link-local. */
  readonly address: IpAddress;
  /** The neighbour's; required in OSPFv2. */
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
