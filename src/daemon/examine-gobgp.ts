// What `cnpctl doctor` finds out about the gobgpd of the intent: whether it answers, with which API and as whom, and whether the address families that this
// intent needs are negotiated with somebody.
import { createGobgpClient } from '../carriers/bgp/gobgp/client.edge.ts';
import type { GobgpAbout, GobgpClient, GobgpListener } from '../carriers/bgp/gobgp/gobgp.ts';
import type { BgpIntent, Intent } from '../intent/intent.ts';
import type { Family } from '../model/address.ts';
import { systemClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import type { BgpPeerState } from '../model/state.ts';
import { gobgpRemedy } from './gobgp.ts';

/** The same as what is found of FRR (src/frr/finding.ts). */
export interface GobgpCheck {
  readonly id: string;
  readonly claim: string;
  readonly state: 'ok' | 'missing' | 'unknown';
  readonly problem?: string;
  readonly remedy?: string;
}

/** What gobgpd said, or why it said nothing. */
export type GobgpAnswer = { readonly about: GobgpAbout; readonly peers: readonly BgpPeerState[] } | { readonly reason: string };

/** A busy gobgpd answers late; two of its answers are waited for. Milliseconds. */
const PATIENCE_MS = 25_000;

/** Never rejects: what cannot be asked is among the checks. @returns none without a `bgp` section */
export async function examineGobgp(intent: Intent): Promise<GobgpCheck[]> {
  return intent.bgp ? checkGobgp(intent, intent.bgp, await askGobgp(intent.bgp)) : [];
}

/** One connection, without a second attempt. */
function askGobgp({ gobgp, learn }: BgpIntent): Promise<GobgpAnswer> {
  return new Promise((resolve) => {
    const finish = (answer: GobgpAnswer): void => {
      cancel();
      resolve(answer);
      void client.close();
    };
    const cancel = systemClock.after(PATIENCE_MS, () => finish({ reason: `no answer within ${PATIENCE_MS / 1000} s` }));
    // The client tells of no neighbours when gobgpd does not, and counts it.
    const counted = new Set<string>();
    const heard = (about: GobgpAbout, peers: readonly BgpPeerState[]): void =>
      finish(counted.has('bgp.gobgp.peers-failed') ? { reason: 'gobgpd does not tell of its neighbours' } : { about, peers });
    const listener: GobgpListener = {
      connected: (about) => void client.peers().then((peers) => heard(about, peers)),
      routes: () => {},
      listed: () => {},
      lost: (reason) => finish({ reason }),
    };
    const client: GobgpClient = createGobgpClient({ ...gobgp, learn }, { listener, clock: systemClock, log: silentLog, count: (name) => void counted.add(name) });
    client.start();
  });
}

export function checkGobgp(intent: Intent, { gobgp }: BgpIntent, answer: GobgpAnswer): GobgpCheck[] {
  const how = gobgp.tls ? ' with TLS' : '';
  if ('reason' in answer) {
    const { reason } = answer;
    return [{ id: 'gobgp', claim: `gobgpd answers at ${gobgp.target}`, state: 'missing', problem: `gobgpd cannot be used at ${gobgp.target}${how} (${reason})`, remedy: gobgpRemedy(gobgp.target, reason) }];
  }
  const { about, peers } = answer;
  const established = peers.filter((peer) => peer.state === 'established');
  return [
    { id: 'gobgp', claim: `gobgpd answers at ${gobgp.target}${how}: API ${about.api}, AS ${about.as}, router ID ${about.routerId}`, state: 'ok' },
    checkNeighbors(peers, established),
    ...neededFamilies(intent).map((family) => checkFamily(family, established)),
  ];
}

function checkNeighbors(peers: readonly BgpPeerState[], established: readonly BgpPeerState[]): GobgpCheck {
  const id = 'gobgp.neighbors';
  if (established.length > 0) return { id, claim: `gobgpd has established neighbours: ${established.map(({ address, as }) => `${address} (AS ${as})`).join(', ')}`, state: 'ok' };
  const claim = 'gobgpd has an established BGP neighbour';
  if (peers.length === 0) return { id, claim, state: 'missing', problem: 'gobgpd has no BGP neighbour: nobody hears what cnpd advertises', remedy: 'gobgp neighbor add ADDRESS as AS, or [[neighbors]] in its configuration' };
  const states = peers.map(({ address, state }) => `${address} is ${state}`).join(', ');
  return { id, claim, state: 'missing', problem: `none of gobgpd's neighbours is established: ${states}`, remedy: 'gobgp neighbor ADDRESS, and `show bgp neighbors` at the other end, say why' };
}

const familyName = (family: Family): string => `ipv${family}-unicast`;

/** One neighbour with the family is enough: others may be for the other family. */
function checkFamily(family: Family, established: readonly BgpPeerState[]): GobgpCheck {
  const name = familyName(family);
  const [id, claim] = [`gobgp.${name}`, `${name} is negotiated with a neighbour`];
  if (established.length === 0) return { id, claim, state: 'unknown' };
  const have = established.filter((peer) => peer.families.includes(name)).map(({ address }) => address);
  const lack = established.filter((peer) => !peer.families.includes(name)).map(({ address }) => address);
  if (have.length > 0) return { id, claim: `${name} is negotiated with ${have.join(', ')}${lack.length > 0 ? `, not with ${lack.join(', ')}` : ''}`, state: 'ok' };
  const remedy = `at both ends: gobgpd [[neighbors.afi-safis]] with afi-safi-name = "${name}", FRR \`neighbor X activate\` in \`address-family ipv${family} unicast\``;
  return { id, claim, state: 'missing', problem: `${name} is negotiated with none of ${lack.join(', ')}, and this cnpd.yaml needs it`, remedy };
}

/**
 * Of what is advertised, sender prefixes and host routes; and of the senders that are told through proxies, as far as the file names them. A family that BGP has no
 * next hop for is not advertised, which the daemon tells.
 */
export function neededFamilies({ bgp, proxy, srv6, stamp, notifications, ports }: Intent): Family[] {
  const nextHops = [bgp?.nextHop4, bgp?.nextHop6].flatMap((address) => (address ? [address.family] : []));
  const senders = (proxy?.senders ?? []).map(({ prefix }) => prefix.address.family).filter((family) => nextHops.includes(family));
  const hosts = srv6?.endCon.length || stamp?.reflector ? nextHops : [];
  const told = ports.length > 0 ? (notifications?.senders ?? []).filter(({ order }) => order.includes('proxy')).map(({ prefix }) => prefix.address.family) : [];
  return [...new Set([...senders, ...hosts, ...told])].sort((a, b) => a - b);
}
