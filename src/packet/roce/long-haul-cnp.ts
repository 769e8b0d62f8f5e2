// The Long-haul CNP in its RoCEv2 form (LHCNP §6.2): a CNP whose BTH has the E bit set, followed by the 12 octets of
// long-haul/body.ts and perhaps by extension objects; the ICRC covers them. For endpoints that are known to understand
// it only (LHCNP-10.5-b): that is the sending node's business.
//
// - DestQP and Source QP Number both are the sender's own Queue Pair: network cards that know only the CNP look at the
//   first, others at the second. A packet in which they differ is refused.
// - The ICRC does not cover the E bit: BTH byte 4 is masked. A receiver therefore also demands everything that §6.2.3
//   fixes (opcode, BECN, zero bits, lengths). E = 0 is a standard CNP, whatever follows the BTH.
// - A standard CNP has 16 octets after the BTH, this one has 12. `padToCnp` adds four zero octets for cards that insist
//   on the length of a CNP; they are read as padding.
import type { IpAddress } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { BODY_LENGTH, type LongHaulCnp, decodeLongHaul, encodeLongHaul } from '../long-haul/body.ts';
import { CNP_TRAFFIC_CLASS, RESERVED_LENGTH } from './cnp.ts';
import { OPCODE } from './opcodes.ts';
import { type RocePacket, buildRocePacket } from './packet.ts';

/** The Extension Present bit among the six bits after BECN: the most significant one (LHCNP-6.2.1-b). */
export const EXTENSION_PRESENT = 0x20;
const PADDING = RESERVED_LENGTH - BODY_LENGTH;

interface LongHaulRoceFields {
  /** A loopback of the congested node. Both addresses of one family. */
  readonly source: IpAddress;
  /** The data sender. */
  readonly destination: IpAddress;
  readonly sourcePort: number;
  readonly cnp: LongHaulCnp;
  /** The code point `long-haul-object-class`. */
  readonly objectClass: number;
  /** Of the flow; 0xFFFF when absent (LHCNP-6.2.3-g). */
  readonly pkey?: number;
  /** As long as a CNP; only when there are no objects. */
  readonly padToCnp?: boolean;
  /** CS6 when absent. */
  readonly trafficClass?: number;
  readonly hopLimit?: number;
  /**
   * IPv4 only; 0 when absent. The ICRC covers it, and a raw socket leaves a 0 unchanged because Don't Fragment is set.
   */
  readonly identification?: number;
}

/** The whole IP packet with a valid ICRC: 76 bytes on IPv6 and 56 on IPv4 without objects. @throws EncodeError */
export function buildLongHaulRoce({ cnp, objectClass, pkey, padToCnp, ...ip }: LongHaulRoceFields): Uint8Array {
  const body = encodeLongHaul(cnp, objectClass);
  const padding = padToCnp && cnp.objects.length === 0 ? PADDING : 0;
  return buildRocePacket({
    trafficClass: CNP_TRAFFIC_CLASS,
    dontFragment: true,
    ...ip,
    bth: {
      opcode: OPCODE.cnp,
      destQpn: cnp.sourceQpn,
      psn: 0,
      becn: true,
      reserved: EXTENSION_PRESENT,
      ...(pkey !== undefined && { pkey }),
    },
    payload: concat(body, new Uint8Array(padding)),
  });
}

/** Whether a parsed packet claims to be a Long-haul CNP; readLongHaulRoce checks whether it is a good one. */
export const isLongHaulRoce = ({ bth }: RocePacket): boolean =>
  bth.opcode === OPCODE.cnp && (bth.reserved & EXTENSION_PRESENT) !== 0;

/**
 * Offsets of errors count from the end of the BTH. Codes: `not-long-haul`, `bad-icrc`, `bad-bth` (a field that LHCNP
 * §6.2.3 fixes), those of decodeLongHaul, `queue-pair-mismatch`.
 */
export function readLongHaulRoce(packet: RocePacket, objectClass: number): Decoded<LongHaulCnp> {
  const { bth, payload } = packet;
  if (!isLongHaulRoce(packet)) return malformed('not-long-haul', 0, 'a CNP without the E bit, or no CNP');
  if (!packet.icrcValid) return malformed('bad-icrc', payload.length, 'the ICRC is wrong');
  const zero = !bth.solicited && !bth.migration && bth.padCount === 0 && !bth.fecn && !bth.ackRequest && bth.psn === 0;
  if (!zero || !bth.becn || bth.reserved !== EXTENSION_PRESENT)
    return malformed('bad-bth', 0, 'a BTH field is not what a Long-haul CNP has there');
  const cnp = decodeLongHaul(payload, 0, payload.length, { objectClass, padding: PADDING });
  if (cnp.ok && cnp.value.sourceQpn !== bth.destQpn) {
    return malformed('queue-pair-mismatch', 4, `DestQP ${bth.destQpn}, Source QP ${cnp.value.sourceQpn}`);
  }
  return cnp;
}
