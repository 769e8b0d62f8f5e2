// The border guard (PNC §6, FCNP §5, LHCNP §9). At interfaces to outside the domain, notifications of any format are
// dropped in both directions unless an allow-list permits them, and ARNs where this router has flow control. The guard
// needs neither a proxy nor a monitored port: a border router may run it alone.
import type { Intent } from '../intent/intent.ts';
import { formatPrefix } from '../model/prefix.ts';
import { formatAddress, mapKey } from '../model/address.ts';
import type { DesiredState, EndConSidPlan, GuardAllowPlan, GuardedAddressPlan } from './desired.ts';
import { type LearnedAboutGroups, addressesOfRouters, membershipOf } from './group-view.ts';
import { type Facts, findLink, interfaceMissing, missingFeatures } from './facts.ts';

export function planGuard(intent: Intent, facts: Facts): Pick<DesiredState, 'guards' | 'guardAllow' | 'problems'> {
  if (intent.borderPorts.length === 0) return { guards: [], problems: [] };
  const problems = missingFeatures('border-ports', facts);
  if (problems.length > 0) return { guards: [], problems };
  const { codePoints } = intent;
  const guards = intent.borderPorts.flatMap((name) => {
    const link = findLink(facts, name);
    if (!link) problems.push(interfaceMissing('border-ports', name));
    return link
      ? [
          {
            id: name,
            interface: name,
            ifindex: link.ifindex,
            udpPort: codePoints['pnc-udp-port'],
            fastCnpOption: codePoints['fast-cnp-option'],
            fastCnpIoamOption: codePoints['fast-cnp-ioam-option'],
            longHaulIcmpv6Type: codePoints['long-haul-icmpv6-type'],
            ...(intent.flowControl && { arnUdpPort: codePoints['arn-udp-port'] }),
          },
        ]
      : [];
  });
  return { guards, guardAllow: allowed(intent), problems };
}

/**
 * Packets to these come from inside the domain only: tunnels end there, routers make copies, and answers are counted.
 * Of Proxy Addresses those of groups that count: no member of a group, and no router, becomes unreachable because
 * a router claims its address for a group.
 * @param endCon END.CON SIDs of the domain
 */
export function planGuarded(
  intent: Intent,
  endCon: readonly EndConSidPlan[],
  learned: LearnedAboutGroups,
  facts: Pick<Facts, 'addresses'>,
): readonly GuardedAddressPlan[] {
  if (intent.borderPorts.length === 0) return [];
  const { srv6, groups = [], codePoints } = intent;
  const declared = new Set(groups.map(({ proxyAddress }) => mapKey(proxyAddress)));
  const { sids, members } = learned;
  const taken = addressesOfRouters(intent, learned, facts);
  const behaviors = new Set([codePoints['end-mt-behavior'], codePoints['replication-behavior']]);
  const all = [
    ...endCon.map(({ sid }) => sid),
    ...[srv6?.endMt, srv6?.replication].flatMap((own) => own?.sid ?? []),
    ...sids().flatMap(({ sid, behavior }) => (behaviors.has(behavior) ? [sid] : [])),
    ...[...membershipOf(groups, members()).groups.values()].flatMap(({ group, source }) =>
      (source || declared.has(mapKey(group))) && !taken.has(mapKey(group)) ? [group] : [],
    ),
  ];
  return [...new Map(all.map((address) => [mapKey(address), { id: formatAddress(address), address }])).values()];
}

const allowed = ({ borderAllow }: Intent): GuardAllowPlan[] =>
  (['inbound', 'outbound'] as const).flatMap((direction) =>
    (borderAllow?.[direction] ?? []).map((prefix) => ({
      id: `${direction} ${formatPrefix(prefix)}`,
      direction,
      prefix,
    })),
  );
