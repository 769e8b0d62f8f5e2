// What the notifications of several nodes make of one flow's rate: a state per node, and the strictest holds (LHCNP
// §5.7; A9). What one node gives back with Resume lifts no reduction of another. Pure: time comes with every call.
//
// - A reduction is one of the rate that the flow is given (LHCNP-5.5.1-e); what it sends is not measured. Nodes that
//   reduce within one RTT_est of each other have seen the same rate: their percentages are of that one, and do not
//   multiply.
// - The same instruction of a node within half an RTT_est is one: nodes wait an RTT_est between two (LHCNP-5.5-h), so
//   the network has doubled it. A pause that is over may be repeated at once. Otherwise a node's instructions are
//   obeyed in the order in which they come.
// - A notification of any node keeps all reductions of the flow from recovering (LHCNP-5.6-g speaks of the Queue Pair).
//   A Resume does not: congestion has subsided.
import { type IpAddress, compareAddresses, familyKey } from '../model/address.ts';
import type { Count } from '../model/log.ts';
import type { LongHaulInstruction } from '../model/notification.ts';
import { minimumRate } from './class-rate.ts';
import {
  type HoldEvent,
  type HoldNodeView,
  type HoldOptions,
  type HoldReason,
  LEAST_RTT_MS,
  MOST_RTT_MS,
  instructionOf,
  isPossible,
} from './hold.ts';
import { Hpcc } from './hpcc.ts';
import { InstructedRate, type InstructedRateOptions } from './instructed-rate.ts';

export type Verdict = LongHaulInstruction['action'] | 'duplicate' | 'nothing-to-resume' | 'bad-instruction';

interface Node {
  readonly address: IpAddress;
  readonly rate: InstructedRate;
  rttMs: number;
  last: HoldReason;
}

export class Restriction {
  /** The last instruction that was obeyed, of any node. */
  why: HoldReason | undefined;
  #opts: HoldOptions;
  #rateOptions: InstructedRateOptions;
  readonly #count: Count;
  readonly #nodes = new Map<string, Node>();
  readonly #hpcc = new Hpcc();
  /** The rate at which the flow sent when the first of the nodes in this RTT_est reduced it. */
  #seen = { at: -Infinity, rate: 0 };
  /** End of the pauses of nodes that were displaced: they end by themselves. */
  #leftPause = -Infinity;

  constructor(opts: HoldOptions, count: Count) {
    this.#opts = opts;
    this.#count = count;
    this.#rateOptions = rateOptions(opts);
  }

  get normalRate(): number {
    return this.#rateOptions.normalRate;
  }

