// Questions to a gobgpd, over a connection of their own: who it is, which neighbors it has, and whether cnpd's policies
// are in force. Its table is not touched: gobgpd prepares all of it before it sends the first path, which takes a large
// one seconds in which it does nothing else.
import type { BgpPeerState } from '../../../model/carrier-state.ts';
import type { GobgpFault } from '../../../model/gobgp-fault.ts';
import { Channel } from './channel.edge.ts';
import type { GobgpAbout, GobgpOptions } from './gobgp.ts';
import { identify } from './identify.edge.ts';
import { LIST_PEER_REQUEST, decodePeer } from './messages.ts';
import { DIRECTION, POLICY } from './policy.ts';
import { decodeAssignment, listAssignment } from './policy-messages.ts';
import { faultOf } from './reason.ts';

/**
 * For who it is: a person waits for it, and of a gobgpd that is busy for longer the running daemon knows more.
 * Milliseconds.
 */
const IDENTIFY_MS = 2000;
/** For each of the others: one that has identified itself does not hang, and may be busy. */
const ANSWER_MS = 10_000;

export type GobgpAnswer =
  | {
      readonly about: GobgpAbout;
      readonly peers: readonly BgpPeerState[];
      readonly policies: 'in force' | 'not in force' | 'unknown';
    }
  | { readonly fault: GobgpFault };

/** One attempt. Never rejects. */
export async function askGobgp(options: Omit<GobgpOptions, 'learn'>): Promise<GobgpAnswer> {
  let channel: Channel | undefined;
  try {
    channel = await Channel.open(options);
    const { api, about } = await identify(channel, IDENTIFY_MS);
    return {
      about: { api: api.name, as: about.as, routerId: about.routerId },
      peers: await listPeers(channel, api.service),
      policies: await policies(channel, api.service),
    };
  } catch (error) {
    return { fault: faultOf(error, options) };
  } finally {
    channel?.close();
  }
}

/** Whether cnpd's policies come first in both directions. */
async function policies(channel: Channel, service: string): Promise<'in force' | 'not in force' | 'unknown'> {
  const first = (direction: number): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      let names: readonly string[] = [];
      const done = (error?: Error): void => (error ? reject(error) : resolve(names[0]));
      channel.stream(
        `/${service}/ListPolicyAssignment`,
        listAssignment(direction),
        { data: (bytes) => (names = decodeAssignment(bytes)), done },
        ANSWER_MS,
      );
    });
  try {
    return (await first(DIRECTION.export)) === POLICY.export && (await first(DIRECTION.import)) === POLICY.import
      ? 'in force'
      : 'not in force';
  } catch {
    return 'unknown';
  }
}

function listPeers(channel: Channel, service: string): Promise<BgpPeerState[]> {
  return new Promise((resolve, reject) => {
    const peers: BgpPeerState[] = [];
    const data = (bytes: Buffer): void => {
      const peer = decodePeer(bytes);
      if (peer) peers.push(peer);
    };
    const done = (error?: Error): void =>
      error ? reject(new Error(`gobgpd does not report its neighbors: ${error.message}`)) : resolve(peers);
    channel.stream(`/${service}/ListPeer`, LIST_PEER_REQUEST, { data, done }, ANSWER_MS);
  });
}
