// Packets of the link wait in the inbox and are handled in batches, one batch per turn of the event loop. Packets
// beyond its limit are dropped and counted; the neighbor retransmits them. Packets from elsewhere are not queued: they
// would displace the neighbor's (admission.ts). A queued packet is authenticated, decoded, checked against area,
// instance and neighbor, and dispatched.
import { count, warnLimited } from '../effects.ts';
import { formatAddress } from '../../model/address.ts';
import { found } from '../../model/recording.ts';
import { verifyPacketV2 } from '../../packet/ospf/auth-v2.ts';
import { type ProtocolIdOrder, announcesTrailer, verifyPacketV3 } from '../../packet/ospf/auth-v3.ts';
import type { AuthenticationVerdict } from '../../packet/ospf/digest.ts';
import type { Version } from '../../packet/ospf/numbers.ts';
import { type ReceivedPacket, decodePacket } from '../../packet/ospf/packet.ts';
import { AUTHENTICATION_TYPE, type PacketAddresses, readPacketHeader } from '../../packet/ospf/packet-header.ts';
import { formatId } from '../../packet/ospf/router-id.ts';
import { isFromLink } from './admission.ts';
import { INBOX_BATCH, INBOX_LIMIT } from './constants.ts';
import { receiveDescription } from './exchange/exchange.ts';
import { receiveAcknowledgment, receiveUpdate } from './flooding/flooding.ts';
import { receiveHello, twoWay } from './neighbor/interface.ts';
import type { Neighbor } from './neighbor/neighbor.ts';
import { receiveRequest } from './exchange/requests.ts';
import { type AreaState, type Speaker, refuse } from './state.ts';

export function enqueue(s: Speaker, area: AreaState, payload: Uint8Array, addresses: PacketAddresses): void {
  if (!isFromLink(s.config.version, area.link!, addresses)) return offLink(s, area, addresses);
  if (area.inbox.length < INBOX_LIMIT) area.inbox.push({ payload, addresses });
  else warnLimited(s, 'rx.queue-full', {}, 'packets arrive faster than they can be handled');
}

/** The packet is not the neighbor's, so it does not explain a missing neighbor. */
function offLink(s: Speaker, area: AreaState, { source, destination }: PacketAddresses): void {
  warnLimited(
    s,
    'packet.off-link',
    { area: formatId(area.config.areaId), from: formatAddress(source), to: formatAddress(destination) },
    'OSPF packet dropped: it does not come from the other end of the link',
  );
}

export function takeInbox(s: Speaker, area: AreaState): void {
  for (const { payload, addresses } of area.inbox.splice(0, INBOX_BATCH)) receive(s, area, payload, addresses);
}

interface Authenticated {
  readonly sequence: bigint | undefined;
  readonly order: ProtocolIdOrder | undefined;
}

function receive(s: Speaker, area: AreaState, payload: Uint8Array, addresses: PacketAddresses): void {
  if (s.stopping?.done || !area.link) return;
  const authenticated = authenticate(s, area, payload, addresses);
  if (!authenticated) return;
  const decoded = decodePacket(s.config.version.version, payload, addresses, {
    authenticated: area.config.keys.length > 0,
  });
  if (!decoded.ok) {
    const { code, offset, detail } = decoded.error;
    return warnLimited(s, `packet.${code}`, { offset, detail }, 'malformed OSPF packet dropped');
  }
  const packet = decoded.value;
  count(s, `rx.${packet.kind}`);
  for (const bad of packet.badLsas)
    warnLimited(s, `lsa.${bad.code}`, { detail: bad.detail }, 'malformed LSA of an update skipped');
  if (isOurs(s, area, packet) && isFresh(s, area, packet, authenticated)) dispatch(s, area, packet, authenticated);
}

