// AS_PATH (RFC 4271 §4.3, RFC 5065 §3): as text, and whether it stays within the domain; and whether a neighbour is of it.
import type { BgpPeerState } from '../../model/carrier-state.ts';
import type { AsSegment } from '../../packet/bgp/route.ts';

const isConfederation = ({ type }: AsSegment): boolean => type === 'confed-sequence' || type === 'confed-set';

/** Whether every AS is gobgpd's own or one of the domain (decision D9). Members of a confederation are one AS to the world. */
export function withinDomain(asPath: readonly AsSegment[], ownAs: number, domain: ReadonlySet<number>): boolean {
  for (const segment of asPath) {
    if (!isConfederation(segment) && !segment.numbers.every((as) => as === ownAs || domain.has(as))) return false;
  }
  return true;
}

/** A gobgpd that does not know its neighbour's AS yet says 0. */
export const withDomain = (peer: BgpPeerState, ownAs: number | undefined, domain: ReadonlySet<number>): BgpPeerState =>
  ownAs === undefined || peer.as === 0 ? peer : { ...peer, inDomain: peer.as === ownAs || domain.has(peer.as) };

const BRACKETS: Readonly<Record<AsSegment['type'], readonly [string, string, string]>> = {
  sequence: ['', ' ', ''],
  set: ['{', ',', '}'],
  'confed-sequence': ['(', ' ', ')'],
  'confed-set': ['[', ',', ']'],
};

/** As routers show it: `65001 65002 {65003,65004}`. */
export const asPathText = (asPath: readonly AsSegment[]): string =>
  asPath.map(({ type, numbers }) => `${BRACKETS[type][0]}${numbers.join(BRACKETS[type][1])}${BRACKETS[type][2]}`).join(' ');
