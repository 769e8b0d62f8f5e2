// The congested node (PNC §4, §5; LHCNP §5.3, §5.4; FCNP §4): the monitored egress ports with their thresholds, the
// format for each sender, how notifications are built, and the longest-match table of the senders' proxies. Thresholds
// are computed in thresholds.ts, formats described in fast-cnp.ts and long-haul-cnp.ts.
import type { Intent, PortIntent } from '../intent/intent.ts';
import { DEEPEST } from '../intent/ports.ts';
import { type Family, formatAddress, isLinkLocal, sameAddress } from '../model/address.ts';
import type { Problem } from '../model/problem.ts';
import {
  type DesiredState,
  type EgressPortPlan,
  NO_SENDER_PROXIES,
  type NotifierPlan,
  type OwnAddressPlan,
  type SenderProxies,
} from './desired.ts';
import {
  type Facts,
  addressRemedy,
  findLink,
  forwardingProblems,
  interfaceMissing,
  loopbackProblems,
  missingFeatures,
} from './facts.ts';
import { explainInstruction, instructionRows, planLongHaul } from './long-haul-cnp.ts';
import { planNotifier } from './notifier.ts';
import { type PortQueue, portQueue } from './port-queue.ts';
import { asksAboutSenders, asksForProxies, notifies, planPolicies } from './policy.ts';
import { proxyAddresses } from './proxy.ts';
import { type LearnedAboutSenders, planCapabilities } from './senders-learned.ts';
import { type Thresholds, thresholdsOf } from './thresholds.ts';
import { burstOf, nanoseconds } from './token-bucket.ts';
import type { LearnedAboutGroups } from './group-view.ts';
import { formatPercent } from './quantities.ts';

/** The part of the learned table that planning reads. */
export interface LearnedView extends LearnedAboutSenders {
  readonly senders: SenderProxies;
  sizes(): { readonly proxies4: number; readonly proxies6: number };
  /** Absent: nothing is known. */
  readonly groups?: LearnedAboutGroups;
}

const LEVELS = 8;
/** The largest queue depth that the kernel counts, bytes (32 bits in struct gnet_stats_queue). */
const MOST_COUNTED = 0xffff_ffff;
/** A port without Long-haul CNPs: one instruction without effect, no flow left out, no deferral. */
const NO_LONG_HAUL = {
  instructions: [{ fromBytes: 0, level: 100, action: 'notify', parameter: 0 }],
  contribution256: 0,
  deferral256: 0,
} as const;
/**
 * Queue depths at which the congestion levels 0 … 7 begin (PNC §4: 3 bits, 7 the highest), bytes: from K_max in eight
 * equal steps towards the depth at which the queue drops, `level n = K_max + n · (limit − K_max) / 8`. Level 7 begins
 * at seven eighths of the way, so that it is reported before packets are lost. The limit is the qdisc's, or 2 · K_max
 * if that limit is unknown or not above K_max. It is at most what the kernel counts in 32 bits.
 */
export function levelThresholds(kMax: number, limitBytes?: number): number[] {
  const limit = Math.min(MOST_COUNTED, limitBytes !== undefined && limitBytes > kMax ? limitBytes : 2 * kMax);
  const step = Math.max(1, (limit - kMax) / LEVELS);
  return Array.from({ length: LEVELS }, (_, level) => Math.floor(kMax + level * step));
}

type Share = Pick<
  DesiredState,
  'ports' | 'senderProxies' | 'senderPolicies' | 'senderCapabilities' | 'ownAddresses' | 'notifier' | 'problems'
>;

export function planCongestedNode(intent: Intent, learned: LearnedView, facts: Facts): Share {
  const off = { ports: [], senderProxies: NO_SENDER_PROXIES, senderPolicies: [], senderCapabilities: [], problems: [] };
  if (intent.ports.length === 0) return off;
  const problems = missingFeatures('ports', facts);
  if (problems.length > 0) return { ...off, problems };
  const ports = intent.ports.flatMap((port) => planPort(port, intent, facts, problems));
  if (!notifies(intent)) return { ...off, ports, problems };
  const notifier = planNotifier(intent);
  problems.push(
    ...loopbackProblems('ports', facts),
    ...sourceProblems(notifier, facts),
    ...proxyProblems(notifier, intent, learned),
    ...forwardingProblems('ports', familiesSent(intent, notifier, learned), facts),
  );
  const senderProxies = asksAboutSenders(intent) ? learned.senders : NO_SENDER_PROXIES;
  const senderTables = {
    senderPolicies: planPolicies(intent),
    senderCapabilities: planCapabilities(intent, learned),
    ownAddresses: ownAddresses(intent, facts),
  };
  return { ports, notifier, senderProxies, ...senderTables, problems };
}

