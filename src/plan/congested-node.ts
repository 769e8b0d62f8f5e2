// The congested node (PNC §4, §5; LHCNP §5.4): the monitored egress ports with their thresholds, how notices are built, and the longest-match
// table of the senders' proxies.
import type { Intent, PortIntent } from '../intent/intent.ts';
import type { ForwardingChanges, ForwardingEntry } from '../learned/forwarding.ts';
import { formatAddress, sameAddress } from '../model/address.ts';
import { formatPrefix } from '../model/prefix.ts';
import type { DesiredState, EgressPortPlan, NotifierPlan, Problem, SenderProxyPlan } from './desired.ts';
import { type Facts, findLink, forwardingProblems, interfaceMissing, missingFeatures } from './facts.ts';
import { burstOf, nanoseconds } from './token-bucket.ts';

/** The part of the learned table that planning reads. */
export interface LearnedView {
  forwarding(): Iterable<ForwardingEntry>;
  sizes(): { readonly proxies4: number; readonly proxies6: number };
}

const LEVELS = 8;
/** For a port that only marks: levels that are never looked at. The kernel counts depths in 32 bits, cnpd.yaml takes thresholds up to 2 GB. */
const NEVER = 2e9;
/** Root qdiscs whose backlog is one number that a program can read. pfifo_fast counts per CPU and reads 0, mq has no queue of its own. */
const READABLE_ROOTS = new Set(['tbf', 'htb']);

/**
 * Queue depths at which the congestion levels 0 … 7 begin (PNC §4: 3 bits, 7 the highest), bytes: from K_max in eight equal steps towards the depth at
 * which the queue drops, `level n = K_max + n · (limit − K_max) / 8`. Level 7 begins at seven eighths of the way, so that it is
 * reported before packets are lost. The limit is the qdisc's, or 2 · K_max when it has none that is known or none above K_max.
 */
export function levelThresholds(kMax: number, limitBytes?: number): number[] {
  const limit = limitBytes !== undefined && limitBytes > kMax ? limitBytes : 2 * kMax;
  const step = Math.max(1, (limit - kMax) / LEVELS);
  return Array.from({ length: LEVELS }, (_, level) => Math.floor(kMax + level * step));
}

export function planCongestedNode(intent: Intent, learned: LearnedView, facts: Facts): Pick<DesiredState, 'ports' | 'senderProxies' | 'notifier' | 'problems'> {
  const off = { ports: [], senderProxies: [], problems: [] };
  if (intent.ports.length === 0) return off;
  const problems = missingFeatures('ports', facts);
  if (problems.length > 0) return { ...off, problems };
  const ports = intent.ports.flatMap((port) => planPort(port, facts, problems));
  if (!notifies(intent)) return { ...off, ports, problems };
  const notifier = planNotifier(intent);
  problems.push(...notifierProblems(notifier, learned, facts), ...forwardingProblems('ports', [6], facts));
  return { ports, notifier, senderProxies: { [Symbol.iterator]: () => senderProxies(learned) }, problems };
}

/** Whether this router sends notices at all; without it the table of proxies stays empty. */
export const notifies = (intent: Intent): boolean => intent.ports.some((port) => port.kMax !== undefined);

/** The learned table's difference as changes of senderProxies, in the order in which to apply them. Empty while no port notifies. */
export function senderProxyChanges(intent: Intent, changes: ForwardingChanges): { readonly upserts: SenderProxyPlan[]; readonly deletes: string[] } {
  if (!notifies(intent)) return { upserts: [], deletes: [] };
  return { upserts: changes.upserts.map(senderProxy), deletes: changes.deletes.map(formatPrefix) };
}

const senderProxy = ({ prefix, proxy }: ForwardingEntry): SenderProxyPlan => ({ id: formatPrefix(prefix), prefix, proxy });

function* senderProxies(learned: LearnedView): Generator<SenderProxyPlan> {
  for (const entry of learned.forwarding()) yield senderProxy(entry);
}

