// What machines ask of the classes of held traffic, done one change after another: an effect in, requests to the
// dataplane out. It has the timers that the machines have not.
//
// Three things are the dataplane's way of doing what a machine asks for (reconcile/hold-ports.ts):
// - A class has no rate of zero. A rate of 0 is a pause whose silences repeat.
// - A pause costs the class's next frame. The former rate is set again while that silence lasts: the next silence would
//   follow otherwise. If no frame has come by then, the pause is asked for again, for what is left of it.
// - Traffic has left when as many of its packets have left the class as have entered.
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import { messageOf } from '../model/error-text.ts';
import type { Log } from '../model/log.ts';
import { LONGEST_PAUSE_US } from '../model/notification.ts';
import { Changes } from './changes.ts';
import { classRate } from './class-rate.ts';
import type { HoldEffect } from './hold.ts';
import type { ClassHold, HoldDataplane } from './hold-dataplane.ts';

export interface HeldClassesSettings {
  /** bit/s, of what leaves. */
  readonly lineRate: number;
  /** Bytes that a class may have queued. */
  readonly buffer: number;
  /** Silences of a rate of 0 from now on, microseconds, 1-65,535: none ends early, and a frame leaves before each. */
  readonly silenceUs: () => number;
}

export interface HeldClassesDependencies<Subject> {
  readonly dataplane: HoldDataplane<Subject>;
  readonly clock: Clock;
  /** CLOCK_MONOTONIC. */
  readonly monotonicNs: () => bigint;
  readonly log: Log;
}

/** What the machine hears of its effects. */
export interface HeldClassesEvents<Subject> {
  /** No packet is in the class any more of what was told to leave. */
  onDrained(subject: Subject): void;
  /** The dataplane could not hold it in this slot. */
  onRefused(subject: Subject, slot: number): void;
  /** The kernel has refused a change. What is held stays as it was, and ends by itself. */
  onError(): void;
}

/** A slot that is in use. */
interface Occupied<Subject> {
  readonly flow: Subject;
  /** What of the class's packets is not this one's. */
  readonly before: bigint;
  rate: number;
  hold: ClassHold;
  pause: Pause | undefined;
}

interface Pause {
  /** ms. */
  readonly end: number;
  readonly sentBefore: bigint;
  cancel: () => void;
}

/** What leaves is looked at this often. */
const LOOK_MS = 10;
/** Refusals are logged this often; all are counted. */
const LOG_MS = 1000;
/** The rest of a pause that is too short to be asked for again. */
const SHORTEST_PAUSE_MS = 1;

type RateOf<Subject> = Extract<HoldEffect<Subject>, { kind: 'rate' }>;
type HoldOf<Subject> = Extract<HoldEffect<Subject>, { kind: 'hold' }>;

export class HeldClasses<Subject> {
  readonly #dependencies: HeldClassesDependencies<Subject>;
  readonly #events: HeldClassesEvents<Subject>;
  readonly #slots = new Map<number, Occupied<Subject>>();
  readonly #changes: Changes;
  /** Rates that wait for the kernel and that nothing but renewals follows, by slot. */
  readonly #rates = new Map<number, { effect: RateOf<Subject> }>();
  readonly #looking: Deadline;
  #settings: HeldClassesSettings;
  #isLooking = false;
  #loggedAt = -Infinity;
  #stopped = false;

  constructor(
    settings: HeldClassesSettings,
    dependencies: HeldClassesDependencies<Subject>,
    events: HeldClassesEvents<Subject>,
  ) {
    const { clock } = dependencies;
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#events = events;
    this.#changes = new Changes({ clock, onRefused: (error) => this.#refused(error) });
    this.#looking = new Deadline(clock, () => void this.#look());
  }

  /** Changes that wait for the kernel. */
  get waiting(): number {
    return this.#changes.size;
  }

  configure(settings: HeldClassesSettings): void {
    this.#settings = settings;
  }

