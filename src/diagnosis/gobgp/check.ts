// The checks of `cnpctl doctor` on the gobgpd of the intent: whether it answers, its API and identity, and whether the
// address families that this intent needs are negotiated with a neighbor.
import { type Domain, withDomain } from '../../carriers/bgp/learning/domain.ts';
import { type GobgpAnswer, askGobgp } from '../../carriers/bgp/gobgp/ask.edge.ts';
import type { BgpIntent, Intent } from '../../intent/intent.ts';
import type { Family } from '../../model/address.ts';
import type { BgpPeerState } from '../../model/carrier-state.ts';
import type { Check } from '../../model/problem.ts';
import { asksForProxies } from '../../plan/policy.ts';
import { gobgpRemedy } from './remedies.ts';

/** Never rejects: a failed query is one of the checks. @returns none without a `bgp` section */
export async function examineGobgp(intent: Intent): Promise<Check[]> {
  return intent.bgp ? checkGobgp(intent, intent.bgp, await askGobgp(intent.bgp.gobgp)) : [];
}

export function checkGobgp(
  intent: Intent,
  { gobgp, domain, confederation, policy }: BgpIntent,
  answer: GobgpAnswer,
): Check[] {
  const how = gobgp.tls ? ' with TLS' : '';
  if ('fault' in answer) {
    const { code, reason } = answer.fault;
    return [
      {
        id: 'gobgp',
        claim: `gobgpd answers at ${gobgp.target}`,
        state: 'missing',
        problem: `gobgpd cannot be used at ${gobgp.target}${how} (${reason})`,
        remedy: gobgpRemedy(gobgp.target, code),
      },
    ];
  }
  const { about, peers, policies } = answer;
  const established = peers.filter((peer) => peer.state === 'established');
  return [
    {
      id: 'gobgp',
      claim: `gobgpd answers at ${gobgp.target}${how}: API ${about.api}, AS ${about.as}, router ID ${about.routerId}`,
      state: 'ok',
    },
    checkNeighbors(peers, established),
    ...checkFamilies(intent, established),
    ...checkDomain(
      peers,
      { ownAs: about.as, domain: new Set(domain), members: new Set(confederation) },
      policy ? policies : 'off',
    ),
  ];
}

function checkNeighbors(peers: readonly BgpPeerState[], established: readonly BgpPeerState[]): Check {
  const id = 'gobgp.neighbors';
  if (established.length > 0)
    return {
      id,
      claim:
        'gobgpd has established neighbors: ' +
        `${established.map(({ address, as }) => `${address} (AS ${as})`).join(', ')}`,
      state: 'ok',
    };
  const claim = 'gobgpd has an established BGP neighbor';
  if (peers.length === 0)
    return {
      id,
      claim,
      state: 'missing',
      problem: "gobgpd has no BGP neighbor: no router receives cnpd's paths",
      remedy: 'gobgp neighbor add ADDRESS as AS, or [[neighbors]] in its configuration',
    };
  const states = peers.map(({ address, state }) => `${address} is ${state}`).join(', ');
  return {
    id,
    claim,
    state: 'missing',
    problem: `none of gobgpd's neighbors is established: ${states}`,
    remedy: 'gobgp neighbor ADDRESS, and `show bgp neighbors` at the other end, show why',
  };
}

