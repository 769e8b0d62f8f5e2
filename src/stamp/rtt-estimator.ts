// The round-trip time to one target, from samples that are noisy upwards (queues, late schedulers) and hardly ever
// downwards. RTT_est is meant to be that of the path (LHCNP §5.3.1), not of the queues on it: K_max grows with it.
// Samples through a queue of our own do not arrive here (prober.ts). Against other routers' queues there are three
// rules. The lower quartile of the latest samples counts, so that three quarters of them may be late. It is followed
// quickly downwards, because nothing makes a path look shorter than it is, and slowly upwards. A single low sample (a
// clock that was set) is not the lower quartile either.

/** Samples remembered. */
const WINDOW = 16;
/** Least number of samples for an estimate. */
const LEAST_SAMPLES = 3;
/** Gain of the smoothing, a sample (RFC 6298 has 1/8 both ways). */
const GAIN_DOWN = 1 / 2;
const GAIN_UP = 1 / 16;

export class RttEstimator {
  readonly #samples: number[] = [];
  #smoothed: number | undefined;
  #least: number | undefined;

  /** @param rttMs a sample, milliseconds, above 0 */
  add(rttMs: number): void {
    this.#samples.push(rttMs);
    if (this.#samples.length > WINDOW) this.#samples.shift();
    this.#least = Math.min(this.#least ?? rttMs, rttMs);
    if (this.#samples.length < LEAST_SAMPLES) return;
    const quartile = lowerQuartile(this.#samples);
    if (this.#smoothed === undefined) this.#smoothed = quartile;
    else this.#smoothed += (quartile - this.#smoothed) * (quartile < this.#smoothed ? GAIN_DOWN : GAIN_UP);
  }

  /** Milliseconds; undefined: not enough samples yet. */
  get smoothedMs(): number | undefined {
    return this.#smoothed;
  }

  /** The smallest sample ever, milliseconds. */
  get leastMs(): number | undefined {
    return this.#least;
  }

  /** The path has changed: the samples are of another one. */
  restart(): void {
    this.#samples.length = 0;
    this.#smoothed = undefined;
    this.#least = undefined;
  }
}

function lowerQuartile(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 4)]!;
}
