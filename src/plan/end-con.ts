// The provider edge (FCN §4.2): which SIDs are END.CON here, which tunnels have which of them as outer source, and at
// which local SIDs tunnels end, so that their congestion field is right whoever configured them (RFC 6040).
// Encapsulation itself is the kernel's or its routing daemon's.
import type { EndConIntent, Intent, Srv6Intent } from '../intent/intent.ts';
import { type IpAddress, formatAddress, isLinkLocal, sameAddress } from '../model/address.ts';
import type { AdvertisementOf } from '../model/advertisement.ts';
import { formatPrefix } from '../model/prefix.ts';
import type { Problem } from '../model/problem.ts';
import type { DecapsulationSidPlan, DesiredState, Srv6Plan, TunnelSourcePlan } from './desired.ts';
import { type Facts, type LinkFact, findLink, forwardingProblems, interfaceMissing, missingFeatures } from './facts.ts';

const SID_BITS = 128;

/** What carriers advertise for this router (FCN-4.2.2-a). */
export const sidAdvertisements = (intent: Intent): AdvertisementOf<'sid'>[] =>
  (intent.srv6?.endCon ?? []).map(({ sid, locator }) => ({
    kind: 'sid',
    sid,
    locator,
    behavior: intent.codePoints['end-con-behavior'],
  }));

export function planSrv6(intent: Intent, facts: Facts): Pick<DesiredState, 'srv6' | 'problems'> {
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
  const plan: Srv6Plan = {
    endCon,
    decapsulation: decapsulationSids(srv6, facts),
    tunnelSources: srv6.endCon.flatMap((entry) => tunnelSources(entry, facts, problems)),
    localSources: localSources(intent, facts).map((address) => ({ id: formatAddress(address), address })),
    corePorts: links.map(({ name, ifindex }) => ({ id: name, interface: name, ifindex })),
    routeIfindex: (links.find((link) => link.up) ?? links[0]!).ifindex,
    ecnMode: srv6.ecnMode,
    dscp:
      srv6.dscpModel.kind === 'uniform'
        ? { kind: 'uniform' }
        : { kind: 'pipe', outerDscp: srv6.dscpModel.outerDscp ?? null },
  };
  return { srv6: plan, problems };
}

function corePorts(srv6: Srv6Intent, facts: Facts, problems: Problem[]): LinkFact[] {
  return srv6.corePorts.flatMap((name) => {
    const link = findLink(facts, name);
    if (link?.etherLike) return [link];
    const problem = `${name} has no Ethernet header, which the programs at core ports need`;
    problems.push(
      link
        ? { code: 'srv6.not-ethernet', feature: 'srv6', problem, remedy: `take ${name} out of srv6.core-ports` }
        : interfaceMissing('srv6.core-ports', name),
    );
    return [];
  });
}

/** Ours, and those that the kernel has besides. */
function decapsulationSids(srv6: Srv6Intent, facts: Facts): DecapsulationSidPlan[] {
  const own = srv6.endCon.map(({ sid, table }) => ({
    id: formatAddress(sid),
    sid,
    behavior: 'end-con' as const,
    table,
  }));
  const others = (facts.seg6Local ?? [])
    .filter(({ sid, length }) => length === SID_BITS && !srv6.endCon.some((entry) => sameAddress(entry.sid, sid)))
    .map(({ sid, behavior, table }) => ({ id: formatAddress(sid), sid, behavior, table }));
  return [...own, ...new Map(others.map((plan) => [plan.id, plan])).values()];
}

function tunnelSources(
  { sid, interfaces, senders }: EndConIntent,
  facts: Facts,
  problems: Problem[],
): TunnelSourcePlan[] {
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

/** The kernel takes one of the router's addresses, or what `ip sr tunsrc` says, which may be one of cnpd's SIDs. */
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
 * Of another source nobody knows that it is this router's: a tunnel that only passes through may have it as well. So it
 * is not replaced, and congested nodes find no END.CON in it.
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
        `the kernel gives SRv6 tunnels the source ${formatAddress(source)} (\`ip sr tunsrc\`), which is no ` +
        'address of this router: END.CON does not take its place, and nobody in them is told of congestion',
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
        `the SID ${formatAddress(sid)}/${length} (${behavior}) is no host route: ` +
        'congestion marks get lost in its tunnels',
      remedy: `configure it as ${formatAddress(sid)}/${SID_BITS}`,
    }));
}
