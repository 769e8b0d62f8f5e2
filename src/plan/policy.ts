// The formats for each sender (LHCNP-6-b, LHCNP-8-e, FCNP §4): the longest-match table of the senders' policies.
import type { Intent } from '../intent/intent.ts';
import type { NotificationsIntent } from '../intent/notifications.ts';
import { formatPrefix, prefix } from '../model/prefix.ts';
import type { SenderPolicyPlan } from './desired.ts';
import { onceEach } from './once-each.ts';

/** Without `notifications` every sender is notified through its proxy, if it has one. */
const THROUGH_PROXIES: readonly SenderPolicyPlan[] = ['0.0.0.0/0', '::/0'].map((all) => ({
  id: all,
  prefix: prefix(all),
  order: ['proxy'],
  markCeWithFastCnp: false,
}));

/** Whether this router sends notifications at all. */
export const notifies = (intent: Intent): boolean => intent.ports.some((port) => port['k-max'] !== undefined);

/** Whether this router notifies through proxies. */
export const asksForProxies = (intent: Intent): boolean =>
  notifies(intent) &&
  (!intent.notifications || intent.notifications.senders.some(({ order }) => order.includes('proxy')));

/** Whether what senders understand is taken from advertisements. */
const believesAdvertised = (intent: Intent): boolean =>
  notifies(intent) && (intent.notifications?.senders ?? []).some(({ supports }) => supports === 'advertised');

/** Whether this router uses what is learned about the prefixes of senders. If not, their table stays empty. */
export const asksAboutSenders = (intent: Intent): boolean => asksForProxies(intent) || believesAdvertised(intent);

/** Whether any sender is notified directly, not through a proxy alone. */
export const notifiesDirectly = (intent: Intent): boolean =>
  notifies(intent) &&
  (intent.notifications?.senders ?? []).some(({ order }) => order.some((format) => format !== 'proxy'));

/** Senders that no entry covers are not notified. */
export function planPolicies(intent: Intent): readonly SenderPolicyPlan[] {
  if (!notifies(intent)) return [];
  if (!intent.notifications) return THROUGH_PROXIES;
  return policiesOf(intent.notifications.senders);
}

const policiesOf = onceEach((senders: NotificationsIntent['senders']): readonly SenderPolicyPlan[] =>
  senders.map(({ prefix, supports, order, markCeWithFastCnp }) => ({
    id: formatPrefix(prefix),
    prefix,
    order,
    markCeWithFastCnp,
    ...(supports === 'advertised' && { onlyAdvertised: true }),
  })),
);
