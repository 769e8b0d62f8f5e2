// What precise flow control shows: its ports as declared, what neighbors have been asked to pause, and what is held.
import type { Intent } from '../intent/intent.ts';
import { formatAddress } from '../model/address.ts';
import {
  type FlowControlPortState,
  type FlowControlState,
  type FlowControlView,
  trafficState,
} from '../model/flow-control-state.ts';
import type { Names } from './names.ts';

/**
 * @param view of the machine; absent: it does not run, and nothing is paused
 * @param timeOf a moment of the machine's clock in ISO 8601
 */
export function flowControlState(
  { flowControl, codePoints, arnBitOrder }: Pick<Intent, 'flowControl' | 'codePoints' | 'arnBitOrder'>,
  view: FlowControlView | undefined,
  names: Names,
  timeOf: (at: number) => string,
): FlowControlState {
  const { paused, asked } = rowsOf(view, names, timeOf);
  const at = (rows: readonly { readonly interface: string }[], name: string): number =>
    rows.filter((row) => row.interface === name).length;
  const declared = new Set([
    ...(flowControl?.watch ?? []).map((watched) => watched.interface),
    ...(flowControl?.hold ?? []),
  ]);
  return {
    mode: flowControl?.mode ?? null,
    udpPort: flowControl ? codePoints['arn-udp-port'] : null,
    bitOrder: flowControl ? arnBitOrder : null,
    ports: [...declared].map((name): FlowControlPortState => {
      const watched = flowControl?.watch.find((queue) => queue.interface === name);
      return {
        interface: name,
        watched: watched !== undefined,
        holds: flowControl?.hold.includes(name) ?? false,
        pauseAbove: watched?.above ?? null,
        resumeBelow: watched?.below ?? null,
        asked: at(asked, name),
        paused: at(paused, name),
      };
    }),
    asked,
    paused,
  };
}

function rowsOf(
  view: FlowControlView | undefined,
  names: Names,
  timeOf: (at: number) => string,
): Pick<FlowControlState, 'paused' | 'asked'> {
  if (!view) return { paused: [], asked: [] };
  return {
    paused: view.paused.map(({ traffic, egress, neighbor, state, since, until, pauseUs, times }) => ({
      ...trafficState(traffic),
      interface: names.port(egress),
      neighbor: formatAddress(neighbor),
      ...{ state, since: timeOf(since), until: timeOf(until), pauseUs, times },
    })),
    asked: view.asked.map(({ traffic, ingress, neighbor, egress, reason, since, until, times }) => ({
      ...trafficState(traffic),
      ingress: names.port(ingress),
      neighbor: formatAddress(neighbor),
      interface: names.port(egress),
      ...{ reason, since: timeOf(since), until: timeOf(until), times },
    })),
  };
}
