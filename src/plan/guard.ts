// The border guard (PNC §6, FCNP §5, LHCNP §9). At interfaces to outside the domain, notifications of any format are
// dropped in both directions unless an allow-list permits them. The guard needs neither a proxy nor a monitored port: a
// border router may run it alone.
import type { Intent } from '../intent/intent.ts';
import { formatPrefix } from '../model/prefix.ts';
import type { DesiredState, GuardAllowPlan } from './desired.ts';
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
          },
        ]
      : [];
  });
  return { guards, guardAllow: allowed(intent), problems };
}

const allowed = ({ borderAllow }: Intent): GuardAllowPlan[] =>
  (['inbound', 'outbound'] as const).flatMap((direction) =>
    (borderAllow?.[direction] ?? []).map((prefix) => ({
      id: `${direction} ${formatPrefix(prefix)}`,
      direction,
      prefix,
    })),
  );
