// The provider edge (FCN §4.2): this router's END.CON SIDs, which tunnels have which of them as outer source, and the
// local SIDs where tunnels end. At these, ECN is merged by RFC 6040, whoever configured them. Encapsulation itself is
// done by the kernel or its routing daemon.
import type { EndConIntent, Intent, Srv6Intent } from '../intent/intent.ts';
import { type Family, type IpAddress, formatAddress, isLinkLocal, sameAddress } from '../model/address.ts';
import type { AdvertisementOf } from '../model/advertisement.ts';
import { type Prefix, formatPrefix, prefix } from '../model/prefix.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState } from './desired.ts';
import { type Facts, type LinkFact, findLink, forwardingProblems, interfaceMissing, missingFeatures } from './facts.ts';
import type { DecapsulationBehavior, DecapsulationSidPlan, Srv6Plan, TunnelSourcePlan } from './srv6-plan.ts';

const SID_BITS = 128;
const MAIN = 254;
const ALL_SENDERS = [prefix('::/0'), prefix('0.0.0.0/0')] as const;

/** Families of the inner packets, by behavior. */
const FAMILIES: Readonly<Record<DecapsulationBehavior, readonly Family[]>> = {
  'end-con': [6, 4],
  'end.dt46': [6, 4],
  'end.dt6': [6],
  'end.dx6': [6],
  'end.dt4': [4],
  'end.dx4': [4],
};

/** The SIDs that carriers advertise for this router: END.CON (FCN-4.2.2-a), End.MT and replication. */
export function sidAdvertisements({ srv6, codePoints }: Intent): AdvertisementOf<'sid'>[] {
  const { endCon = [], endMt, replication } = srv6 ?? {};
  return [
    ...endCon.map((entry) => ({ ...entry, behavior: codePoints['end-con-behavior'] })),
    ...(endMt ? [{ ...endMt, behavior: codePoints['end-mt-behavior'] }] : []),
    ...(replication ? [{ ...replication, behavior: codePoints['replication-behavior'] }] : []),
  ].map(({ sid, locator, behavior }) => ({ kind: 'sid', sid, locator, behavior }));
}

export interface Srv6Share extends Pick<DesiredState, 'srv6' | 'problems'> {
  /** As declared; they also identify tenants (tenants.ts). Absent: nothing is planned. */
  readonly tunnelSources?: readonly DeclaredSource[];
}

/** Which outer source a tunnel gets, by ingress interface (0: any) and inner source (null: any of both families). */
export interface DeclaredSource extends Omit<TunnelSourcePlan, 'sender'> {
  readonly sender: Prefix | null;
}

/** @param sharedIngress whether the proxy's program inspects arriving packets, to learn Queue Pairs */
export function planSrv6(intent: Intent, facts: Facts, sharedIngress: boolean): Srv6Share {
  const { srv6 } = intent;
  if (!srv6) return { problems: [] };
  const problems = missingFeatures('srv6', facts);
  if (problems.length > 0) return { problems };
  const links = corePorts(srv6, facts, problems);
  problems.push(
    ...addressProblems(srv6, facts),
    ...tunnelSourceProblems(intent, facts),
    ...shortSidProblems(facts),
    ...forwardingProblems('srv6', [6], facts),
  );
  if (links.length === 0) return { problems };
  const isInstalled = (sid: IpAddress): boolean =>
    (facts.seg6Local ?? []).some((found) => found.length === SID_BITS && sameAddress(found.sid, sid));
  const endCon = srv6.endCon.map(({ sid, table }) => ({
    id: formatAddress(sid),
    sid,
    table,
    installed: isInstalled(sid),
  }));
  const declared = srv6.endCon.flatMap((entry) => tunnelSources(entry, facts, problems));
  const plan: Srv6Plan = {
    endCon,
    decapsulation: decapsulationSids(srv6, facts),
    ...sourceRows(declared),
    localSources: localSources(intent, facts).map((address) => ({ id: formatAddress(address), address })),
    corePorts: links.map(({ name, ifindex }) => ({ id: name, interface: name, ifindex })),
    routeIfindex: (links.find((link) => link.up) ?? links[0]!).ifindex,
    ecnMode: srv6.ecnMode,
    dscp:
      srv6.dscpModel.kind === 'uniform'
        ? { kind: 'uniform' }
        : { kind: 'pipe', outerDscp: srv6.dscpModel.outerDscp ?? null },
    sharedIngress,
  };
  return { srv6: plan, tunnelSources: declared, problems };
}

function corePorts(srv6: Srv6Intent, facts: Facts, problems: Problem[]): LinkFact[] {
  return srv6.corePorts.flatMap((name) => {
    const link = findLink(facts, name);
    if (link?.etherLike) return [link];
    const problem = `${name} has no Ethernet header, which the programs at core ports require`;
    problems.push(
      link
        ? { code: 'srv6.not-ethernet', feature: 'srv6', problem, remedy: `remove ${name} from srv6.core-ports` }
        : interfaceMissing('srv6.core-ports', name),
    );
    return [];
  });
}

