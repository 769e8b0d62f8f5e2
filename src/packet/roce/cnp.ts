// The Congestion Notification Packet of RoCEv2 (InfiniBand annex A17 §A17.9.3; FCNP §3, Figure 2): a BTH with opcode
// 0x81 and BECN set that names the data sender's Queue Pair, 16 reserved bytes, ICRC. Annex A10's opcode 0x80 is
// another thing and not accepted.
import type { IpAddress } from '../../model/address.ts';
import { OPCODE } from './opcodes.ts';
import { type RocePacket, buildRocePacket } from './packet.ts';

export const RESERVED_LENGTH = 16;
/** DSCP 48 (CS6), as network control. */
export const CNP_TRAFFIC_CLASS = 48 << 2;

export interface CnpFields {
  /** The receiver of the flow: network cards look the Queue Pair's peer up by it. */
  readonly source: IpAddress;
  /** The data sender. */
  readonly destination: IpAddress;
  /** The data sender's own Queue Pair. */
  readonly destQpn: number;
  readonly sourcePort: number;
  readonly pkey?: number;
  readonly trafficClass?: number;
  readonly hopLimit?: number;
}

/** 80 bytes on IPv6, 60 on IPv4. @throws EncodeError */
export function buildCnp({ destQpn, pkey, ...fields }: CnpFields): Uint8Array {
  return buildRocePacket({
    trafficClass: CNP_TRAFFIC_CLASS,
    ...fields,
    bth: { opcode: OPCODE.cnp, destQpn, psn: 0, becn: true, ...(pkey !== undefined && { pkey }) },
    payload: new Uint8Array(RESERVED_LENGTH),
  });
}

/** Whether a parsed packet is a CNP to act upon. The reserved bytes must be there; their content is ignored. */
export const isCnp = ({ bth, payload, icrcValid }: RocePacket): boolean =>
  bth.opcode === OPCODE.cnp && bth.becn && payload.length === RESERVED_LENGTH && icrcValid;
