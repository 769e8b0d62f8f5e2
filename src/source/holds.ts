// The flows of hosts that cannot obey notifications, held at the router's egress port: each in a class of its own, at
// the rate, and for the pauses, that nodes on the path have asked for (LHCNP §5.6). A pure machine: notifications and
// time in, effects for the dataplane out. It has no timers: `nextAt` says when `advance` is due, which then looks only
// at the flows that are due.
//
// A flow is held while any node restricts it. When nothing restricts it, it leaves: its class goes to line rate, and
// once the class is empty its slot is free. Without further notifications each flow comes to that by itself. One that
// finds no slot is not held; a held one is never displaced by another. (LHCNP-5.6-d, LHCNP-5.6-e)
import type { Count } from '../model/log.ts';
import { LONGEST_PAUSE_US } from '../model/notification.ts';
import type { ReceivedFormat } from '../model/source.ts';
import type { HoldsSummary } from '../model/telemetry-state.ts';
import { type Due, DueQueue } from './due-queue.ts';
import {
  type HoldEffect,
  type HoldEvent,
  type HoldOptions,
  type HoldView,
  type SourceFlow,
  checkedOptions,
  flowKey,
} from './hold.ts';
import { Restriction } from './restriction.ts';
import { Slots } from './slots.ts';

interface Held extends Due {
  readonly key: string;
  readonly flow: SourceFlow;
  readonly slot: number;
  senderQpn: number;
  restriction: Restriction;
  since: number;
  /** Since when nothing restricts it. */
  leavingSince: number | undefined;
  /** What the dataplane was given. */
  shown: { rate: number; pausedUntil: number | undefined };
  rateChangedAt: number;
  renewedAt: number;
}

type Change<K> = K extends unknown ? Omit<K, 'flow' | 'slot'> : never;

/** Why flows leave early. */
type Ending = 'released' | 'not-enforced' | 'slot-removed';

export class Holds {
  #opts: HoldOptions;
  readonly #count: Count;
  readonly #slots: Slots;
  readonly #held = new Map<string, Held>();
  readonly #queue = new DueQueue<Held>();
  /** The last flow that found no slot. */
  withoutSlot: { readonly flow: SourceFlow; readonly at: number } | undefined;
  #effects: HoldEffect[] = [];

  /** @throws RangeError for options that it cannot work with */
  constructor(opts: HoldOptions, dependencies: { readonly count: Count }) {
    this.#opts = checkedOptions(opts);
    this.#count = dependencies.count;
    this.#slots = new Slots(opts.mostFlows);
  }

  /** Flows that have a slot, those that are leaving included. */
  get size(): number {
    return this.#held.size;
  }

  /** When `advance` is due; undefined: never. */
  get nextAt(): number | undefined {
    return this.#queue.first?.dueAt;
  }

  /** Undefined: the flow has none. */
  slotOf(flow: SourceFlow): number | undefined {
    return this.#held.get(flowKey(flow))?.slot;
  }

  /** Whether a further flow finds a slot. */
  get hasRoom(): boolean {
    return this.#slots.hasFree;
  }

