// Which of the paths that this cnpd has put into BGP arrive at another one, and in what state: what was sent, compared
// with what the other reports (`cnpctl -o json show bgp` there). A neighbour that drops attribute 39 cannot be seen
// from either end alone (draft-ietf-idr-nhc; PNC §5.4). Pure.
import { parseAddress } from '../model/address.ts';
import type { BgpPathState } from '../model/carrier-state.ts';
import type { BgpOverview } from './bgp.ts';
import type { Row } from './views.ts';

/** `altered`: with the attribute, which does not say what was sent. */
export type Arrival = 'used' | 'not-used' | 'altered' | 'without-attribute' | 'another-path' | 'absent';

/** What became of one path of ours at the other end. */
export interface Comparison {
  readonly prefix: string;
  readonly nextHop: string;
  readonly arrival: Arrival;
  /** The neighbour that told the other end of it. */
  readonly toldBy?: string;
  /** The next hop with which it arrived. */
  readonly arrivedNextHop?: string;
  readonly why?: string;
  readonly remedy?: string;
}

export interface RemoteReport {
  /** Why the answers below cannot be trusted, each with what to do. */
  readonly doubts: readonly { readonly problem: string; readonly remedy: string }[];
  /** In the order of what is to be done first: those that are used come last. */
  readonly paths: readonly Comparison[];
}

const SECTIONS = ['session', 'peers', 'paths', 'senders'] as const;
const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns what is wrong with it, when it is not what `cnpctl -o json show bgp` prints */
export function readOverview(text: string): BgpOverview | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!isRow(value)) return 'no JSON object';
  for (const name of SECTIONS) {
    const rows = value[name];
    if (!Array.isArray(rows) || !rows.every(isRow)) return `no list "${name}" of objects`;
  }
  return value as unknown as BgpOverview;
}

const text = (row: Row, name: string): string | undefined => (typeof row[name] === 'string' ? row[name] : undefined);
const texts = (row: Row, name: string): string[] =>
  Array.isArray(row[name]) ? row[name].filter((item) => typeof item === 'string') : [];
const isOurs = (row: Row): boolean => row['status'] === 'originated';

/** By prefix. */
function byPrefix(rows: readonly Row[]): Map<string, Row[]> {
  const map = new Map<string, Row[]>();
  for (const row of rows) {
    const prefix = text(row, 'prefix') ?? '';
    const list = map.get(prefix);
    if (list) list.push(row);
    else map.set(prefix, [row]);
  }
  return map;
}

const ORDER: readonly Arrival[] = ['absent', 'altered', 'without-attribute', 'not-used', 'another-path', 'used'];

export function compareWithRemote(own: BgpOverview, remote: BgpOverview): RemoteReport {
  const [paths, senders] = [byPrefix(remote.paths), byPrefix(remote.senders)];
  const there: There = {
    sameAs: own.session[0]?.['as'] === remote.session[0]?.['as'],
    neighbors: remote.peers
      .filter((peer) => peer['state'] === 'established')
      .map((peer) => text(peer, 'address') ?? ''),
  };
  const compared = own.paths.filter(isOurs).map((sent) => {
    const prefix = text(sent, 'prefix') ?? '';
    const found = compareOne(sent, paths.get(prefix) ?? [], senders.get(prefix) ?? [], there);
    return sent['best'] === false && found.arrival !== 'used'
      ? {
          ...found,
          why: NOT_BEST,
          remedy: `\`gobgp global rib ${prefix}\` here shows it: take that path out, or make it less preferred`,
        }
      : found;
  });
  return {
    doubts: doubts(own, remote),
    paths: compared.sort((a, b) => ORDER.indexOf(a.arrival) - ORDER.indexOf(b.arrival)),
  };
}

