// The terms of holds: what comes in, what goes out, and what may be set. Times are milliseconds of one monotonic clock,
// rates bit/s.
import { type IpAddress, familyKey, mapKey } from '../model/address.ts';
import { LONGEST_PAUSE_US, type LongHaulInstruction } from '../model/notification.ts';
import type { QueuePairs } from '../model/roce.ts';
import type { ReceivedFormat } from '../model/source.ts';
import type { IoamNode } from '../packet/ip/ioam-nodes.ts';
import type { HpccOptions } from './hpcc.ts';

/** A flow as its packets identify it, with the tenant of its addresses; 0: the router's own address space. */
export interface SourceFlow extends Omit<QueuePairs, 'senderQpn'> {
  readonly tenant: number;
}

export const flowKey = ({ sender, receiver, receiverQpn, tenant }: SourceFlow): string =>
  `${familyKey(sender)} ${mapKey(receiver)} ${receiverQpn} ${tenant}`;

/** A notification that has been read, and whose sender has been found to be on the access list. */
export interface HoldEvent {
  readonly flow: SourceFlow;
  readonly senderQpn: number;
  /** Who sent it: a node on the path; of a standard CNP the receiver. */
  readonly node: IpAddress;
  readonly format: ReceivedFormat;
  /** Of a Long-haul CNP. Undefined: the default response, as for Notify. */
  readonly instruction?: LongHaulInstruction | undefined;
  /** Of a Fast CNP with an IOAM trace: what nodes on the way have written. */
  readonly trace?: readonly IoamNode[] | undefined;
  /** RTT_est of the flow's path; undefined: the configured one. */
  readonly rttMs?: number | undefined;
}

/**
 * For the dataplane, in this order.
 *
 * - `hold`: the flow's packets go through the class of the slot, at this rate, until `untilMs`, after which the
 *   dataplane forgets the hold by itself. Also takes back a flow that was leaving, in its old slot.
 * - `rate`: the class's new rate; 0 stops it.
 * - `pause`: nothing leaves the class for so many microseconds from now, 1-65,535. It replaces an earlier pause.
 *   It may end by itself: `resume` follows when it is over.
 * - `resume`: the pause is over.
 * - `renew`: the hold lives until `untilMs` instead.
 * - `leave`: the class goes to this rate, the line's. The flow may go straight once no packet of it is in the class;
 *   then the dataplane says so (`onDrained`).
 * - `free`: the flow has no class; the slot may be another's with the next effect.
 */
export type HoldEffect<Subject = SourceFlow> = { readonly flow: Subject; readonly slot: number } & (
  | { readonly kind: 'hold'; readonly rate: number; readonly untilMs: number }
  | { readonly kind: 'rate'; readonly rate: number }
  | { readonly kind: 'pause'; readonly microseconds: number }
  | { readonly kind: 'resume' }
  | { readonly kind: 'renew'; readonly untilMs: number }
  | { readonly kind: 'leave'; readonly rate: number }
  | { readonly kind: 'free' }
);

export interface HoldOptions {
  /** Of the port: the normal rate of every flow. */
  readonly lineRate: number;
  /** Slots, 1 … mostFlows. */
  readonly mostFlows: number;
  /** Nodes of which a flow remembers instructions. */
  readonly mostNodes: number;
  /** RTT_est where none is given. */
  readonly rttMs: number;
  /** The default response: a notification without an instruction reduces by so many percent, 1-100. */
  readonly response: number;
  /** An IOAM trace decides by how much to reduce instead, where there is one. Undefined: traces are ignored. */
  readonly hpcc: HpccOptions | undefined;
  /** Recovery from nothing to the normal rate takes so many steps, one an RTT. */
  readonly recoverySteps: number;
  /** Most that one Resume gives back, as a share of the normal rate. */
  readonly resumeCap: number;
  /**
   * A reduction of less than 100 percent does not go below this share of the line rate, or a rate at which one frame
   * takes too long (leastRate).
   */
  readonly minimumShare: number;
  /** The same instruction of a node within this time is one; undefined: half of RTT_est. */
  readonly duplicateWithinMs: number | undefined;
  /** Recovery changes a flow's rate no more often. */
  readonly rateIntervalMs: number;
  /** The dataplane forgets a hold that is not renewed for so long. Longer than `renewMs`. */
  readonly lifetimeMs: number;
  readonly renewMs: number;
  /** A leaving flow that is not reported as drained is freed after this time. */
  readonly drainMs: number;
  /** Whether flows of this kind are held. */
  readonly enforces: (flow: SourceFlow) => boolean;
}

