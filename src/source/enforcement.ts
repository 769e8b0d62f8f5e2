// Obeys notifications in place of hosts (LHCNP §5.6): hands what the program has believed to the machine (holds.ts),
// and what that asks for to the classes of the dataplane. It has the timers that the machine has not.
//
// Three things are the dataplane's way of doing what the machine asks for (reconcile/hold-ports.ts):
// - A class has no rate of zero. A rate of 0 is the longest pause, whose silences repeat.
// - A pause costs the class's next frame. The former rate is set again while that silence lasts: the next silence would
//   follow otherwise. If no frame has come by then, the pause is asked for again, for what is left of it.
// - A flow has left when as many of its packets have left the class as have entered.
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import { LONGEST_PAUSE_US } from '../model/notification.ts';
import type { SourceNotification } from '../model/source.ts';
import { Changes } from './changes.ts';
import { classRate } from './class-rate.ts';
import type { HoldEffect, HoldOptions, HoldView, SourceFlow } from './hold.ts';
import type { ClassHold, HoldDataplane } from './hold-dataplane.ts';
import { decodeTrace } from '../packet/ip/ioam.ts';
import { type IoamNode, decodeTraceNodes } from '../packet/ip/ioam-nodes.ts';
import { Holds } from './holds.ts';

export interface EnforcementSettings {
  readonly options: HoldOptions;
  /** Bytes that a flow may have queued. */
  readonly buffer: number;
}

interface EnforcementDependencies {
  readonly dataplane: HoldDataplane;
  readonly clock: Clock;
  /** CLOCK_MONOTONIC. */
  readonly monotonicNs: () => bigint;
  readonly count: Count;
  readonly log: Log;
}

type Hold = Extract<HoldEffect, { kind: 'hold' }>;

/** A slot with a flow. */
interface Occupied {
  readonly flow: SourceFlow;
  /** What of the class's packets is not this flow's. */
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

/** Leaving flows are looked at this often. */
const LOOK_MS = 10;
/** Flows that one turn of the event loop looks at. */
const AT_ONCE = 256;
/** Refusals are logged this often; all are counted. */
const LOG_MS = 1000;
/** Changes that wait for the kernel. Beyond, notifications are ignored: what they ask for would come too late. */
const MOST_WAITING = 16_384;
/** The rest of a pause that is too short to be asked for again. */
const SHORTEST_PAUSE_MS = 1;

export class Enforcement {
  readonly #dependencies: EnforcementDependencies;
  readonly #holds: Holds;
  readonly #slots = new Map<number, Occupied>();
  readonly #due: Deadline;
  readonly #looking: Deadline;
  #settings: EnforcementSettings;
  readonly #changes: Changes;
  #isLooking = false;
  #loggedAt = -Infinity;
  #stopped = false;

  /** @throws RangeError for options that do not work */
  constructor(settings: EnforcementSettings, dependencies: EnforcementDependencies) {
    const { clock, count } = dependencies;
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#holds = new Holds(settings.options, { count });
    this.#changes = new Changes({ clock, onRefused: (error) => this.#refused(error) });
    this.#due = new Deadline(clock, () => this.#advance());
    this.#looking = new Deadline(clock, () => void this.#look());
  }

  onNotification({ flow, ...taken }: SourceNotification): void {
    if (this.#changes.size >= MOST_WAITING) return this.#dependencies.count('source.hold.overload');
    const event = {
      ...{ flow: { ...flow, tenant: 0 }, senderQpn: taken.senderQpn, node: taken.node, format: taken.format },
      ...(taken.instruction && { instruction: taken.instruction }),
      ...(taken.trace && this.#settings.options.hpcc && { trace: this.#nodesOf(taken.trace) }),
    };
    this.#apply(this.#holds.onNotification(event, this.#now()));
  }

  /** @throws RangeError for options that do not work: the former ones stay */
  configure(settings: EnforcementSettings): void {
    this.#apply(this.#holds.reconfigure(settings.options, this.#now()));
    this.#settings = settings;
  }

  release(which: SourceFlow | 'all'): void {
    this.#apply(this.#holds.release(which, this.#now()));
  }

  views(): HoldView[] {
    return [...this.#holds.views(this.#now())];
  }

  /** The last flow that found no slot, if that was within `ms`. */
  flowWithoutSlot(ms: number): SourceFlow | undefined {
    const { withoutSlot } = this.#holds;
    return withoutSlot && this.#now() - withoutSlot.at < ms ? withoutSlot.flow : undefined;
  }

  /** All flows go straight; what is in their classes leaves at line rate. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#due.cancel();
    this.#looking.cancel();
    await this.#changes.stop();
    const { dataplane } = this.#dependencies;
    for (const { pause } of this.#slots.values()) pause?.cancel();
    const lineRate = classRate(this.#settings.options.lineRate);
    await this.#changes.each(this.#slots.keys(), (slot) => dataplane.changeRate(slot, lineRate));
    await this.#changes.each(this.#slots.values(), ({ flow }) => dataplane.removeHold(flow));
    this.#slots.clear();
  }

  /** Undefined: the trace cannot be read, and the default response is used. */
  #nodesOf({ kind, bytes }: NonNullable<SourceNotification['trace']>): readonly IoamNode[] | undefined {
    const trace = decodeTrace(kind, bytes);
    const nodes = trace.ok ? decodeTraceNodes(trace.value) : trace;
    if (nodes.ok) return nodes.value;
    this.#dependencies.count('source.hold.trace-unreadable');
    return undefined;
  }

  #now(): number {
    return this.#dependencies.clock.now();
  }

  #advance(): void {
    this.#apply(this.#holds.advance(this.#now(), AT_ONCE));
  }