  /** @returns at most three effects */
  onNotification(event: HoldEvent, now: number): HoldEffect[] {
    if (!this.#opts.enforces(event.flow)) {
      this.#count('source.hold.not-enforced');
      return [];
    }
    const key = flowKey(event.flow);
    const held = this.#held.get(key);
    const isHeld = held && held.leavingSince === undefined;
    const restriction = isHeld ? held.restriction : new Restriction(this.#opts, this.#count);
    this.#count(`source.hold.${restriction.onNotification(event, now)}`);
    if (held) held.senderQpn = event.senderQpn;
    if (isHeld) this.#settle(held, now);
    else if (restriction.restricts(now)) {
      if (held && held.slot <= this.#opts.mostFlows) this.#hold(held, restriction, now);
      else if (held) this.#refuse(event.flow, now);
      else this.#holdNew(key, event, restriction, now);
    }
    return this.#taken();
  }

  /** The dataplane has left a notification to the host. */
  onLeftToHost(flow: SourceFlow, now: number): void {
    if (!this.hasRoom && this.#opts.enforces(flow) && !this.#held.has(flowKey(flow))) this.#refuse(flow, now);
  }

  #refuse(flow: SourceFlow, now: number): void {
    this.#count('source.hold.no-slot');
    this.withoutSlot = { flow, at: now };
  }

  /**
   * Does what is due. @param most flows at which it looks: if more are due, `nextAt` is not later than `now`
   * @returns at most three effects a flow
   */
  advance(now: number, most = Infinity): HoldEffect[] {
    for (let i = 0; i < most; i++) {
      const held = this.#queue.first;
      if (!held || held.dueAt > now) break;
      held.restriction.advance(now);
      this.#settle(held, now);
    }
    return this.#taken();
  }

  /** An operator ends the hold of a flow, or of all. The next notification holds it again. */
  release(which: SourceFlow | 'all', now: number): HoldEffect[] {
    const one = which === 'all' ? undefined : this.#held.get(flowKey(which));
    for (const held of which === 'all' ? this.#held.values() : one ? [one] : []) this.#leave(held, now, 'released');
    return this.#taken();
  }

  /** No packet of a flow that `leave` was ordered for is in its class any more. */
  onDrained(flow: SourceFlow): HoldEffect[] {
    const held = this.#held.get(flowKey(flow));
    if (held?.leavingSince !== undefined) this.#free(held);
    return this.#taken();
  }

  /** The dataplane could not hold this flow in this slot: its next notification tries again. `leaves`: as before. */
  onRefused(flow: SourceFlow, slot: number, leaves: boolean, now: number): HoldEffect[] {
    const held = this.#held.get(flowKey(flow));
    if (held?.slot === slot && leaves) this.#leave(held, now);
    else if (held?.slot === slot) this.#free(held);
    return this.#taken();
  }

  /**
   * Flows that are no longer to be held, or whose slot there is no more, leave. RTT_est counts from the next
   * notification on.
   * @throws RangeError for options that it cannot work with; the former ones stay in force
   */
  reconfigure(opts: HoldOptions, now: number): HoldEffect[] {
    this.#opts = checkedOptions(opts);
    this.#slots.limit(opts.mostFlows);
    for (const held of this.#held.values()) {
      held.restriction.advance(now);
      held.restriction.configure(opts, now);
      if (!opts.enforces(held.flow)) this.#leave(held, now, 'not-enforced');
      else if (held.slot > opts.mostFlows) this.#leave(held, now, 'slot-removed');
      this.#settle(held, now);
    }
    return this.#taken();
  }

  /** All flows in a few numbers. */
  summary(now: number): HoldsSummary {
    const states: Partial<Record<HoldView['state'], number>> = {};
    const formats: Partial<Record<ReceivedFormat, number>> = {};
    let rate = 0;
    for (const held of this.#held.values()) {
      const [state, { format }] = [this.#stateOf(held, now), held.restriction.why!];
      states[state] = (states[state] ?? 0) + 1;
      formats[format] = (formats[format] ?? 0) + 1;
      if (state === 'held' || state === 'recovering') rate += held.shown.rate;
    }
    return { states, formats, rate };
  }

  *views(now: number): Generator<HoldView> {
    for (const held of this.#held.values()) {
      const { flow, senderQpn, slot, restriction, since, shown } = held;
      const { normalRate, why } = restriction;
      yield {
        flow,
        senderQpn,
        slot,
        state: this.#stateOf(held, now),
        rate: shown.rate,
        normalRate,
        pausedUntil: shown.pausedUntil,
        nodes: held.leavingSince === undefined ? restriction.nodes(now) : [],
        since,
        until: this.#until(held, now),
        why: why!,
      };
    }
  }

  #stateOf({ restriction, leavingSince, shown, rateChangedAt }: Held, now: number): HoldView['state'] {
    if (leavingSince !== undefined) return 'leaving';
    if (shown.pausedUntil !== undefined && shown.pausedUntil > now) return 'paused';
    return rateChangedAt > restriction.why!.at ? 'recovering' : 'held';
  }

  #until({ restriction, leavingSince }: Held, now: number): number {
    const { rateIntervalMs, drainMs } = this.#opts;
    return (leavingSince ?? restriction.recoveredAt(now) + rateIntervalMs) + drainMs;
  }

  #holdNew(key: string, { flow, senderQpn }: HoldEvent, restriction: Restriction, now: number): void {
    const slot = this.#slots.take();
    if (slot === undefined) return this.#refuse(flow, now);
    const shown = { rate: 0, pausedUntil: undefined };
    const times = { since: now, leavingSince: undefined, rateChangedAt: now, renewedAt: now };
    const held: Held = { key, flow, slot, senderQpn, restriction, shown, ...times, dueAt: 0, place: -1 };
    this.#held.set(key, held);
    this.#hold(held, restriction, now);
  }

  /** Holds a flow that has a slot and is not held. */
  #hold(held: Held, restriction: Restriction, now: number): void {
    const rate = Math.round(restriction.rate);
    Object.assign(held, { restriction, since: now, leavingSince: undefined, rateChangedAt: now, renewedAt: now });
    held.shown = { rate, pausedUntil: undefined };
    this.#count('source.hold.held');
    this.#emit(held, { kind: 'hold', rate, untilMs: now + this.#opts.lifetimeMs });
    this.#settle(held, now);
  }

