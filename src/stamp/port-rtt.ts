// RTT_est of a port: the smallest smoothed RTT of the targets that are reached through it (LHCNP-5.3.1-d). What it says moves only when the measurement
// has left a band around what it said before: K_max is computed from it, and is not rewritten for noise (LHCNP-5.3.2-h).

/** Half the width of the band, as a fraction of what was said. */
const BAND = 1 / 8;
/** And at least, milliseconds: below that the machines are measured, not the path. */
const LEAST_BAND_MS = 0.05;

export interface TargetRtt {
  /** Name of the interface through which the target is reached. */
  readonly port: string;
  readonly rttMs: number;
}

export class PortRtt {
  #said: ReadonlyMap<string, number> = new Map();

  /** Port → RTT_est in milliseconds. A new map whenever something changed. */
  get values(): ReadonlyMap<string, number> {
    return this.#said;
  }

  /** All targets that have an estimate now. Returns whether RTT_est of any port is another. */
  update(targets: Iterable<TargetRtt>): boolean {
    const smallest = new Map<string, number>();
    for (const { port, rttMs } of targets) smallest.set(port, Math.min(smallest.get(port) ?? Infinity, rttMs));
    const next = new Map([...smallest].map(([port, rttMs]) => [port, this.#steady(port, rttMs)]));
    const changed = next.size !== this.#said.size || [...next].some(([port, rttMs]) => this.#said.get(port) !== rttMs);
    if (changed) this.#said = next;
    return changed;
  }

  #steady(port: string, measured: number): number {
    const said = this.#said.get(port);
    return said !== undefined && Math.abs(measured - said) <= Math.max(said * BAND, LEAST_BAND_MS) ? said : measured;
  }
}
