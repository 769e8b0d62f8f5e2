// Long-haul CNP (LHCNP §5.5, §6): the instruction for each queue depth, and how the packet is built. The detector
// (bpf/egress.bpf.c) decides when to send one, the policies (policy.ts) to whom.
import type { Intent, NotificationsIntent } from '../intent/intent.ts';
import { LONGEST_PAUSE_US, type NotificationFormat } from '../model/notification.ts';
import type { InstructionPlan, LongHaulPlan } from './desired.ts';

type LongHaulIntent = NotificationsIntent['longHaul'];

export const isLongHaul = (format: NotificationFormat): boolean =>
  format === 'long-haul-icmpv6' || format === 'long-haul-roce';

/** Pause if no round-trip time is known: the RTT of the example in LHCNP §7. */
const UNKNOWN_RTT_PAUSE_US = 10_000;
/** The largest depth of a row. Depths are 32 bits, and the largest value means "only by escalation". */
const DEEPEST_ROW = 0xffff_fffe;

const pauseOf = (rttNs: number | null): number =>
  rttNs === null ? UNKNOWN_RTT_PAUSE_US : Math.min(LONGEST_PAUSE_US, Math.max(1, Math.ceil(rttNs / 1000)));

/**
 * The instructions of a port, ascending in strictness (LHCNP-5.5-d, LHCNP-5.7-e). The first row applies when V_ecn or
 * V_growth is exceeded below K_max. Rows by depth in multiples of K_max follow, then the steps of an escalation, which
 * no depth alone reaches (LHCNP-5.5.1-d).
 */
export function instructionRows(longHaul: LongHaulIntent, kMax: number, rttNs: number | null): InstructionPlan[] {
  return [
    { fromBytes: 0, ...longHaul.early },
    ...longHaul.severity.map(({ kMaxRatio, ...row }) => ({
      fromBytes: Math.min(DEEPEST_ROW, Math.floor((kMax * Math.round(kMaxRatio * 1000)) / 1000)),
      ...row,
    })),
    ...longHaul.escalation.map(({ level, action, parameter }) => ({
      fromBytes: null,
      level,
      action,
      parameter: parameter === 'rtt' ? pauseOf(rttNs) : parameter,
    })),
  ];
}

/**
 * Undefined when no policy orders one (LHCNP-6-a: each of the two formats is supported, and used where it is ordered).
 */
export function planLongHaul(intent: Intent): LongHaulPlan | undefined {
  return intent.notifications?.senders.some(({ order }) => order.some(isLongHaul)) ? builderOf(intent) : undefined;
}

/** The builder's settings, if a policy or a prefix of the proxy orders Long-haul CNPs. */
export const planLongHaulBuilder = (intent: Intent): LongHaulPlan | undefined =>
  planLongHaul(intent) ??
  (intent.proxy?.senders.some(({ format }) => format !== 'standard-cnp' && isLongHaul(format))
    ? builderOf(intent)
    : undefined);

/** Without `notifications` a proxy's Long-haul CNPs have no objects and no padding. */
function builderOf({ notifications, codePoints }: Intent): LongHaulPlan {
  const { disclose, objects, padToCnp } = notifications?.longHaul ?? {
    disclose: false,
    objects: { timestamp: false },
    padToCnp: false,
  };
  return {
    icmpv6Type: codePoints['long-haul-icmpv6-type'],
    objectClass: codePoints['long-haul-object-class'],
    disclose,
    timestamp: objects.timestamp,
    deviceId: objects.deviceId ?? null,
    pathId: objects.pathId ?? null,
    padToCnp,
  };
}

/** For `cnpctl show ports`: `level 180, rate-reduce 30 from 125000000 B`. */
export const explainInstruction = ({ fromBytes, level, action, parameter }: InstructionPlan, i: number): string => {
  const what =
    `level ${level}, ${action}` + `${action === 'notify' ? '' : ` ${parameter} ${action === 'pause' ? 'us' : '%'}`}`;
  const when = i === 0 ? 'below k-max' : fromBytes === null ? 'by escalation' : `from ${fromBytes} B`;
  return `  ${what} ${when}`;
};
