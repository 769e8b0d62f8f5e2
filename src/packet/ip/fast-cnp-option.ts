// The Destination Options header of a Fast CNP (FCNP §4, Figures 3 and 4): one option (FCNP-4-h) that names the
// destination of the data packet, and in its second form also carries that packet's IOAM trace. Drawn alignment: option
// 1 follows the header's two first bytes, so that its address is on a multiple of 4; option 2 is on a multiple of 4
// itself.
//
//   option 1   NH, 2, type, 16, address 16, PadN 01 02 00 00: 24 bytes
//   option 2   NH, n, PadN 01 00, type, 26 + 4k, reserved 0, IOAM type, trace 8 + 4k, address 16,
//              padding to a multiple of 8
//
// Both options need a type whose upper bits are 10 and 0, and the experimental range has one such value only: when both
// code points are equal, the length tells which it is.
import { type IpAddress, addressBytes } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { concat, readAddress } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { type IoamTrace, TRACE_HEADER, decodeTrace } from './ioam.ts';
import { IPV6_HEADER, decodeIpv6 } from './ipv6.ts';
import { NEXT_HEADER, decodeOptionsHeader, encodeOptionHeader } from './options.ts';

/** FCNP-4-l. */
const OPTION_1_LENGTH = 16;
/** Reserved and IOAM type. */
const LEAD = 2;
const OPTION_2_OVERHEAD = LEAD + OPTION_1_LENGTH;
/**
 * Longest trace that one octet of length admits (FCNP-4-r): 8 + 228 bytes, although IOAM itself allows 244 of node
 * data.
 */
export const MAX_TRACE = Math.floor((255 - OPTION_2_OVERHEAD) / 4) * 4;

/** The code points that cnpd.yaml may change. */
export interface FastCnpOptionCodes {
  /** `fast-cnp-option`. */
  readonly option: number;
  /** `fast-cnp-ioam-option`. */
  readonly ioamOption: number;
}

export interface FastCnpOption {
  /** Destination of the data packet that met congestion. */
  readonly originalDestination: IpAddress;
  readonly trace: IoamTrace | undefined;
}

/** The parts of a trace that copying needs. */
type CopiedTrace = Pick<IoamTrace, 'kind' | 'bytes'>;

/** The encoder's input: of the trace only kind and bytes matter. */
export interface FastCnpOptionFields {
  readonly originalDestination: IpAddress;
  readonly trace: CopiedTrace | undefined;
}

/** An unknown option discards the packet with a Parameter Problem (10), and its data do not change on the way (0). */
const legalType = (type: number): boolean => (type & 0xe0) === 0x80;

/** Whether a trace fits; if not, option 1 is used. */
const traceFits = (trace: CopiedTrace | undefined): trace is CopiedTrace =>
  trace !== undefined && trace.bytes.length <= MAX_TRACE;

/** The whole header: option 2 when there is a trace that fits, else option 1. @throws EncodeError */
export function encodeFastCnpOption(
  nextHeader: number,
  { originalDestination, trace }: FastCnpOptionFields,
  codes: FastCnpOptionCodes,
): Uint8Array {
  if (originalDestination.family !== 6) throw new EncodeError('bad-field', 'Fast CNP is for IPv6 flows');
  const type = traceFits(trace) ? codes.ioamOption : codes.option;
  if (!legalType(type))
    throw new EncodeError(
      'bad-field',
      `option type 0x${type.toString(16)} does not mean "discard and report, unchanged"`,
    );
  const address = addressBytes(originalDestination);
  if (!traceFits(trace)) return encodeOptionHeader(nextHeader, 0, type, address);
  return encodeOptionHeader(nextHeader, 2, type, concat(Uint8Array.of(0, trace.kind), trace.bytes, address));
}

/**
 * Type and data of an option. Codes: `no-fast-cnp-option` (another type), `bad-option-length`, those of decodeTrace.
 */
export function decodeFastCnpOption(type: number, data: Uint8Array, codes: FastCnpOptionCodes): Decoded<FastCnpOption> {
  if (type === codes.option && data.length === OPTION_1_LENGTH)
    return ok({ originalDestination: readAddress(data, 0, 6), trace: undefined });
  if (type !== codes.ioamOption) {
    return type === codes.option
      ? malformed('bad-option-length', 1, `Fast CNP option of ${data.length} bytes`)
      : malformed('no-fast-cnp-option', 0, `option 0x${type.toString(16)}`);
  }
  if (data.length < OPTION_2_OVERHEAD + TRACE_HEADER)
    return malformed('bad-option-length', 1, `Fast CNP option with IOAM of ${data.length} bytes`);
  const end = data.length - OPTION_1_LENGTH;
  const trace = decodeTrace(data[1], data.subarray(LEAD, end));
  return trace.ok ? ok({ originalDestination: readAddress(data, end, 6), trace: trace.value }) : trace;
}

interface FoundFastCnpOption {
  readonly option: FastCnpOption;
  /** Of the option's type, in the packet: where a Parameter Problem points. */
  readonly offset: number;
}

/**
 * The option of the packet that begins with its IPv6 header; the Destination Options header must follow directly and
 * hold only this option. Codes: `truncated`, `bad-version`, `no-fast-cnp-option`, `option-overrun`, `not-alone`, those
 * of decodeFastCnpOption.
 */
export function findFastCnpOption(packet: Uint8Array, codes: FastCnpOptionCodes): Decoded<FoundFastCnpOption> {
  const header = decodeIpv6(packet);
  if (!header.ok) return header;
  if (header.value.nextHeader !== NEXT_HEADER.destinationOptions)
    return malformed('no-fast-cnp-option', 6, `next header ${header.value.nextHeader}`);
  const list = decodeOptionsHeader(
    packet,
    IPV6_HEADER,
    Math.min(packet.length, IPV6_HEADER + header.value.payloadLength),
  );
  if (!list.ok) return list;
  const ours = list.value.options.find(({ type }) => type === codes.option || type === codes.ioamOption);
  if (!ours) return malformed('no-fast-cnp-option', IPV6_HEADER, 'none of the options is a Fast CNP option');
  if (list.value.options.length > 1)
    return malformed('not-alone', ours.offset, `${list.value.options.length} options in one header`);
  const option = decodeFastCnpOption(ours.type, ours.data, codes);
  if (option.ok) return ok({ option: option.value, offset: ours.offset });
  return malformed(option.error.code, ours.offset + option.error.offset, option.error.detail);
}
