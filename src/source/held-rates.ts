// The rates and pauses of classes that hold traffic, as the dataplane can do them (reconcile/hold-ports.ts):
// - A class has no rate of zero. A rate of 0 is a pause whose silences repeat.
// - A pause costs the class's next frame. The former rate is set again while that silence lasts: the next silence would
//   follow otherwise. If no frame has come by then, the pause is asked for again, for what is left of it.
import type { Clock } from '../model/clock.ts';
import { LONGEST_PAUSE_US } from '../model/notification.ts';
import { classRate } from './class-rate.ts';
import type { HoldDataplane } from './hold-dataplane.ts';
import type { WantedHold } from './wanted-hold.ts';

export interface HeldClassesSettings {
  /** bit/s, of what leaves. */
  readonly lineRate: number;
  /** bit/s: what is held may be reduced to this, also before the machine has heard of it. */
  readonly minimumRate: number;
  /** Bytes that a class may have queued. */
  readonly buffer: number;
  /** Silences of a rate of 0 from now on, microseconds, 1-65,535: none ends early, and a frame leaves before each. */
  readonly silenceUs: () => number;
}

/** What the class of a hold has been asked for. */
export interface HeldRate {
  /** bit/s. Undefined: the class pauses, or its rate is not known. */
  rate: number | undefined;
  /** End of the pause that has been asked for last. */
  pausedUntil: number | undefined;
  /** Its timer. */
  pause: Pause | undefined;
}

interface Pause {
  readonly sentBefore: bigint;
  isHalf: boolean;
  readonly cancel: () => void;
}

interface HeldRatesDependencies<Subject> {
  readonly dataplane: HoldDataplane<Subject>;
  readonly clock: Clock;
  /** The slot is to have a turn. */
  readonly due: (slot: number) => void;
  /** Whether this is what the slot is to be. */
  readonly isStill: (slot: number, wanted: WantedHold<Subject>) => boolean;
}

type Of<Subject> = HeldRate & { readonly wanted: WantedHold<Subject> };

/** The rest of a pause that is too short to be asked for again. */
const SHORTEST_PAUSE_MS = 1;

export class HeldRates<Subject> {
  readonly #dependencies: HeldRatesDependencies<Subject>;
  #settings: HeldClassesSettings;

  constructor(settings: HeldClassesSettings, dependencies: HeldRatesDependencies<Subject>) {
    this.#settings = settings;
    this.#dependencies = dependencies;
  }

  configure(settings: HeldClassesSettings): void {
    this.#settings = settings;
  }

  /**
   * Before a packet of the flow comes: one frame at a rate next to zero would silence the class for a minute. The
   * dataplane executes these in order, also before what is asked for after them.
   */
  setClass(slot: number, rate: number): Promise<void>[] {
    const { dataplane } = this.#dependencies;
    const { lineRate, minimumRate, buffer } = this.#settings;
    const least = classRate(minimumRate).rate;
    const set = dataplane.setClass(slot, { ...classRate(rate === 0 ? lineRate : rate), limit: buffer, least });
    return rate === 0 ? [set, this.#stop(slot)] : [set];
  }

  /** bit/s, of what leaves. */
  get lineRate(): number {
    return this.#settings.lineRate;
  }

  /** Makes pause and rate what they are to be. @throws KernelError */
  async follow(slot: number, held: Of<Subject>): Promise<void> {
    if (held.pausedUntil !== held.wanted.pausedUntil) await this.#pause(slot, held);
    else if (held.pause?.isHalf) await this.#afterHalf(slot, held, held.pause);
    if (this.#dependencies.isStill(slot, held.wanted)) await this.setRate(slot, held);
  }

  /** During a pause, the rate waits for its end. @throws KernelError */
  async setRate(slot: number, held: Of<Subject>): Promise<void> {
    const { dataplane } = this.#dependencies;
    const { rate } = held.wanted;
    if (held.pause || held.rate === rate) return;
    held.rate = undefined;
    if (rate === 0) await this.#stop(slot);
    else await dataplane.changeRate(slot, classRate(rate));
    held.rate = rate;
  }

  /** At a rate of 0. */
  async #stop(slot: number): Promise<void> {
    const { dataplane } = this.#dependencies;
    const silenceUs = this.#settings.silenceUs();
    dataplane.stop?.(slot, silenceUs);
    await dataplane.pause(slot, silenceUs);
  }

  async #pause(slot: number, held: Of<Subject>): Promise<void> {
    const end = held.wanted.pausedUntil;
    endPause(held);
    held.pausedUntil = end;
    if (end === undefined) this.#dependencies.dataplane.resume?.(slot);
    else await this.#silence(slot, held, end);
  }

  async #silence(slot: number, held: Of<Subject>, end: number): Promise<void> {
    const { dataplane, clock } = this.#dependencies;
    const left = end - clock.now();
    if (left <= 0) return;
    held.rate = undefined;
    const microseconds = Math.max(1, Math.min(LONGEST_PAUSE_US, Math.round(left * 1000)));
    const [{ sent }] = await Promise.all([dataplane.classCounters(slot), dataplane.pause(slot, microseconds)]);
    // Meanwhile it may have been told to go on.
    if (!this.#dependencies.isStill(slot, held.wanted) || held.wanted.pausedUntil !== end) return;
    const half = (): void => {
      pause.isHalf = true;
      this.#dependencies.due(slot);
    };
    const pause: Pause = { sentBefore: sent, isHalf: false, cancel: clock.after(left / 2, half) };
    held.pause = pause;
  }

  async #afterHalf(slot: number, held: Of<Subject>, pause: Pause): Promise<void> {
    const { dataplane, clock } = this.#dependencies;
    const { sent } = await dataplane.classCounters(slot);
    const { pausedUntil, wanted } = held;
    endPause(held);
    if (pausedUntil === undefined || wanted.pausedUntil !== pausedUntil || sent !== pause.sentBefore) return;
    if (pausedUntil - clock.now() > SHORTEST_PAUSE_MS) await this.#silence(slot, held, pausedUntil);
  }
}

export function endPause(held: HeldRate): void {
  held.pause?.cancel();
  held.pause = undefined;
}
