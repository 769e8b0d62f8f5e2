// Which of several advertisements of one prefix is used (decisions D5, D7). D7 chooses among proxies only. FRR's own
// advertisement of the same prefix has no flag and a real metric: it does not compete with the one that cnpd adds for
// signaling.
import { type IpAddress, compareAddresses } from '../model/address.ts';
import type { CarrierName } from '../model/advertisement.ts';
import type { Understood } from '../model/understood.ts';
import type { RouterAdvertisement } from './kinds.ts';

/** `local`: what this router itself declares. */
export type Origin = CarrierName | 'local';

/** `dormant`: unreachable for longer than the hold time, or not seen reachable yet. It does not count. */
export type Reachability = 'reachable' | 'held' | 'dormant';

export interface Originator {
  readonly carrier: Origin;
  readonly name: string;
  reachability: Reachability;
  /** Milliseconds of the table's clock; meaningful while held. */
  heldUntil: number;
  /** In no order (originators.ts). */
  readonly sources: Source[];
}

export interface Source {
  readonly name: string;
  originator: Originator;
  /** Its place among the originator's. */
  place: number;
  /** Sender prefixes. A single one is not in a list: BGP has sources of one prefix by the hundred thousand. */
  advertisements: Advertisement | Advertisement[] | undefined;
  /** Its advertisements about routers (routers.ts). */
  routers: readonly RouterAdvertisement[];
}

/** One prefix in one source. Advertisements of the same prefix form a doubly linked list. */
export interface Advertisement {
  readonly node: number;
  readonly source: Source;
  pnc: boolean;
  /** The destination of notices; undefined when the flag is clear or no usable address came with it. */
  proxy: IpAddress | undefined;
  metric: number;
  /** The routing protocol prefers another path of the same prefix. */
  second: boolean;
  /** Those of the formats that it says the senders understand that are possible for the prefix. */
  supports: Understood | undefined;
  /** When it got this content and came into force, milliseconds since 1970. */
  since: number;
  previous: Advertisement | undefined;
  next: Advertisement | undefined;
}

export const advertisementsOf = ({ advertisements }: Source): Advertisement[] =>
  advertisements === undefined ? [] : 'node' in advertisements ? [advertisements] : advertisements;

/** IGP before BGP (D7); the order inside the IGPs only makes the choice repeatable. */
const CARRIER_RANK: Readonly<Record<Origin, number>> = { local: 0, isis: 1, ospfv2: 2, ospfv3: 3, bgp: 4 };
const isBgp = (a: Advertisement): number => (a.source.originator.carrier === 'bgp' ? 1 : 0);
const isHeld = ({ originator }: Source): number => (originator.reachability === 'held' ? 1 : 0);
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Negative when `a` is preferred. 0 only for two of one source. */
export function comparePreference(a: Advertisement, b: Advertisement): number {
  if ((a.proxy === undefined) !== (b.proxy === undefined)) return a.proxy ? -1 : 1;
  return (
    // A reachable proxy before one that is only held. Without an alternative the held one serves.
    isHeld(a.source) - isHeld(b.source) ||
    isBgp(a) - isBgp(b) ||
    // Routing has chosen already: a lower address or MED on an unused path must not win.
    Number(a.second) - Number(b.second) ||
    a.metric - b.metric ||
    (a.proxy && b.proxy ? compareAddresses(a.proxy, b.proxy) : 0) ||
    compareSources(a.source, b.source)
  );
}

/**
 * A stable order among sources whose advertisements are equal, reachable ones first. Negative when `a` is preferred.
 */
export function compareSources(a: Source, b: Source): number {
  return (
    isHeld(a) - isHeld(b) ||
    CARRIER_RANK[a.originator.carrier] - CARRIER_RANK[b.originator.carrier] ||
    compareText(a.originator.name, b.originator.name) ||
    compareText(a.name, b.name)
  );
}

/** The one in force among an advertisement and those that follow it in its list. */
export function mostPreferred(head: Advertisement | undefined): Advertisement | undefined {
  let best: Advertisement | undefined;
  for (let a = head; a; a = a.next) best = preferredOf(best, a);
  return best;
}

/** The same among any. */
export function mostPreferredOf(candidates: Iterable<Advertisement>): Advertisement | undefined {
  let best: Advertisement | undefined;
  for (const a of candidates) best = preferredOf(best, a);
  return best;
}

const preferredOf = (best: Advertisement | undefined, a: Advertisement): Advertisement | undefined =>
  a.source.originator.reachability !== 'dormant' && (!best || comparePreference(a, best) < 0) ? a : best;