/** This router's END.CON SIDs, and other SIDs in the kernel that decapsulate. */
function decapsulationSids(srv6: Srv6Intent, facts: Facts): DecapsulationSidPlan[] {
  const own = srv6.endCon.map(({ sid, table }) => ({
    id: formatAddress(sid),
    sid,
    behavior: 'end-con' as const,
    families: FAMILIES['end-con'],
    // For the main table the usual rules apply. Behind another program's SID the lookup is in its one table, as in the
    // kernel.
    table: table === MAIN ? 0 : table,
  }));
  const others = (facts.seg6Local ?? [])
    .filter(({ sid, length }) => length === SID_BITS && !srv6.endCon.some((entry) => sameAddress(entry.sid, sid)))
    .map(({ sid, behavior, table }) => ({
      id: formatAddress(sid),
      sid,
      behavior,
      families: FAMILIES[behavior],
      table,
    }));
  return [...own, ...new Map(others.map((plan) => [plan.id, plan])).values()];
}

function tunnelSources(
  { sid, interfaces, senders }: EndConIntent,
  facts: Facts,
  problems: Problem[],
): DeclaredSource[] {
  const ports =
    interfaces.length === 0
      ? [{ name: 'any interface', ifindex: 0 }]
      : interfaces.flatMap((name) => {
          const link = findLink(facts, name);
          if (!link) problems.push(interfaceMissing('srv6.end-con.interfaces', name));
          return link ? [link] : [];
        });
  const prefixes = senders.length === 0 ? [null] : senders;
  return ports.flatMap(({ name, ifindex }) =>
    prefixes.map((sender) => ({
      id: `${name}, ${sender ? formatPrefix(sender) : 'any sender'}`,
      ingressIfindex: ifindex,
      sender,
      sid,
    })),
  );
}

/**
 * Rows of the longest-match table. A source for all tunnels needs no row. A declared prefix overrides "any sender" if
 * both give the same row.
 */
export function sourceRows(declared: readonly DeclaredSource[]): Pick<Srv6Plan, 'defaultSource' | 'tunnelSources'> {
  const rows = new Map<string, TunnelSourcePlan>();
  let defaultSource: IpAddress | null = null;
  const anySenderFirst = [...declared].sort((a, b) => Number(a.sender !== null) - Number(b.sender !== null));
  for (const { ingressIfindex, sender, sid } of anySenderFirst) {
    if (ingressIfindex === 0 && sender === null) defaultSource = sid;
    else
      for (const each of sender ? [sender] : ALL_SENDERS) {
        const id = rowId(ingressIfindex, each);
        rows.set(id, { id, ingressIfindex, sender: each, sid });
      }
  }
  return { defaultSource, tunnelSources: [...rows.values()] };
}

const rowId = (ingressIfindex: number, { address, length }: Prefix): string =>
  `${ingressIfindex} ${address.family} ${address.value}/${length}`;

/**
 * The kernel's source of tunnels is an address of the router, or that of `ip sr tunsrc`, which may be one of cnpd's
 * SIDs.
 */
function localSources(intent: Intent, facts: Facts): IpAddress[] {
  const { loopback6 } = intent.router;
  const addresses = [
    ...(facts.addresses ?? []),
    ...(loopback6 ? [loopback6] : []),
    ...intent.srv6!.endCon.map((entry) => entry.sid),
  ];
  return [
    ...new Map(addresses.filter((a) => a.family === 6 && !isLinkLocal(a)).map((a) => [formatAddress(a), a])).values(),
  ];
}

/**
 * A tunnel source that is not an address of this router could also belong to a transit tunnel. So it is not replaced,
 * and congested nodes find no END.CON in it.
 */
function tunnelSourceProblems(intent: Intent, facts: Facts): Problem[] {
  const source = facts.tunnelSource;
  if (!source || !facts.addresses || localSources(intent, facts).some((own) => sameAddress(own, source))) return [];
  const [endCon] = intent.srv6!.endCon;
  return [
    {
      code: 'srv6.tunnel-source-not-own',
      feature: 'srv6',
      problem:
        `the kernel gives SRv6 tunnels the source ${formatAddress(source)} (\`ip sr tunsrc\`), which is not an ` +
        'address of this router: END.CON does not replace it, and no sender in them is notified',
      remedy: `\`ip sr tunsrc set ${endCon ? formatAddress(endCon.sid) : '::'}\`, or give the router that address`,
    },
  ];
}

function addressProblems({ endCon }: Srv6Intent, facts: Facts): Problem[] {
  return endCon
    .filter(({ sid }) => facts.addresses?.some((own) => sameAddress(own, sid)))
    .map(({ sid }) => ({
      code: 'srv6.sid-is-address',
      feature: 'srv6',
      problem:
        `${formatAddress(sid)} is END.CON and an address of this router: packets to it would be delivered, ` +
        'not decapsulated',
      remedy: `remove the address, or choose another SID under srv6.end-con`,
    }));
}

function shortSidProblems(facts: Facts): Problem[] {
  return (facts.seg6Local ?? [])
    .filter(({ length }) => length !== SID_BITS)
    .map(({ sid, length, behavior }) => ({
      code: 'srv6.sid-not-host-route',
      feature: 'srv6',
      problem:
        `the SID ${formatAddress(sid)}/${length} (${behavior}) is not a host route: ` +
        'congestion marks are lost in its tunnels',
      remedy: `configure it as ${formatAddress(sid)}/${SID_BITS}`,
    }));
}
