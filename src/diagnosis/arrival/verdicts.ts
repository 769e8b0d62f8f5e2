// The fate of one of our paths at the other end, the reason, and the remedy.
import { parseAddress } from '../../model/address.ts';
import type { BgpPathState } from '../../model/carrier-state.ts';
import type { Row } from '../../model/state.ts';
import { text, texts } from './overview.ts';

/** `altered`: with the attribute, whose contents differ from what was sent. */
export type Arrival = 'used' | 'not-used' | 'altered' | 'without-attribute' | 'another-path' | 'absent';

/** The fate of one of our paths at the other end. */
export interface Comparison {
  readonly prefix: string;
  readonly nextHop: string;
  readonly arrival: Arrival;
  /** The neighbor from which the other end has it. */
  readonly toldBy?: string;
  /** The next hop with which it arrived. */
  readonly arrivedNextHop?: string;
  readonly why?: string;
  readonly remedy?: string;
}

export function difference(row: Row, sent: Row): Pick<Comparison, 'why' | 'remedy'> | undefined {
  const [proxy, ours] = [text(row, 'proxy'), text(sent, 'proxy')];
  if (proxy !== ours)
    return {
      why:
        `the other router uses the proxy ${proxy ?? 'none'}, this one sent ${ours ?? 'none'}: ` +
        'a router on the path changed the attribute',
      remedy: ALTERED,
    };
  const [theirs, sids] = [texts(row, 'sids'), texts(sent, 'sids')];
  if (theirs.length === sids.length && theirs.every((sid) => sids.includes(sid))) return undefined;
  const why =
    `the other router has the SIDs ${theirs.join(', ') || 'none'} of it, ` +
    `this one sent ${sids.join(', ') || 'none'}`;
  return { why, remedy: `set the same code-points.end-con-behavior in both cnpd.yaml; if they agree: ${ALTERED}` };
}

export const arrivedWith = (
  toldBy: string | undefined,
  nextHop: string | undefined,
): Pick<Comparison, 'toldBy' | 'arrivedNextHop'> => ({
  ...(toldBy !== undefined && { toldBy }),
  ...(nextHop !== undefined && { arrivedNextHop: nextHop }),
});

const NEXT_HOP =
  'on the router that made itself the next hop: FRR `neighbor X attribute-unchanged next-hop` (iBGP: ' +
  'no `neighbor X next-hop-self`), BIRD `next hop keep`, gobgpd a policy with set-next-hop = "unchanged"; ' +
  'X is its neighbor on the path';
const ALTERED =
  'compare attribute 39 in `gobgp global rib PREFIX -j` here, in the table of each router in between, and there: ' +
  'the first with other bytes changes it, or got the path from a router that must not send it';
const KEEP_ATTRIBUTE =
  'on each FRR in between that knows the attribute: `neighbor X send-nexthop-characteristics`, X being its ' +
  'neighbor on the path; and no `neighbor X path-attribute discard 39` (or treat-as-withdraw) on any';

/** @returns how the other end uses a path whose attribute it has */
export function judge(row: Row, sent: Row): Pick<Comparison, 'arrival' | 'why' | 'remedy'> {
  const [peer, nextHop] = [text(row, 'peer') ?? 'its neighbor', text(row, 'next-hop') ?? 'none'];
  const status = String(row['status']);
  const verdict = Object.hasOwn(VERDICTS, status) ? VERDICTS[status as keyof typeof VERDICTS] : undefined;
  if (row['status'] === 'used' && nextHop === text(sent, 'next-hop')) {
    const changed = difference(row, sent);
    return changed ? { arrival: 'altered', ...changed } : { arrival: 'used' };
  }
  if (row['status'] === 'used')
    return {
      arrival: 'another-path',
      why:
        `it arrives with next hop ${nextHop} and is used there: a router on the path has taken it over, ` +
        'or another one names the same proxy',
    };
  return verdict
    ? { arrival: 'not-used', ...verdict(row, peer, nextHop) }
    : { arrival: 'not-used', why: `status ${status}`, remedy: 'compare the versions of cnpd at both ends' };
}

const LINK_LOCAL = {
  why: 'its next hop is a link-local address, which does not identify a router in the attribute',
  remedy: 'set a global address in bgp.next-hop; no router on the path may replace it with its link-local address',
};

/** `arrival` where it is not `not-used`. */
type Verdict = (
  row: Row,
  peer: string,
  nextHop: string,
) => { readonly arrival?: 'altered'; readonly why: string; readonly remedy: string };

