// How this router builds notifications. A congested node builds them about packets of its ports, and a proxy for
// senders that understand more than standard CNP (PNC §1). Both use one builder.
import type { Intent } from '../intent/intent.ts';
import { DEFAULT_LONG_HAUL } from '../intent/long-haul.ts';
import type { LongHaulInstruction } from '../model/notification.ts';
import type { Problem } from '../model/problem.ts';
import type { NotifierPlan } from './desired.ts';
import { type Facts, loopbackProblems, missingFeatures } from './facts.ts';
import { planFastCnp } from './fast-cnp.ts';
import { planLongHaulBuilder } from './long-haul-cnp.ts';

export function planNotifier(intent: Intent): NotifierPlan {
  const [fastCnp, longHaul] = [planFastCnp(intent), planLongHaulBuilder(intent)];
  return {
    source4: intent.router.loopback4 ?? null,
    source6: intent.router.loopback6 ?? null,
    udpPort: intent.codePoints['pnc-udp-port'],
    ...(fastCnp && { fastCnp }),
    ...(longHaul && { longHaul }),
  };
}

/**
 * The builder of a proxy. Absent: standard CNPs suffice for its senders, or this kernel cannot build other formats,
 * which is a problem.
 */
export function planProxyBuilder(
  intent: Intent,
  facts: Facts,
): { readonly builder?: NotifierPlan; readonly problems: readonly Problem[] } {
  if (!intent.proxy?.senders.some(({ format }) => format !== 'standard-cnp')) return { problems: [] };
  const missing = missingFeatures('ports', facts).map((problem) => ({ ...problem, feature: 'proxy' }));
  if (missing.length > 0) return { problems: missing };
  return { builder: planNotifier(intent), problems: loopbackProblems('proxy', facts) };
}

/** Congestion levels of a notice (PNC §4). */
const LEVELS = 8;

/**
 * The instruction of a Long-haul CNP for a notice of level 0 … 7. It is the row of `notifications.long-haul.severity`
 * for a queue of (1 + level / 8) × K_max, where the level begins if the queue drops at twice K_max. A proxy does not
 * see the queue, so it neither escalates nor sends Resume: a sender recovers by itself (LHCNP-5.6-f).
 */
export function instructionsByLevel({ notifications }: Intent): LongHaulInstruction[] {
  const { severity } = notifications?.longHaul ?? DEFAULT_LONG_HAUL;
  return Array.from({ length: LEVELS }, (_, n) => {
    // The first row begins at K_max (src/intent/long-haul-table.ts).
    const { level, action, parameter } = severity.filter(({ kMaxRatio }) => kMaxRatio <= 1 + n / LEVELS).at(-1)!;
    return { level, action, parameter };
  });
}
