// What a sender makes of the instructions of Long-haul CNPs on one Queue Pair (LHCNP §5.5.1, §5.6). Pure: time comes
// with every call, nothing is scheduled.
//
// - Rate Reduce cuts the rate it sends at by so many percent; 100 stops it until recovery begins. (LHCNP-5.5.1-e)
// - Pause halts it for so many microseconds, 65535 at most; it goes on by itself. A pause during a pause can lengthen
//   it, not shorten it. (LHCNP-5.5.1-c)
// - Resume gives back so many percent of what the reductions since the last normal rate took; 0 gives back all. It ends
//   a pause. One Resume gives back a bounded share of the normal rate only, since it may be forged. (LHCNP-5.5.1-f,
//   LHCNP-5.5.1-g, LHCNP-5.5.1-h, LHCNP-5.6-h, LHCNP-9-i)
// - Notify is left to the default response, which is not here. (LHCNP-5.5.1-a)
// - After 2·RTT without any notification the rate grows by one step an RTT, up to the normal rate; a new notification
//   stops that and starts the timer anew. (LHCNP-5.6-e, LHCNP-5.6-f, LHCNP-5.6-g, LHCNP-5.6-i)
import type { LongHaulInstruction } from '../model/notification.ts';

export interface InstructedRateOptions {
  /** Rate without instructions, bit/s. */
  readonly normalRate: number;
  /** A reduction of less than 100 percent does not go below, and recovery begins there, bit/s. */
  readonly minimumRate: number;
  /** Added with each step of recovery, bit/s. */
  readonly recoveryStep: number;
  /** Most that one Resume gives back, as a share of the normal rate. */
  readonly resumeCap: number;
}

/** Recovery begins so many RTTs after the last notification. */
const RECOVERY_AFTER_RTTS = 2;

/** Recovery from nothing takes twenty round trips; a Resume gives back at most half of the normal rate. */
export const defaultInstructedRate = (normalRate: number): InstructedRateOptions => ({
  normalRate,
  minimumRate: normalRate / 100,
  recoveryStep: normalRate / 20,
  resumeCap: 0.5,
});

export class InstructedRate {
  reductions = 0;
  pauses = 0;
  resumes = 0;
  #opts: InstructedRateOptions;
  #rate: number;
  /** Rate before the first reduction since the last normal rate: what Resume leads back to. */
  #before: number | undefined;
  #pausedUntil = -Infinity;
  /** When the next step of recovery is due; undefined at normal rate. */
  #stepAt: number | undefined;
  #rttMs = 0;

  constructor(opts: InstructedRateOptions) {
    this.#opts = opts;
    this.#rate = opts.normalRate;
  }

  /** bit/s, pauses aside. Never above the normal rate; 0, or at least the minimum. */
  get rate(): number {
    return this.#rate === 0 ? 0 : Math.max(this.#rate, this.#opts.minimumRate);
  }

  paused(now: number): boolean {
    return now < this.#pausedUntil;
  }

  /** End of the last pause, ms; past or −Infinity: not paused. */
  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  /** When the next step of recovery is due, ms; undefined: at the normal rate. */
  get nextStepAt(): number | undefined {
    return this.#stepAt;
  }

  /** When the rate is normal again at the latest, if no notification comes; undefined: it is. */
  get recoveredAt(): number | undefined {
    if (this.#stepAt === undefined) return undefined;
    // Steps are added one by one: their sum may fall short of the quotient by a rounding, which takes one step more.
    const steps = Math.ceil((this.#opts.normalRate - this.#rate) / this.#opts.recoveryStep + 1e-6);
    return this.#stepAt + Math.max(0, steps - 1) * this.#stepMs;
  }

  /** Takes other options. Who sends at the normal rate does so at the new one. */
  configure(opts: InstructedRateOptions): void {
    const wasNormal = this.#rate >= this.#opts.normalRate;
    this.#opts = opts;
    if (!wasNormal && this.#rate < opts.normalRate) return;
    this.#set(opts.normalRate);
    this.#stepAt = undefined;
  }

  /**
   * Any accepted notification, of whatever format, keeps recovery from beginning.
   * @param rttMs RTT_est of the path
   */
  onNotified(now: number, rttMs: number): void {
    this.advance(now);
    this.#rttMs = rttMs;
    if (this.#stepAt !== undefined) this.#stepAt = now + RECOVERY_AFTER_RTTS * rttMs;
  }

  /**
   * @param effectiveRate the rate it sends at now, bit/s: another rule may hold it lower than this one does
   * @param rttMs RTT_est of the path
   */
  onInstruction(
    { action, parameter }: Pick<LongHaulInstruction, 'action' | 'parameter'>,
    now: number,
    effectiveRate: number,
    rttMs: number,
  ): void {
    this.onNotified(now, rttMs);
    if (action === 'rate-reduce') this.#reduce(parameter, Math.min(this.#rate, effectiveRate));
    else if (action === 'resume') this.#resume(parameter);
    else if (action === 'pause') {
      this.pauses++;
      this.#pausedUntil = Math.max(this.#pausedUntil, now + parameter / 1000);
    }
    if (action === 'resume') this.#pausedUntil = -Infinity;
    this.#stepAt = this.#rate < this.#opts.normalRate ? now + RECOVERY_AFTER_RTTS * rttMs : undefined;
  }

  #reduce(percent: number, from: number): void {
    if (percent === 0) return;
    this.reductions++;
    this.#before ??= from;
    this.#rate = percent === 100 ? 0 : Math.min(from, Math.max(this.#opts.minimumRate, (from * (100 - percent)) / 100));
  }

  #resume(percent: number): void {
    this.resumes++;
    if (this.#before === undefined || this.#rate >= this.#before) return;
    const missing = this.#before - this.#rate;
    const given = percent === 0 ? missing : (missing * percent) / 100;
    this.#set(this.#rate + Math.min(given, this.#opts.resumeCap * this.#opts.normalRate));
  }

  #set(rate: number): void {
    this.#rate = Math.min(this.#opts.normalRate, rate);
    if (this.#rate >= this.#opts.normalRate) this.#before = undefined;
  }

  /** Lets time pass: the steps of recovery that are due. */
  advance(now: number): void {
    while (this.#stepAt !== undefined && now >= this.#stepAt) {
      this.#set(this.#rate + this.#opts.recoveryStep);
      this.#stepAt = this.#before === undefined ? undefined : this.#stepAt + this.#stepMs;
    }
  }

  /** Between steps of recovery. An RTT that is not known yet must not make them endless. */
  get #stepMs(): number {
    return Math.max(1, this.#rttMs);
  }
}
