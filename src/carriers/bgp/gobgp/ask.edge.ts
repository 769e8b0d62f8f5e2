// Two questions to a gobgpd, over a connection of their own: who it is, and which neighbours it has. Its table is not touched: gobgpd prepares all of it before it sends the
// first path, which takes a large one seconds in which it does nothing else.
import type { BgpPeerState } from '../../../model/carrier-state.ts';
import { Channel } from './channel.edge.ts';
import type { GobgpAbout, GobgpOptions } from './gobgp.ts';
import { identify } from './identify.edge.ts';
import { LIST_PEER_REQUEST, decodePeer } from './messages.ts';
import { reasonOf } from './reason.ts';

/** A busy gobgpd answers late. Milliseconds, for each of the two. */
const ANSWER_MS = 10_000;

export type GobgpAnswer = { readonly about: GobgpAbout; readonly peers: readonly BgpPeerState[] } | { readonly reason: string };

/** One attempt. Never rejects. */
export async function askGobgp(options: Omit<GobgpOptions, 'learn'>): Promise<GobgpAnswer> {
  let channel: Channel | undefined;
  try {
    channel = await Channel.open(options);
    const { api, about } = await identify(channel, ANSWER_MS);
    return { about: { api: api.name, as: about.as, routerId: about.routerId }, peers: await listPeers(channel, api.service) };
  } catch (error) {
    return { reason: reasonOf(error, options) };
  } finally {
    channel?.close();
  }
}

function listPeers(channel: Channel, service: string): Promise<BgpPeerState[]> {
  return new Promise((resolve, reject) => {
    const peers: BgpPeerState[] = [];
    const data = (bytes: Buffer): void => {
      const peer = decodePeer(bytes);
      if (peer) peers.push(peer);
    };
    const done = (error?: Error): void => (error ? reject(new Error(`gobgpd does not tell of its neighbours: ${error.message}`)) : resolve(peers));
    channel.stream(`/${service}/ListPeer`, LIST_PEER_REQUEST, { data, done }, ANSWER_MS);
  });
}
