// The packets of the endpoint. Data packets are built once and then changed in place (PSN, opcode, AckReq, ICRC):
// building one from its fields takes ten times as long, and the endpoint sends thousands a second. Pure.
import type { IpAddress } from '../../model/address.ts';
import { ROCE_UDP_PORT } from '../../model/roce.ts';
import { put24 } from '../../packet/bytes.ts';
import type { Aeth } from '../../packet/roce/aeth.ts';
import { CM_QKEY, CM_QPN, type CmMessage, encodeCmMad } from '../../packet/roce/cm.ts';
import { ICRC_LENGTH, icrc, writeIcrc } from '../../packet/roce/icrc.ts';
import { OPCODE } from '../../packet/roce/opcodes.ts';
import { buildRocePacket } from '../../packet/roce/packet.ts';
import { ECT0 } from './notification-point.ts';

const UDP_HEADER = 8;
const BTH_LENGTH = 12;
const BTH = { opcode: 0, ackRequest: 8, psn: 9 } as const;
const ETHERNET_HEADER = 14;

/** Both ends of a connection, seen from one of them. */
export interface Ends {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly sourcePort: number;
  readonly hopLimit?: number;
}

/** Not zero, because the kernel would then choose one, and the ICRC covers it. */
const identification = (ends: Ends): number => (ends.sourcePort & 0x3fff) | 0x4000;

const ip = (ends: Ends): Ends & { identification: number; dontFragment: boolean } => ({
  ...ends,
  identification: identification(ends),
  dontFragment: true,
});

/**
 * UDP source port of a connection, as Linux RDMA drivers derive it from the two Queue Pairs (codec facts §5.9): the
 * same in both directions, so that a path chosen by hash is the same for data and acknowledgements of one connection.
 */
export function sourcePortOf(localQpn: number, remoteQpn: number): number {
  let v = BigInt(localQpn) * BigInt(remoteQpn);
  v ^= v >> 20n;
  v ^= v >> 40n;
  const label = Number(v & 0xfffffn);
  return 0xc000 | ((label & 0x3fff) ^ (label >>> 14));
}

export class DataTemplate {
  readonly packet: Uint8Array;
  readonly #bthAt: number;
  readonly #udpAt: number;
  readonly #icrcAt: number;

  constructor(ends: Ends, destQpn: number, payload: Uint8Array) {
    this.packet = buildRocePacket({
      ...ip(ends),
      trafficClass: ECT0,
      bth: { opcode: OPCODE.sendOnly, destQpn, psn: 0 },
      payload,
    });
    this.#icrcAt = this.packet.length - ICRC_LENGTH;
    this.#bthAt = this.#icrcAt - payload.length - (-payload.length & 3) - BTH_LENGTH;
    this.#udpAt = this.#bthAt - UDP_HEADER;
  }

  /** The packet, with a valid ICRC; the same bytes are changed by the next call. */
  fill(fields: { readonly psn: number; readonly opcode: number; readonly ackRequest: boolean }): Uint8Array {
    const p = this.packet;
    p[this.#bthAt + BTH.opcode] = fields.opcode;
    p[this.#bthAt + BTH.ackRequest] = fields.ackRequest ? 0x80 : 0;
    put24(p, this.#bthAt + BTH.psn, fields.psn);
    writeIcrc(p, this.#icrcAt, icrc(p, this.#udpAt, this.#icrcAt));
    return p;
  }
}

export const buildAcknowledge = (ends: Ends, destQpn: number, psn: number, aeth: Aeth): Uint8Array =>
  buildRocePacket({ ...ip(ends), bth: { opcode: OPCODE.acknowledge, destQpn, psn }, ext: { aeth } });

export const buildCmPacket = (ends: Ends, transactionId: bigint, message: CmMessage): Uint8Array =>
  buildRocePacket({
    ...ip(ends),
    bth: { opcode: OPCODE.udSendOnly, destQpn: CM_QPN, psn: 0 },
    ext: { deth: { qkey: CM_QKEY, sourceQpn: CM_QPN } },
    payload: encodeCmMad(transactionId, message),
  });

const etherType = (frame: Uint8Array): number => (frame[12]! << 8) | frame[13]!;

/** The IPv6 packet of an Ethernet frame; undefined for other frames. */
export const ipv6PacketOf = (frame: Uint8Array): Uint8Array | undefined =>
  etherType(frame) === 0x86dd ? frame.subarray(ETHERNET_HEADER) : undefined;

/**
 * The IP packet of an Ethernet frame if it may be RoCEv2: UDP to port 4791 behind a plain IP header. Cheap, because it
 * sees every frame; parseRocePacket decides.
 */
export function rocePacketOf(frame: Uint8Array): Uint8Array | undefined {
  const type = etherType(frame);
  const at = ETHERNET_HEADER;
  const port = (udp: number): number => (frame[udp + 2]! << 8) | frame[udp + 3]!;
  if (type === 0x86dd) return frame[at + 6] === 17 && port(at + 40) === ROCE_UDP_PORT ? frame.subarray(at) : undefined;
  if (type === 0x0800)
    return frame[at + 9] === 17 && port(at + (frame[at]! & 15) * 4) === ROCE_UDP_PORT ? frame.subarray(at) : undefined;
  return undefined;
}