function doubts({ session: [own] }: BgpOverview, { session: [other] }: BgpOverview): RemoteReport['doubts'] {
  const found: { problem: string; remedy: string }[] = [];
  const say = (problem: string, remedy: string): void => void found.push({ problem, remedy });
  if (!own) say('this router has no BGP carrier: it has sent nothing', 'add a bgp section to cnpd.yaml');
  else if (own['state'] !== 'ready')
    say(
      `this router's gobgpd is not ready (${String(own['reason'])}): what it holds is not known`,
      '`cnpctl doctor`, without --remote',
    );
  else if (text(own, 'refusal') !== undefined)
    say(
      `this router's gobgpd does not take its paths (${String(own['refusal'])})`,
      '`cnpctl doctor`, without --remote',
    );
  else if (Number(own['dropped'] ?? 0) > 0)
    say(
      `this router's gobgpd took ${String(own['dropped'])} of ${String(own['wanted'])} paths and does not have them`,
      '`cnpctl doctor`, without --remote',
    );
  else if (own['originated'] !== own['wanted'])
    say(
      `${String(own['originated'])} of ${String(own['wanted'])} paths are in this router's gobgpd so far`,
      'ask again in a moment',
    );
  if (!other) say('the other router has no BGP carrier: it hears nothing', 'add a bgp section to its cnpd.yaml');
  else if (other['state'] !== 'ready')
    say(
      `the other router's gobgpd is not ready (${String(other['reason'])}): what it says is old`,
      '`cnpctl doctor` there',
    );
  const routerId = own && text(own, 'router-id');
  if (routerId !== undefined && other && text(other, 'router-id') === routerId) {
    say(`both are the same gobgpd, router ID ${routerId}`, 'give --remote the answer of another router');
  }
  return found;
}

/** About the other end as a whole. */
interface There {
  readonly sameAs: boolean;
  /** Those that are established. */
  readonly neighbors: readonly string[];
}

const NOT_BEST = "this router's own gobgpd prefers another path of this prefix, and tells its neighbours of that one";

function compareOne(sent: Row, arrived: readonly Row[], senders: readonly Row[], there: There): Comparison {
  const nextHop = text(sent, 'next-hop') ?? '';
  const about = { prefix: text(sent, 'prefix') ?? '', nextHop };
  const ours = arrived
    .filter((row) => row['status'] !== 'originated' && isSentPath(sent, row))
    .sort((a, b) => rank(a, sent) - rank(b, sent))[0];
  if (ours) return { ...about, ...arrivedWith(text(ours, 'peer'), text(ours, 'next-hop')), ...judge(ours, sent) };
  const other = arrived.find((row) => row['status'] === 'used' || row['status'] === 'originated');
  if (other) {
    const whose =
      other['status'] === 'originated'
        ? 'the other router says itself that it is the proxy'
        : `another router's path counts there: proxy ${text(other, 'proxy') ?? 'none'}`;
    const remedy = 'where both are meant to be proxies of this prefix, nothing; else declare the prefix on one router';
    return {
      ...about,
      arrival: 'another-path',
      ...arrivedWith(text(other, 'peer'), text(other, 'next-hop')),
      why: whose,
      remedy,
    };
  }
  const bare = senders.find((row) => text(row, 'originator') === nextHop) ?? senders[0] ?? arrived[0];
  if (bare) return withoutAttribute(about, bare, there.neighbors);
  return {
    ...about,
    arrival: 'absent',
    why: 'the other gobgpd has no path of this prefix',
    remedy: there.sameAs ? ABSENT : `${ABSENT}; ${OTHER_AS}`,
  };
}

/** What did not change on the way is enough to know a path again. */
const isSentPath = (sent: Row, row: Row): boolean =>
  text(row, 'next-hop') === text(sent, 'next-hop') ||
  text(row, 'header-next-hop') === text(sent, 'next-hop') ||
  (sent['proxy'] !== undefined && row['proxy'] === sent['proxy']);
/** What is used comes first; of that, what does harm. */
const rank = (row: Row, sent: Row): number =>
  row['status'] === 'used' ? (isAltered(row, sent) ? 0 : 1) : row['best'] === true ? 2 : 3;

