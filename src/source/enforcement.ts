// Obeys notifications in place of hosts (LHCNP §5.6): hands what the program has believed to the machine (holds.ts),
// and what that asks for to the classes of the dataplane (held-classes.ts).
import { Deadline } from '../model/deadline.ts';
import type { Count } from '../model/log.ts';
import { LONGEST_PAUSE_US } from '../model/notification.ts';
import { findingFunctions, recordCalls } from '../model/recorded-calls.ts';
import type { Recorder } from '../model/recording.ts';
import type { SourceNotification } from '../model/source.ts';
import type { HoldsSummary } from '../model/telemetry-state.ts';
import { decodeTrace } from '../packet/ip/ioam.ts';
import { type IoamNode, decodeTraceNodes } from '../packet/ip/ioam-nodes.ts';
import { minimumRate } from './class-rate.ts';
import { HeldClasses, type HeldClassesDependencies } from './held-classes.ts';
import type { HeldClassesSettings } from './held-rates.ts';
import type { HoldEffect, HoldOptions, HoldView, SourceFlow } from './hold.ts';
import { Holds } from './holds.ts';

export interface EnforcementSettings {
  readonly options: HoldOptions;
  /** Bytes that a flow may have queued. */
  readonly buffer: number;
}

interface EnforcementDependencies extends HeldClassesDependencies<SourceFlow> {
  readonly count: Count;
  readonly recorder?: Recorder | undefined;
  /** Whether some port has classes. */
  readonly isReady: () => boolean;
  /** For the program that takes notifications from hosts. */
  readonly onHolding: (holding: Holding) => void;
}

interface Holding {
  /** CLOCK_MONOTONIC: until then flows are held; 0: none is. */
  readonly untilNs: bigint;
  /** Whether further ones can be. */
  readonly room: boolean;
}

/** Flows that one turn of the event loop looks at. */
const AT_ONCE = 256;
/** Flows that wait for the kernel. Beyond, further ones are left to their hosts: they would have to wait too long. */
const MOST_WAITING = 1024;

/** What changes the machine. */
export const HOLDS_EVENTS = [
  'onNotification',
  'onLeftToHost',
  'advance',
  'release',
  'onDrained',
  'onRefused',
  'reconfigure',
] as const;

function recordedHolds(options: HoldOptions, { recorder, clock, count }: EnforcementDependencies): Holds {
  const tape = recorder?.begin('holds', clock.now(), options);
  return recordCalls(new Holds(findingFunctions(options, tape), { count }), HOLDS_EVENTS, tape, () => clock.now());
}

export class Enforcement {
  readonly #dependencies: EnforcementDependencies;
  readonly #holds: Holds;
  readonly #classes: HeldClasses<SourceFlow>;
  readonly #due: Deadline;
  readonly #promise: Deadline;
  /** What the program was told last, and when. */
  #told = { ready: false, room: false, at: -Infinity };
  #settings: EnforcementSettings;
  #stopped = false;

  /** @throws RangeError for options that do not work */
  constructor(settings: EnforcementSettings, dependencies: EnforcementDependencies) {
    const { clock, count } = dependencies;
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#holds = recordedHolds(settings.options, dependencies);
    this.#classes = new HeldClasses(classesOf(settings), dependencies, {
      onDrained: (flow) => this.#apply(this.#holds.onDrained(flow)),
      onError: () => (count('source.hold.refused'), this.look()),
      onRefused: (...refused) => this.#apply(this.#holds.onRefused(...refused, this.#now())),
    });
    this.#due = new Deadline(clock, () => this.#advance());
    this.#promise = new Deadline(clock, () => this.look());
    this.look();
  }

  /** @param rttMs RTT_est of the flow's path; undefined: the configured one */
  onNotification({ flow, ...taken }: SourceNotification, rttMs?: number): void {
    const event = {
      ...{ flow: { ...flow, tenant: 0 }, senderQpn: taken.senderQpn, node: taken.node, format: taken.format },
      rttMs,
      ...(taken.instruction && { instruction: taken.instruction }),
      ...(taken.trace && this.#settings.options.hpcc && { trace: this.#nodesOf(taken.trace) }),
    };
    this.#apply(this.#holds.onNotification(event, this.#now()));
    const slot = this.#holds.slotOf(event.flow);
    if (slot !== undefined) this.#classes.confirm(slot);
  }

  /** The program has left this notification to the host. */
  onLeftToHost({ flow }: SourceNotification): void {
    this.#holds.onLeftToHost({ ...flow, tenant: 0 }, this.#now());
  }

  /**
   * Tells the program what can be held: at once when that has changed, else before what it was told last expires. What
   * cannot be held, it leaves to the hosts.
   */
  look(): void {
    if (this.#stopped) return;
    const { renewMs, lifetimeMs } = this.#settings.options;
    const [before, at] = [this.#told, this.#now()];
    const ready = this.#dependencies.isReady();
    const room = ready && this.#holds.hasRoom && this.#classes.waiting < MOST_WAITING;
    if (ready !== before.ready || room !== before.room || at >= before.at + renewMs) {
      this.#told = { ready, room, at };
      const untilNs = ready ? this.#dependencies.monotonicNs() + BigInt(Math.round(lifetimeMs * 1e6)) : 0n;
      this.#dependencies.onHolding({ untilNs, room });
    }
    this.#promise.by(this.#told.at + renewMs);
  }

  /** @throws RangeError for options that do not work: the former ones stay */
  configure(settings: EnforcementSettings): void {
    this.#apply(this.#holds.reconfigure(settings.options, this.#now()));
    this.#settings = settings;
    this.#classes.configure(classesOf(settings));
  }

  release(which: SourceFlow | 'all'): void {
    this.#apply(this.#holds.release(which, this.#now()));
  }

  views(): HoldView[] {
    return [...this.#holds.views(this.#now())];
  }

  summary(): HoldsSummary {
    return this.#holds.summary(this.#now());
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
    this.#promise.cancel();
    this.#dependencies.onHolding({ untilNs: 0n, room: false });
    await this.#classes.stop();
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
    this.#classes.apply(effects);
    if (!this.#stopped) this.#due.by(this.#holds.nextAt);
    this.look();
  }
}

const classesOf = ({ options, buffer }: EnforcementSettings): HeldClassesSettings => ({
  lineRate: options.lineRate,
  minimumRate: minimumRate(options),
  buffer,
  silenceUs: () => LONGEST_PAUSE_US,
});
