// What comparisons cost that run at the same time, in turns. The processor time of the process is divided equally among
// those that run: what others do meanwhile is counted, but nothing is counted twice.

export class Costs {
  readonly #cpuMs: () => number;
  readonly #running = new Map<object, number>();
  #since = 0;

  /** @param cpuMs processor time of the process so far, milliseconds */
  constructor(cpuMs = processCpuMs) {
    this.#cpuMs = cpuMs;
  }

  begin(comparison: object): void {
    this.#divide();
    this.#running.set(comparison, 0);
  }

  /** @returns milliseconds of processor time; 0: it has not begun */
  end(comparison: object): number {
    this.#divide();
    const cost = this.#running.get(comparison) ?? 0;
    this.#running.delete(comparison);
    return cost;
  }

  #divide(): void {
    const now = this.#cpuMs();
    const each = (now - this.#since) / this.#running.size;
    this.#since = now;
    for (const [comparison, cost] of this.#running) this.#running.set(comparison, cost + each);
  }
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
