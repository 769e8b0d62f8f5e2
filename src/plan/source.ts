// The source (LHCNP §5.6, FCNP §4): for which hosts behind this router it takes notifications, from whom, and where.
// It needs the Queue Pairs that the proxy's program learns (queue-pairs.ts). This router's own notifications arrive at
// the loopback interface, which reconcile adds to the list; their source, the loopback address, is accepted without
// being declared.
import type { Intent } from '../intent/intent.ts';
import type { SourceIntent } from '../intent/source.ts';
import { formatPrefix } from '../model/prefix.ts';
import type { DesiredState } from './desired.ts';
import { planEnforce } from './enforce.ts';
import { type Facts, forwardingProblems, missingFeatures } from './facts.ts';
import { onceEach } from './once-each.ts';
import { sourcesOf } from './proxy.ts';
import { portsOf } from './roce-ports.ts';
import type { SourcePlan } from './source-plan.ts';
import { burstOf, nanoseconds } from './token-bucket.ts';

const sendersOf = onceEach((senders: SourceIntent['senders']): SourcePlan['senders'] =>
  senders.map(({ prefix, action }) => ({ id: formatPrefix(prefix), prefix, action })),
);

/** Where nothing can be held the hosts hear of their notifications. */
const convertedOf = onceEach((senders: SourcePlan['senders']): SourcePlan['senders'] =>
  senders.map((sender) => (sender.action === 'enforce' ? { ...sender, action: 'convert' } : sender)),
);

/** Whether notifications for hosts are taken at all: without an interface none arrives. */
export const takesForHosts = ({ source }: Partial<Pick<DesiredState, 'source'>>): boolean =>
  source !== undefined && source.interfaces.length > 0;

export function planSource(intent: Intent, facts: Facts): Pick<DesiredState, 'source' | 'problems'> {
  const { source, codePoints } = intent;
  if (!source) return { problems: [] };
  const problems = missingFeatures('source', facts);
  if (problems.length > 0) return { problems };
  const links = portsOf(
    { feature: 'source', named: source.interfaces, does: 'notifications for hosts are taken' },
    intent,
    facts,
    problems,
  );
  problems.push(
    ...forwardingProblems(
      'source',
      source.senders.map(({ prefix }) => prefix.address.family),
      facts,
    ),
  );
  const enforce = planEnforce(intent, facts, problems);
  return {
    source: {
      ...(enforce && { enforce }),
      senders: enforce ? sendersOf(source.senders) : convertedOf(sendersOf(source.senders)),
      acceptFrom: sourcesOf(source.acceptFrom, intent),
      interfaces: links.map(({ name, ifindex }) => ({ id: name, interface: name, ifindex })),
      fastCnpOption: codePoints['fast-cnp-option'],
      fastCnpIoamOption: codePoints['fast-cnp-ioam-option'],
      icrc: source.icrc,
      longHaulIcmpv6Type: codePoints['long-haul-icmpv6-type'],
      perFlowIntervalNs: nanoseconds(source.perFlowIntervalMs),
      perSecond: source.perSecond,
      burst: burstOf(source.perSecond),
    },
    problems,
  };
}
