// From what endpoints and interfaces counted to the result of a run. Pure.
import type { EndpointEvent } from '../endpoints.ts';
import type { Point } from '../results.ts';
import type { LinkResult, MulticastResult, ReceiverResult } from './results.ts';
import { type MulticastRun, TREE, type TreeLink } from './scene.ts';

/** Counters of an interface, by `node interface`. */
export interface LinkCount {
  readonly packets: number;
  readonly bytes: number;
}
export type LinkCounts = ReadonlyMap<string, LinkCount>;

export interface MulticastObservations {
  readonly source: readonly EndpointEvent[];
  /** By receiver. */
  readonly receivers: ReadonlyMap<string, readonly EndpointEvent[]>;
  /** What interfaces sent, before and after. */
  readonly before: LinkCounts;
  readonly after: LinkCounts;
}

type Confirmations = readonly Point[];
type Fields = Readonly<Record<string, unknown>>;

const event = (events: readonly EndpointEvent[], name: string, who: string): Fields => {
  const found = events.find((e) => e.event === name);
  if (!found) throw new Error(`${who} reported no ${name}`);
  return found;
};
const number = (fields: Fields, name: string): number => Number(fields[name]);
const lists = (events: readonly EndpointEvent[]): Confirmations[] =>
  events.filter((e) => e.event === 'confirmations').map((e) => e['list'] as Confirmations);

/** @throws Error when an endpoint ended without its report */
export function evaluateMulticast(run: MulticastRun, packets: number, seen: MulticastObservations): MulticastResult {
  const summary = event(seen.source, 'summary', 'the source');
  const flows = summary['flows'] as readonly Fields[];
  const sum = (name: string): number => flows.reduce((total, flow) => total + number(flow, name), 0);
  const startedAt = number(summary, 'startedAt');
  const links = TREE.map((link) => linkResult(link, seen));
  const heard = lists(seen.source);
  return {
    name: run.name,
    title: run.title,
    completionMs: summary['ok'] === true ? Math.max(...flows.map((flow) => number(flow, 'completionMs'))) : null,
    hash: String(summary['hash']),
    packets,
    sent: sum('sent'),
    retransmitted: sum('retransmitted'),
    acks: sum('acks'),
    naks: sum('naks'),
    timeouts: sum('timeouts'),
    cnps: sum('cnps'),
    foreign: number(summary, 'foreign'),
    sourceBytes: links[0]!.bytes,
    receivers: [...seen.receivers].map(([name, events]) => receiverResult(name, events)),
    links,
    violations: run.name === 'unicast' ? [] : violations(heard[0] ?? [], seen.receivers),
    confirmed: together(heard).map(([t, n]): Point => [t - startedAt, n]),
  };
}

function receiverResult(receiver: string, events: readonly EndpointEvent[]): ReceiverResult {
  const summary = event(events, 'summary', receiver);
  const port = event(events, 'port', receiver);
  return {
    receiver,
    complete: summary['complete'] === true,
    bytes: number(summary, 'bytes'),
    hash: String(summary['hash']),
    bad: Object.values(port['bad'] as Record<string, number>).reduce((total, n) => total + n, 0),
    refused: number(summary, 'strangers') + number(summary, 'otherQueuePair'),
    duplicates: number(summary, 'duplicates'),
    naks: number(summary, 'naks'),
    lost: number(port, 'lost'),
  };
}

function linkResult({ from, to }: TreeLink, { before, after }: MulticastObservations): LinkResult {
  const grown = (port: TreeLink['from'], field: keyof LinkCount): number => {
    const key = `${port.node} ${port.interface}`;
    return after.get(key)![field] - before.get(key)![field];
  };
  return {
    from: from.node,
    to: to.node,
    down: grown(from, 'packets'),
    up: grown(to, 'packets'),
    bytes: grown(from, 'bytes'),
  };
}

/**
 * RMC-5.3.1-a, RMC-5.3.2-a: whatever was confirmed to the source, each receiver had confirmed before. Receivers
 * note their time before they send an answer, the source after it got one, by the same clock.
 */
export function violations(heard: Confirmations, receivers: MulticastObservations['receivers']): string[] {
  const found: string[] = [];
  for (const [name, events] of receivers) {
    const confirmations = lists(events)[0] ?? [];
    let at = -1;
    for (const [t, packets] of heard) {
      while (at + 1 < confirmations.length && confirmations[at + 1]![0] <= t) at++;
      const confirmed = at < 0 ? 0 : confirmations[at]![1];
      if (confirmed >= packets) continue;
      found.push(`the source got a confirmation of ${packets} packets when ${name} had confirmed ${confirmed}`);
      break;
    }
  }
  return found;
}

/** The sum of several growing counts, over time. */
function together(counts: readonly Confirmations[]): Point[] {
  const latest = counts.map(() => 0);
  const steps = counts.flatMap((list, i) => list.map(([t, n]) => ({ t, n, i }))).sort((a, b) => a.t - b.t);
  return steps.map(({ t, n, i }): Point => {
    latest[i] = n;
    return [t, latest.reduce((total, each) => total + each, 0)];
  });
}
