// Which of this router's ports may teach what (bpf/lib/port-roles.h): a source behind a next hop is believed at any port of the core, for routing there is asymmetric
// and ECMP takes turns. The core's ports are those with a route through a gateway, or those that the operator names; never a border port. Ports of one bridge or
// bond are one.
import type { Intent } from '../intent/intent.ts';
import type { DesiredState, LearningPlan } from './desired.ts';
import { type Facts, roceLinks } from './facts.ts';
import { nanoseconds } from './token-bucket.ts';

export function planLearning(intent: Intent, facts: Facts): Pick<DesiredState, 'learning'> {
  const { reversePathCheck } = intent.router;
  return { learning: { ageingNs: nanoseconds(intent.queuePairs.ageingMs), reversePathCheck, ports: portRoles(intent, facts) } };
}

/** As many as the program's map holds (PORT_SHARES of them have a share of their own); more is no router. */
const MAX_ROLES = 4096;

function portRoles(intent: Intent, facts: Facts): LearningPlan['ports'] {
  const named = intent.router.corePorts && new Set(intent.router.corePorts);
  const border = new Set(intent.borderPorts);
  const learning = new Set([...roceLinks(facts, intent).map(({ name }) => name), ...(intent.proxy?.interfaces ?? [])]);
  const isCore = (name: string, ifindex: number): boolean => !border.has(name) && (named ? named.has(name) : (facts.gatewayPorts?.has(ifindex) ?? false));
  return facts.links
    .filter(({ name, ifindex, master }) => learning.has(name) || isCore(name, ifindex) || master !== undefined)
    .slice(0, MAX_ROLES)
    .map(({ name, ifindex, master }, share) => ({ id: name, ifindex, link: master ?? ifindex, isCore: isCore(name, ifindex), share }));
}
