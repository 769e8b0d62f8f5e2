// What machines ask of the classes of held traffic: effects in, requests to the dataplane out. It has the timers that
// the machines have not.
//
// Effects say what a slot is to be. What has not reached the kernel yet is replaced by what comes later, so that a busy
// kernel is asked for the latest state of each slot alone, and what waits is bounded by the number of slots. Slots have
// their turns one batch after another, in which the dataplane can send what all of them ask for together.
//
// Traffic has left when as many of its packets have left the class as have entered.
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import { messageOf } from '../model/error-text.ts';
import type { Log } from '../model/log.ts';
import type { Work } from '../model/work.ts';
import { type HeldClassesSettings, type HeldRate, HeldRates, endPause } from './held-rates.ts';
import type { HoldEffect } from './hold.ts';
import type { ClassHold, HoldDataplane } from './hold-dataplane.ts';
import { Turns } from './turns.ts';
import { type WantedHold, wantedAfter } from './wanted-hold.ts';

export interface HeldClassesDependencies<Subject> {
  readonly dataplane: HoldDataplane<Subject>;
  readonly clock: Clock;
  readonly work: Work;
  /** CLOCK_MONOTONIC. */
  readonly monotonicNs: () => bigint;
  readonly log: Log;
}

/** What the machine hears of its effects. */
export interface HeldClassesEvents<Subject> {
  /** No packet is in the class any more of what was told to leave. */
  onDrained(subject: Subject): void;
  /** The dataplane could not hold it in this slot. `leaves`: what was leaving goes on doing so, in its class. */
  onRefused(subject: Subject, slot: number, leaves: boolean): void;
  /** The kernel has refused a change. What is held stays as it was, and ends by itself. */
  onError(): void;
}

/** What the dataplane has in a slot. */
interface Occupied<Subject> extends HeldRate {
  readonly wanted: WantedHold<Subject>;
  /** What of the class's packets is not this one's. */
  readonly before: bigint;
  hold: ClassHold;
  untilMs: number;
}

type Slots<Subject> = [number, Occupied<Subject>][];

/** What leaves is looked at this often … */
const LOOK_MS = 10;
/** … but for no more than a quarter of the time. */
const REST = 3;
/** When all ends, what does not leave within this time goes straight: longer than a pause and a full buffer take. */
const LONGEST_LEAVING_MS = 500;
/** Refusals are logged this often; all are counted. */
const LOG_MS = 1000;

export class HeldClasses<Subject> {
  readonly #dependencies: HeldClassesDependencies<Subject>;
  readonly #events: HeldClassesEvents<Subject>;
  readonly #wanted = new Map<number, WantedHold<Subject>>();
  readonly #occupied = new Map<number, Occupied<Subject>>();
  readonly #turns: Turns;
  /** Slots whose next turn is to end so. */
  readonly #toConfirm = new Set<number>();
  readonly #rates: HeldRates<Subject>;
  readonly #looking: Deadline;
  #isLooking = false;
  #loggedAt = -Infinity;
  #stopped = false;