/**
 * Still about our next hop, and no longer what we say of it. A path with another next hop may be another router's own.
 */
const isAltered = (row: Row, sent: Row): boolean =>
  text(row, 'next-hop') === text(sent, 'next-hop') && difference(row, sent) !== undefined;

function difference(row: Row, sent: Row): Pick<Comparison, 'why' | 'remedy'> | undefined {
  const [proxy, ours] = [text(row, 'proxy'), text(sent, 'proxy')];
  if (proxy !== ours)
    return {
      why:
        `the other router uses the proxy ${proxy ?? 'none'}, this one sent ${ours ?? 'none'}: ` +
        'somebody on the way changed the attribute',
      remedy: ALTERED,
    };
  const [theirs, sids] = [texts(row, 'sids'), texts(sent, 'sids')];
  if (theirs.length === sids.length && theirs.every((sid) => sids.includes(sid))) return undefined;
  const why =
    `the other router has the SIDs ${theirs.join(', ') || 'none'} of it, ` +
    `this one sent ${sids.join(', ') || 'none'}`;
  return { why, remedy: `the same code-points.end-con-behavior in both cnpd.yaml; where that is so: ${ALTERED}` };
}

const arrivedWith = (
  toldBy: string | undefined,
  nextHop: string | undefined,
): Pick<Comparison, 'toldBy' | 'arrivedNextHop'> => ({
  ...(toldBy !== undefined && { toldBy }),
  ...(nextHop !== undefined && { arrivedNextHop: nextHop }),
});

const ABSENT =
  'look at each router between: `gobgp neighbor` and `show bgp summary` (is the address family negotiated?), ' +
  'then its filters';
const OTHER_AS =
  'the other router is in another AS: without bgp.domain in this cnpd.yaml, ' +
  'paths of cnpd have NO_EXPORT and stay in this AS';
const NEXT_HOP =
  'on the router that made itself the next hop: FRR `neighbor X attribute-unchanged next-hop` (iBGP: ' +
  'no `neighbor X next-hop-self`), BIRD `next hop keep`, gobgpd a policy with set-next-hop = "unchanged"; ' +
  'X is its neighbour on the way to there';
const ALTERED =
  'compare attribute 39 in `gobgp global rib PREFIX -j` here, in the table of each router between, and there: ' +
  'the first that has other bytes changes it, or has the path from somebody who may not send it';
const KEEP_ATTRIBUTE =
  'on each FRR between that knows the attribute: `neighbor X send-nexthop-characteristics`, X being its ' +
  'neighbour on the way to there; and no `neighbor X path-attribute discard 39` (or treat-as-withdraw) on any';

/** @returns what the other end made of a path whose attribute it has */
function judge(row: Row, sent: Row): Pick<Comparison, 'arrival' | 'why' | 'remedy'> {
  const [peer, nextHop] = [text(row, 'peer') ?? 'its neighbour', text(row, 'next-hop') ?? 'none'];
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
        `it arrives with next hop ${nextHop} and counts there: a router on the way has taken it over, ` +
        'or another one names the same proxy',
    };
  return verdict
    ? { arrival: 'not-used', ...verdict(row, peer, nextHop) }
    : { arrival: 'not-used', why: `status ${status}`, remedy: 'compare the versions of cnpd at both ends' };
}

const LINK_LOCAL = {
  why: 'its next hop is a link-local address: which router that is, nobody can tell from the attribute',
  remedy: 'a global address in bgp.next-hop, and on the way no router that puts its link-local address in place of it',
};

/** `arrival` where it is not `not-used`. */
type Verdict = (
  row: Row,
  peer: string,
  nextHop: string,
) => { readonly arrival?: 'altered'; readonly why: string; readonly remedy: string };

