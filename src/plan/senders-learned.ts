// Learned facts about notifying senders: END.CON SIDs, to which a notification may be encapsulated (FCN-4.2.2-d), and
// hosts that do not understand a format (FCNP §4; decision B6).
import type { Intent } from '../intent/intent.ts';
import type { HostCapability } from '../learned/capabilities.ts';
import { type IpAddress, formatAddress } from '../model/address.ts';
import type { EndConSidPlan, SenderCapabilityPlan } from './desired.ts';
import { notifiesDirectly } from './policy.ts';

/** An absent member: nothing is known. */
export interface LearnedAboutSenders {
  /** The END.CON SIDs of other routers that are in force. */
  readonly routers?: { sidsOf(behavior: number): Iterable<{ readonly sid: IpAddress }> };
  readonly capabilities?: { entries(): Iterable<HostCapability> };
}

/**
 * Every END.CON SID of the domain, including this router's. A congested node sends to no other outer source (decision
 * E7; it may be inside its own tunnels). A border guard drops packets from outside to them.
 */
export const planEndConSids = (intent: Intent, sids: readonly EndConSidPlan[]): readonly EndConSidPlan[] =>
  notifiesDirectly(intent) || intent.borderPorts.length > 0 ? sids : [];

export function planCapabilities(intent: Intent, { capabilities }: LearnedAboutSenders): SenderCapabilityPlan[] {
  if (!notifiesDirectly(intent)) return [];
  return [...(capabilities?.entries() ?? [])].map(({ host, lacks }) => ({ id: formatAddress(host), host, lacks }));
}
