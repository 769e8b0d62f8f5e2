// CM datagrams (InfiniBand vol. 1 §12.6) as hosts of the tests set up and end connections. Who says nothing else is
// active with Queue Pair 0x64 or passive with 0xc8, and both mean the same exchange.
import type { IpAddress } from '../../../src/model/address.ts';
import { buildCmPacket } from '../../../src/lab/roce/wire.ts';
import { put24, put32 } from '../../../src/packet/bytes.ts';
import type { CmDreq, CmMessage, CmRep, CmReq } from '../../../src/packet/roce/cm.ts';
import { ICRC_LENGTH, icrc, writeIcrc } from '../../../src/packet/roce/icrc.ts';
import { ethernet } from './proxy-under-test.ts';

/** Communication IDs of an exchange. */
export const COMM_ID = { active: 0x11111111, passive: 0x22222222 } as const;
/** A communication ID of the passive side follows from the active one's: two exchanges of two hosts differ in both. */
const answering = (active: number): number => active ^ COMM_ID.active ^ COMM_ID.passive;

type WithoutData<M> = M extends CmMessage ? Omit<M, 'privateData'> : never;

export const cm = (from: IpAddress, to: IpAddress, message: WithoutData<CmMessage>): Uint8Array =>
  buildCmPacket({ source: from, destination: to, sourcePort: 0xc000 }, 1n, {
    ...message,
    privateData: new Uint8Array(),
  });

export const cmRequest = (from: IpAddress, to: IpAddress, fields: Partial<CmReq> = {}): Uint8Array =>
  cm(from, to, {
    kind: 'req',
    localCommId: COMM_ID.active,
    serviceId: 0x1064bb8n,
    localQpn: 0x64,
    startingPsn: 0x123456,
    transport: 0,
    responderResources: 1,
    initiatorDepth: 1,
    pkey: 0xffff,
    pathMtu: 3,
    retryCount: 7,
    rnrRetryCount: 7,
    localGid: from,
    remoteGid: to,
    ...fields,
  });

export const cmReply = (
  from: IpAddress,
  to: IpAddress,
  { remoteCommId = COMM_ID.active, ...fields }: Partial<CmRep> = {},
): Uint8Array =>
  cm(from, to, {
    kind: 'rep',
    localCommId: answering(remoteCommId),
    remoteCommId,
    localQpn: 0xc8,
    startingPsn: 0x654321,
    responderResources: 1,
    initiatorDepth: 1,
    ...fields,
  });

/** Of a connection whose communication IDs were not seen, by default. */
export const cmDisconnect = (
  from: IpAddress,
  to: IpAddress,
  remoteQpn: number,
  ids: Partial<Pick<CmDreq, 'localCommId' | 'remoteCommId'>> = {},
): Uint8Array => cm(from, to, { kind: 'dreq', localCommId: 0x777, remoteCommId: 0x778, remoteQpn, ...ids });

/** The same packet, with an ICRC that fits what has been changed in it. */
export function withIcrc(packet: Uint8Array): Uint8Array {
  const end = packet.length - ICRC_LENGTH;
  writeIcrc(packet, end, icrc(packet, packet[0]! >> 4 === 6 ? 40 : 20, end));
  return packet;
}

/** Behind the Ethernet and the IPv6 header: UDP 8, BTH 12, DETH 8, MAD 24. */
const BODY = 14 + 40 + 8 + 12 + 8 + 24;

/** Frames of an exchange over IPv6, of which only the numbers change: to build each would take a flood too long. */
export class ExchangeFrames {
  readonly #request: Uint8Array;
  readonly #reply: Uint8Array;

  constructor(active: IpAddress, passive: IpAddress) {
    this.#request = ethernet(cmRequest(active, passive));
    this.#reply = ethernet(cmReply(passive, active));
  }

  /** REQ and REP of another exchange, of the same numbers on both sides; the next call changes the same bytes. */
  numbered(commId: number, qpn: number): readonly [Uint8Array, Uint8Array] {
    const [request, reply] = [this.#request, this.#reply];
    put32(request, BODY, commId);
    put24(request, BODY + 32, qpn);
    put32(reply, BODY, commId);
    put32(reply, BODY + 4, commId);
    put24(reply, BODY + 12, qpn);
    for (const frame of [request, reply]) withIcrc(frame.subarray(14));
    return [request, reply];
  }
}
