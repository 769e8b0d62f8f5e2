// The send path: packets are encoded, signed if the area has keys, and handed to the edge. Lists are split into packets
// that fit the link.
import { count } from '../effects.ts';
import { trailerLength, signPacketV3 } from '../../packet/ospf/auth-v3.ts';
import { digestLength, signPacketV2 } from '../../packet/ospf/auth-v2.ts';
import { LSA_HEADER_LENGTH } from '../../packet/ospf/lsa-header.ts';
import { encodePacket } from '../../packet/ospf/packet.ts';
import { HEADER_LENGTH } from '../../packet/ospf/packet-header.ts';
import type { Lsa, LsaHeader, OspfPacket } from '../../packet/ospf/types.ts';
import type { AreaState, Speaker } from './state.ts';

type Body<P> = P extends OspfPacket ? Omit<P, 'routerId' | 'areaId' | 'instanceId'> : never;

/** Sends a packet to the neighbor; does nothing if the link is down. */
export function send(s: Speaker, area: AreaState, body: Body<OspfPacket>): void {
  if (!area.link) return;
  const { version, routerId } = s.config;
  const { areaId, instanceId } = area.config;
  const source = area.link.address;
  const packet = { ...body, routerId, areaId, instanceId: version.version === 3 ? instanceId : 0 } as OspfPacket;
  const plain = encodePacket(version.version, packet, { source, destination: version.destination });
  count(s, `tx.${body.kind}`);
  s.effects.push({ type: 'send', areaId, destination: version.destination, payload: sign(s, area, plain) });
}

function sign(s: Speaker, area: AreaState, packet: Uint8Array): Uint8Array {
  const [key] = area.config.keys;
  if (!key) return packet;
  s.authenticationSequence = nextSequence(s);
  if (s.config.version.version === 3)
    return signPacketV3(packet, key, s.authenticationSequence, area.link!.address, area.neighbor?.protocolIdOrder);
  return signPacketV2(packet, key, Number(s.authenticationSequence));
}

/**
 * How much OSPFv3's 64-bit sequence numbers increase per tenth of a second, so that no burst of packets gets ahead of
 * the time.
 */
const STEPS = 1_000_000n;

/**
 * The next sequence number. It follows the time, so it is never below one that an earlier run used. OSPFv2's may stay
 * the same for a while (RFC 2328 §D.3); it counts seconds, so that its 32 bits last for 136 years. OSPFv3's must
 * increase with each packet (RFC 7166 §4.1).
 */
function nextSequence({ config, now, authenticationSequence: last }: Speaker): bigint {
  const tenths = BigInt(config.authenticationBase + Math.floor(now / 100));
  const [timed, least] = config.version.version === 2 ? [tenths / 10n, last] : [tenths * STEPS, last + 1n];
  return timed > least ? timed : least;
}

/** Bytes of packet bodies that fit one datagram of the link. */
export function bodyCapacity(s: Speaker, area: AreaState): number {
  const { version } = s.config;
  const [key] = area.config.keys;
  const authentication = !key ? 0 : version.version === 2 ? digestLength(key) : trailerLength(key);
  return area.config.mtu - version.ipHeader - HEADER_LENGTH[version.version] - authentication;
}

/** How many LSA headers (or items of `size` bytes) fit a packet after `fixed` bytes. */
export const headersThatFit = (s: Speaker, area: AreaState, fixed: number, size = LSA_HEADER_LENGTH): number =>
  Math.max(1, Math.floor((bodyCapacity(s, area) - fixed) / size));

/** Sends LSAs in as many updates as they need. An LSA larger than a datagram is sent alone, and IP fragments it. */
export function sendUpdates(s: Speaker, area: AreaState, lsas: readonly Lsa[]): void {
  const capacity = bodyCapacity(s, area) - 4;
  let packet: Lsa[] = [];
  let size = 0;
  for (const lsa of lsas) {
    if (packet.length > 0 && size + lsa.length > capacity) {
      send(s, area, { kind: 'link-state-update', lsas: packet });
      packet = [];
      size = 0;
    }
    packet.push(lsa);
    size += lsa.length;
  }
  if (packet.length > 0) send(s, area, { kind: 'link-state-update', lsas: packet });
}

export function sendAcknowledgments(s: Speaker, area: AreaState, headers: readonly LsaHeader[]): void {
  const fit = headersThatFit(s, area, 0);
  for (let at = 0; at < headers.length; at += fit)
    send(s, area, { kind: 'link-state-acknowledgment', headers: headers.slice(at, at + fit) });
}
