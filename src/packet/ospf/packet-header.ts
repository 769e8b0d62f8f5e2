// The header of OSPF packets (RFC 2328 §A.3.1, 24 bytes; RFC 5340 §A.3.1, 16 bytes) and its checksum. OSPFv2's header
// ends with the authentication field, which the checksum does not cover. OSPFv3's checksum covers a pseudo-header.
import type { IpAddress } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { put16, put32, u16, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { field } from '../field.ts';
import { addWords, foldChecksum, pseudoHeaderSum } from '../ip/checksum.ts';
import { OSPF_PROTOCOL, type Version } from './numbers.ts';
import type { OspfPacket } from './types.ts';

export const HEADER_LENGTH: Readonly<Record<Version, number>> = { 2: 24, 3: 16 };
const CHECKSUM_AT = 12;

/** The index is the type on the wire; 0 is not assigned. */
const PACKET_KINDS: readonly (OspfPacket['kind'] | undefined)[] = [
  undefined,
  'hello',
  'database-description',
  'link-state-request',
  'link-state-update',
  'link-state-acknowledgment',
];

/** AuType of OSPFv2 (RFC 2328 §D). */
export const AUTHENTICATION_TYPE = { none: 0, password: 1, cryptographic: 2 } as const;
export const AUTHENTICATION_AT = 16;
const AUTHENTICATION_END = 24;

/** Addresses of the packet's IP header; OSPFv3's checksum covers them. */
export interface PacketAddresses {
  readonly source: IpAddress;
  readonly destination: IpAddress;
}

export interface PacketHeader {
  readonly kind: OspfPacket['kind'];
  /** Bytes, without what follows the packet: digest, LLS block, authentication trailer. */
  readonly length: number;
  readonly routerId: number;
  readonly areaId: number;
  readonly checksum: number;
  readonly instanceId: number;
  /** OSPFv2's AuType; 0 in OSPFv3, whose trailer is not announced in the header. */
  readonly authenticationType: number;
}

export function readPacketHeader(version: Version, bytes: Uint8Array): Decoded<PacketHeader> {
  const headerLength = HEADER_LENGTH[version];
  if (bytes.length < headerLength) return malformed('truncated', bytes.length, 'shorter than the packet header');
  if (bytes[0] !== version) return malformed('bad-version', 0, `OSPF version ${bytes[0]}, not ${version}`);
  const kind = PACKET_KINDS[bytes[1]!];
  if (!kind) return malformed('unknown-packet-type', 1, `packet type ${bytes[1]}`);
  const length = u16(bytes, 2);
  if (length < headerLength)
    return malformed('bad-packet-length', 2, `packet length ${length} is shorter than the header`);
  if (length > bytes.length)
    return malformed('truncated', 2, `packet length ${length}, but ${bytes.length} bytes arrived`);
  return ok({
    kind,
    length,
    routerId: u32(bytes, 4),
    areaId: u32(bytes, 8),
    checksum: u16(bytes, CHECKSUM_AT),
    instanceId: version === 3 ? bytes[14]! : 0,
    authenticationType: version === 2 ? u16(bytes, 14) : 0,
  });
}

/** Writes all but the checksum. @throws EncodeError */
export function writePacketHeader(
  version: Version,
  packet: Uint8Array,
  { kind, routerId, areaId, instanceId }: OspfPacket,
): void {
  packet[0] = version;
  packet[1] = PACKET_KINDS.indexOf(kind);
  put16(packet, 2, field('packet length', packet.length, 16));
  put32(packet, 4, field('router ID', routerId, 32));
  put32(packet, 8, field('area ID', areaId, 32));
  if (version === 3) packet[14] = field('instance ID', instanceId, 8);
}

/**
 * Returns 0 for a packet with a correct checksum. For a packet whose checksum field is 0, returns the value to put
 * there.
 * @param packet exactly the packet
 */
export function packetChecksum(version: Version, packet: Uint8Array, addresses: PacketAddresses): number {
  if (version === 2)
    return foldChecksum(addWords(addWords(0, packet, 0, AUTHENTICATION_AT), packet, AUTHENTICATION_END));
  return foldChecksum(
    addWords(pseudoHeaderSum(addresses.source, addresses.destination, OSPF_PROTOCOL, packet.length), packet),
  );
}

export function setChecksum(version: Version, packet: Uint8Array, addresses: PacketAddresses): void {
  put16(packet, CHECKSUM_AT, 0);
  put16(packet, CHECKSUM_AT, packetChecksum(version, packet, addresses));
}

/** Cryptographic authentication replaces the checksum, which is then 0 (RFC 2328 §D.4.3; RFC 7166 §4.1). */
export function clearChecksum(packet: Uint8Array): void {
  put16(packet, CHECKSUM_AT, 0);
}
