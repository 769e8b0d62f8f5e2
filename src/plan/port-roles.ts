// What the program may learn at which port (bpf/lib/proxy/port-roles.h). A source behind a next hop is accepted at any
// core port, since routing in the core is asymmetric and ECMP alternates. Core ports are those with a route through a
// gateway, or those that the operator names; never a border port. Ports of one bridge or bond count as one link. A VRF
// has ports too, but keeps them apart.
import type { Intent } from '../intent/intent.ts';
import type { DesiredState, LearningPlan } from './desired.ts';
import { type Facts, type LinkFact, roceLinks } from './facts.ts';
import { nanoseconds } from './token-bucket.ts';

export function planLearning(intent: Intent, facts: Facts): Pick<DesiredState, 'learning'> {
  const { reversePathCheck } = intent.router;
  return {
    learning: { ageingNs: nanoseconds(intent.queuePairs.ageingMs), reversePathCheck, ports: portRoles(intent, facts) },
  };
}

const JOINING: readonly string[] = ['bridge', 'bond', 'team'];

/** The outermost bridge or bond of a port, by index, or the port itself: a bond may be a port of a bridge. */
export function joined(links: readonly LinkFact[]): (link: LinkFact) => number {
  const byIndex = new Map(links.map((link) => [link.ifindex, link]));
  return (link) => {
    for (let depth = 0; depth < 8; depth++) {
      const master = byIndex.get(link.master ?? -1);
      if (!master || !JOINING.includes(master.kind ?? '')) break;
      link = master;
    }
    return link.ifindex;
  };
}

/** The size of the program's map (PORT_SHARES of the entries have separate shares). No router has more ports. */
const MAX_ROLES = 4096;

function portRoles(intent: Intent, facts: Facts): LearningPlan['ports'] {
  const named = intent.router.corePorts && new Set(intent.router.corePorts);
  const border = new Set(intent.borderPorts);
  const learning = new Set([...roceLinks(facts, intent).map(({ name }) => name), ...(intent.proxy?.interfaces ?? [])]);
  const isCore = (name: string, ifindex: number): boolean =>
    !border.has(name) && (named ? named.has(name) : (facts.gatewayPorts?.has(ifindex) ?? false));
  const linkOf = joined(facts.links);
  return facts.links
    .filter((link) => learning.has(link.name) || isCore(link.name, link.ifindex) || linkOf(link) !== link.ifindex)
    .slice(0, MAX_ROLES)
    .map((link, share) => ({
      id: link.name,
      ifindex: link.ifindex,
      link: linkOf(link),
      isCore: isCore(link.name, link.ifindex),
      share,
    }));
}
