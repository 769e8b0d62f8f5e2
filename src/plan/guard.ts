// The border guard (PNC §6): interfaces to outside the domain, at which notices are dropped in both directions. It needs neither a proxy nor a
// monitored port: a border router may be there for that alone.
import type { Intent } from '../intent/intent.ts';
import type { DesiredState } from './desired.ts';
import { type Facts, findLink, interfaceMissing, missingFeatures } from './facts.ts';

export function planGuard(intent: Intent, facts: Facts): Pick<DesiredState, 'guards' | 'problems'> {
  if (intent.borderPorts.length === 0) return { guards: [], problems: [] };
  const problems = missingFeatures('border-ports', facts);
  if (problems.length > 0) return { guards: [], problems };
  const guards = intent.borderPorts.flatMap((name) => {
    const link = findLink(facts, name);
    if (!link) problems.push(interfaceMissing('border-ports', name));
    return link ? [{ id: name, interface: name, ifindex: link.ifindex, udpPort: intent.codePoints['pnc-udp-port'] }] : [];
  });
  return { guards, problems };
}