  /** The least that a node leaves it, pauses aside. */
  get rate(): number {
    let least = this.normalRate;
    for (const { rate } of this.#nodes.values()) least = Math.min(least, rate.rate);
    return least;
  }

  /** The latest end of the pauses; undefined: not paused. */
  pausedUntil(now: number): number | undefined {
    let latest = this.#leftPause;
    for (const { rate } of this.#nodes.values()) latest = Math.max(latest, rate.pausedUntil);
    return latest > now ? latest : undefined;
  }

  /** Whether there is anything to hold the flow for. */
  restricts(now: number): boolean {
    return this.#nodes.size > 0 || now < this.#leftPause;
  }

  /** When recovery next changes a rate; Infinity: never. */
  get nextStepAt(): number {
    let next = Infinity;
    for (const { rate } of this.#nodes.values()) next = Math.min(next, rate.nextStepAt ?? Infinity);
    return next;
  }

  /** When nothing is left at the latest, if no notification comes. */
  recoveredAt(now: number): number {
    let latest = Math.max(now, this.#leftPause);
    for (const { rate } of this.#nodes.values()) latest = Math.max(latest, rate.recoveredAt ?? now, rate.pausedUntil);
    return latest;
  }

  /** The nodes that hold the flow, the strictest first. */
  nodes(now: number): HoldNodeView[] {
    return this.#strictestFirst().map(([, { rate, last }]) => ({
      ...last,
      rate: rate.rate,
      pausedUntil: rate.paused(now) ? rate.pausedUntil : undefined,
    }));
  }

  onNotification(event: HoldEvent, now: number): Verdict {
    this.advance(now);
    const instruction = instructionOf(event);
    if (!isPossible(instruction)) return 'bad-instruction';
    const key = familyKey(event.node);
    const known = this.#nodes.get(key);
    if (!known && instruction.action === 'resume') return 'nothing-to-resume';
    if (known && this.#isDuplicate(known, instruction, now)) return 'duplicate';
    const last = { node: event.node, format: event.format, instruction, at: now };
    const node = known ?? this.#newNode(event.node, last);
    node.rttMs = rttEstimate(event.rttMs, this.#opts);
    node.last = last;
    this.why = last;
    this.#nodes.set(key, node);
    if (instruction.action !== 'resume')
      for (const { rate, rttMs } of this.#nodes.values()) rate.onNotified(now, rttMs);
    this.#obey(node, event, now);
    this.#prune(now);
    this.#displace();
    return instruction.action;
  }

  /** Lets time pass: ends of pauses, steps of recovery. */
  advance(now: number): void {
    for (const { rate } of this.#nodes.values()) rate.advance(now);
    this.#prune(now);
  }

  configure(opts: HoldOptions, now: number): void {
    this.#opts = opts;
    this.#rateOptions = rateOptions(opts);
    for (const { rate } of this.#nodes.values()) rate.configure(this.#rateOptions);
    this.#prune(now);
    this.#displace();
  }

  #newNode(address: IpAddress, last: HoldReason): Node {
    return { address, rate: new InstructedRate(this.#rateOptions), rttMs: 0, last };
  }

  #obey(node: Node, event: HoldEvent, now: number): void {
    const asked = instructionOf(event);
    const { action, parameter } =
      asked.action === 'notify'
        ? ({ action: 'rate-reduce', parameter: this.#response(event, node.rttMs) } as const)
        : asked;
    const base = action === 'rate-reduce' ? this.#reducedFrom(node, now) : this.rate;
    node.rate.onInstruction({ action, parameter }, now, base, node.rttMs);
  }

  /**
   * Notify, Fast CNPs and CNPs get the default response: a reduction by a fixed percentage (LHCNP-5.5.1-a), or by what
   * a Fast CNP's IOAM trace shows (FCNP-4-t).
   */
  #response({ trace }: HoldEvent, rttMs: number): number {
    const { response, hpcc } = this.#opts;
    if (!hpcc || !trace) return response;
    const percent = this.#hpcc.onTrace(trace, rttMs, hpcc);
    this.#count(percent === undefined ? 'source.hold.trace-without-congestion' : 'source.hold.trace-used');
    return percent ?? response;
  }

  /** The rate that the node has seen, other reductions of this RTT_est aside. Its own are in its state. */
  #reducedFrom({ rttMs }: Node, now: number): number {
    if (now - this.#seen.at >= rttMs) this.#seen = { at: now, rate: this.rate };
    return this.#seen.rate;
  }

  #isDuplicate({ last, rttMs }: Node, { action, parameter }: LongHaulInstruction, now: number): boolean {
    if (last.instruction.action !== action || last.instruction.parameter !== parameter) return false;
    const within = this.#opts.duplicateWithinMs ?? rttMs / 2;
    return now - last.at < (action === 'pause' ? Math.min(within, parameter / 1000) : within);
  }

  /** Forgets the nodes that hold nothing any more. Rates are whole bit/s for the dataplane. */
  #prune(now: number): void {
    for (const [key, { rate }] of this.#nodes)
      if (Math.round(rate.rate) >= Math.round(this.normalRate) && !rate.paused(now)) this.#nodes.delete(key);
  }

  /**
   * Above the limit those with the highest rates go, so that the flow is given no more than before; of equal ones that
   * which was heard of longest ago.
   */
  #displace(): void {
    if (this.#nodes.size <= this.#opts.mostNodes) return;
    for (const [key, { rate }] of this.#strictestFirst().slice(this.#opts.mostNodes)) {
      this.#leftPause = Math.max(this.#leftPause, rate.pausedUntil);
      this.#nodes.delete(key);
      this.#count('source.hold.node-displaced');
    }
  }

  #strictestFirst(): [string, Node][] {
    return [...this.#nodes].sort(
      ([, a], [, b]) =>
        a.rate.rate - b.rate.rate ||
        b.rate.pausedUntil - a.rate.pausedUntil ||
        b.last.at - a.last.at ||
        compareAddresses(a.address, b.address),
    );
  }
}

const rttEstimate = (given: number | undefined, { rttMs }: HoldOptions): number =>
  Math.min(MOST_RTT_MS, given !== undefined && given >= LEAST_RTT_MS ? given : rttMs);

const rateOptions = (options: HoldOptions): InstructedRateOptions => ({
  normalRate: options.lineRate,
  minimumRate: minimumRate(options),
  recoveryStep: options.lineRate / options.recoverySteps,
  resumeCap: options.resumeCap,
});