  #apply(effects: readonly HoldEffect[]): void {
    for (const effect of effects) this.#changes.do(() => this.#applyOne(effect));
    if (!this.#stopped) this.#due.by(this.#holds.nextAt);
  }

  /** What the kernel refuses leaves the flow as it was; it recovers by itself. */
  #refused(error: unknown): void {
    const { count, log } = this.#dependencies;
    count('source.hold.refused');
    if (this.#now() - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = this.#now();
    log.warn({ error: messageOf(error) }, 'the kernel has refused a change of a held flow');
  }

  async #applyOne(effect: HoldEffect): Promise<void> {
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

  async #hold(effect: Hold): Promise<void> {
    const { slot, rate, untilMs } = effect;
    const hold = { phase: 'held', untilNs: this.#untilNs(untilMs), drained: 0n } as const;
    const leaver = this.#slots.get(slot);
    if (!leaver) return this.#holdNew(effect, hold);
    await this.#setClass(slot, rate);
    // The same flow: its packets in the class are still its own.
    leaver.rate = rate;
    this.#change(slot, leaver, hold);
  }

  async #holdNew({ flow, slot, rate }: Hold, hold: ClassHold): Promise<void> {
    const { dataplane } = this.#dependencies;
    try {
      await this.#setClass(slot, rate);
      const { sent, dropped, backlogPackets } = await dataplane.classCounters(slot);
      const before = sent + dropped + BigInt(backlogPackets);
      dataplane.setHold(slot, flow, hold);
      this.#slots.set(slot, { flow, before, rate, hold, pause: undefined });
    } catch (error) {
      this.#apply(this.#holds.onRefused(flow, slot));
      throw error;
    }
  }

  /** Before a packet of the flow comes: one frame at a rate next to zero would silence the class for a minute. */
  async #setClass(slot: number, rate: number): Promise<void> {
    const { dataplane } = this.#dependencies;
    const { options, buffer } = this.#settings;
    await dataplane.setClass(slot, { ...classRate(rate === 0 ? options.lineRate : rate), limit: buffer });
    if (rate === 0) await dataplane.pause(slot, LONGEST_PAUSE_US);
  }

  /** During a pause, the rate waits for its end. */
  async #setRate(slot: number, { rate, pause }: Occupied): Promise<void> {
    if (pause) return;
    if (rate === 0) return this.#dependencies.dataplane.pause(slot, LONGEST_PAUSE_US);
    return this.#dependencies.dataplane.changeRate(slot, classRate(rate));
  }

  async #pause(slot: number, occupied: Occupied, end: number): Promise<void> {
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

  async #afterHalf(slot: number, occupied: Occupied): Promise<void> {
    const { pause } = occupied;
    if (!pause || this.#slots.get(slot) !== occupied) return;
    const { sent } = await this.#dependencies.dataplane.classCounters(slot);
    if (occupied.pause !== pause) return;
    occupied.pause = undefined;
    if (sent === pause.sentBefore && pause.end - this.#now() > SHORTEST_PAUSE_MS)
      return this.#pause(slot, occupied, pause.end);
    return this.#setRate(slot, occupied);
  }

  #endPause(occupied: Occupied): void {
    occupied.pause?.cancel();
    occupied.pause = undefined;
  }

  #change(slot: number, occupied: Occupied, change: Partial<ClassHold>): void {
    occupied.hold = { ...occupied.hold, ...change };
    this.#dependencies.dataplane.setHold(slot, occupied.flow, occupied.hold);
  }

  #untilNs(untilMs: number): bigint {
    return this.#dependencies.monotonicNs() + BigInt(Math.round((untilMs - this.#now()) * 1e6));
  }

  async #drained(slot: number, { before }: Occupied): Promise<bigint> {
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

  async #lookAt(slot: number, occupied: Occupied): Promise<void> {
    if (this.#stopped) return;
    const drained = await this.#drained(slot, occupied);
    // Meanwhile it may have been held again.
    if (this.#stopped || this.#slots.get(slot) !== occupied || occupied.hold.phase !== 'leaving') return;
    this.#change(slot, occupied, { drained });
    // Only now: a packet that came before the change went into the class, one that comes after it goes straight.
    const record = this.#dependencies.dataplane.record(occupied.flow);
    if (record && (record.released || record.entered === drained)) this.#apply(this.#holds.onDrained(occupied.flow));
  }
}
