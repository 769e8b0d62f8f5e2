// Queue Pair learning on a congested node (decision L1): a Long-haul CNP names the sender's Queue Pair, which no data
// packet contains. The proxy's program watches the connections of these senders. If this router is not a proxy, the
// program accepts no notices.
import type { Intent } from '../intent/intent.ts';
import { formatPrefix } from '../model/prefix.ts';
import type { DesiredState } from './desired.ts';
import { type Facts, borderMissing, missingFeatures, roceLinks } from './facts.ts';
import { isLongHaul } from './long-haul-cnp.ts';
import { notifies } from './policy.ts';

export function planQueuePairs(intent: Intent, facts: Facts): Pick<DesiredState, 'queuePairs' | 'problems'> {
  const policies = notifies(intent)
    ? (intent.notifications?.senders ?? []).filter(({ order }) => order.some(isLongHaul))
    : [];
  if (policies.length === 0) return { problems: [] };
  const problems = missingFeatures('notifications', facts);
  if (problems.length > 0) return { problems };
  const interfaces = roceLinks(facts, intent).map(({ name, ifindex }) => ({ id: name, interface: name, ifindex }));
  const uncertain = borderMissing('notifications', 'Queue Pairs for Long-haul CNPs are learned', facts, intent);
  if (interfaces.length === 0 && uncertain.length > 0) return { problems: uncertain };
  if (interfaces.length === 0) {
    const problem = 'there is no Ethernet-like interface on which to learn the Queue Pairs that Long-haul CNPs need';
    return {
      problems: [
        {
          code: 'queue-pairs.no-interface',
          feature: 'notifications',
          problem,
          remedy: 'create the interfaces that carry RoCEv2; cnpd notices when they appear',
        },
      ],
    };
  }
  return {
    queuePairs: { senders: policies.map(({ prefix }) => ({ id: formatPrefix(prefix), prefix })), interfaces },
    problems: uncertain,
  };
}
