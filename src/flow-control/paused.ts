// What this router pauses because downstream neighbors have asked for it (FCN §4.1.2): where the traffic leaves towards
// them, each in a class of its own. A pure machine: ARNs and time in, effects for the dataplane out. It has no timers:
// `nextAt` says when `advance` is due.
//
// Traffic is paused while any neighbor asks for it. A pause ends by itself, when it is eliminated, or when the watchdog
// ends it: whoever keeps a priority or a service paused stops more than one flow, and routers that wait for each other
// in a circle would wait for ever. Then the same traffic cannot be paused for as long as it was.
import { type IpAddress, familyKey } from '../model/address.ts';
import type { HeldTraffic } from '../model/flow-control.ts';
import type { PausedTraffic as PausedView } from '../model/flow-control-state.ts';
import type { Count } from '../model/log.ts';
import { type Due, DueQueue } from '../source/due-queue.ts';
import type { HoldEffect } from '../source/hold.ts';
import { Slots } from '../source/slots.ts';
import { heldKey } from './traffic-key.ts';

export interface PausedOptions {
  /** bit/s: what has been paused leaves at this rate. */
  readonly lineRate: number;
  /** Slots, 1 … mostTraffic. */
  readonly mostTraffic: number;
  /** Of these, those that the neighbors behind one port can have. */
  readonly mostAtPort: number;
  /** The most that one ARN pauses. */
  readonly longestPauseMs: number;
  /** Longest time without a break, after which the traffic goes on. */
  readonly watchdogMs: number;
  /** A break is one if the traffic has gone on for so long, or all of it has left. */
  readonly leastBreakMs: number;
  /** The dataplane forgets a hold that is not renewed for so long; renewed every `renewMs`. */
  readonly lifetimeMs: number;
  readonly renewMs: number;
  /** Traffic that is not reported as drained is freed after this time. */
  readonly drainMs: number;
}

/** An ARN whose sender may ask for this. */
export interface PauseRequest {
  readonly held: HeldTraffic;
  readonly neighbor: IpAddress;
  /** Undefined: congestion is eliminated. */
  readonly pauseMs: number | undefined;
}

/** Traffic in a class. */
export interface OccupiedClass extends HeldTraffic {
  readonly key: string;
  readonly slot: number;
  readonly isPaused: boolean;
}

/** Of how many neighbors a pause is remembered: as many as share a link. */
const MOST_NEIGHBORS = 16;

interface Held extends Due {
  readonly key: string;
  readonly flow: HeldTraffic;
  readonly slot: number;
  /** By neighbor: until when. */
  readonly asked: Map<string, { readonly neighbor: IpAddress; readonly until: number }>;
  /** The last ARN that was obeyed. */
  last: { readonly neighbor: IpAddress; readonly pauseUs: number };
  /** ARNs obeyed in this pause. */
  times: number;
  /** Since when it is paused, or leaves. */
  since: number;
  /** Since when it is paused without a break. */
  unbrokenSince: number;
  leaving: boolean;
  renewedAt: number;
}

const NOBODY: IpAddress = { family: 6, value: 0n };

function pausedUntil(asked: Held['asked']): number {
  let latest = -Infinity;
  for (const { until } of asked.values()) latest = Math.max(latest, until);
  return latest;
}

type Change<K> = K extends unknown ? Omit<K, 'flow' | 'slot'> : never;

export class PausedTraffic {
  #opts: PausedOptions;
  readonly #count: Count;
  readonly #slots: Slots;
  readonly #held = new Map<string, Held>();
  readonly #queue = new DueQueue<Held>();
  /** Slots in use by port. */
  readonly #atPort = new Map<number, number>();
  /** What the watchdog has let go, and until when nobody pauses it. */
  readonly #spared = new Map<string, PausedView>();
  #effects: HoldEffect<HeldTraffic>[] = [];
  #withoutSlotAt = -Infinity;
  #watchdogAt = -Infinity;

  constructor(opts: PausedOptions, dependencies: { readonly count: Count }) {
    this.#opts = opts;
    this.#count = dependencies.count;
    this.#slots = new Slots(opts.mostTraffic);
  }

  /** Traffic that has a slot, including what is leaving. */
  get size(): number {
    return this.#held.size;
  }

  /** When `advance` is due; undefined: never. */
  get nextAt(): number | undefined {
    return this.#queue.first?.dueAt;
  }