/** The same plan with the senders' proxies of a later state of the learned table. */
export const planSenderProxies = (desired: DesiredState, senders: SenderProxies): DesiredState =>
  desired.senderProxies === NO_SENDER_PROXIES ? desired : { ...desired, senderProxies: senders };

function planPort(port: PortIntent, intent: Intent, facts: Facts, problems: Problem[]): EgressPortPlan[] {
  const link = findLink(facts, port.interface);
  if (!link) {
    problems.push(interfaceMissing('ports', port.interface));
    return [];
  }
  const queue = portQueue(link, facts, ownQueue(port));
  if (!queue.readable) {
    const { problem, remedy } = queue;
    problems.push({ code: 'ports.queue-unreadable', feature: 'ports', problem, remedy });
    return [];
  }
  const { root: qdisc } = queue;
  const thresholds = thresholdsOf(port, {
    link,
    qdisc,
    rttMs: facts.rttMs && (facts.rttMs.get(port.interface) ?? null),
    longHaul: planLongHaul(intent) !== undefined,
  });
  problems.push(...thresholds.problems);
  const intervalNs = nanoseconds(port['measurement-interval']);
  const plan = {
    id: port.interface,
    interface: port.interface,
    ifindex: link.ifindex,
    kMin: thresholds.kMin,
    kMax: thresholds.kMax,
    levelBytes: levelThresholds(thresholds.kMax ?? DEEPEST, qdisc.limitBytes),
    perFlowIntervalNs: nanoseconds(port['per-flow-interval']),
    noticesPerSecond: port.rate,
    burst: burstOf(port.rate),
    vEcnPpm: port['v-ecn'] === undefined ? null : Math.round(port['v-ecn'] * 1e6),
    vGrowthBytes:
      port['v-growth'] === undefined ? null : Math.max(1, Math.round((port['v-growth'] * intervalNs) / 1e9)),
    intervalNs,
    rttNs: thresholds.rttNs,
    multiqueue: queue.multiqueue,
    ...longHaulOf(intent, thresholds),
  };
  return [{ ...plan, explanation: [...explainQueue(queue), ...explainPort(port, plan, thresholds, qdisc.limitBytes)] }];
}

/** LHCNP-5.5-b, LHCNP-5.5-d, LHCNP-5.7-c: in 1/256, as the program compares. */
function longHaulOf(
  intent: Intent,
  { kMax, rttNs }: Thresholds,
): Pick<EgressPortPlan, 'instructions' | 'contribution256' | 'deferral256'> {
  const { notifications } = intent;
  if (kMax === null || !notifications || !planLongHaul(intent)) return NO_LONG_HAUL;
  const { longHaul } = notifications;
  return {
    instructions: instructionRows(longHaul, kMax, rttNs),
    contribution256: Math.round(longHaul.contribution * 256),
    deferral256: Math.max(1, Math.round(longHaul.deferralReduction * 256)),
  };
}

/** What gives a port a queue that can be read. */
export function ownQueue(port: PortIntent): string {
  const { 'k-max': kMax = 2 * (port['k-min'] ?? 0), 'k-base': kBase } = port;
  const limit = 4 * (kMax === 'auto' ? kBase : kMax);
  return (
    `give it a TBF or HTB root, e.g. \`tc qdisc replace dev ${port.interface} root tbf rate RATE burst 32kb ` +
    `limit ${limit}\` with the link's rate`
  );
}

/**
 * The router's addresses, including declared ones that the kernel does not have yet: packets to them must not count as
 * lost.
 */
