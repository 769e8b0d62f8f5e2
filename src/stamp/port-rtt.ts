// RTT_est of a port: the smallest smoothed RTT of the targets that are reached through it (LHCNP-5.3.1-d). K_max is computed from what it says, and is not
// rewritten for noise (LHCNP-5.3.2-h): what it says moves at once when the measurement leaves a wide band around it, and now and then when the measurement
// has left a narrow one and stays. Without the second rule a path that has grown would be shown, and used, up to an eighth too short for ever: the smoothed
// measurement approaches the new value slowly, and its last part lies within the wide band.

/** Half the width of the band that is left at once, as a fraction of what was said. */
const WIDE = 1 / 8;
/** Half the width of the band that is left after SETTLED measurements. */
const NARROW = 1 / 32;
/** Measurements that differ from the one before, since something was said. */
const SETTLED = 32;
/** Half the width of either band at least, milliseconds: below that the machines are measured, not the path. */
const LEAST_BAND_MS = 0.05;

export interface TargetRtt {
  /** Name of the interface through which the target is reached. */
  readonly port: string;
  readonly rttMs: number;
}

interface Steady {
  readonly saidMs: number;
  /** The latest measurement. */
  readonly measuredMs: number;
  /** Measurements since it was said. */
  readonly measurements: number;
}

export class PortRtt {
  #ports: ReadonlyMap<string, Steady> = new Map();
  #said: ReadonlyMap<string, number> = new Map();

  /** Port → RTT_est in milliseconds. A new map whenever something changed. */
  get values(): ReadonlyMap<string, number> {
    return this.#said;
  }

  /** All targets that have an estimate now. Returns whether RTT_est of any port is another. */
  update(targets: Iterable<TargetRtt>): boolean {
    const smallest = new Map<string, number>();
    for (const { port, rttMs } of targets) smallest.set(port, Math.min(smallest.get(port) ?? Infinity, rttMs));
    this.#ports = new Map([...smallest].map(([port, rttMs]) => [port, steady(this.#ports.get(port), rttMs)]));
    const changed = this.#ports.size !== this.#said.size || [...this.#ports].some(([port, { saidMs }]) => this.#said.get(port) !== saidMs);
    if (changed) this.#said = new Map([...this.#ports].map(([port, { saidMs }]) => [port, saidMs]));
    return changed;
  }
}

function steady(before: Steady | undefined, measuredMs: number): Steady {
  if (before === undefined) return { saidMs: measuredMs, measuredMs, measurements: 0 };
  const measurements = before.measurements + (measuredMs === before.measuredMs ? 0 : 1);
  const band = Math.max(before.saidMs * (measurements < SETTLED ? WIDE : NARROW), LEAST_BAND_MS);
  const within = Math.abs(measuredMs - before.saidMs) <= band;
  return within ? { saidMs: before.saidMs, measuredMs, measurements } : { saidMs: measuredMs, measuredMs, measurements: 0 };
}
