// RTT_est of a port: the smallest smoothed RTT of the targets that are reached through it (LHCNP-5.3.1-d). K_max is
// computed from it, and is not rewritten for noise (LHCNP-5.3.2-h). It moves at once when the measurement leaves a wide
// band around it. It also moves when the measurement has left a narrow band on one side and stays there. Without the
// second rule the RTT of a path that has grown would stay up to an eighth too short for ever: the smoothed measurement
// approaches the new value slowly, and its last part lies within the wide band.

/** Half the width of the band that is left at once, as a fraction of the reported value. */
const WIDE = 1 / 8;
/** Half the width of the band that is left when SETTLED measurements in a row are beyond it, all on one side. */
const NARROW = 1 / 32;
const SETTLED = 32;
/** Half the width of either band at least, milliseconds: below that the machines are measured, not the path. */
const LEAST_BAND_MS = 0.05;

export interface TargetRtt {
  /** Name of the interface through which the target is reached. */
  readonly port: string;
  readonly rttMs: number;
}

interface Steady {
  readonly reportedMs: number;
  /** The latest measurement. */
  readonly measuredMs: number;
  /**
   * How many measurements in a row are above the narrow band; negative: below it. A repeated value is no measurement.
   */
  readonly beyond: number;
}

export class PortRtt {
  #ports: ReadonlyMap<string, Steady> = new Map();
  #reported: ReadonlyMap<string, number> = new Map();

  /** Port → RTT_est in milliseconds. A new map whenever something changed. */
  get values(): ReadonlyMap<string, number> {
    return this.#reported;
  }

  /** Takes all targets that have an estimate now. Returns whether RTT_est of any port has changed. */
  update(targets: Iterable<TargetRtt>): boolean {
    const smallest = new Map<string, number>();
    for (const { port, rttMs } of targets) smallest.set(port, Math.min(smallest.get(port) ?? Infinity, rttMs));
    this.#ports = new Map([...smallest].map(([port, rttMs]) => [port, steady(this.#ports.get(port), rttMs)]));
    const changed =
      this.#ports.size !== this.#reported.size ||
      [...this.#ports].some(([port, { reportedMs }]) => this.#reported.get(port) !== reportedMs);
    if (changed) this.#reported = new Map([...this.#ports].map(([port, { reportedMs }]) => [port, reportedMs]));
    return changed;
  }
}

function steady(before: Steady | undefined, measuredMs: number): Steady {
  const moved: Steady = { reportedMs: measuredMs, measuredMs, beyond: 0 };
  if (before === undefined) return moved;
  const difference = measuredMs - before.reportedMs;
  const leaves = (band: number): boolean => Math.abs(difference) > Math.max(before.reportedMs * band, LEAST_BAND_MS);
  if (leaves(WIDE)) return moved;
  if (measuredMs === before.measuredMs) return before;
  const side = leaves(NARROW) ? Math.sign(difference) : 0;
  const beyond = side !== 0 && side === Math.sign(before.beyond) ? before.beyond + side : side;
  return Math.abs(beyond) < SETTLED ? { ...before, measuredMs, beyond } : moved;
}