/** One row per status; the compiler reports a status without one. */
const VERDICTS: Readonly<Record<Exclude<BgpPathState['status'], 'originated' | 'used'>, Verdict>> = {
  'next-hop-mismatch': (row, peer, nextHop) => {
    const header = text(row, 'header-next-hop');
    if (header === nextHop) return LINK_LOCAL;
    return {
      why:
        `${nextHop === peer ? `${peer} made itself the next hop` : `the next hop became ${nextHop} on the path`}; ` +
        `the attribute still names ${header ?? 'another one'}`,
      remedy: NEXT_HOP,
    };
  },
  'family-mismatch': (_row, peer) => ({
    arrival: 'altered',
    why: `the attribute from ${peer} is for another address family than the path's`,
    remedy: `check ${peer}, then the routers before it: one of them changes attribute 39`,
  }),
  'outside-domain': (row) => ({
    why: `its AS path (${text(row, 'as-path') ?? ''}) has an AS outside the other router's domain`,
    remedy: `if all of them are: bgp.domain: [${ases(text(row, 'as-path') ?? '').join(', ')}] in its cnpd.yaml`,
  }),
  'first-as-mismatch': (row, peer) => ({
    why:
      `its AS path (${text(row, 'as-path') ?? ''}) does not begin with the AS of ${peer}, ` +
      'which sent it to the other router: that path may be forged, and is not used',
    remedy:
      `let ${peer} prepend its own AS (a route server that leaves its AS out, ` +
      `FRR \`neighbor X attribute-unchanged as-path\`, must not be between routers of the domain), ` +
      'or send it to the other router from a router of this AS',
  }),
  malformed: (_row, peer) => ({
    arrival: 'altered',
    why: `the attribute from ${peer} is malformed`,
    remedy: `check ${peer}, then the routers before it: one of them changes attribute 39`,
  }),
  'no-characteristic': (row) => {
    const unknown = Array.isArray(row['unknown']) ? row['unknown'].join(', ') : '';
    return unknown === ''
      ? {
          arrival: 'altered',
          why: 'a router on the path removed the characteristic from the attribute',
          remedy: KEEP_ATTRIBUTE,
        }
      : {
          why: `the other router does not know characteristic ${unknown}`,
          remedy: 'set the same code-points.bgp-pnc-characteristic and bgp-private-characteristic in both cnpd.yaml',
        };
  },
  'no-proxy-address': () => ({
    arrival: 'altered',
    why: 'the proxy that the other router reads has no usable address',
    remedy: `set the same code-points.bgp-pnc-characteristic in both cnpd.yaml; if they agree: ${ALTERED}`,
  }),
  'no-senders': () => ({
    why: 'that prefix cannot contain a sender: it has no proxy anywhere',
    remedy: 'remove it from proxy.senders',
  }),
};

/** The neighbor of a path that was originated at that gobgpd. */
const LOCAL = 'local';

const ases = (asPath: string): string[] => [...new Set(asPath.match(/\d+/g) ?? [])];

/**
 * A path that the learned table has and `show bgp paths` has not: it arrived without attribute 39. With `learn: all`,
 * `source` names the neighbor. Otherwise the neighbor is known only if there is a single one and the next hop is ours
 * or
 * its own. With another next hop the path may be the other gobgpd's own.
 */
export function withoutAttribute(
  about: Pick<Comparison, 'prefix' | 'nextHop'>,
  row: Row,
  neighbors: readonly string[],
): Comparison {
  const { prefix, nextHop } = about;
  const arrivedNextHop = text(row, 'originator') ?? text(row, 'next-hop');
  const changed = arrivedNextHop !== nextHop;
  const named =
    text(row, 'peer') ??
    text(row, 'source')
      ?.split(' ')
      .find((word) => word === LOCAL || parseAddress(word) !== undefined);
  const only = neighbors.length === 1 && (!changed || arrivedNextHop === neighbors[0]) ? neighbors[0] : undefined;
  const toldBy = named ?? only;
  const common = { ...about, arrival: 'without-attribute' as const, ...arrivedWith(toldBy, arrivedNextHop) };
  const look = `\`gobgp global rib ${prefix}\``;
  if (toldBy === LOCAL)
    return {
      ...common,
      why:
        'another client has added a path of this prefix to the other gobgpd itself, ' +
        `with next hop ${arrivedNextHop ?? 'none'} and without attribute 39`,
      remedy: `${look} there shows it: remove that path, or make it less preferred`,
    };
  const who =
    toldBy ??
    `one of ${neighbors.join(', ') || 'its neighbors'}${changed ? ', or another client of that gobgpd' : ''} ` +
      `(${look} there shows which)`;
  const why =
    `${who} sent it without attribute 39${changed ? `, with next hop ${arrivedNextHop ?? 'none'}` : ''}: ` +
    `it, or a router before it, removed the attribute${changed ? ", or it is another router's path" : ''}`;
  return { ...common, why, remedy: changed ? `${KEEP_ATTRIBUTE}; ${NEXT_HOP}` : KEEP_ATTRIBUTE };
}
