// Queue Pair learning on a router that is not a proxy. A congested node needs it (decision L1): a Long-haul CNP names
// the sender's Queue Pair, which no data packet contains. A source needs it too: it finds the connection of a
// notification. The proxy's program watches the connections of these senders, and accepts no notices.
import type { Intent } from '../intent/intent.ts';
import type { NotificationsIntent } from '../intent/notifications.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import type { DesiredState, QueuePairsPlan } from './desired.ts';
import { type Facts, borderMissing, missingFeatures, roceLinks } from './facts.ts';
import { isLongHaul } from './long-haul-cnp.ts';
import { onceEach } from './once-each.ts';
import { notifies } from './policy.ts';

/** In the texts of problems. */
const FOR_LONG_HAUL_CNPS = {
  feature: 'notifications',
  what: 'Queue Pairs for Long-haul CNPs are learned',
  use: 'that Long-haul CNPs need',
} as const;
const FOR_SENDERS = { feature: 'source', what: 'Queue Pairs of senders are learned', use: 'of the senders' } as const;

type Senders = QueuePairsPlan['senders'];
const NOBODY: Senders = [];

/** Each prefix once. */
const prefixesOf = onceEach((senders: readonly { readonly prefix: Prefix }[]): Senders =>
  [...new Map(senders.map(({ prefix }) => [formatPrefix(prefix), prefix]))].map(([id, prefix]) => ({ id, prefix })),
);
const byLongHaul = onceEach((senders: NotificationsIntent['senders']) =>
  prefixesOf(senders.filter(({ order }) => order.some(isLongHaul))),
);

function together(some: Senders, others: Senders): Senders {
  if (some.length === 0) return others;
  return others.length === 0 ? some : [...new Map([...some, ...others].map((sender) => [sender.id, sender])).values()];
}

export function planQueuePairs(intent: Intent, facts: Facts): Pick<DesiredState, 'queuePairs' | 'problems'> {
  const byPolicies = notifies(intent) && intent.notifications ? byLongHaul(intent.notifications.senders) : NOBODY;
  const bySource = intent.source ? prefixesOf(intent.source.senders) : NOBODY;
  if (byPolicies.length + bySource.length === 0) return { problems: [] };
  const { feature, what, use } = byPolicies.length > 0 ? FOR_LONG_HAUL_CNPS : FOR_SENDERS;
  const problems = missingFeatures(feature, facts);
  if (problems.length > 0) return { problems };
  const interfaces = roceLinks(facts, intent).map(({ name, ifindex }) => ({ id: name, interface: name, ifindex }));
  const uncertain = borderMissing(feature, what, facts, intent);
  if (interfaces.length === 0 && uncertain.length > 0) return { problems: uncertain };
  if (interfaces.length === 0) {
    const problem = `there is no Ethernet-like interface on which to learn the Queue Pairs ${use}`;
    return {
      problems: [
        {
          code: 'queue-pairs.no-interface',
          feature,
          problem,
          remedy: 'create the interfaces that carry RoCEv2; cnpd notices when they appear',
        },
      ],
    };
  }
  return {
    queuePairs: {
      senders: together(byPolicies, bySource),
      interfaces,
    },
    problems: uncertain,
  };
}