function ownAddresses({ router, proxy }: Intent, facts: Facts): OwnAddressPlan[] {
  const declared = [router.loopback4, router.loopback6, ...(proxy ? proxyAddresses(proxy) : [])].filter(
    (a) => a !== undefined,
  );
  const all = [...(facts.addresses ?? []).filter((a) => !isLinkLocal(a)), ...declared];
  return [...new Map(all.map((a) => [formatAddress(a), a])).entries()].map(([id, a]) => ({ id, address: a }));
}

/** Families in which this router sends notifications: those of the proxies, and of the senders notified directly. */
function familiesSent(intent: Intent, notifier: NotifierPlan, learned: LearnedView): Set<Family> {
  const policies = intent.notifications?.senders ?? [];
  const direct = policies
    .filter(({ order }) => order.some((format) => format !== 'proxy'))
    .map(({ prefix }) => prefix.address.family);
  if (!asksForProxies(intent)) return new Set(direct);
  const { proxies4, proxies6 } = learned.sizes();
  // Report missing forwarding before a proxy is learned. A router with an IPv6 loopback will notify from that address;
  // a router without one is in an IPv4-only network.
  const expected: Family = notifier.source6 || !notifier.source4 ? 6 : 4;
  return new Set<Family>([
    ...direct,
    expected,
    ...(proxies4 > 0 ? [4 as const] : []),
    ...(proxies6 > 0 ? [6 as const] : []),
  ]);
}

function sourceProblems(notifier: NotifierPlan, facts: Facts): Problem[] {
  return [notifier.source4, notifier.source6].flatMap((source): Problem[] => {
    if (!source || !facts.addresses || facts.addresses.some((own) => sameAddress(own, source))) return [];
    const text = formatAddress(source);
    const remedy = `${addressRemedy(source, facts)}, or correct router.loopback.ipv${source.family} in cnpd.yaml`;
    return [
      {
        code: 'ports.source-not-own',
        feature: 'ports',
        problem: `${text}, the source of notices, is not an address of this router`,
        remedy,
      },
    ];
  });
}

function proxyProblems(notifier: NotifierPlan, intent: Intent, learned: LearnedView): Problem[] {
  if (!asksForProxies(intent)) return [];
  const { proxies4, proxies6 } = learned.sizes();
  const families = [
    ['ipv4', notifier.source4, proxies4],
    ['ipv6', notifier.source6, proxies6],
  ] as const;
  return families.flatMap(([name, source, proxies]): Problem[] => {
    if (source || proxies === 0) return [];
    const problem =
      `${proxies} sender prefixes have a proxy with an ${name} address, ` +
      `and this router has no ${name} loopback as the source of notices`;
    return [
      { code: 'ports.no-source', feature: 'ports', problem, remedy: `declare router.loopback.${name} in cnpd.yaml` },
    ];
  });
}

/** What is not the plain depth of the root, which is shown by its name. */
const explainQueue = (queue: PortQueue & { readable: true }): string[] =>
  queue.multiqueue ? [`depth: ${queue.measured}`] : [];

/** Where the thresholds of a port come from, for `cnpctl show ports`. */
function explainPort(
  port: PortIntent,
  plan: Omit<EgressPortPlan, 'explanation'>,
  { kMax, rttNs, explanation }: Thresholds,
  limitBytes?: number,
): string[] {
  if (kMax === null) return [...explanation];
  const interval = `${port['measurement-interval']} ms`;
  const top =
    limitBytes !== undefined && limitBytes > kMax ? `the qdisc's limit, ${limitBytes} B` : `2 k-max, ${2 * kMax} B`;
  const longHaul = plan.deferral256 > 0;
  return [
    ...explanation,
    ...(port['v-ecn'] === undefined
      ? []
      : [`v-ecn: ${formatPercent(port['v-ecn'])} of the packets in ${interval} = configured`]),
    ...(port['v-growth'] === undefined
      ? []
      : [`v-growth: ${plan.vGrowthBytes} B in ${interval} = configured ${port['v-growth']} B/s`]),
    `levels 0-7 from ${plan.levelBytes.join(', ')} B = eight steps from k-max to ${top}`,
    ...(longHaul
      ? [
          'Long-haul CNP, at most one per flow in ' +
            `${rttNs === null ? `${port['per-flow-interval']} ms = per-flow-interval` : 'one RTT'}:`,
          ...plan.instructions.map(explainInstruction),
        ]
      : []),
  ];
}
