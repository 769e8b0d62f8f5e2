// The messages that both versions of gobgpd's API encode alike (proto/gobgp/messages.proto): what it is, events, lists,
// neighbors. Decoders throw when the bytes are no protocol buffer: then nothing else on that connection can be trusted
// either. Paths stay bytes.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { BgpPeerState } from '../../../model/carrier-state.ts';
import {
  type AfiSafiState,
  DestinationSchema,
  GetBgpResponseSchema,
  ListPathResponseSchema,
  ListPeerRequestSchema,
  ListPeerResponseSchema,
  PeerEventSchema,
  PeerEvent_Type,
  TableEventSchema,
  WatchEventResponseSchema,
} from './gen/gobgp/messages_pb.js';
import { Fields } from './wire.ts';

/** What cnpd has no name for is left out of messages, not kept. */
const LEAN = { readUnknownFields: false } as const;

export interface About {
  /** 0: BGP has not been started in this gobgpd. */
  readonly as: number;
  readonly routerId: string;
  readonly multipath: boolean;
}

export const GET_BGP_REQUEST = new Uint8Array(0);
export const LIST_PEER_REQUEST = toBinary(
  ListPeerRequestSchema,
  create(ListPeerRequestSchema, { enableAdvertised: true }),
);
/** Without what was advertised to them. */
export const LIST_PEER_BRIEFLY = toBinary(ListPeerRequestSchema, create(ListPeerRequestSchema, {}));

export function decodeAbout(bytes: Uint8Array): About {
  const { global } = fromBinary(GetBgpResponseSchema, bytes, LEAN);
  return { as: global?.asn ?? 0, routerId: global?.routerId ?? '', multipath: global?.useMultiplePaths ?? false };
}

/**
 * `peer`: something is new with a neighbor. `watching`: gobgpd has reported the neighbors that there were, so
 * whatever changes from now on comes as an event.
 */
export type Event =
  | { readonly type: 'paths'; readonly paths: readonly Uint8Array[] }
  | { readonly type: 'watching' | 'peer' | 'other' };

/** Field by field, like the paths in it (wire.ts). */
export function decodeEvent(bytes: Uint8Array): Event {
  let event: Event = { type: 'other' };
  for (const fields = new Fields(bytes); fields.next();) {
    if (fields.number === WATCH.peer.number)
      event = { type: peerEventType(fields.message()) === PeerEvent_Type.END_OF_INIT ? 'watching' : 'peer' };
    else if (fields.number === WATCH.table.number)
      event = { type: 'paths', paths: pathsOf(fields.message(), TableEventSchema.field.paths.number) };
  }
  return event;
}

const WATCH = WatchEventResponseSchema.field;

function peerEventType(peer: Fields): number {
  let type = 0;
  while (peer.next()) if (peer.number === PeerEventSchema.field.type.number) type = peer.uint();
  return type;
}

function pathsOf(message: Fields, number: number): Uint8Array[] {
  const paths: Uint8Array[] = [];
  while (message.next()) if (message.number === number) paths.push(message.bytes());
  return paths;
}

/** The paths of a prefix, the best first. */
export function decodeListed(bytes: Uint8Array): readonly Uint8Array[] {
  let paths: readonly Uint8Array[] = [];
  for (const fields = new Fields(bytes); fields.next();) {
    if (fields.number === ListPathResponseSchema.field.destination.number)
      paths = pathsOf(fields.message(), DestinationSchema.field.paths.number);
  }
  return paths;
}

const SESSION_STATES: readonly BgpPeerState['state'][] = [
  'unknown',
  'idle',
  'connect',
  'active',
  'opensent',
  'openconfirm',
  'established',
];
/** AFI/SAFI of RFC 4760 and IANA that a gobgpd beside cnpd is likely to speak; others are shown as numbers. */
const FAMILIES: Readonly<Record<string, string>> = {
  '1/1': 'ipv4-unicast',
  '2/1': 'ipv6-unicast',
  '1/4': 'ipv4-labeled-unicast',
  '2/4': 'ipv6-labeled-unicast',
  '1/128': 'l3vpn-ipv4-unicast',
  '2/128': 'l3vpn-ipv6-unicast',
  '25/70': 'l2vpn-evpn',
};

export function decodePeer(bytes: Uint8Array): BgpPeerState | undefined {
  const { peer } = fromBinary(ListPeerResponseSchema, bytes, LEAN);
  if (!peer) return undefined;
  const states = peer.afiSafis.flatMap(({ state }) => (state?.enabled ? [state] : []));
  const sum = (field: 'received' | 'advertised'): number =>
    states.reduce((total, state) => total + Number(state[field]), 0);
  return {
    address: peer.state?.neighborAddress || peer.conf?.neighborAddress || '',
    as: peer.state?.peerAsn || peer.conf?.peerAsn || 0,
    state: SESSION_STATES[peer.state?.sessionState ?? 0] ?? 'unknown',
    families: states.map(nameOf),
    received: sum('received'),
    advertised: sum('advertised'),
  };
}

function nameOf({ family }: AfiSafiState): string {
  const numbers = `${family?.afi ?? 0}/${family?.safi ?? 0}`;
  return FAMILIES[numbers] ?? numbers;
}
