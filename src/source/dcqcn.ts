// The sender's reaction to Congestion Notification Packets: DCQCN's reaction point (Zhu et al., "Congestion Control for
// Large-Scale RDMA Deployments", SIGCOMM 2015, §3.2), which is what RoCEv2 network cards do. A CNP cuts the rate by
// half of alpha, the estimate of congestion; without CNPs alpha decays, and a timer and a byte counter each raise the
// rate in steps: back towards the rate before the cut (fast recovery), then beyond it (additive, then hyper increase).
// Until the first CNP there is no state, as in network cards: alpha is 1, so that the first cut is one half. Pure: time
// comes with every call, nothing is scheduled.

export interface DcqcnOptions {
  /** Never faster, bit/s; also where a flow starts. */
  readonly lineRate: number;
  readonly minimumRate: number;
  /** g: weight of a new observation in alpha. */
  readonly gain: number;
  /** Alpha decays once in this time without a CNP, ms. */
  readonly alphaIntervalMs: number;
  /** At most one cut in this time, ms. */
  readonly reductionIntervalMs: number;
  /** T: an increase step, ms. */
  readonly increaseIntervalMs: number;
  /** B: an increase step, bytes sent. */
  readonly increaseBytes: number;
  /** F: steps of fast recovery. */
  readonly recoverySteps: number;
  /** R_AI and R_HAI, bit/s. */
  readonly additiveIncrease: number;
  readonly hyperIncrease: number;
}

/**
 * Alpha's gain and the number of steps are the paper's; times, bytes and rates are scaled from its 40 Gbit/s in a
 * building to tens of Mbit/s over tens of milliseconds, where the paper's constants would be a thousand times too
 * quick.
 */
export const scaledDcqcn = (lineRate: number): DcqcnOptions => ({
  lineRate,
  minimumRate: lineRate / 100,
  gain: 1 / 16,
  alphaIntervalMs: 10,
  reductionIntervalMs: 10,
  increaseIntervalMs: 50,
  increaseBytes: lineRate / 80,
  recoverySteps: 5,
  additiveIncrease: lineRate / 200,
  hyperIncrease: lineRate / 50,
});

export class Dcqcn {
  /** Cuts made. */
  reductions = 0;
  readonly #opts: DcqcnOptions;
  #current: number;
  #target: number;
  #alpha = 1;
  #alphaAt = 0;
  #timerAt = 0;
  #cutAt = -Infinity;
  #bytes = 0;
  #timerSteps = 0;
  #byteSteps = 0;

  constructor(opts: DcqcnOptions) {
    this.#opts = opts;
    this.#current = opts.lineRate;
    this.#target = opts.lineRate;
  }

  /** The rate to send at, bit/s. */
  get rate(): number {
    return this.#current;
  }

  get alpha(): number {
    return this.#alpha;
  }

  /** @returns whether it cut the rate (it does not when the last cut was less than the reduction interval ago) */
  onCnp(now: number): boolean {
    this.advance(now);
    if (now - this.#cutAt < this.#opts.reductionIntervalMs) return false;
    this.#cutAt = now;
    this.#target = this.#current;
    this.#current = Math.max(this.#opts.minimumRate, this.#current * (1 - this.#alpha / 2));
    this.#alpha = (1 - this.#opts.gain) * this.#alpha + this.#opts.gain;
    this.#alphaAt = now;
    this.#timerAt = now;
    this.#bytes = 0;
    this.#timerSteps = 0;
    this.#byteSteps = 0;
    this.reductions++;
    return true;
  }

  onSent(bytes: number): void {
    if (this.reductions === 0) return;
    this.#bytes += bytes;
    while (this.#bytes >= this.#opts.increaseBytes) {
      this.#bytes -= this.#opts.increaseBytes;
      this.#byteSteps++;
      this.#increase();
    }
  }

  /** Lets time pass: decay of alpha, and increase steps of the timer. */
  advance(now: number): void {
    if (this.reductions === 0) return;
    const { alphaIntervalMs, increaseIntervalMs, gain } = this.#opts;
    for (; now - this.#alphaAt >= alphaIntervalMs; this.#alphaAt += alphaIntervalMs) this.#alpha *= 1 - gain;
    for (; now - this.#timerAt >= increaseIntervalMs; this.#timerAt += increaseIntervalMs) {
      this.#timerSteps++;
      this.#increase();
    }
  }

  #increase(): void {
    const { recoverySteps: f, additiveIncrease, hyperIncrease, lineRate } = this.#opts;
    const most = Math.max(this.#timerSteps, this.#byteSteps);
    const least = Math.min(this.#timerSteps, this.#byteSteps);
    if (least > f) this.#target += hyperIncrease;
    else if (most > f) this.#target += additiveIncrease;
    this.#target = Math.min(lineRate, this.#target);
    this.#current = Math.min(lineRate, (this.#target + this.#current) / 2);
  }
}