  /** Gives the dataplane what has changed, and says when the flow is due next. */
  #settle(held: Held, now: number): void {
    if (held.leavingSince !== undefined) return this.#settleLeaving(held, held.leavingSince, now);
    if (!held.restriction.restricts(now)) return this.#leave(held, now, 'recovered');
    this.#show(held, now);
    this.#renew(held, now);
    const { nextStepAt } = held.restriction;
    this.#queue.set(
      held,
      Math.min(
        held.shown.pausedUntil ?? Infinity,
        Math.max(nextStepAt, held.rateChangedAt + this.#opts.rateIntervalMs),
        held.renewedAt + this.#opts.renewMs,
      ),
    );
  }

  #show(held: Held, now: number): void {
    const { shown } = held;
    const rate = Math.round(held.restriction.rate);
    if (rate !== shown.rate) {
      shown.rate = rate;
      held.rateChangedAt = now;
      this.#emit(held, { kind: 'rate', rate });
    }
    this.#showPause(held, held.restriction.pausedUntil(now), now);
  }

  #showPause(held: Held, pausedUntil: number | undefined, now: number): void {
    if (pausedUntil === held.shown.pausedUntil) return;
    held.shown.pausedUntil = pausedUntil;
    if (pausedUntil === undefined) return this.#emit(held, { kind: 'resume' });
    // LHCNP-5.5.1-c: differences of times are not exact, the bound is.
    const microseconds = Math.min(LONGEST_PAUSE_US, Math.max(1, Math.round((pausedUntil - now) * 1000)));
    this.#emit(held, { kind: 'pause', microseconds });
  }

  #renew(held: Held, now: number): void {
    if (now < held.renewedAt + this.#opts.renewMs) return;
    held.renewedAt = now;
    this.#emit(held, { kind: 'renew', untilMs: now + this.#opts.lifetimeMs });
  }

  #leave(held: Held, now: number, why?: 'recovered' | Ending): void {
    if (held.leavingSince !== undefined) return;
    if (why) this.#count(`source.hold.${why}`);
    this.#showPause(held, undefined, now);
    held.leavingSince = now;
    held.shown.rate = this.#opts.lineRate;
    this.#emit(held, { kind: 'leave', rate: this.#opts.lineRate });
    this.#settle(held, now);
  }

  #settleLeaving(held: Held, since: number, now: number): void {
    const { lineRate, drainMs, renewMs } = this.#opts;
    if (now >= since + drainMs) {
      this.#count('source.hold.drain-overdue');
      return this.#free(held);
    }
    if (held.shown.rate !== lineRate) {
      held.shown.rate = lineRate;
      this.#emit(held, { kind: 'rate', rate: lineRate });
    }
    this.#renew(held, now);
    this.#queue.set(held, Math.min(since + drainMs, held.renewedAt + renewMs));
  }

  #free(held: Held): void {
    this.#queue.remove(held);
    this.#held.delete(held.key);
    this.#slots.give(held.slot);
    this.#emit(held, { kind: 'free' });
  }

  #emit({ flow, slot }: Held, change: Change<HoldEffect>): void {
    this.#effects.push({ flow, slot, ...change });
  }

  #taken(): HoldEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
