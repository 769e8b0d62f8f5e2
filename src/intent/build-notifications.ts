// The section `notifications` with its defaults applied: policies, and the table of what Long-haul CNPs say.
import type { LongHaulInstruction } from '../model/notification.ts';
import type { EscalationRowIntent, NotificationsIntent, SenderPolicyIntent, SeverityRowIntent } from './intent.ts';
import type { Declared } from './schema.ts';

type Notifications = NonNullable<Declared['notifications']>;
type LongHaul = NonNullable<Notifications['long-haul']>;

/**
 * The row at K_max is the example of LHCNP §7 (A2), Resume too (A3). Levels and actions ascend, so that the next row is
 * always the stricter one (LHCNP-5.7-e).
 */
export const LONG_HAUL_DEFAULTS = {
  early: { level: 100, action: 'notify', parameter: 0 },
  severity: [
    { kMaxRatio: 1, level: 180, action: 'rate-reduce', parameter: 30 },
    { kMaxRatio: 1.25, level: 205, action: 'rate-reduce', parameter: 40 },
    { kMaxRatio: 1.5, level: 230, action: 'rate-reduce', parameter: 50 },
  ],
  escalation: [
    { level: 245, action: 'rate-reduce', parameter: 75 },
    { level: 255, action: 'pause', parameter: 'rtt' },
  ],
  resume: { level: 20, action: 'resume', parameter: 50 },
  contribution: 0.5,
  deferralReduction: 0.1,
} as const satisfies {
  early: LongHaulInstruction;
  severity: readonly SeverityRowIntent[];
  escalation: readonly EscalationRowIntent[];
  resume: LongHaulInstruction;
  contribution: number;
  deferralReduction: number;
};

export const CAPABILITY_EXPIRY_MS = 600_000;

export function buildNotifications(declared: Notifications): NotificationsIntent {
  return {
    senders: declared.senders.map(buildPolicy),
    capabilityExpiryMs: declared['capability-expiry'] ?? CAPABILITY_EXPIRY_MS,
    fastCnp: { icrc: declared['fast-cnp']?.icrc ?? 'cover' },
    longHaul: buildLongHaul(declared['long-haul'] ?? {}),
  };
}

/**
 * FCNP-4-a: senders that may not understand a Fast CNP are told by CE as well, unless that is switched off; FCNP-4-b:
 * those known to understand it are not.
 */
function buildPolicy(policy: Notifications['senders'][number]): SenderPolicyIntent {
  const { supports = 'unknown' } = policy;
  return {
    prefix: policy.prefix,
    supports: supports === 'standard-cnp' ? [] : supports,
    order: policy.order,
    markCeWithFastCnp: supports === 'unknown' && policy['ce-with-fast-cnp'] !== false,
  };
}

/** Notify has no parameter (LHCNP-6.1-j); of the other actions it is always declared (rules-notifications.ts). */
const withParameter = <R extends { parameter?: P | undefined }, P>(row: R): R & { parameter: P | 0 } => ({
  ...row,
  parameter: row.parameter ?? 0,
});

function buildLongHaul(declared: LongHaul): NotificationsIntent['longHaul'] {
  const { early, severity, escalation, resume, objects } = declared;
  return {
    early: early ? withParameter(early) : LONG_HAUL_DEFAULTS.early,
    severity: severity
      ? severity.map(({ from, ...row }) => ({ kMaxRatio: from, ...withParameter(row) }))
      : LONG_HAUL_DEFAULTS.severity,
    // `notify` is refused there.
    escalation: escalation
      ? escalation.map((row) => withParameter(row) as EscalationRowIntent)
      : LONG_HAUL_DEFAULTS.escalation,
    resume: resume ? { level: resume.level, action: 'resume', parameter: resume.parameter } : LONG_HAUL_DEFAULTS.resume,
    contribution: declared.contribution ?? LONG_HAUL_DEFAULTS.contribution,
    deferralReduction: declared.deferral ?? LONG_HAUL_DEFAULTS.deferralReduction,
    disclose: declared.disclose ?? true,
    objects: {
      timestamp: objects?.timestamp ?? false,
      ...(objects?.['device-id'] !== undefined && { deviceId: objects['device-id'] }),
      ...(objects?.['path-id'] !== undefined && { pathId: objects['path-id'] }),
    },
    padToCnp: declared['pad-to-cnp'] ?? false,
  };
}