/** A row for each status, or it does not compile: what the other end reports has its reason here. */
const VERDICTS: Readonly<Record<Exclude<BgpPathState['status'], 'originated' | 'used'>, Verdict>> = {
  'next-hop-mismatch': (row, peer, nextHop) => {
    const header = text(row, 'header-next-hop');
    if (header === nextHop) return LINK_LOCAL;
    return {
      why:
        `${nextHop === peer ? `${peer} made itself the next hop` : `the next hop became ${nextHop} on the way`}; ` +
        `the attribute is still about ${header ?? 'another one'}`,
      remedy: NEXT_HOP,
    };
  },
  'family-mismatch': (_row, peer) => ({
    arrival: 'altered',
    why: `the attribute that ${peer} told is for another address family than the path's`,
    remedy: `look at ${peer}, then at the routers before it: one of them changes attribute 39`,
  }),
  'outside-domain': (row) => ({
    why: `its AS path (${text(row, 'as-path') ?? ''}) has an AS that is not of the other router's domain`,
    remedy: `if all of them are: bgp.domain: [${ases(text(row, 'as-path') ?? '').join(', ')}] in its cnpd.yaml`,
  }),
  'first-as-mismatch': (row, peer) => ({
    why:
      `its AS path (${text(row, 'as-path') ?? ''}) does not begin with the AS of ${peer}, ` +
      'which told the other router of it: such a path may be forged, and is not used',
    remedy:
      `let ${peer} put its own AS in front (a route server that leaves its AS out, ` +
      `FRR \`neighbor X attribute-unchanged as-path\`, has no place between routers of the domain), ` +
      'or let the other router hear of it from a router of this AS',
  }),
  malformed: (_row, peer) => ({
    arrival: 'altered',
    why: `the attribute that ${peer} told is malformed`,
    remedy: `look at ${peer}, then at the routers before it: one of them changes attribute 39`,
  }),
  'no-characteristic': (row) => {
    const unknown = Array.isArray(row['unknown']) ? row['unknown'].join(', ') : '';
    return unknown === ''
      ? {
          arrival: 'altered',
          why: 'the characteristic was taken out of the attribute on the way',
          remedy: KEEP_ATTRIBUTE,
        }
      : {
          why: `the other router does not know characteristic ${unknown}`,
          remedy: 'the same code-points.bgp-pnc-characteristic and bgp-private-characteristic in both cnpd.yaml',
        };
  },
  'no-proxy-address': () => ({
    arrival: 'altered',
    why: 'what the other router takes for the proxy has no usable address',
    remedy: `the same code-points.bgp-pnc-characteristic in both cnpd.yaml; where that is so: ${ALTERED}`,
  }),
  'no-senders': () => ({
    why: 'no sender can be in such a prefix: it has no proxy anywhere',
    remedy: 'take it out of proxy.senders',
  }),
};

/** Neighbour of a path that was originated at that gobgpd. */
const LOCAL = 'local';

const ases = (asPath: string): string[] => [...new Set(asPath.match(/\d+/g) ?? [])];

/**
 * A path that the learned table has and `show bgp paths` has not: it came without attribute 39. `source` names the
 * neighbour with `learn: all`. Else it is known when there is one only and the next hop is ours or its own: with
 * another next hop the path may be the other gobgpd's own.
 */
function withoutAttribute(
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
        'somebody has put a path of this prefix into the other gobgpd itself, ' +
        `with next hop ${arrivedNextHop ?? 'none'} and without attribute 39`,
      remedy: `${look} there shows it: take that path out, or make it less preferred`,
    };
  const who =
    toldBy ??
    `one of ${neighbors.join(', ') || 'its neighbours'}${changed ? ', or somebody at that gobgpd itself' : ''} ` +
      `(${look} there says which)`;
  const why =
    `${who} told of it without attribute 39${changed ? `, with next hop ${arrivedNextHop ?? 'none'}` : ''}: ` +
    `that, or a router before it, took the attribute out${changed ? ", or it is another router's path" : ''}`;
  return { ...common, why, remedy: changed ? `${KEEP_ATTRIBUTE}; ${NEXT_HOP}` : KEEP_ATTRIBUTE };
}
