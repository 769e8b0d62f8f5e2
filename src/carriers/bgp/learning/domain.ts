// AS_PATH (RFC 4271 §4.3, RFC 5065 §3): as text, and whether it stays within the domain; whether a neighbor is of it,
// and whether what it advertises is trusted.
import type { BgpPeerState } from '../../../model/carrier-state.ts';
import type { AsSegment } from '../../../packet/bgp/route.ts';
import type { GobgpAbout, GobgpPath } from '../gobgp/gobgp.ts';

const isConfederation = ({ type }: AsSegment): boolean => type === 'confed-sequence' || type === 'confed-set';

/** Why nothing in a path is trusted. */
export type Distrust = 'outside-domain' | 'first-as-mismatch';

/**
 * The AS that proves with this path that it is a member of gobgpd's confederation: gobgpd refuses such segments of all
 * others (RFC 5065 §4).
 */
export function memberAs({
  neighbor,
  neighborAs,
  asPath: [first],
}: Pick<GobgpPath, 'neighbor' | 'neighborAs' | 'asPath'>): number | undefined {
  return neighbor !== undefined && neighborAs > 0 && first && isConfederation(first) && first.numbers[0] === neighborAs
    ? neighborAs
    : undefined;
}

/**
 * The neighbor's own AS counts, which gobgpd checks at OPEN, before anything in the path: an AS_PATH is what
 * some router has written. Of neighbors in another AS the first AS of the path must be theirs (RFC 4271 §6.3). What an
 * iBGP neighbor passes on is as good as the border router that let it in.
 */
export function distrustOf(path: GobgpPath, ownAs: number, domain: ReadonlySet<number>): Distrust | undefined {
  if (path.mark === 'outside') return 'outside-domain';
  if (path.neighbor !== undefined && path.neighborAs !== ownAs) {
    const [first] = path.asPath;
    const isMember = first !== undefined && isConfederation(first);
    if (!isMember && !domain.has(path.neighborAs)) return 'outside-domain';
    if (first?.numbers[0] !== path.neighborAs || first.type === 'set' || first.type === 'confed-set')
      return 'first-as-mismatch';
  }
  return withinDomain(path.asPath, ownAs, domain) ? undefined : 'outside-domain';
}

/**
 * Whether every AS is gobgpd's own or one of the domain (decision D9). Members of a confederation are one AS to the
 * world.
 */
function withinDomain(asPath: readonly AsSegment[], ownAs: number, domain: ReadonlySet<number>): boolean {
  for (const segment of asPath) {
    if (!isConfederation(segment) && !segment.numbers.every((as) => as === ownAs || domain.has(as))) return false;
  }
  return true;
}

/** What the domain consists of: gobgpd's own AS, others that are declared, and members of gobgpd's confederation. */
export interface Domain {
  readonly ownAs: number;
  readonly domain: ReadonlySet<number>;
  readonly members: ReadonlySet<number>;
}

/** What the state has of it. */
interface KnownOfDomain {
  readonly config: { readonly domain: ReadonlySet<number>; readonly confederation: ReadonlySet<number> };
  readonly session: { readonly about: GobgpAbout | undefined };
  readonly learning: { readonly members: ReadonlySet<number> };
}

/** Undefined: gobgpd has not identified itself yet. */
export const domainOf = ({ config, session, learning }: KnownOfDomain): Domain | undefined =>
  session.about && {
    ownAs: session.about.as,
    domain: config.domain,
    members: new Set([...config.confederation, ...learning.members]),
  };

export const isOfDomain = (as: number, { ownAs, domain, members }: Domain): boolean =>
  as !== 0 && (as === ownAs || domain.has(as) || members.has(as));

/** A gobgpd that does not know its neighbor's AS yet reports 0. */
export const withDomain = (peer: BgpPeerState, domain: Domain | undefined): BgpPeerState =>
  domain === undefined || peer.as === 0 ? peer : { ...peer, inDomain: isOfDomain(peer.as, domain) };

const BRACKETS: Readonly<Record<AsSegment['type'], readonly [string, string, string]>> = {
  sequence: ['', ' ', ''],
  set: ['{', ',', '}'],
  'confed-sequence': ['(', ' ', ')'],
  'confed-set': ['[', ',', ']'],
};

/** As routers show it: `65001 65002 {65003,65004}`. */
export const asPathText = (asPath: readonly AsSegment[]): string =>
  asPath
    .map(({ type, numbers }) => `${BRACKETS[type][0]}${numbers.join(BRACKETS[type][1])}${BRACKETS[type][2]}`)
    .join(' ');
