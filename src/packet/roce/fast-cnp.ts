// Fast CNP (FCNP §4): a CNP that the congested node itself sends to the data sender, behind a Destination Options
// header that names the destination of the data packet. DestQP is copied from the data packet (FCNP-4-g), so it is a
// Queue Pair of the receiver: the sender finds its own by (option's address, DestQP) (FCNP-3-e).
//
// Nothing defines what the ICRC makes of IPv6 extension headers. `cover`: they are part of the packet, as they are; the
// option selects the Queue Pair, so it should be protected. `skip`: as if the options header were not there: next
// header UDP, payload length without it.
import { ok } from '../../model/result.ts';
import { concat, put16, u16 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import {
  type FastCnpOption,
  type FastCnpOptionCodes,
  type FastCnpOptionFields,
  encodeFastCnpOption,
  findFastCnpOption,
} from '../ip/fast-cnp-option.ts';
import { IPV6_HEADER } from '../ip/ipv6.ts';
import { NEXT_HEADER } from '../ip/options.ts';
import { PROTOCOL_UDP } from '../ip/udp.ts';
import { type CnpFields, RESERVED_LENGTH, buildCnp } from './cnp.ts';
import { ICRC_LENGTH, icrc, writeIcrc } from './icrc.ts';
import { EXTENSION_PRESENT } from './long-haul-cnp.ts';
import { OPCODE } from './opcodes.ts';
import { type RocePacket, parseRocePacket } from './packet.ts';

const NEXT_HEADER_AT = 6;
const PAYLOAD_LENGTH_AT = 4;

type IcrcCoverage = 'cover' | 'skip';

export interface FastCnpCodes extends FastCnpOptionCodes {
  readonly icrc: IcrcCoverage;
}

/**
 * `source` is a loopback of the congested node, `destination` the data sender, `destQpn` the data packet's (FCNP-4-c,
 * FCNP-4-d, FCNP-4-g).
 */
export interface FastCnpFields extends CnpFields, FastCnpOptionFields {
  readonly codes: FastCnpCodes;
}

/** The whole IPv6 packet: 104 bytes with option 1. @throws EncodeError */
export function buildFastCnp({ originalDestination, trace, codes, ...cnp }: FastCnpFields): Uint8Array {
  if (cnp.source.family !== 6) throw new EncodeError('bad-field', 'Fast CNP is for IPv6 flows');
  const plain = buildCnp(cnp);
  const options = encodeFastCnpOption(PROTOCOL_UDP, { originalDestination, trace }, codes);
  const packet = concat(plain.subarray(0, IPV6_HEADER), options, plain.subarray(IPV6_HEADER));
  packet[NEXT_HEADER_AT] = NEXT_HEADER.destinationOptions;
  put16(packet, PAYLOAD_LENGTH_AT, packet.length - IPV6_HEADER);
  // Without the options header the ICRC is the one that is there.
  const icrcAt = packet.length - ICRC_LENGTH;
  if (codes.icrc === 'cover') writeIcrc(packet, icrcAt, icrc(packet, IPV6_HEADER + options.length, icrcAt));
  return packet;
}

/** The packet without the `length` bytes behind its IPv6 header. */
function withoutOptions(packet: Uint8Array, length: number): Uint8Array {
  const out = concat(packet.subarray(0, IPV6_HEADER), packet.subarray(IPV6_HEADER + length));
  out[NEXT_HEADER_AT] = PROTOCOL_UDP;
  put16(out, PAYLOAD_LENGTH_AT, u16(packet, PAYLOAD_LENGTH_AT) - length);
  return out;
}

export interface FastCnp extends FastCnpOption {
  /** `icrcValid` is by the requested coverage. */
  readonly packet: RocePacket;
  /** The receiver of the flow sent it, not a node on the way (FCNP-4-e). */
  readonly fromReceiver: boolean;
}

/**
 * Parses a packet that begins with its IPv6 header. Codes: those of findFastCnpOption and parseRocePacket; `not-udp`
 * also when another header is between the option and UDP; `bad-icrc`; `not-a-cnp`: another opcode, no BECN, not 16
 * octets after the BTH, or a Long-haul CNP.
 */
export function parseFastCnp(bytes: Uint8Array, codes: FastCnpCodes): Decoded<FastCnp> {
  const found = findFastCnpOption(bytes, codes);
  if (!found.ok) return found;
  if (bytes[IPV6_HEADER] !== PROTOCOL_UDP)
    return malformed('not-udp', IPV6_HEADER, `next header ${bytes[IPV6_HEADER]} behind the option`);
  const optionsLength = 8 + bytes[IPV6_HEADER + 1]! * 8;
  const parsed = parseRocePacket(codes.icrc === 'cover' ? bytes : withoutOptions(bytes, optionsLength));
  if (!parsed.ok) return parsed;
  const packet = parsed.value;
  const { bth, payload } = packet;
  if (!packet.icrcValid) return malformed('bad-icrc', bytes.length - ICRC_LENGTH, 'the ICRC is wrong');
  if (
    bth.opcode !== OPCODE.cnp ||
    !bth.becn ||
    (bth.reserved & EXTENSION_PRESENT) !== 0 ||
    payload.length !== RESERVED_LENGTH
  ) {
    return malformed('not-a-cnp', IPV6_HEADER + optionsLength, 'what follows the option is no CNP');
  }
  const { option } = found.value;
  return ok({ ...option, packet, fromReceiver: option.originalDestination.value === packet.source.value });
}
