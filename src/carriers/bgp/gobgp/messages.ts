// The messages that both versions of gobgpd's API encode alike (proto/gobgp/messages.proto): what it is, events, lists, neighbours. Decoders throw when the bytes are no protocol
// buffer: then nothing else on that connection can be trusted either. Paths stay bytes.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { BgpPeerState } from '../../../model/state.ts';
import {
  type AfiSafiState,
  GetBgpResponseSchema,
  ListPathResponseSchema,
  ListPeerRequestSchema,
  ListPeerResponseSchema,
  PeerEvent_Type,
  WatchEventResponseSchema,
} from './gen/gobgp/messages_pb.js';
import { LEAN } from './path.ts';

export interface About {
  /** 0: BGP has not been started in this gobgpd. */
  readonly as: number;
  readonly routerId: string;
  readonly multipath: boolean;
}

export const GET_BGP_REQUEST = new Uint8Array(0);
export const LIST_PEER_REQUEST = toBinary(ListPeerRequestSchema, create(ListPeerRequestSchema, { enableAdvertised: true }));

export function decodeAbout(bytes: Uint8Array): About {
  const { global } = fromBinary(GetBgpResponseSchema, bytes, LEAN);
  return { as: global?.asn ?? 0, routerId: global?.routerId ?? '', multipath: global?.useMultiplePaths ?? false };
}

/** `watching`: gobgpd has told of the neighbours that there were, so whatever changes from now on comes as an event. */
export type Event = { readonly type: 'paths'; readonly paths: readonly Uint8Array[] } | { readonly type: 'watching' | 'other' };

export function decodeEvent(bytes: Uint8Array): Event {
  const { event } = fromBinary(WatchEventResponseSchema, bytes, LEAN);
  if (event.case === 'table') return { type: 'paths', paths: event.value.paths };
  return { type: event.case === 'peer' && event.value.type === PeerEvent_Type.END_OF_INIT ? 'watching' : 'other' };
}

/** The paths of a prefix, the best first. */
export const decodeListed = (bytes: Uint8Array): readonly Uint8Array[] => fromBinary(ListPathResponseSchema, bytes, LEAN).destination?.paths ?? [];

const SESSION_STATES: readonly BgpPeerState['state'][] = ['unknown', 'idle', 'connect', 'active', 'opensent', 'openconfirm', 'established'];
/** AFI/SAFI of RFC 4760 and IANA that a gobgpd beside cnpd is likely to speak; others are shown as numbers. */
const FAMILIES: Readonly<Record<string, string>> = { '1/1': 'ipv4-unicast', '2/1': 'ipv6-unicast', '1/4': 'ipv4-labelled-unicast', '2/4': 'ipv6-labelled-unicast', '1/128': 'l3vpn-ipv4-unicast', '2/128': 'l3vpn-ipv6-unicast', '25/70': 'l2vpn-evpn' };

export function decodePeer(bytes: Uint8Array): BgpPeerState | undefined {
  const { peer } = fromBinary(ListPeerResponseSchema, bytes, LEAN);
  if (!peer) return undefined;
  const states = peer.afiSafis.flatMap(({ state }) => (state?.enabled ? [state] : []));
  const sum = (field: 'received' | 'advertised'): number => states.reduce((total, state) => total + Number(state[field]), 0);
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
