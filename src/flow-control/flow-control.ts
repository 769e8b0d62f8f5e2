// Precise flow control (FCN §4.1): asks upstream neighbors to pause what fills queues here (asked.ts), and pauses what
// downstream neighbors ask for (paused.ts). Hands both machines time, the lengths of queues, and what has arrived.
//
// Who is upstream of paused traffic is asked in its turn when the class fills in which it is held here: node by node,
// each by its own queue. So an ARN goes over one link only.
import type { FilledQueue, HeldTraffic } from '../model/flow-control.ts';
import type { FlowControlView } from '../model/flow-control-state.ts';
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import { recordCalls } from '../model/recorded-calls.ts';
import type { Recorder } from '../model/recording.ts';
import { LONGEST_PAUSE_US } from '../model/notification.ts';
import type { Work } from '../model/work.ts';
import { leastRate } from '../source/class-rate.ts';
import { HeldClasses } from '../source/held-classes.ts';
import type { HeldClassesSettings } from '../source/held-rates.ts';
import type { HoldEffect } from '../source/hold.ts';
import { type ArnToSend, type AskedOptions, type AskedQueue, AskedNeighbors, type Upstream } from './asked.ts';
import type { FlowControlDataplane } from './dataplane.ts';
import { FillLevels, type Thresholds } from './fill-levels.ts';
import { type PauseRequest, type PausedOptions, PausedTraffic } from './paused.ts';

export interface FlowControlSettings {
  readonly asked: AskedOptions;
  readonly paused: PausedOptions;
  readonly classes: Omit<HeldClassesSettings, 'silenceUs' | 'minimumRate'>;
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

interface FlowControlDependencies {
  readonly dataplane: FlowControlDataplane;
  readonly upstreamOf: (filled: FilledQueue) => readonly Upstream[];
  /** @throws KernelError */
  readonly send: (arn: ArnToSend) => void;
  readonly clock: Clock;
  readonly work: Work;
  readonly monotonicNs: () => bigint;
  readonly count: Count;
  readonly log: Log;
  readonly recorder?: Recorder | undefined;
}

/** Queues are looked at this often, while there is anything to pause or to let go on … */
const LOOK_MS = 2;
/** … but for no more than a tenth of the time … */
const REST = 9;
/**
 * … unless what was asked for would end meanwhile: then for half of the time at most. A look takes longer also when the
 * process has to wait for a processor.
 */
const restAfter = (took: number, pauseMs: number): number => Math.min(REST * took, Math.max(took, pauseMs / 4));
/** What goes wrong is logged this often; all is counted. */
const LOG_MS = 1000;

/** What changes the machines. */
export const ASKED_EVENTS = ['onFilled', 'onQueues', 'configure', 'stop'] as const;
export const PAUSED_EVENTS = ['onRequest', 'advance', 'releaseAll', 'onDrained', 'onRefused', 'reconfigure'] as const;

function recordedAsked(options: AskedOptions, { recorder, clock, count }: FlowControlDependencies): AskedNeighbors {
  const now = (): number => clock.now();
  const at = now();
  const tape = recorder?.begin('flow-control-asked', at, options);
  return recordCalls(new AskedNeighbors(options, { count }, at), ASKED_EVENTS, tape, now);
}

function recordedPaused(options: PausedOptions, { recorder, clock, count }: FlowControlDependencies): PausedTraffic {
  const now = (): number => clock.now();
  const tape = recorder?.begin('flow-control-paused', now(), options);
  return recordCalls(new PausedTraffic(options, { count }), PAUSED_EVENTS, tape, now);
}

export class FlowControl {
  readonly #dependencies: FlowControlDependencies;
  readonly #asked: AskedNeighbors;
  readonly #paused: PausedTraffic;
  readonly #classes: HeldClasses<HeldTraffic>;
  readonly #due: Deadline;
  readonly #looking: Deadline;
  readonly #levels: FillLevels;
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
    this.#asked = recordedAsked(settings.asked, dependencies);
    this.#paused = recordedPaused(settings.paused, dependencies);
    this.#classes = new HeldClasses(
      this.#classSettings(settings),
      { ...dependencies, dataplane: dependencies.dataplane.classes },
      {
        onDrained: (traffic) => this.#apply(this.#paused.onDrained(traffic)),
        onRefused: (...refused) => this.#apply(this.#paused.onRefused(...refused, this.#now())),
        onError: () => count('flow-control.pause.refused'),
      },
    );
    this.#due = new Deadline(clock, () => this.#apply(this.#paused.advance(clock.now())));
    this.#looking = new Deadline(clock, () => void this.#look());
    this.#levels = new FillLevels(settings.holdPorts, { ...dependencies, onError: (error) => this.#failed(error) });
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
    return { asked: [...this.#asked.views()], paused: [...this.#paused.views(this.#now())] };
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
    return { ...classes, minimumRate: leastRate(classes.lineRate), silenceUs: together };
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
    if (this.#stopped || (this.#asked.size + this.#paused.size === 0 && !this.#levels.isHolding)) return;
    this.#looking.by(Math.max(this.#now() + LOOK_MS, this.#restUntil));
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#stopped) return;
    this.#isLooking = true;
    const start = this.#now();
    try {
      const { watched, held } = this.#settings;
      const [classes, asked] = [() => this.#paused.classes(), () => this.#asked.egress];
      const isShort = await this.#levels.look({ classes, asked, watched, held });
      if (!this.#stopped) this.#askAgain(isShort);
    } catch (error) {
      this.#failed(error); // the kernel has refused a change of the maps
    }
    this.#isLooking = false;
    const end = this.#now();
    this.#restUntil = end + restAfter(end - start, this.#settings.asked.pauseMs);
    this.#lookSoon();
  }

  /** What cannot be read does not keep the rest from being looked at. */
  #failed(error: unknown): void {
    this.#dependencies.count('flow-control.look-failed');
    this.#warn(error, 'the length of a queue cannot be read');
  }

  #askAgain(isShort: (queue: AskedQueue) => boolean): void {
    const { arns, emptied } = this.#asked.onQueues(isShort, this.#now());
    for (const arn of arns) this.#send(arn);
    for (const queue of emptied) this.#dependencies.dataplane.forget(queue);
  }
}