  apply(effects: readonly HoldEffect<Subject>[]): void {
    for (const effect of effects) {
      if (effect.kind === 'rate') this.#queueRate(effect);
      else {
        // A later rate must not overtake this.
        if (effect.kind !== 'renew') this.#rates.delete(effect.slot);
        this.#changes.do(() => this.#applyOne(effect));
      }
    }
  }

  /** Of the rates that wait, only the latest counts: recovery asks for more than a busy kernel can do. */
  #queueRate(effect: RateOf<Subject>): void {
    const waiting = this.#rates.get(effect.slot);
    if (waiting) {
      waiting.effect = effect;
      return;
    }
    const latest = { effect };
    this.#rates.set(effect.slot, latest);
    this.#changes.do(() => {
      if (this.#rates.get(effect.slot) === latest) this.#rates.delete(effect.slot);
      return this.#applyOne(latest.effect);
    });
  }

  /** All traffic goes straight; what is in the classes leaves at line rate. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#looking.cancel();
    await this.#changes.stop();
    const { dataplane } = this.#dependencies;
    for (const { pause } of this.#slots.values()) pause?.cancel();
    const lineRate = classRate(this.#settings.lineRate);
    await this.#changes.each(this.#slots.keys(), (slot) => dataplane.changeRate(slot, lineRate));
    await this.#changes.each(this.#slots.values(), ({ flow }) => dataplane.removeHold(flow));
    this.#slots.clear();
  }

  #refused(error: unknown): void {
    const { log } = this.#dependencies;
    this.#events.onError();
    if (this.#now() - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = this.#now();
    log.warn({ error: messageOf(error) }, 'the kernel has refused a change of a class');
  }

  async #applyOne(effect: HoldEffect<Subject>): Promise<void> {
    if (effect.kind === 'hold') return this.#hold(effect);
    const occupied = this.#slots.get(effect.slot);
    if (!occupied) return; // its class was refused
    switch (effect.kind) {
      case 'rate':
        occupied.rate = effect.rate;
        return this.#setRate(effect.slot, occupied);
      case 'pause':
        return this.#pause(effect.slot, occupied, this.#now() + effect.microseconds / 1000);
      case 'resume':
        this.#endPause(occupied);
        return this.#setRate(effect.slot, occupied);
      case 'renew':
        return this.#change(effect.slot, occupied, { untilNs: this.#untilNs(effect.untilMs) });
      case 'leave':
        occupied.rate = effect.rate;
        this.#endPause(occupied);
        await this.#setRate(effect.slot, occupied);
        this.#change(effect.slot, occupied, { phase: 'leaving', drained: await this.#drained(effect.slot, occupied) });
        return this.#looking.by(this.#now() + LOOK_MS);
      case 'free':
        this.#endPause(occupied);
        this.#slots.delete(effect.slot);
        return this.#dependencies.dataplane.removeHold(occupied.flow);
    }
  }

  async #hold(effect: HoldOf<Subject>): Promise<void> {
    const { slot, rate, untilMs } = effect;
    const hold = { phase: 'held', untilNs: this.#untilNs(untilMs), drained: 0n } as const;
    const leaver = this.#slots.get(slot);
    if (!leaver) return this.#holdNew(effect, hold);
    await this.#setClass(slot, rate);
    // The same flow: its packets in the class are still its own.
    leaver.rate = rate;
    this.#change(slot, leaver, hold);
  }

  async #holdNew({ flow, slot, rate }: HoldOf<Subject>, hold: ClassHold): Promise<void> {
    const { dataplane } = this.#dependencies;
    try {
      await this.#setClass(slot, rate);
      const { sent, dropped, backlogPackets } = await dataplane.classCounters(slot);
      const before = sent + dropped + BigInt(backlogPackets);
      dataplane.setHold(slot, flow, hold);
      this.#slots.set(slot, { flow, before, rate, hold, pause: undefined });
    } catch (error) {
      this.#events.onRefused(flow, slot);
      throw error;
    }
  }

  /** Before a packet of the flow comes: one frame at a rate next to zero would silence the class for a minute. */
  async #setClass(slot: number, rate: number): Promise<void> {
    const { dataplane } = this.#dependencies;
    const { lineRate, buffer, silenceUs } = this.#settings;
    await dataplane.setClass(slot, { ...classRate(rate === 0 ? lineRate : rate), limit: buffer });
    if (rate === 0) await dataplane.pause(slot, silenceUs());
  }

  /** During a pause, the rate waits for its end. */
  async #setRate(slot: number, { rate, pause }: Occupied<Subject>): Promise<void> {
    if (pause) return;
    if (rate === 0) return this.#dependencies.dataplane.pause(slot, this.#settings.silenceUs());
    return this.#dependencies.dataplane.changeRate(slot, classRate(rate));
  }

  async #pause(slot: number, occupied: Occupied<Subject>, end: number): Promise<void> {
    const { dataplane, clock } = this.#dependencies;
    this.#endPause(occupied);
    const left = end - this.#now();
    if (left <= 0) return this.#setRate(slot, occupied);
    const { sent } = await dataplane.classCounters(slot);
    await dataplane.pause(slot, Math.max(1, Math.min(LONGEST_PAUSE_US, Math.round(left * 1000))));
    this.#endPause(occupied); // another one may have come meanwhile
    const cancel = clock.after(left / 2, () => this.#changes.do(() => this.#afterHalf(slot, occupied)));
    occupied.pause = { end, sentBefore: sent, cancel };
  }

  async #afterHalf(slot: number, occupied: Occupied<Subject>): Promise<void> {
    const { pause } = occupied;
    if (!pause || this.#slots.get(slot) !== occupied) return;
    const { sent } = await this.#dependencies.dataplane.classCounters(slot);
    if (occupied.pause !== pause) return;
    occupied.pause = undefined;
    if (sent === pause.sentBefore && pause.end - this.#now() > SHORTEST_PAUSE_MS)
      return this.#pause(slot, occupied, pause.end);
    return this.#setRate(slot, occupied);
  }

  #endPause(occupied: Occupied<Subject>): void {
    occupied.pause?.cancel();
    occupied.pause = undefined;
  }

  #change(slot: number, occupied: Occupied<Subject>, change: Partial<ClassHold>): void {
    occupied.hold = { ...occupied.hold, ...change };
    this.#dependencies.dataplane.setHold(slot, occupied.flow, occupied.hold);
  }

  #untilNs(untilMs: number): bigint {
    return this.#dependencies.monotonicNs() + BigInt(Math.round((untilMs - this.#now()) * 1e6));
  }

  async #drained(slot: number, { before }: Occupied<Subject>): Promise<bigint> {
    const { sent, dropped } = await this.#dependencies.dataplane.classCounters(slot);
    return sent + dropped > before ? sent + dropped - before : 0n;
  }

  /** Lets flows go whose packets have left their classes. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const leaving = [...this.#slots].filter(([, { hold }]) => hold.phase === 'leaving');
    await this.#changes.each(leaving, ([slot, occupied]) => this.#lookAt(slot, occupied));
    this.#isLooking = false;
    const someLeave = [...this.#slots.values()].some(({ hold }) => hold.phase === 'leaving');
    if (someLeave && !this.#stopped) this.#looking.by(this.#now() + LOOK_MS);
  }

  async #lookAt(slot: number, occupied: Occupied<Subject>): Promise<void> {
    if (this.#stopped) return;
    const drained = await this.#drained(slot, occupied);
    // Meanwhile it may have been held again.
    if (this.#stopped || this.#slots.get(slot) !== occupied || occupied.hold.phase !== 'leaving') return;
    this.#change(slot, occupied, { drained });
    // Only now: a packet that came before the change went into the class, one that comes after it goes straight.
    const record = this.#dependencies.dataplane.record(occupied.flow);
    if (record && (record.released || record.entered === drained)) this.#events.onDrained(occupied.flow);
  }

  #now(): number {
    return this.#dependencies.clock.now();
  }
}
