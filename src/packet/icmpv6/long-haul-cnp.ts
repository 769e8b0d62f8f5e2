// The Long-haul CNP in its ICMPv6 form (LHCNP §6.1): an informational message of code 0, then the 12 octets of
// long-haul/body.ts and perhaps extension objects. IPv6 only: an IPv4 flow uses the RoCEv2 form or none (LHCNP-4-a).
import type { IpAddress } from '../../model/address.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { type LongHaulCnp, decodeLongHaul, encodeLongHaul } from '../long-haul/body.ts';
import { CNP_TRAFFIC_CLASS } from '../roce/cnp.ts';
import { ICMPV6_HEADER, buildIcmpv6 } from './message.ts';

/** LHCNP-6.1-c, LHCNP-10.2-a: a Long-haul CNP for one flow; 1-253 are unassigned, 254 and 255 experimental. */
const FLOW_LEVEL = 0;
/** Types below are errors; those from here on are informational (LHCNP-6.1-b). */
const FIRST_INFORMATIONAL = 128;

/** The code points that cnpd.yaml may change. */
export interface LongHaulCodes {
  /** `long-haul-icmpv6-type`. */
  readonly type: number;
  /** `long-haul-object-class`. */
  readonly objectClass: number;
}

interface LongHaulIcmpv6Fields {
  /** A loopback of the congested node. */
  readonly source: IpAddress;
  /** The data sender. */
  readonly destination: IpAddress;
  readonly cnp: LongHaulCnp;
  readonly codes: LongHaulCodes;
  /** CS6 when absent. */
  readonly trafficClass?: number;
  readonly hopLimit?: number;
}

/** The whole IPv6 packet: 56 bytes without objects. @throws EncodeError */
export function buildLongHaulIcmpv6({ cnp, codes, ...ip }: LongHaulIcmpv6Fields): Uint8Array {
  if (codes.type < FIRST_INFORMATIONAL || codes.type > 255)
    throw new EncodeError('bad-field', `ICMPv6 type ${codes.type} is not informational`);
  return buildIcmpv6({
    trafficClass: CNP_TRAFFIC_CLASS,
    ...ip,
    type: codes.type,
    code: FLOW_LEVEL,
    body: encodeLongHaul(cnp, codes.objectClass),
  });
}

/**
 * Reads a message from its type on. Codes: `truncated`, `not-long-haul` (another type), `unknown-code`, those of
 * decodeLongHaul.
 */
export function decodeLongHaulIcmpv6(message: Uint8Array, codes: LongHaulCodes): Decoded<LongHaulCnp> {
  if (message.length < ICMPV6_HEADER) return malformed('truncated', 0, 'shorter than an ICMPv6 header');
  if (message[0] !== codes.type) return malformed('not-long-haul', 0, `ICMPv6 type ${message[0]}`);
  if (message[1] !== FLOW_LEVEL) return malformed('unknown-code', 1, `Long-haul CNP of code ${message[1]}`);
  return decodeLongHaul(message, ICMPV6_HEADER, message.length, { objectClass: codes.objectClass });
}
