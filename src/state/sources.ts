// What the source's role shows: the senders for which this router takes notifications, and the latest that it took.
import type { Intent } from '../intent/intent.ts';
import { formatAddress } from '../model/address.ts';
import { formatPrefix } from '../model/prefix.ts';
import type { SourceAction } from '../model/source.ts';
import type { HoldState, ReceivedNotificationState, SourceState } from '../model/source-state.ts';
import type { HoldView } from '../source/hold.ts';
import type { ReceivedNotifications } from '../source/received.ts';
import { type Names, timeOfDay } from './names.ts';

/** @param timeOf a moment of the clock of the machine in ISO 8601 */
export function holdStates(holds: readonly HoldView[], timeOf: (at: number) => string): HoldState[] {
  return holds.map(({ flow, senderQpn, state, rate, normalRate, pausedUntil, nodes, since, until, why }) => ({
    sender: formatAddress(flow.sender),
    senderQpn,
    receiver: formatAddress(flow.receiver),
    receiverQpn: flow.receiverQpn,
    state,
    rate: Math.round(rate),
    normalRate: Math.round(normalRate),
    pausedUntil: pausedUntil === undefined ? null : timeOf(pausedUntil),
    nodes: nodes.map(({ node }) => formatAddress(node)),
    since: timeOf(since),
    until: timeOf(until),
    format: why.format,
    action: why.instruction.action,
    parameter: why.instruction.parameter,
  }));
}

const RESULTS: Readonly<Record<SourceAction, string>> = { pass: 'passed', convert: 'converted', enforce: 'enforced' };

export const sourceStates = (
  { source }: Pick<Intent, 'source'>,
  received: ReceivedNotifications | undefined,
): SourceState[] =>
  (source?.senders ?? []).map(({ prefix, action }) => {
    const { count = 0, last } = received?.of(prefix) ?? {};
    return {
      prefix: formatPrefix(prefix),
      action,
      notifications: count,
      lastNotification: last ? timeOfDay(last.atNs) : null,
      lastNode: last ? formatAddress(last.node) : null,
    };
  });

export const receivedStates = (
  received: ReceivedNotifications | undefined,
  names: Names,
): ReceivedNotificationState[] =>
  [...(received?.latest() ?? [])].map(({ sequence, value: { flow, instruction, ...n } }) => {
    const isKnown = flow.receiverQpn !== 0;
    return {
      sequence,
      at: names.timeOfDay(n.atNs),
      port: names.port(n.ifindex),
      node: formatAddress(n.node),
      format: n.format,
      sender: formatAddress(flow.sender),
      senderQpn: n.senderQpn === 0 ? null : n.senderQpn,
      receiver: isKnown ? formatAddress(flow.receiver) : null,
      receiverQpn: isKnown ? flow.receiverQpn : null,
      level: instruction?.level ?? null,
      action: instruction?.action ?? null,
      parameter: instruction?.parameter ?? null,
      result: RESULTS[n.action],
    };
  });
