// The ICMPv6 Parameter Problem (RFC 4443 §3.4): code, pointer, and as much of the offending packet as fits. A host that
// does not know the Fast CNP option answers with code 2 and a pointer to the option's type (RFC 8200 §4.2; FCNP-4-j).
// The caller must check whether the node has sent the quoted packet: any host can send this message.
import type { IpAddress } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { readAddress, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { type FastCnpOptionCodes, type FastCnpOption, findFastCnpOption } from '../ip/fast-cnp-option.ts';
import { PROTOCOL_UDP, UDP_HEADER } from '../ip/udp.ts';
import { walkHeaders } from '../ip/walk.ts';
import { decodeBth } from '../roce/bth.ts';
import { type Icmpv6Fields, ICMPV6_HEADER, buildIcmpv6, errorBody } from './message.ts';

export const PARAMETER_PROBLEM = 4;
/** Codes (RFC 4443 §3.4; RFC 8883 adds more). */
export const PROBLEM = { erroneousHeader: 0, unrecognizedNextHeader: 1, unrecognizedOption: 2 } as const;
const POINTER = 4;

export interface ParameterProblem {
  readonly code: number;
  /** Byte offset in the offending packet. */
  readonly pointer: number;
  /** The offending packet from its IPv6 header on, perhaps cut. A view. */
  readonly invoking: Uint8Array;
}

/** Reads a message from its type on. Codes: `truncated`, `not-parameter-problem`. */
export function decodeParameterProblem(message: Uint8Array): Decoded<ParameterProblem> {
  if (message.length < ICMPV6_HEADER + POINTER)
    return malformed('truncated', message.length, 'shorter than a Parameter Problem');
  if (message[0] !== PARAMETER_PROBLEM) return malformed('not-parameter-problem', 0, `ICMPv6 type ${message[0]}`);
  return ok({
    code: message[1]!,
    pointer: u32(message, ICMPV6_HEADER),
    invoking: message.subarray(ICMPV6_HEADER + POINTER),
  });
}

/** A whole IPv6 packet that quotes as much of `problem.invoking` as fits. @throws EncodeError */
export function buildParameterProblem(
  ip: Omit<Icmpv6Fields, 'type' | 'code' | 'body'>,
  problem: ParameterProblem,
): Uint8Array {
  return buildIcmpv6({
    ...ip,
    type: PARAMETER_PROBLEM,
    code: problem.code,
    body: errorBody(problem.pointer, problem.invoking),
  });
}

/** A Fast CNP that a host has refused, as the host quotes it. */
interface RefusedFastCnp {
  /** The sender of the quoted packet: a loopback of ours, if it is genuine. */
  readonly source: IpAddress;
  /** The host. */
  readonly destination: IpAddress;
  readonly option: FastCnpOption;
  /** DestQP of the quoted BTH; undefined when the quotation ends before it. */
  readonly destQpn: number | undefined;
}

/**
 * The Fast CNP that a Parameter Problem is about: its pointer is at the option type. Codes: `not-unrecognized-option`,
 * those of findFastCnpOption, `pointer-elsewhere`.
 */
export function refusedFastCnp(
  { code, pointer, invoking }: ParameterProblem,
  codes: FastCnpOptionCodes,
): Decoded<RefusedFastCnp> {
  if (code !== PROBLEM.unrecognizedOption)
    return malformed('not-unrecognized-option', 1, `Parameter Problem code ${code}`);
  const found = findFastCnpOption(invoking, codes);
  if (!found.ok) return found;
  if (found.value.offset !== pointer)
    return malformed(
      'pointer-elsewhere',
      ICMPV6_HEADER,
      `points to ${pointer}, the option is at ${found.value.offset}`,
    );
  return ok({
    source: readAddress(invoking, 8, 6),
    destination: readAddress(invoking, 24, 6),
    option: found.value.option,
    destQpn: quotedQpn(invoking),
  });
}

function quotedQpn(invoking: Uint8Array): number | undefined {
  const layer = walkHeaders(invoking).layers[0];
  if (!layer || layer.protocol !== PROTOCOL_UDP) return undefined;
  const bth = decodeBth(invoking, layer.transportOffset + UDP_HEADER, layer.end);
  return bth.ok ? bth.value.destQpn : undefined;
}