/** RTT_est is bounded, so that a hold ends, and does not end at once, however wrong the measurement is. */
export const [LEAST_RTT_MS, MOST_RTT_MS] = [0.001, 10_000];

/**
 * The default response halves the rate: so does the first CNP at an adapter with DCQCN, whose alpha begins at 1.
 * Recovery from nothing takes twenty round trips; a Resume gives back at most half of the normal rate.
 */
export const defaultHoldOptions = (lineRate: number): HoldOptions => ({
  lineRate,
  mostFlows: 4096,
  mostNodes: 4,
  rttMs: 20,
  response: 50,
  hpcc: undefined,
  recoverySteps: 20,
  resumeCap: 0.5,
  minimumShare: 0.01,
  duplicateWithinMs: undefined,
  rateIntervalMs: 10,
  lifetimeMs: 3000,
  renewMs: 1000,
  drainMs: 1000,
  enforces: () => true,
});

/** Least and most of each option. Outside of these, a flow could be due for ever or never be free. */
const LIMITS = {
  lineRate: [1, Infinity],
  mostFlows: [1, 65_535],
  mostNodes: [1, 64],
  rttMs: [LEAST_RTT_MS, MOST_RTT_MS],
  response: [1, 100],
  recoverySteps: [1, 1000],
  resumeCap: [0, 1],
  minimumShare: [0, 1],
  rateIntervalMs: [0, 1000],
  lifetimeMs: [2, 600_000],
  renewMs: [1, 600_000],
  drainMs: [1, 600_000],
} as const;

/** @throws RangeError */
export function checkedOptions(opts: HoldOptions): HoldOptions {
  for (const [name, [least, most]] of Object.entries(LIMITS)) {
    const value = opts[name as keyof typeof LIMITS];
    if (!(value >= least && value <= most)) throw new RangeError(`${name} ${value}: ${least} … ${most}`);
  }
  if (opts.renewMs >= opts.lifetimeMs)
    throw new RangeError(`renewMs ${opts.renewMs}: less than lifetimeMs, ${opts.lifetimeMs}`);
  return opts;
}

/** The last instruction of a node that was obeyed. */
export interface HoldReason {
  readonly node: IpAddress;
  readonly format: ReceivedFormat;
  readonly instruction: LongHaulInstruction;
  readonly at: number;
}

export interface HoldNodeView extends HoldReason {
  readonly rate: number;
  readonly pausedUntil: number | undefined;
}

/** For `cnpctl show holds`. */
export interface HoldView {
  readonly flow: SourceFlow;
  readonly senderQpn: number;
  readonly slot: number;
  readonly state: 'held' | 'paused' | 'recovering' | 'leaving';
  /** Given to it now, pauses aside. */
  readonly rate: number;
  readonly normalRate: number;
  readonly pausedUntil: number | undefined;
  /** The strictest first. */
  readonly nodes: readonly HoldNodeView[];
  readonly since: number;
  /** When it is free at the latest, if no notification comes. */
  readonly until: number;
  readonly why: HoldReason;
}

const NOTIFY: LongHaulInstruction = { level: 0, action: 'notify', parameter: 0 };

export const instructionOf = ({ instruction }: Pick<HoldEvent, 'instruction'>): LongHaulInstruction =>
  instruction ?? NOTIFY;

const RANGES = {
  notify: [0, Infinity],
  pause: [1, LONGEST_PAUSE_US],
  'rate-reduce': [0, 100],
  resume: [0, 100],
} as const;

/** Whether the parameter is one that the action can have (LHCNP §5.5.1): the decoders let no other pass. */
export function isPossible({ action, parameter }: LongHaulInstruction): boolean {
  const [least, most] = RANGES[action];
  return parameter >= least && parameter <= most;
}