function authenticate(
  s: Speaker,
  area: AreaState,
  payload: Uint8Array,
  { source }: PacketAddresses,
): Authenticated | undefined {
  const { keys } = area.config;
  const { version } = s.config.version;
  if (keys.length === 0) {
    if (!isAuthenticated(version, payload)) return { sequence: undefined, order: undefined };
    refuse(s, area, 'authentication.not-configured', 'it is authenticated, but no key is configured');
    return undefined;
  }
  const verdict = found(s.config.findings, (): AuthenticationVerdict & { readonly order?: ProtocolIdOrder } =>
    version === 3 ? verifyPacketV3(payload, keys, source) : verifyPacketV2(payload, keys),
  );
  if (verdict.ok) return { sequence: verdict.sequence, order: verdict.order };
  refuse(s, area, `authentication.${verdict.reason}`, `authentication ${verdict.reason}`);
  return undefined;
}

/** Whether the packet announces authentication. In OSPFv3 only hellos and Database Descriptions do. */
function isAuthenticated(version: Version, payload: Uint8Array): boolean {
  if (version === 3) return announcesTrailer(payload);
  const header = readPacketHeader(version, payload);
  return header.ok && header.value.authenticationType !== AUTHENTICATION_TYPE.none;
}

/** Whether the packet belongs to this area and instance and has another router's ID. */
function isOurs(s: Speaker, area: AreaState, { areaId, instanceId, routerId }: ReceivedPacket): boolean {
  const { config } = area;
  if (areaId !== config.areaId) refuse(s, area, 'packet.area-mismatch', `its area is ${formatId(areaId)}`);
  else if (s.config.version.version === 3 && instanceId !== config.instanceId)
    refuse(s, area, 'packet.instance-mismatch', `its instance is ${instanceId}, ours is ${config.instanceId}`);
  else if (routerId === s.config.routerId || routerId === 0)
    refuse(s, area, 'packet.own-router-id', routerId === 0 ? 'it has no router ID' : 'it has our router ID');
  else return true;
  return false;
}

/**
 * Whether the packet is no replay: its sequence number was not used before (RFC 2328 §D.5.3; RFC 7166 §4.6, for each
 * kind of packet).
 */
function isFresh(s: Speaker, area: AreaState, packet: ReceivedPacket, { sequence }: Authenticated): boolean {
  const { neighbor } = area;
  if (sequence === undefined || neighbor?.routerId !== packet.routerId) return true;
  const v3 = s.config.version.version === 3;
  const last = neighbor.authenticationSequences.get(v3 ? packet.kind : 'hello');
  if (last === undefined || sequence > last || (!v3 && sequence === last)) return true;
  warnLimited(s, 'authentication.replayed', {}, 'packet with an old sequence number dropped');
  return false;
}

function dispatch(s: Speaker, area: AreaState, packet: ReceivedPacket, { sequence, order }: Authenticated): void {
  if (packet.kind === 'hello') receiveHello(s, area, packet);
  const { neighbor } = area;
  if (neighbor?.routerId !== packet.routerId)
    return packet.kind === 'hello' ? undefined : count(s, 'packet.no-neighbor');
  if (sequence !== undefined)
    neighbor.authenticationSequences.set(s.config.version.version === 3 ? packet.kind : 'hello', sequence);
  if (order) neighbor.protocolIdOrder = order;
  if (packet.kind !== 'hello') HANDLERS[packet.kind](s, area, neighbor, packet as never);
}

type Handler<K> = (
  s: Speaker,
  area: AreaState,
  neighbor: Neighbor,
  packet: Extract<ReceivedPacket, { kind: K }>,
) => void;

const HANDLERS: { readonly [K in Exclude<ReceivedPacket['kind'], 'hello'>]: Handler<K> } = {
  // A description has the meaning of a hello that lists us, even if it arrives earlier (RFC 2328 §10.6).
  'database-description': (s, area, neighbor, dd) => {
    if (neighbor.state === 'init') twoWay(s, area, neighbor);
    receiveDescription(s, area, neighbor, dd);
  },
  'link-state-request': receiveRequest,
  'link-state-update': receiveUpdate,
  'link-state-acknowledgment': receiveAcknowledgment,
};
