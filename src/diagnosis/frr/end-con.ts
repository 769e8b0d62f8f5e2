// The route to this router's SIDs: END.CON, and those for groups. cnpd's own IGP advertisement of the SID attracts no
// traffic (metric 0xFE000001 in IS-IS, unreachable in OSPFv3), so FRR must advertise a prefix that covers it (RFC 9352
// §7.1, RFC 9513 §7). frr-configs/srv6-pe.conf lets FRR advertise the SID's own kernel route. Any other prefix of FRR
// works as well: that of an interface, a static route, a range of an area. Only what FRR advertises counts, not why it
// does.
import { type IpAddress, formatAddress } from '../../model/address.ts';
import { type Prefix, formatPrefix, prefixContains } from '../../model/prefix.ts';
import type { FrrFacts } from '../../frr/frr-facts.ts';
import type { OspfFacts } from '../../frr/ospf-facts.ts';
import type { IsisInstanceConfig } from '../../frr/running-config.ts';
import type { Finding } from './finding.ts';

/** What arrives at SIDs. */
export type SidUse = 'notifications' | 'groups';

const USES: Readonly<Record<SidUse, readonly [sids: string, lost: string]>> = {
  notifications: ['END.CON', 'notifications to it are lost'],
  groups: ['the SIDs for groups', 'packets of groups do not arrive here'],
};

export interface EndConExpectation {
  readonly sid: IpAddress;
  readonly locator: Prefix;
}

/** Does not apply to a router without SIDs for groups. */
export const hasGroupSids = ({ groupSids }: { readonly groupSids?: readonly EndConExpectation[] }): boolean =>
  (groupSids?.length ?? 0) > 0;
/** Does not apply to a router without END.CON SIDs. */
export const hasEndCon = ({ endCon }: { readonly endCon?: readonly EndConExpectation[] }): boolean =>
  (endCon?.length ?? 0) > 0;

/** A prefix with a higher metric is not used for routing (RFC 5305 §4). */
const MAX_PATH_METRIC = 0xfe000000;
/** A default route covers everything and proves nothing about the SID. */
const isDefault = ({ length }: Prefix): boolean => length === 0;

/**
 * SIDs to which FRR's IS-IS advertises no route, and will advertise none once cnpd has installed theirs. The remedy is
 * only reported: redistribution is the operator's decision.
 */
export function wayToEndCon(
  desired: readonly EndConExpectation[],
  facts: FrrFacts,
  instance: IsisInstanceConfig,
  levels: readonly (1 | 2)[],
  use: SidUse = 'notifications',
): Finding | undefined {
  if (levels.some((level) => instance.kernelRoutesInto.includes(level))) return undefined;
  const advertised = (facts.advertised ?? [])
    .filter(({ metric }) => metric <= MAX_PATH_METRIC)
    .map(({ prefix }) => prefix);
  return lost(
    desired,
    advertised,
    `router isis ${instance.tag}`,
    levels.map((level) => `redistribute ipv6 kernel level-${level} route-map end-con`),
    use,
  );
}

/** The same for ospf6d. @param instance lines of `router ospf6` */
export function wayToEndConInOspf(
  desired: readonly EndConExpectation[],
  { advertised }: OspfFacts,
  instance: readonly string[],
  use: SidUse = 'notifications',
): Finding | undefined {
  if (instance.some((line) => /^redistribute kernel\b/.test(line))) return undefined;
  return lost(desired, advertised ?? [], 'router ospf6', ['redistribute kernel route-map end-con'], use);
}

function lost(
  desired: readonly EndConExpectation[],
  advertised: readonly Prefix[],
  context: string,
  lines: readonly string[],
  use: SidUse,
): Finding | undefined {
  const unreached = desired.filter(
    ({ sid }) => !advertised.some((prefix) => !isDefault(prefix) && prefixContains(prefix, sid)),
  );
  if (unreached.length === 0) return undefined;
  const permits = [...new Set(unreached.map(({ locator }) => formatPrefix(locator)))].map(
    (locator) => `-c 'ipv6 prefix-list end-con permit ${locator} ge 128'`,
  );
  const [sids, consequence] = USES[use];
  const filter = "-c 'route-map end-con permit 10' -c 'match ipv6 address prefix-list end-con' -c 'exit'";
  return {
    code: 'end-con-unreached',
    problem:
      `FRR advertises no route to ${sids} ${unreached.map(({ sid }) => formatAddress(sid)).join(', ')}, ` +
      `so ${consequence}`,
    remedy:
      `vtysh -c 'configure terminal' ${permits.join(' ')} ${filter} -c '${context}' ` +
      `${lines.map((line) => `-c '${line}'`).join(' ')}`,
  };
}