function planPort(port: PortIntent, facts: Facts, problems: Problem[]): EgressPortPlan[] {
  const link = findLink(facts, port.interface);
  if (!link) {
    problems.push(interfaceMissing('ports', port.interface));
    return [];
  }
  const qdisc = facts.qdiscs.find((q) => q.ifindex === link.ifindex);
  if (!qdisc || !READABLE_ROOTS.has(qdisc.rootKind)) {
    problems.push(unreadableQueue(port, qdisc?.rootKind));
    return [];
  }
  problems.push(...thresholdsBeyondLimit(port, qdisc.limitBytes));
  return [
    {
      id: port.interface,
      interface: port.interface,
      ifindex: link.ifindex,
      kMin: port.kMin ?? null,
      kMax: port.kMax ?? null,
      levelBytes: levelThresholds(port.kMax ?? NEVER, qdisc.limitBytes),
      perFlowIntervalNs: nanoseconds(port.perFlowIntervalMs),
      noticesPerSecond: port.noticesPerSecond,
      burst: burstOf(port.noticesPerSecond),
    },
  ];
}

function unreadableQueue(port: PortIntent, rootKind: string | undefined): Problem {
  const limit = 4 * (port.kMax ?? 2 * (port.kMin ?? 0));
  return {
    feature: 'ports',
    problem: `the root qdisc of ${port.interface} is ${rootKind ?? 'none'}, whose queue depth cannot be read; the port is not watched`,
    remedy: `give it a TBF or HTB root, e.g. \`tc qdisc replace dev ${port.interface} root tbf rate RATE burst 32kb limit ${limit}\` with the link's rate`,
  };
}

function thresholdsBeyondLimit(port: PortIntent, limitBytes: number | undefined): Problem[] {
  if (limitBytes === undefined) return [];
  const thresholds = [['k-max', port.kMax], ['k-min', port.kMin]] as const;
  return thresholds
    .filter(([, bytes]) => bytes !== undefined && bytes >= limitBytes)
    .map(([name, bytes]) => ({
      feature: 'ports',
      problem: `${name} of ${port.interface} (${bytes} bytes) is never exceeded: its queue drops at ${limitBytes} bytes`,
      remedy: `lower ${name}, or raise the limit of the qdisc above it`,
    }));
}

const planNotifier = (intent: Intent): NotifierPlan => ({
  source4: intent.router.loopback4 ?? null,
  source6: intent.router.loopback6 ?? null,
  udpPort: intent.codePoints['pnc-udp-port'],
});

function notifierProblems(notifier: NotifierPlan, learned: LearnedView, facts: Facts): Problem[] {
  const { proxies4, proxies6 } = learned.sizes();
  const families = [['ipv4', notifier.source4, proxies4], ['ipv6', notifier.source6, proxies6]] as const;
  return families.flatMap(([name, source, proxies]): Problem[] => {
    if (!source) {
      const problem = `${proxies} sender prefixes have a proxy with an ${name} address, and this router has no ${name} loopback to notify it from`;
      return proxies > 0 ? [{ feature: 'ports', problem, remedy: `declare router.loopback.${name} in cnpd.yaml` }] : [];
    }
    if (!facts.addresses || facts.addresses.some((own) => sameAddress(own, source))) return [];
    const text = formatAddress(source);
    const remedy = `\`ip address add ${text}/${source.family === 4 ? 32 : 128} dev lo\`, or correct router.loopback.${name} in cnpd.yaml`;
    return [{ feature: 'ports', problem: `${text}, the source of notices, is no address of this router`, remedy }];
  });
}

/** Where the thresholds of a port come from, for `cnpctl show ports`. */
export function explainPort(port: PortIntent, plan: EgressPortPlan, limitBytes?: number): string[] {
  const lines: string[] = [];
  if (port.kMax === undefined) lines.push('k-max: none, no notices');
  else lines.push(`k-max: ${port.kMax} B = configured`);
  if (port.kMin === undefined) lines.push('k-min: none, no CE marking');
  else lines.push(port.kMax !== undefined && port.kMin === Math.floor(port.kMax / 2) ? `k-min: ${port.kMin} B = k-max / 2` : `k-min: ${port.kMin} B = configured`);
  if (port.kMax === undefined) return lines;
  const top = limitBytes !== undefined && limitBytes > port.kMax ? `the qdisc's limit, ${limitBytes} B` : `2 k-max, ${2 * port.kMax} B`;
  return [...lines, `levels 0-7 from ${plan.levelBytes.join(', ')} B = eight steps from k-max to ${top}`];
}
