// Which of this cnpd's BGP paths arrive at another router, and in what state: what was sent, compared with the other's
// report (`cnpctl -o json show bgp` there). Neither end alone can see a neighbor that drops attribute 39
// (draft-ietf-idr-nhc; PNC §5.4). Pure.
import type { Row } from '../../model/state.ts';
import { type Doubt, doubtsOf } from './doubts.ts';
import { type BgpOverview, text } from './overview.ts';
import { type Arrival, type Comparison, arrivedWith, difference, judge, withoutAttribute } from './verdicts.ts';

export interface RemoteReport {
  /** Why the verdicts below cannot be trusted, each with its remedy. */
  readonly doubts: readonly Doubt[];
  /** By urgency: paths in use come last. */
  readonly paths: readonly Comparison[];
}

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
          remedy: `\`gobgp global rib ${prefix}\` here shows it: remove that path, or make it less preferred`,
        }
      : found;
  });
  return {
    doubts: doubtsOf(own, remote),
    paths: compared.sort((a, b) => ORDER.indexOf(a.arrival) - ORDER.indexOf(b.arrival)),
  };
}

/** About the other end as a whole. */
interface There {
  readonly sameAs: boolean;
  /** Its established neighbors. */
  readonly neighbors: readonly string[];
}

const NOT_BEST = "this router's own gobgpd prefers another path of this prefix and advertises that one";

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
        ? 'the other router declares itself the proxy'
        : `the other router uses another router's path: proxy ${text(other, 'proxy') ?? 'none'}`;
    const remedy = 'nothing, if both should be proxies of this prefix; otherwise declare the prefix on one router only';
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

/** A path is recognized by the fields that routers on the way do not change. */
const isSentPath = (sent: Row, row: Row): boolean =>
  text(row, 'next-hop') === text(sent, 'next-hop') ||
  text(row, 'header-next-hop') === text(sent, 'next-hop') ||
  (sent['proxy'] !== undefined && row['proxy'] === sent['proxy']);
/** Used paths come first; among these, the harmful ones. */
const rank = (row: Row, sent: Row): number =>
  row['status'] === 'used' ? (isAltered(row, sent) ? 0 : 1) : row['best'] === true ? 2 : 3;

/** Still about our next hop, but with other contents. A path with another next hop may belong to another router. */
const isAltered = (row: Row, sent: Row): boolean =>
  text(row, 'next-hop') === text(sent, 'next-hop') && difference(row, sent) !== undefined;

const ABSENT =
  'check each router in between: `gobgp neighbor` and `show bgp summary` (is the address family negotiated?), ' +
  'then its filters';
const OTHER_AS =
  'the other router is in another AS: without bgp.domain in this cnpd.yaml, ' +
  'paths of cnpd have NO_EXPORT and stay in this AS';
