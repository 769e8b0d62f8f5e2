// Precise flow control (FCN §4.1): asks upstream neighbors to pause what fills queues here (asked.ts), and pauses what
// downstream neighbors ask for (paused.ts). Hands both machines time, the lengths of queues, and what has arrived.
//
// Who is upstream of paused traffic is asked in its turn when the class fills in which it is held here: node by node,
// each by its own queue. So an ARN goes over one link only.
import type { FilledQueue, FillingTraffic, HeldTraffic } from '../model/flow-control.ts';
import type { FlowControlView } from '../model/flow-control-state.ts';
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import { LONGEST_PAUSE_US } from '../model/notification.ts';
import { HeldClasses, type HeldClassesSettings } from '../source/held-classes.ts';
import type { HoldEffect } from '../source/hold.ts';
import { type ArnToSend, type AskedOptions, AskedNeighbors, type Upstream } from './asked.ts';
import type { FlowControlDataplane } from './dataplane.ts';
import { type PauseRequest, type PausedOptions, PausedTraffic } from './paused.ts';
import { heldKey } from './traffic-key.ts';

export interface FlowControlSettings {
  readonly asked: AskedOptions;
  readonly paused: PausedOptions;
  readonly classes: Omit<HeldClassesSettings, 'silenceUs'>;
  /** Of one class that is paused alone, microseconds; of many together a frame leaves no more often. */
  readonly silenceUs: number;
  /** Thresholds of watched queues, bytes, by ifindex. */
  readonly watched: ReadonlyMap<number, Thresholds>;
  /** Of each class that holds traffic. */
  readonly held: Thresholds;
  /** Ports that hold. */
  readonly holdPorts: ReadonlySet<number>;
  /** Whether traffic of this kind is held. */
  readonly mayHold: (held: HeldTraffic) => boolean;
}

interface Thresholds {
  readonly above: number;
  readonly below: number;
}

interface FlowControlDependencies {
  readonly dataplane: FlowControlDataplane;
  readonly upstreamOf: (filled: FilledQueue) => readonly Upstream[];
  /** @throws KernelError */
  readonly send: (arn: ArnToSend) => void;
  readonly clock: Clock;
  readonly monotonicNs: () => bigint;
  readonly count: Count;
  readonly log: Log;
}

/** Queues are looked at this often, while there is anything to pause or to let go on … */
const LOOK_MS = 2;
/** … but for no more than a tenth of the time. */
const REST = 9;
/** Classes that one turn of the event loop looks at. */
const AT_ONCE = 64;
/** What goes wrong is logged this often; all is counted. */
const LOG_MS = 1000;
/** Changes that wait for the kernel. Beyond, ARNs are ignored: what they ask for would come too late. */
const MOST_WAITING = 16_384;

export class FlowControl {
  readonly #dependencies: FlowControlDependencies;
  readonly #asked: AskedNeighbors;
  readonly #paused: PausedTraffic;
  readonly #classes: HeldClasses<HeldTraffic>;
  readonly #due: Deadline;
  readonly #looking: Deadline;
  /** Ports whose classes were not empty at the last look. */
  readonly #holding = new Set<number>();
  /** Classes that are too full. */
  readonly #full = new Set<string>();
  #settings: FlowControlSettings;
  /** The last packet over the threshold before which there was nobody to ask. */
  #withoutNeighbor = { ingress: 0, at: -Infinity };
  #isLooking = false;
  #restUntil = -Infinity;
  #loggedAt = -Infinity;
  #stopped = false;

