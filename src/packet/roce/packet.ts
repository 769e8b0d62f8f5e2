// Whole RoCEv2 packets: IP, UDP port 4791, BTH, extended headers, payload, padding, ICRC (FCNP §3). The payload's
// meaning is the caller's.
import type { Family, IpAddress } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { ROCE_UDP_PORT } from '../../model/roce.ts';
import { concat, copyOf, put32, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { PROTOCOL_UDP, UDP_HEADER, decodeUdp, encodeUdpPacket } from '../ip/udp.ts';
import { walkHeaders } from '../ip/walk.ts';
import { type Aeth, decodeAeth, encodeAeth } from './aeth.ts';
import { BTH_LENGTH, type Bth, type BthFields, decodeBth, encodeBth } from './bth.ts';
import { type Deth, decodeDeth, encodeDeth } from './deth.ts';
import { ICRC_LENGTH, icrc, readIcrc, writeIcrc } from './icrc.ts';
import { EXTENDED_HEADER_LENGTH, type ExtendedHeader, OPCODES } from './opcodes.ts';
import { type Reth, decodeReth, encodeReth } from './reth.ts';

/** The extended headers an opcode calls for; those that are not in the opcode's row are absent. */
export interface ExtendedHeaders {
  readonly deth?: Deth;
  readonly reth?: Reth;
  readonly aeth?: Aeth;
  /** Immediate data, as a number of 32 bits. */
  readonly immediate?: number;
  /** The R_Key that a "send with invalidate" invalidates. */
  readonly ieth?: number;
  /** The shared receive queue of XRC. */
  readonly xrceth?: number;
  /** 28 and 8 bytes that nothing here interprets. */
  readonly atomic?: Uint8Array;
  readonly atomicAck?: Uint8Array;
}

export interface RocePacket {
  readonly family: Family;
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly trafficClass: number;
  readonly hopLimit: number;
  readonly sourcePort: number;
  readonly udpChecksum: number;
  readonly bth: Bth;
  readonly ext: ExtendedHeaders;
  /** A view, without padding and ICRC. */
  readonly payload: Uint8Array;
  readonly icrc: number;
  readonly icrcValid: boolean;
}

/**
 * Parses a packet that begins with its IP header; bytes after the UDP datagram are ignored. Codes: `truncated`,
 * `malformed`, `too-deep`, `not-udp`, `not-roce` (another port), `fragment`, `bad-udp-length`, `bad-bth-version`,
 * `unknown-opcode`, `bad-padding`.
 */
export function parseRocePacket(packet: Uint8Array): Decoded<RocePacket> {
  const { layers, end: reason } = walkHeaders(packet);
  const layer = layers[0];
  if (!layer) return malformed(reason, 0, 'no IP header chain');
  if (layer.protocol !== PROTOCOL_UDP)
    return malformed('not-udp', layer.transportOffset, `IP protocol ${layer.protocol}`);
  if (layer.fragment) return malformed('fragment', layer.offset, 'a fragment');
  const udp = decodeUdp(packet, layer.transportOffset, layer.end);
  if (!udp.ok) return udp;
  if (udp.value.destinationPort !== ROCE_UDP_PORT)
    return malformed('not-roce', layer.transportOffset + 2, `UDP port ${udp.value.destinationPort}`);
  const bthAt = layer.transportOffset + UDP_HEADER;
  const icrcAt = layer.transportOffset + udp.value.length - ICRC_LENGTH;
  const transport = parseTransport(packet, bthAt, icrcAt);
  if (!transport.ok) return transport;
  const received = readIcrc(packet, icrcAt);
  return ok({
    family: layer.family,
    source: layer.source,
    destination: layer.destination,
    trafficClass: layer.trafficClass,
    hopLimit: layer.hopLimit,
    sourcePort: udp.value.sourcePort,
    udpChecksum: udp.value.checksum,
    ...transport.value,
    icrc: received,
    icrcValid: icrc(packet, layer.transportOffset, icrcAt) === received,
  });
}

function parseTransport(
  packet: Uint8Array,
  bthAt: number,
  end: number,
): Decoded<Pick<RocePacket, 'bth' | 'ext' | 'payload'>> {
  const bth = decodeBth(packet, bthAt, end);
  if (!bth.ok) return bth;
  if (bth.value.version !== 0) return malformed('bad-bth-version', bthAt + 1, `transport version ${bth.value.version}`);
  const opcode = OPCODES.get(bth.value.opcode);
  if (!opcode) return malformed('unknown-opcode', bthAt, `opcode 0x${bth.value.opcode.toString(16)}`);
  let at = bthAt + BTH_LENGTH;
  let ext: ExtendedHeaders = {};
  for (const name of opcode.headers) {
    const next = at + EXTENDED_HEADER_LENGTH[name];
    if (next > end) return malformed('truncated', at, `shorter than the ${name} of ${opcode.name}`);
    ext = { ...ext, ...HEADERS[name].decode(packet, at) };
    at = next;
  }
  const payloadEnd = end - bth.value.padCount;
  if (payloadEnd < at) return malformed('bad-padding', bthAt + 1, 'more padding than payload');
  return ok({ bth: bth.value, ext, payload: packet.subarray(at, payloadEnd) });
}

interface HeaderCodec {
  decode(b: Uint8Array, at: number): ExtendedHeaders;
  encode(ext: ExtendedHeaders): Uint8Array;
}

function word(value: number): Uint8Array {
  const out = new Uint8Array(4);
  put32(out, 0, value);
  return out;
}

const value = <T>(decoded: Decoded<T>): T | undefined => (decoded.ok ? decoded.value : undefined);

/** Lengths have been checked before decoding. An absent header is encoded as zeros. */
const HEADERS: Readonly<Record<ExtendedHeader, HeaderCodec>> = {
  deth: {
    decode: (b, at) => ({ deth: value(decodeDeth(b, at))! }),
    encode: ({ deth }) => encodeDeth(deth ?? { qkey: 0, sourceQpn: 0 }),
  },
  reth: {
    decode: (b, at) => ({ reth: value(decodeReth(b, at))! }),
    encode: ({ reth }) => encodeReth(reth ?? { virtualAddress: 0n, rkey: 0, length: 0 }),
  },
  aeth: {
    decode: (b, at) => ({ aeth: value(decodeAeth(b, at))! }),
    encode: ({ aeth }) => encodeAeth(aeth ?? { kind: 'ack', value: 0, msn: 0 }),
  },
  immediate: { decode: (b, at) => ({ immediate: u32(b, at) }), encode: ({ immediate }) => word(immediate ?? 0) },
  ieth: { decode: (b, at) => ({ ieth: u32(b, at) }), encode: ({ ieth }) => word(ieth ?? 0) },
  xrceth: { decode: (b, at) => ({ xrceth: u32(b, at) & 0xffffff }), encode: ({ xrceth }) => word(xrceth ?? 0) },
  atomic: {
    decode: (b, at) => ({ atomic: copyOf(b, at, at + 28) }),
    encode: ({ atomic }) => atomic ?? new Uint8Array(28),
  },
  'atomic-ack': {
    decode: (b, at) => ({ atomicAck: copyOf(b, at, at + 8) }),
    encode: ({ atomicAck }) => atomicAck ?? new Uint8Array(8),
  },
};

interface RoceFields {
  /** Both of one family. */
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly sourcePort: number;
  /** DSCP and ECN; 0 when absent. */
  readonly trafficClass?: number;
  /** 64 when absent. */
  readonly hopLimit?: number;
  readonly flowLabel?: number;
  readonly identification?: number;
  readonly dontFragment?: boolean;
  /** padCount is computed. */
  readonly bth: BthFields;
  readonly ext?: ExtendedHeaders;
  readonly payload?: Uint8Array;
}

/** A whole IP packet with a valid ICRC and UDP checksum 0, as network cards send it. @throws EncodeError */
export function buildRocePacket(fields: RoceFields): Uint8Array {
  const { bth, ext = {}, payload = new Uint8Array(), ...ip } = fields;
  const padCount = -payload.length & 3;
  const headers = (OPCODES.get(bth.opcode)?.headers ?? []).map((name) => HEADERS[name].encode(ext));
  const transport = concat(
    encodeBth({ ...bth, padCount }),
    ...headers,
    payload,
    new Uint8Array(padCount + ICRC_LENGTH),
  );
  const packet = encodeUdpPacket({ ...ip, destinationPort: ROCE_UDP_PORT, checksum: false, payload: transport });
  const icrcAt = packet.length - ICRC_LENGTH;
  writeIcrc(packet, icrcAt, icrc(packet, packet.length - transport.length - UDP_HEADER, icrcAt));
  return packet;
}