  constructor(
    settings: HeldClassesSettings,
    dependencies: HeldClassesDependencies<Subject>,
    events: HeldClassesEvents<Subject>,
  ) {
    const { clock, work } = dependencies;
    this.#dependencies = dependencies;
    this.#events = events;
    this.#turns = new Turns({
      ...{ work, settle: (slot) => this.#settle(slot) },
      onRefused: (error) => this.#refused(error),
    });
    this.#rates = new HeldRates(settings, {
      ...dependencies,
      due: (slot) => this.#turns.due(slot),
      isStill: (slot, wanted) => this.#isStill(slot, wanted),
    });
    this.#looking = new Deadline(clock, () => void this.#look());
  }

  /** Slots that wait for the kernel. */
  get waiting(): number {
    return this.#turns.size;
  }

  configure(settings: HeldClassesSettings): void {
    this.#rates.configure(settings);
  }

  apply(effects: readonly HoldEffect<Subject>[]): void {
    if (this.#stopped) return;
    for (const effect of effects) {
      const wanted = wantedAfter(this.#wanted.get(effect.slot), effect, this.#now());
      if (wanted) this.#wanted.set(effect.slot, wanted);
      else this.#wanted.delete(effect.slot);
      this.#turns.due(effect.slot);
    }
  }

  /**
   * A program may have obeyed an instruction already: that is over when the slot is what it is to be, all that has been
   * asked for so far included. However often it is asked for, the slot has one turn.
   */
  confirm(slot: number): void {
    if (this.#stopped || !this.#dependencies.dataplane.confirm) return;
    this.#toConfirm.add(slot);
    this.#turns.due(slot);
  }

  /** All traffic leaves, as far as it does soon, and goes straight. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#looking.cancel();
    await this.#turns.stop();
    const { dataplane, clock } = this.#dependencies;
    let left: Slots<Subject> = [...this.#occupied];
    for (const [slot, { wanted }] of left)
      this.#wanted.set(slot, Object.assign(wanted, { leaving: true, rate: this.#rates.lineRate }));
    await this.#turns.each(left, ([slot, occupied]) => this.#leave(slot, occupied));
    const end = this.#now() + LONGEST_LEAVING_MS;
    while ((left = await this.#notLeft(left)).length > 0 && this.#now() < end)
      await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
    await this.#turns.each([...this.#occupied.values()], ({ wanted }) => dataplane.removeHold(wanted.flow));
    this.#occupied.clear();
    await dataplane.departed?.();
  }

  #refused(error: unknown): void {
    const { log } = this.#dependencies;
    this.#events.onError();
    if (this.#now() - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = this.#now();
    log.warn({ error: messageOf(error) }, 'the kernel has refused a change of a class');
  }

  async #settle(slot: number): Promise<void> {
    const confirms = this.#toConfirm.delete(slot);
    try {
      await this.#settleHold(slot);
    } finally {
      // Asked for again meanwhile, it has to wait for what came with that.
      if (confirms && !this.#toConfirm.has(slot)) this.#dependencies.dataplane.confirm?.(slot);
    }
  }

  /** Makes a slot what it is to be. What is asked for meanwhile makes it due again. */
  async #settleHold(slot: number): Promise<void> {
    const wanted = this.#wanted.get(slot);
    const occupied = this.#occupied.get(slot);
    if (occupied && occupied.wanted !== wanted) this.#free(slot, occupied);
    if (!wanted) return;
    if (occupied?.wanted === wanted) return this.#follow(slot, occupied);
    // It was told to leave before it had its turn: nothing of it is in the class.
    if (wanted.leaving) return this.#events.onDrained(wanted.flow);
    const entered = await this.#enter(slot, wanted);
    if (entered) await this.#follow(slot, entered);
  }

  #free(slot: number, occupied: Occupied<Subject>): void {
    endPause(occupied);
    this.#occupied.delete(slot);
    this.#dependencies.dataplane.removeHold(occupied.wanted.flow);
  }

  /** Undefined: it is to be something else by now. */
  async #enter(slot: number, wanted: WantedHold<Subject>): Promise<Occupied<Subject> | undefined> {
    const { dataplane } = this.#dependencies;
    const { flow, rate, untilMs } = wanted;
    try {
      const set = this.#rates.setClass(slot, rate);
      const [{ sent, dropped, backlogPackets }] = await Promise.all([dataplane.classCounters(slot), ...set]);
      if (!this.#isStill(slot, wanted)) return undefined;
      const hold = { phase: 'held', untilNs: this.#untilNs(untilMs), drained: 0n } as const;
      dataplane.setHold(slot, flow, hold);
      const before = sent + dropped + BigInt(backlogPackets);
      const occupied = { wanted, before, hold, untilMs, rate, pausedUntil: undefined, pause: undefined };
      this.#occupied.set(slot, occupied);
      return occupied;
    } catch (error) {
      if (this.#isStill(slot, wanted)) {
        this.#wanted.delete(slot);
        this.#events.onRefused(flow, slot, false);
      }
      throw error;
    }
  }

  async #follow(slot: number, occupied: Occupied<Subject>): Promise<void> {
    const { wanted } = occupied;
    const leaves = occupied.hold.phase === 'leaving';
    if (wanted.leaving && !leaves) return this.#leave(slot, occupied);
    if (leaves && !wanted.leaving) await this.#holdAgain(slot, occupied);
    if (!this.#isStill(slot, wanted)) return;
    if (wanted.untilMs !== occupied.untilMs) this.#change(slot, occupied, { untilNs: this.#renewed(occupied) });
    await this.#rates.follow(slot, occupied);
  }

  /** If that is refused, it goes on leaving. */
  async #holdAgain(slot: number, occupied: Occupied<Subject>): Promise<void> {
    const { wanted } = occupied;
    const { flow, rate } = wanted;
    try {
      occupied.rate = undefined;
      await Promise.all(this.#rates.setClass(slot, rate));
      occupied.rate = rate;
      if (!this.#isStill(slot, wanted) || wanted.leaving) return;
      this.#change(slot, occupied, { phase: 'held', untilNs: this.#renewed(occupied), drained: 0n });
    } catch (error) {
      if (this.#isStill(slot, wanted) && !wanted.leaving) {
        wanted.leaving = true;
        this.#events.onRefused(flow, slot, true);
      }
      throw error;
    }
  }

  async #leave(slot: number, occupied: Occupied<Subject>): Promise<void> {
    const { wanted, hold } = occupied;
    endPause(occupied);
    occupied.pausedUntil = undefined;
    this.#dependencies.dataplane.resume?.(slot);
    const [rate, drained] = await Promise.allSettled([
      this.#rates.setRate(slot, occupied),
      this.#drained(slot, occupied),
    ]);
    if (this.#isStill(slot, wanted) && wanted.leaving) {
      const left = drained.status === 'fulfilled' ? drained.value : hold.drained;
      this.#change(slot, occupied, { phase: 'leaving', drained: left, untilNs: this.#renewed(occupied) });
      if (!this.#stopped) this.#looking.by(this.#now() + LOOK_MS);
    }
    for (const asked of [rate, drained]) if (asked.status === 'rejected') throw asked.reason;
  }

  #change(slot: number, occupied: Occupied<Subject>, change: Partial<ClassHold>): void {
    const hold = { ...occupied.hold, ...change };
    this.#dependencies.dataplane.setHold(slot, occupied.wanted.flow, hold);
    occupied.hold = hold;
  }

  #isStill(slot: number, wanted: WantedHold<Subject>): boolean {
    return this.#wanted.get(slot) === wanted;
  }

  #renewed(occupied: Occupied<Subject>): bigint {
    occupied.untilMs = occupied.wanted.untilMs;
    return this.#untilNs(occupied.untilMs);
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
    const start = this.#now();
    await this.#turns.each(this.#leaving(), ([slot, occupied]) => this.#lookAt(slot, occupied));
    this.#isLooking = false;
    if (this.#stopped || this.#leaving().length === 0) return;
    this.#looking.by(this.#now() + Math.max(LOOK_MS, REST * (this.#now() - start)));
  }

  async #notLeft(some: Slots<Subject>): Promise<Slots<Subject>> {
    const waiting: Slots<Subject> = [];
    await this.#turns.each(some, async (one) => void ((await this.#hasLeft(...one)) || waiting.push(one)));
    return waiting;
  }

  #leaving(): Slots<Subject> {
    return [...this.#occupied].filter(([, { hold }]) => hold.phase === 'leaving');
  }

  async #lookAt(slot: number, occupied: Occupied<Subject>): Promise<void> {
    if (this.#stopped) return;
    const hasLeft = await this.#hasLeft(slot, occupied);
    if (hasLeft && !this.#stopped) this.#events.onDrained(occupied.wanted.flow);
  }

  /** Whether nothing of what leaves is in its class any more. */
  async #hasLeft(slot: number, occupied: Occupied<Subject>): Promise<boolean> {
    const drained = await this.#drained(slot, occupied);
    // Meanwhile it may have been held again.
    if (this.#occupied.get(slot) !== occupied || occupied.hold.phase !== 'leaving') return false;
    if (drained !== occupied.hold.drained) this.#change(slot, occupied, { drained });
    // Only now: a packet that came before the change went into the class, one that comes after it goes straight.
    const record = this.#dependencies.dataplane.record(occupied.wanted.flow);
    return record !== undefined && (record.released || record.entered === drained);
  }

  #now(): number {
    return this.#dependencies.clock.now();
  }
}