  constructor(settings: FlowControlSettings, dependencies: FlowControlDependencies) {
    const { clock, count } = dependencies;
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#asked = new AskedNeighbors(settings.asked, dependencies, clock.now());
    this.#paused = new PausedTraffic(settings.paused, dependencies);
    this.#classes = new HeldClasses(
      this.#classSettings(settings),
      { ...dependencies, dataplane: dependencies.dataplane.classes },
      {
        onDrained: (traffic) => this.#apply(this.#paused.onDrained(traffic)),
        onRefused: (traffic, slot) => this.#apply(this.#paused.onRefused(traffic, slot)),
        onError: () => count('flow-control.pause.refused'),
      },
    );
    this.#due = new Deadline(clock, () => this.#apply(this.#paused.advance(clock.now())));
    this.#looking = new Deadline(clock, () => void this.#look());
    // What an earlier machine has told the dataplane of them may no longer be so.
    for (const port of settings.holdPorts) this.#holding.add(port);
    this.#lookSoon();
  }

  /** A packet has found a queue filled. */
  onFilled(filled: FilledQueue): void {
    if (this.#stopped) return;
    const { count, upstreamOf } = this.#dependencies;
    const above =
      filled.reason === 'queue' ? this.#settings.watched.get(filled.egress)?.above : this.#settings.held.above;
    if (above === undefined) return count('flow-control.ask.not-watched');
    const neighbors = upstreamOf(filled);
    if (neighbors.length === 0) {
      count('flow-control.ask.no-neighbor');
      this.#withoutNeighbor = { ingress: filled.ingress, at: this.#now() };
    }
    for (const to of neighbors) this.#send(this.#asked.onFilled(filled, to, above, this.#now()));
    this.#lookSoon();
  }

  /** A neighbor that may ask for it has sent an ARN. */
  onRequest(request: PauseRequest): void {
    if (this.#stopped) return;
    if (this.#classes.waiting >= MOST_WAITING) return this.#dependencies.count('flow-control.pause.overload');
    this.#apply(this.#paused.onRequest(request, this.#now()));
    this.#lookSoon();
  }

  configure(settings: FlowControlSettings): void {
    this.#settings = settings;
    this.#asked.configure(settings.asked, this.#now());
    this.#apply(this.#paused.reconfigure(settings.paused, settings.mayHold, this.#now()));
    this.#classes.configure(this.#classSettings(settings));
  }

  /** Lets all held traffic go. */
  releaseAll(): void {
    this.#apply(this.#paused.releaseAll(this.#now()));
  }

  view(): FlowControlView {
    return { asked: [...this.#asked.views()], paused: [...this.#paused.views(this.#now())], now: this.#now() };
  }

  /** Within `ms`: traffic found no class, the watchdog let traffic go, or there was no neighbor at an interface. */
  happened(ms: number): {
    readonly withoutSlot: boolean;
    readonly watchdog: boolean;
    readonly withoutNeighbor: number | undefined;
  } {
    const within = (at: number): boolean => this.#now() - at < ms;
    const { ingress, at } = this.#withoutNeighbor;
    return {
      withoutSlot: within(this.#paused.withoutSlotAt),
      watchdog: within(this.#paused.watchdogAt),
      withoutNeighbor: within(at) ? ingress : undefined,
    };
  }

  /** Neighbors and held traffic go on. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#due.cancel();
    this.#looking.cancel();
    for (const arn of this.#asked.stop(this.#now())) this.#send(arn);
    await this.#classes.stop();
  }

  #classSettings({ classes, silenceUs }: FlowControlSettings): HeldClassesSettings {
    const together = (): number => Math.min(LONGEST_PAUSE_US, silenceUs * Math.max(1, this.#paused.size));
    return { ...classes, silenceUs: together };
  }

  #now(): number {
    return this.#dependencies.clock.now();
  }

  #apply(effects: readonly HoldEffect<HeldTraffic>[]): void {
    this.#classes.apply(effects);
    if (!this.#stopped) this.#due.by(this.#paused.nextAt);
  }

  #send(arn: ArnToSend | undefined): void {
    if (!arn) return;
    try {
      this.#dependencies.send(arn);
    } catch (error) {
      this.#dependencies.count('flow-control.ask.not-sent');
      this.#warn(error, 'an ARN could not be sent');
    }
  }

  #warn(error: unknown, message: string): void {
    if (this.#now() - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = this.#now();
    this.#dependencies.log.warn({ error: messageOf(error) }, message);
  }

  #lookSoon(): void {
    if (this.#stopped || this.#asked.size + this.#paused.size + this.#holding.size === 0) return;
    this.#looking.by(Math.max(this.#now() + LOOK_MS, this.#restUntil));
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#stopped) return;
    this.#isLooking = true;
    const start = this.#now();
    try {
      await this.#lookAtClasses();
      const queued = this.#lookAtPorts();
      if (!this.#stopped) this.#askAgain(queued);
    } catch (error) {
      this.#failed(error); // the kernel has refused a change of the maps
    }
    this.#isLooking = false;
    this.#restUntil = this.#now() + REST * (this.#now() - start);
    this.#lookSoon();
  }

  /** What cannot be read does not keep the rest from being looked at. */
  #failed(error: unknown): void {
    this.#dependencies.count('flow-control.look-failed');
    this.#warn(error, 'the length of a queue cannot be read');
  }

  /** Which classes are too full, so that the neighbors before them are asked. */
  async #lookAtClasses(): Promise<void> {
    const { dataplane } = this.#dependencies;
    const { above, below } = this.#settings.held;
    const present = new Set<string>();
    for (const held of [...this.#paused.classes()]) {
      const key = heldKey(held);
      present.add(key);
      if (present.size % AT_ONCE === 0) await new Promise((resolve) => void setImmediate(resolve));
      const bytes = await this.#classes.backlogBytes(held.slot).catch((error: unknown) => (this.#failed(error), 0));
      // What leaves a full class goes on waiting for its neighbors: at their rate the class would never get shorter.
      const isFull = this.#full.has(key) ? bytes > below : held.isPaused && bytes > above;
      // Each time: a class that traffic has got anew since the last look is not full there.
      if (isFull || this.#full.has(key)) dataplane.setFull(held, isFull);
      if (isFull) this.#full.add(key);
      else this.#full.delete(key);
    }
    for (const key of this.#full) if (!present.has(key)) this.#full.delete(key);
  }

  /** Bytes in the queues that neighbors are asked about, held ones not included. */
  #lookAtPorts(): ReadonlyMap<number, number> {
    const { dataplane } = this.#dependencies;
    for (const { egress } of this.#paused.classes()) this.#holding.add(egress);
    const held = new Map([...this.#holding].map((port) => [port, this.#lookAtHeld(port)]));
    const queued = new Map<number, number>();
    for (const port of this.#asked.egress)
      try {
        if (this.#settings.watched.has(port)) queued.set(port, dataplane.queueBytes(port) - (held.get(port) ?? 0));
      } catch (error) {
        this.#failed(error);
      }
    return queued;
  }

  /** Tells the dataplane what is held at a port. Returns the bytes. */
  #lookAtHeld(port: number): number {
    const { dataplane } = this.#dependencies;
    try {
      const entered = dataplane.enteredBytes(port);
      const bytes = dataplane.heldBytes(port);
      dataplane.setPortHeld(port, bytes, entered);
      // Not before it is empty: what has entered a class since the last look counts as held.
      if (bytes === 0 && !this.#holds(port)) this.#holding.delete(port);
      return bytes;
    } catch (error) {
      this.#failed(error);
      if (!this.#holds(port)) this.#holding.delete(port);
      return 0;
    }
  }

  #holds(port: number): boolean {
    for (const { egress } of this.#paused.classes()) if (egress === port) return true;
    return false;
  }

  #askAgain(queued: ReadonlyMap<number, number>): void {
    const { watched } = this.#settings;
    const isShort = ({ egress, reason, traffic }: FillingTraffic): boolean =>
      reason === 'queue'
        ? (queued.get(egress) ?? 0) <= (watched.get(egress)?.below ?? Infinity)
        : !this.#isFull(egress, heldKey({ traffic, egress }));
    const { arns, emptied } = this.#asked.onQueues(isShort, this.#now());
    for (const arn of arns) this.#send(arn);
    for (const queue of emptied) this.#dependencies.dataplane.forget(queue);
  }

  /** Where a tunnel's segment ends here, the class has another name than the traffic on arrival: any class counts. */
  #isFull(egress: number, key: string): boolean {
    if (this.#full.has(key)) return true;
    const classes = [...this.#paused.classes()].map((held) => ({ egress: held.egress, key: heldKey(held) }));
    if (classes.some((one) => one.key === key)) return false;
    return classes.some((one) => one.egress === egress && this.#full.has(one.key));
  }
}