/** gobgpd ignores NO_EXPORT: with or without a domain, only a policy keeps cnpd's paths from neighbors outside. */
function checkDomain(
  peers: readonly BgpPeerState[],
  domain: Domain,
  policies: 'in force' | 'not in force' | 'unknown' | 'off',
): Check[] {
  const id = 'gobgp.domain';
  const outside = peers.filter((peer) => withDomain(peer, domain).inDomain === false);
  if (outside.length === 0)
    return domain.domain.size > 0 ? [{ id, claim: "gobgpd's neighbors are of the domain", state: 'ok' }] : [];
  const names = outside.map(({ address, as }) => `neighbor ${address}, AS ${as},`).join(' and ');
  const are = outside.length > 1 ? 'are' : 'is';
  const claim = `cnpd's policies keep its paths from neighbors outside the domain: ${names.slice(0, -1)}`;
  if (policies === 'in force') return [{ id, claim, state: 'ok' }];
  const ases = [...new Set(outside.map(({ as }) => as))].join(', ');
  const inside =
    `if it is of the domain, add ${ases} to bgp.domain in cnpd.yaml (bgp.confederation, ` +
    "for members of gobgpd's confederation)";
  if (policies !== 'off') {
    const stand =
      policies === 'unknown' ? 'may be missing in gobgpd, which does not report them' : 'are missing in gobgpd';
    const problem =
      `${names} ${are} not of the domain, and cnpd's policies ${stand}: ` +
      'a running cnpd installs them, and adds no path without them';
    return [
      {
        id,
        claim,
        state: 'warning',
        problem,
        remedy: `start cnpd, or see bgp in \`cnpctl show status\`; ${inside}`,
      },
    ];
  }
  const problem =
    `${names} ${are} not of the domain, and gets cnpd's paths with attribute 39, NO_EXPORT or not, ` +
    'unless a policy in gobgpd holds them back; ' +
    'routers of the domain that cannot see this use its attribute 39';
  return [
    {
      id,
      claim,
      state: 'warning',
      problem,
      remedy:
        `${inside}; else bgp.policy: on, or policies as in frr-configs/bgp-gobgpd.toml ("domain-only"), ` +
        'or nothing if those are installed',
    },
  ];
}

const familyName = (family: Family): string => `ipv${family}-unicast`;

/** A network may have only one family: the absence of the other is a fault only if the file names it. */
function checkFamilies(intent: Intent, established: readonly BgpPeerState[]): Check[] {
  const named = namedFamilies(intent);
  const checks = neededFamilies(intent).map((family) => ({
    ...checkFamily(family, established),
    named: named.includes(family),
  }));
  const some = checks.some(({ state }) => state === 'ok');
  return checks.map(({ named: must, ...check }) =>
    check.state === 'missing' && some && !must ? { ...check, state: 'warning' } : check,
  );
}

/** One neighbor with the family is enough: others may be there for the other family. */
function checkFamily(family: Family, established: readonly BgpPeerState[]): Check {
  const name = familyName(family);
  const [id, claim] = [`gobgp.${name}`, `${name} is negotiated with a neighbor`];
  if (established.length === 0) return { id, claim, state: 'unknown' };
  const have = established.filter((peer) => peer.families.includes(name)).map(({ address }) => address);
  const lack = established.filter((peer) => !peer.families.includes(name)).map(({ address }) => address);
  if (have.length > 0)
    return {
      id,
      claim: `${name} is negotiated with ${have.join(', ')}${lack.length > 0 ? `, not with ${lack.join(', ')}` : ''}`,
      state: 'ok',
    };
  const remedy =
    `at both ends: gobgpd [[neighbors.afi-safis]] with afi-safi-name = "${name}", ` +
    `FRR \`neighbor X activate\` in \`address-family ipv${family} unicast\``;
  return {
    id,
    claim,
    state: 'missing',
    problem: `${name} is negotiated with none of ${lack.join(', ')}, and this cnpd.yaml needs it`,
    remedy,
  };
}

/** Those of `namedFamilies`; without `notifications` both, because then every sender is notified through its proxy. */
export const neededFamilies = (intent: Intent): Family[] =>
  asksForProxies(intent) && !intent.notifications ? [4, 6] : namedFamilies(intent);

/**
 * Families of the advertised sender prefixes and host routes, and of the senders that are notified through proxies, if
 * the file names them. A family for which BGP has no next hop is not advertised; the daemon reports that.
 */
function namedFamilies({ bgp, proxy, srv6, stamp, notifications, ports }: Intent): Family[] {
  const nextHops = [bgp?.nextHop4, bgp?.nextHop6].flatMap((address) => (address ? [address.family] : []));
  const senders = (proxy?.senders ?? [])
    .map(({ prefix }) => prefix.address.family)
    .filter((family) => nextHops.includes(family));
  const hosts = srv6?.endCon.length || stamp?.reflector ? nextHops : [];
  const viaProxy =
    ports.length > 0
      ? (notifications?.senders ?? [])
          .filter(({ order }) => order.includes('proxy'))
          .map(({ prefix }) => prefix.address.family)
      : [];
  return [...new Set([...senders, ...hosts, ...viaProxy])].sort((a, b) => a - b);
}