  /** When traffic last found no slot; -Infinity: never. */
  get withoutSlotAt(): number {
    return this.#withoutSlotAt;
  }

  /** When the watchdog last let traffic go; -Infinity: never. */
  get watchdogAt(): number {
    return this.#watchdogAt;
  }

  onRequest({ held: flow, neighbor, pauseMs }: PauseRequest, now: number): HoldEffect<HeldTraffic>[] {
    const key = heldKey(flow);
    const held = this.#held.get(key);
    if (pauseMs === undefined) this.#eliminate(held, neighbor, now);
    else if (this.#isSpared(key, now)) this.#count('flow-control.pause.watchdog-ignored');
    else this.#pause(held ?? this.#new(key, flow, now), neighbor, pauseMs, now);
    return this.#taken();
  }

  /** Does what is due. */
  advance(now: number): HoldEffect<HeldTraffic>[] {
    for (let held = this.#queue.first; held && held.dueAt <= now; held = this.#queue.first) this.#settle(held, now);
    return this.#taken();
  }

  /** Lets all traffic go that is paused; the next ARN pauses it again. */
  releaseAll(now: number): HoldEffect<HeldTraffic>[] {
    for (const held of this.#held.values()) this.#leave(held, now, 'released');
    return this.#taken();
  }

  /** No packet of it is in its class any more, after `leave`. */
  onDrained(flow: HeldTraffic): HoldEffect<HeldTraffic>[] {
    const held = this.#held.get(heldKey(flow));
    if (held?.leaving) this.#free(held);
    return this.#taken();
  }

  /** The dataplane could not hold it in this slot: the next ARN tries again. `leaves`: as before. */
  onRefused(flow: HeldTraffic, slot: number, leaves: boolean, now: number): HoldEffect<HeldTraffic>[] {
    const held = this.#held.get(heldKey(flow));
    if (held?.slot === slot && leaves) this.#leave(held, now);
    else if (held?.slot === slot) this.#free(held);
    return this.#taken();
  }

  /** What `mayStay` refuses leaves, as does what has no slot any more. */
  reconfigure(opts: PausedOptions, mayStay: (held: HeldTraffic) => boolean, now: number): HoldEffect<HeldTraffic>[] {
    this.#opts = opts;
    this.#slots.limit(opts.mostTraffic);
    for (const held of this.#held.values())
      if (!mayStay(held.flow) || held.slot > opts.mostTraffic) this.#leave(held, now, 'not-configured');
    return this.#taken();
  }

  *classes(): Generator<OccupiedClass> {
    for (const { flow, key, slot, leaving } of this.#held.values()) yield { ...flow, key, slot, isPaused: !leaving };
  }

  *views(now: number): Generator<PausedView> {
    for (const spared of this.#spared.values()) if (spared.until > now) yield spared;
    for (const held of this.#held.values()) if (!this.#isSpared(held.key, now)) yield this.#view(held, now);
  }

  #view({ flow, last, times, since, leaving, asked }: Held, now: number): PausedView {
    const state = leaving ? 'leaving' : 'paused';
    const until = leaving ? since + this.#opts.drainMs : Math.max(now, pausedUntil(asked));
    return { ...flow, ...last, times, since, state, until };
  }

  #isSpared(key: string, now: number): boolean {
    const spared = this.#spared.get(key);
    if (!spared) return false;
    if (spared.until > now) return true;
    this.#spared.delete(key);
    return false;
  }

  #new(key: string, flow: HeldTraffic, now: number): Held | undefined {
    const atPort = this.#atPort.get(flow.egress) ?? 0;
    const slot = atPort < this.#opts.mostAtPort ? this.#slots.take() : undefined;
    if (slot === undefined) {
      this.#count('flow-control.pause.no-slot');
      this.#withoutSlotAt = now;
      return undefined;
    }
    const last = { neighbor: NOBODY, pauseUs: 0 };
    const times = { since: now, unbrokenSince: now, renewedAt: now, times: 0 };
    const held: Held = { key, flow, slot, last, ...times, asked: new Map(), leaving: true, dueAt: 0, place: -1 };
    this.#held.set(key, held);
    this.#atPort.set(flow.egress, atPort + 1);
    return held;
  }

  #pause(held: Held | undefined, neighbor: IpAddress, pauseMs: number, now: number): void {
    if (!held) return;
    const { longestPauseMs, lifetimeMs } = this.#opts;
    const who = familyKey(neighbor);
    if (held.asked.size >= MOST_NEIGHBORS && !held.asked.has(who))
      return this.#count('flow-control.pause.too-many-neighbors');
    if (pauseMs > longestPauseMs) this.#count('flow-control.pause.shortened');
    const obeyedMs = Math.min(pauseMs, longestPauseMs);
    held.asked.set(who, { neighbor, until: now + obeyedMs });
    held.last = { neighbor, pauseUs: Math.round(obeyedMs * 1000) };
    if (!held.leaving) {
      held.times++;
      this.#count('flow-control.pause.extended');
      return this.#settle(held, now);
    }
    this.#count('flow-control.pause.paused');
    if (held.times === 0 || now - held.since >= this.#opts.leastBreakMs)
      Object.assign(held, { unbrokenSince: now, times: 0 });
    Object.assign(held, { leaving: false, since: now, renewedAt: now, times: held.times + 1 });
    this.#emit(held, { kind: 'hold', rate: 0, untilMs: now + lifetimeMs });
    this.#settle(held, now);
  }

  #eliminate(held: Held | undefined, neighbor: IpAddress, now: number): void {
    if (!held?.asked.delete(familyKey(neighbor))) return this.#count('flow-control.pause.nothing-to-eliminate');
    this.#count('flow-control.pause.eliminated');
    this.#settle(held, now);
  }

  /** Gives the dataplane what has changed, and says when it is due next. */
  #settle(held: Held, now: number): void {
    if (held.leaving) return this.#settleLeaving(held, now);
    for (const [who, { until }] of held.asked) if (until <= now) held.asked.delete(who);
    const { watchdogMs, renewMs } = this.#opts;
    if (held.asked.size === 0) return this.#leave(held, now, 'over');
    if (now >= held.unbrokenSince + watchdogMs) return this.#spare(held, now);
    this.#renew(held, now);
    this.#queue.set(held, Math.min(pausedUntil(held.asked), held.unbrokenSince + watchdogMs, held.renewedAt + renewMs));
  }

  #spare(held: Held, now: number): void {
    const { mostTraffic, watchdogMs } = this.#opts;
    // The oldest goes first: it may be paused a little early.
    if (this.#spared.size >= mostTraffic) this.#spared.delete(this.#spared.keys().next().value!);
    this.#spared.set(held.key, { ...this.#view(held, now), state: 'watchdog', since: now, until: now + watchdogMs });
    this.#watchdogAt = now;
    this.#leave(held, now, 'watchdog');
  }

  #leave(held: Held, now: number, why?: 'over' | 'watchdog' | 'released' | 'not-configured'): void {
    if (held.leaving) return;
    if (why) this.#count(`flow-control.pause.${why}`);
    held.asked.clear();
    Object.assign(held, { leaving: true, since: now });
    this.#emit(held, { kind: 'leave', rate: this.#opts.lineRate });
    this.#settleLeaving(held, now);
  }

  #settleLeaving(held: Held, now: number): void {
    const { drainMs, renewMs } = this.#opts;
    if (now >= held.since + drainMs) {
      this.#count('flow-control.pause.drain-overdue');
      return this.#free(held);
    }
    this.#renew(held, now);
    this.#queue.set(held, Math.min(held.since + drainMs, held.renewedAt + renewMs));
  }

  #renew(held: Held, now: number): void {
    const { renewMs, lifetimeMs } = this.#opts;
    if (now < held.renewedAt + renewMs) return;
    held.renewedAt = now;
    this.#emit(held, { kind: 'renew', untilMs: now + lifetimeMs });
  }

  #free(held: Held): void {
    this.#queue.remove(held);
    this.#held.delete(held.key);
    const left = this.#atPort.get(held.flow.egress)! - 1;
    if (left > 0) this.#atPort.set(held.flow.egress, left);
    else this.#atPort.delete(held.flow.egress);
    this.#slots.give(held.slot);
    this.#emit(held, { kind: 'free' });
  }

  #emit({ flow, slot }: Held, change: Change<HoldEffect>): void {
    this.#effects.push({ flow, slot, ...change });
  }

  #taken(): HoldEffect<HeldTraffic>[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
