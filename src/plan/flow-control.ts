// Precise flow control (FCN §4.1): which queues are watched, where traffic arrives whose upstream neighbor can be
// asked, and where traffic is held as downstream neighbors ask.
import type { FlowControlIntent, Intent } from '../intent/intent.ts';
import { formatAddress } from '../model/address.ts';
import { formatPrefix } from '../model/prefix.ts';
import type { Problem } from '../model/problem.ts';
import { READABLE_ROOTS } from './port-queue.ts';
import type { DesiredState } from './desired.ts';
import { type Facts, type LinkFact, findLink, interfaceMissing, missingFeatures } from './facts.ts';
import type { FlowControlPlan } from './flow-control-plan.ts';
import { portsOf } from './roce-ports.ts';
import { burstOf } from './token-bucket.ts';

/** bit/s, where no link says its rate: it only bounds what leaves after a pause. */
const UNKNOWN_RATE = 100e9;
const DSCPS = 64;

export function planFlowControl(intent: Intent, facts: Facts): Pick<DesiredState, 'flowControl' | 'problems'> {
  const { flowControl, codePoints, arnBitOrder } = intent;
  if (!flowControl) return { problems: [] };
  const problems = missingFeatures('flow-control', facts);
  if (problems.length > 0) return { problems };
  problems.push(...notForwarding(facts));
  const interfaces = portsOf(
    { feature: 'flow-control', named: flowControl.interfaces, does: 'upstream neighbors are asked to pause' },
    intent,
    facts,
    problems,
  ).map(portOf);
  const hold = linksOf('hold', flowControl.hold, facts, problems);
  return {
    flowControl: {
      mode: flowControl.mode,
      udpPort: codePoints['arn-udp-port'],
      bitOrder: arnBitOrder,
      interfaces,
      watch: watchedQueues(flowControl, facts, problems),
      hold: hold.map(portOf),
      above: flowControl.above,
      below: flowControl.below,
      lineRate: flowControl.bandwidth ?? rateOf(hold),
      buffer: flowControl.buffer,
      neighbors: neighborsOf(flowControl, interfaces, facts, problems),
      acceptFrom: flowControl.acceptFrom.map((prefix) => ({ id: formatPrefix(prefix), prefix })),
      pauseUs: microseconds(flowControl.pauseMs),
      longestPauseUs: microseconds(flowControl.longestPauseMs),
      watchdogMs: flowControl.watchdogMs,
      perSecond: flowControl.perSecond,
      burst: burstOf(flowControl.perSecond),
      priorities: prioritiesOf(flowControl),
    },
    problems,
  };
}

const portOf = ({ name, ifindex }: LinkFact): FlowControlPlan['hold'][number] => ({
  id: name,
  interface: name,
  ifindex,
});
const microseconds = (milliseconds: number): number => Math.round(milliseconds * 1000);

/** A router that forwards nothing has no traffic to pause. Which family its traffic has, nothing says. */
const notForwarding = ({ forwarding }: Facts): Problem[] =>
  forwarding && !forwarding[4] && !forwarding[6]
    ? [
        {
          code: 'flow-control.not-forwarding',
          feature: 'flow-control',
          problem: 'this router forwards neither IPv4 nor IPv6, so no traffic passes that could be paused',
          remedy: '`sysctl -w net.ipv6.conf.all.forwarding=1`, `sysctl -w net.ipv4.ip_forward=1`',
        },
      ]
    : [];

function linksOf(key: 'hold' | 'watch', names: readonly string[], facts: Facts, problems: Problem[]): LinkFact[] {
  return names.flatMap((name) => {
    const link = findLink(facts, name);
    if (link?.etherLike) return [link];
    problems.push(
      link
        ? {
            code: 'flow-control.not-ethernet',
            feature: 'flow-control',
            problem: `${name} has no Ethernet header, which flow control's program requires`,
            remedy: `take ${name} out of flow-control.${key}`,
          }
        : interfaceMissing(`flow-control.${key}`, name),
    );
    return [];
  });
}

/** The rate of the fastest link, so that no pause of a faster one is too short. */
const rateOf = (links: readonly LinkFact[]): number => {
  const speeds = links.flatMap(({ speedBitPerS = [] }) => speedBitPerS);
  return speeds.length > 0 ? Math.max(...speeds) : UNKNOWN_RATE;
};

function watchedQueues(
  { watch, hold }: FlowControlIntent,
  facts: Facts,
  problems: Problem[],
): readonly FlowControlPlan['watch'][number][] {
  return watch.flatMap(({ interface: name, above, below }) => {
    const [link] = linksOf('watch', [name], facts, problems);
    if (!link) return [];
    const qdisc = facts.qdiscs.find(({ ifindex }) => ifindex === link.ifindex);
    // A port that holds gets an HTB.
    if (!hold.includes(name) && !READABLE_ROOTS.has(qdisc?.rootKind ?? '')) {
      problems.push(unreadable(name, qdisc?.rootKind, above));
      return [];
    }
    if (qdisc?.limitBytes !== undefined && above >= qdisc.limitBytes)
      problems.push({
        code: 'flow-control.never-exceeded',
        feature: 'flow-control',
        problem: `pause-above of ${name} (${above} bytes) is never exceeded: its queue drops at ${qdisc.limitBytes} bytes`,
        remedy: 'lower pause-above, or raise the limit of the qdisc above it',
      });
    return [{ ...portOf(link), above, below }];
  });
}

const unreadable = (name: string, rootKind: string | undefined, above: number): Problem => ({
  code: 'flow-control.queue-unreadable',
  feature: 'flow-control',
  problem: `the root qdisc of ${name} is ${rootKind ?? 'none'}, whose queue depth cannot be read; the port is not watched`,
  remedy:
    `give it a TBF or HTB root, e.g. \`tc qdisc replace dev ${name} root tbf rate RATE burst 32kb ` +
    `limit ${4 * above}\` with the link's rate`,
});

function neighborsOf(
  { neighbors }: FlowControlIntent,
  interfaces: FlowControlPlan['interfaces'],
  facts: Facts,
  problems: Problem[],
): readonly FlowControlPlan['neighbors'][number][] {
  return neighbors.flatMap(({ interface: name, address }) => {
    const link = findLink(facts, name);
    if (!link) {
      problems.push(interfaceMissing('flow-control.neighbors', name));
      return [];
    }
    if (!interfaces.some(({ ifindex }) => ifindex === link.ifindex))
      problems.push({
        code: 'flow-control.neighbor-elsewhere',
        feature: 'flow-control',
        problem: `${formatAddress(address)} is never asked to pause: no traffic is expected to arrive at ${name}`,
        remedy: `name ${name} under flow-control.interfaces in cnpd.yaml, or correct the interface of this neighbor`,
      });
    return [{ id: `${name} ${formatAddress(address)}`, ifindex: link.ifindex, address }];
  });
}

/** By DSCP: the three bits that IP precedence had (RFC 2474 §4.2.2), unless the file says otherwise. */
function prioritiesOf({ priorities }: FlowControlIntent): number[] {
  const all = Array.from({ length: DSCPS }, (_, dscp) => dscp >> 3);
  for (const { dscp, priority } of priorities) all[dscp] = priority;
  return all;
}
