// The policies that cnpd keeps in gobgpd, as data: what cnpd's routers have put into BGP does not leave the domain, and
// what comes from outside is marked as such, for all routers of the domain to see. gobgpd itself sends paths with
// NO_EXPORT to everybody (RFC 1997 notwithstanding), and its policies can match neither attribute 39 nor who originated
// a path: so cnpd's paths have a large community (domain-marks.ts), and the neighbors of the domain are a list of
// addresses. Who is not on it is outside, also one that has just been configured.
import type { PolicyApi } from './api.ts';
import { type Domain, isOfDomain } from '../learning/domain.ts';
import { MARK_KIND, MARK_OUTSIDE, MARK_OWN } from '../domain-marks.ts';

export const SET = { domain: 'cnpd-domain', own: 'cnpd-own' } as const;
export const POLICY = { export: 'cnpd-export', import: 'cnpd-import', recall: 'cnpd-recall' } as const;
export const OWN_PATTERN = `^[0-9]+:${MARK_KIND}:${MARK_OWN}$`;
/**
 * No neighbor has this address. gobgpd takes a condition on an empty set for one that is always met, INVERT or not.
 */
export const NOBODY = '0.0.0.0/32';
/** PolicyAssignment.direction, RouteAction: of both versions. */
export const DIRECTION = { import: 1, export: 2 } as const;
const REJECT = 2;

export interface StatementData {
  readonly name: string;
  readonly conditions: {
    readonly neighborSet?: { readonly type: number; readonly name: string };
    readonly largeCommunitySet?: { readonly type: number; readonly name: string };
  };
  readonly actions: {
    readonly routeAction?: number;
    readonly largeCommunity?: { readonly type: number; readonly communities: readonly string[] };
  };
}
export interface PolicyData {
  readonly name: string;
  readonly statements: readonly StatementData[];
}

const outside = ({ numbers }: PolicyApi) => ({ type: numbers.matchInvert, name: SET.domain });
const marked = ({ numbers }: PolicyApi) => ({ type: numbers.matchAny, name: SET.own });

/** cnpd's paths, of this router or passed on, toward neighbors that are not of the domain. */
export const exportPolicy = (api: PolicyApi): PolicyData => ({
  name: POLICY.export,
  statements: [
    {
      name: `${POLICY.export}-own`,
      conditions: { neighborSet: outside(api), largeCommunitySet: marked(api) },
      actions: { routeAction: REJECT },
    },
  ],
});

/** The path itself is routing's business: it goes where it would go, with a mark more. */
export const importPolicy = (api: PolicyApi, ownAs: number): PolicyData => ({
  name: POLICY.import,
  statements: [
    {
      name: `${POLICY.import}-outside`,
      conditions: { neighborSet: outside(api) },
      actions: {
        largeCommunity: { type: api.numbers.communityAdd, communities: [`${ownAs}:${MARK_KIND}:${MARK_OUTSIDE}`] },
      },
    },
  ],
});

/** For a moment, while gobgpd 3 is to take back what it has sent (policy.edge.ts). */
export const recallPolicy = (api: PolicyApi): PolicyData => ({
  name: POLICY.recall,
  statements: [
    { name: `${POLICY.recall}-own`, conditions: { largeCommunitySet: marked(api) }, actions: { routeAction: REJECT } },
  ],
});

export interface PolicyPeer {
  /** As gobgpd has it. */
  readonly address: string;
  readonly as: number;
}

const withoutZone = (address: string): string => address.split('%', 1)[0]!;
const entryOf = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`;

/**
 * What the set of the domain has to hold. Of two neighbors with one link-local address on two links both must be of
 * the domain: the set does not know links.
 */
export function domainEntries(peers: readonly PolicyPeer[], domain: Domain): Set<string> {
  const inside = (of: readonly PolicyPeer[], is: boolean): string[] =>
    of.filter(({ as }) => isOfDomain(as, domain) === is).map(({ address }) => entryOf(withoutZone(address)));
  const entries = new Set([NOBODY, ...inside(peers, true)]);
  for (const entry of inside(peers, false)) entries.delete(entry);
  return entries;
}

/** The neighbors behind entries. */
export const peersOf = (entries: readonly string[], peers: readonly PolicyPeer[]): string[] =>
  peers.filter(({ address }) => entries.includes(entryOf(withoutZone(address)))).map(({ address }) => address);

/** Whether a set under one of our names is ours. An operator can have taken the name. */
export const isOwnSet = (name: (typeof SET)[keyof typeof SET], list: readonly string[]): boolean =>
  name === SET.own ? list.join() === OWN_PATTERN : list.includes(NOBODY);

/** A name that another client uses. */
export const conflict = (what: string, name: string): Error =>
  new PolicyConflict(`gobgpd has a ${what} named ${name} that is not cnpd's`);
export class PolicyConflict extends Error {
  override readonly name = 'PolicyConflict';
}

/**
 * Ours in front of those of the operator, which stay as they are, in their order: one before it that accepts would
 * leave ours without a say.
 */
export const inFront = (own: string, names: readonly string[]): string[] => [
  own,
  ...names.filter((name) => name !== own),
];
