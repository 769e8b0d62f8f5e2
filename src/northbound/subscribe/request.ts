// Checks a SubscriptionList (gNMI specification §3.5.1) and makes parts of it: what is sent on change, and what in
// intervals. A subscription with TARGET_DEFINED is both: counters and times are sampled, all else is sent on change.
import { type Encoding, type Path, type Subscription, SubscriptionMode } from '../gen/gnmi/gnmi_pb.js';
import { type SubscriptionList, SubscriptionList_Mode } from '../gen/gnmi/gnmi_pb.js';
import { type CheckedPath, checkPath, clip, formatPath } from '../paths.ts';
import { checkCount, checkEncoding, checkModels, echoed } from '../request.ts';
import { RpcError } from '../rpc-error.ts';
import { type LeafClass, hasLeaves } from './leaf-class.ts';

export interface Part {
  /** Of the subscription in the request. */
  readonly path: CheckedPath;
  /** As the client wrote it, without target and origin. */
  readonly written: Path;
  readonly leaves: LeafClass | 'all';
  readonly kind: 'on-change' | 'sample';
  /** Samples: how often, milliseconds. */
  readonly intervalMs: number;
  /** All values are sent that often, even if nothing has changed, milliseconds. Absent: never. */
  readonly heartbeatMs?: number;
  /** Samples: only what is not as it was sent last. */
  readonly suppressRedundant: boolean;
}

export interface Subscribed {
  readonly mode: 'ONCE' | 'POLL' | 'STREAM';
  readonly encoding: Encoding;
  /** Target and origin of the request. */
  readonly prefix: Path | undefined;
  readonly updatesOnly: boolean;
  readonly parts: readonly Part[];
}

const MODES = {
  [SubscriptionList_Mode.ONCE]: 'ONCE',
  [SubscriptionList_Mode.POLL]: 'POLL',
  [SubscriptionList_Mode.STREAM]: 'STREAM',
} as const satisfies Record<SubscriptionList_Mode, Subscribed['mode']>;

const NS_PER_MS = 1_000_000n;
/** The shortest sample interval, and what 0 means. */
export const MIN_SAMPLE_MS = 100;
/** Of TARGET_DEFINED. */
const TARGET_SAMPLE_MS = 10_000;
const MIN_HEARTBEAT_MS = 1000;
/** A timer of Node.js waits no longer. */
const MAX_MS = 2 ** 31 - 1;

/** @throws RpcError with a precise code */
export function checkSubscriptions(list: SubscriptionList): Subscribed {
  const mode: Subscribed['mode'] | undefined = MODES[list.mode];
  if (!mode) throw new RpcError('INVALID_ARGUMENT', `mode ${list.mode} is not one of STREAM, ONCE, POLL`);
  checkEncoding(list.encoding);
  checkModels(list.useModels);
  if (list.qos && list.qos.marking !== 0) throw new RpcError('UNIMPLEMENTED', 'QoS markings are not served');
  if (list.subscription.length === 0) throw new RpcError('INVALID_ARGUMENT', 'there is no subscription in the list');
  checkCount('subscriptions', list.subscription.length);
  return {
    mode,
    encoding: list.encoding,
    prefix: echoed(list.prefix, list.subscription[0]?.path).prefix,
    updatesOnly: list.updatesOnly,
    parts: distinctParts(list.subscription.flatMap((subscription) => partsOf(list.prefix, subscription, mode))),
  };
}

function partsOf(prefix: Path | undefined, subscription: Subscription, mode: Subscribed['mode']): Part[] {
  const { path: given } = subscription;
  if (!given) throw new RpcError('INVALID_ARGUMENT', 'a subscription has no path');
  const path = checkPath(prefix, given);
  const elem = [...(prefix?.elem ?? []), ...given.elem];
  const base = { path, written: { ...given, origin: '', elem }, intervalMs: 0, suppressRedundant: false };
  // The modes of the subscriptions are for streams only.
  if (mode !== 'STREAM') return [{ ...base, leaves: 'all', kind: 'sample' }];
  const where = clip(formatPath(elem));
  const heartbeatMs = heartbeat(subscription, where);
  const onChange = { ...base, kind: 'on-change' as const, ...(heartbeatMs && { heartbeatMs }) };
  const sample = (fallbackMs: number) => ({
    ...base,
    kind: 'sample' as const,
    intervalMs: interval(subscription, where, fallbackMs),
    suppressRedundant: subscription.suppressRedundant,
    ...(heartbeatMs && subscription.suppressRedundant && { heartbeatMs }),
  });
  if (subscription.mode === SubscriptionMode.ON_CHANGE) return [{ ...onChange, leaves: 'all' }];
  if (subscription.mode === SubscriptionMode.SAMPLE) return [{ ...sample(MIN_SAMPLE_MS), leaves: 'all' }];
  if (subscription.mode !== SubscriptionMode.TARGET_DEFINED)
    throw new RpcError('INVALID_ARGUMENT', `${where}: mode ${String(subscription.mode)} is not a subscription's`);
  const both: readonly Part[] = [
    { ...onChange, leaves: 'state' },
    { ...sample(TARGET_SAMPLE_MS), leaves: 'measured' },
  ];
  return both.filter(({ leaves }) => hasLeaves(path, leaves));
}

const selectionOf = ({ path, leaves }: Part): unknown[] => [
  leaves,
  path.steps.map(({ name, keys, keyed }) => [name, keyed, [...keys].sort()]),
];

function distinct(parts: readonly Part[], textOf: (part: Part) => string): Part[] {
  const seen = new Set<string>();
  return parts.filter((part) => seen.size < seen.add(textOf(part)).size);
}

/** Of those that select the same, the first. */
export const distinctSelections = (parts: readonly Part[]): Part[] =>
  distinct(parts, (part) => JSON.stringify(selectionOf(part)));

/** Without those that ask for the same in the same way. */
const distinctParts = (parts: readonly Part[]): Part[] =>
  distinct(parts, (part) => {
    const { path: _, written: __, ...how } = part;
    return JSON.stringify([selectionOf(part), how]);
  });

function interval({ sampleInterval }: Subscription, where: string, fallbackMs: number): number {
  if (sampleInterval === 0n) return fallbackMs;
  return milliseconds('sample_interval', sampleInterval, MIN_SAMPLE_MS, where);
}

function heartbeat({ heartbeatInterval }: Subscription, where: string): number | undefined {
  if (heartbeatInterval === 0n) return undefined;
  return milliseconds('heartbeat_interval', heartbeatInterval, MIN_HEARTBEAT_MS, where);
}

function milliseconds(name: string, nanoseconds: bigint, least: number, where: string): number {
  const ms = nanoseconds / NS_PER_MS;
  if (ms < least || ms > MAX_MS)
    throw new RpcError(
      'INVALID_ARGUMENT',
      `${where}: ${name} is ${nanoseconds} ns; allowed: ${least} ms to ${MAX_MS} ms, or 0`,
    );
  return Number(ms);
}
