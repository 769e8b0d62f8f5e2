// A notification on its way into an SRv6 tunnel's ingress (FCN §4.2.2): END.CON is the outer source address of the data
// packets, so that a node inside the tunnel can send a notification back to the ingress PE, which decapsulates it and
// looks the inner destination up (FCN-4.2.2-b, FCN-4.2.2-d). One outer header, no segment routing header; the inner
// packet is not changed by a single bit (A17).
import type { IpAddress } from '../../model/address.ts';
import { CNP_TRAFFIC_CLASS } from '../roce/cnp.ts';
import { encapsulate } from './encapsulation.ts';

interface ThroughEndCon {
  /** A loopback of the congested node. */
  readonly source: IpAddress;
  /** Outer source of the data packet, which must be a SID that is known to be an END.CON. */
  readonly endCon: IpAddress;
  /** The notification, a whole IP packet: IPv6, or IPv4 for the RoCEv2 form of a Long-haul CNP. */
  readonly notification: Uint8Array;
}

/** The whole IPv6 packet: DSCP CS6 and Not-ECT, hop limit 64. @throws EncodeError */
export const wrapForEndCon = ({ source, endCon, notification }: ThroughEndCon): Uint8Array =>
  encapsulate({ source, destination: endCon, trafficClass: CNP_TRAFFIC_CLASS, inner: notification });
