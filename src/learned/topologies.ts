// The topologies that carriers report, the latest of each. Nodes and links are bounded by the carriers' databases.
import type { CarrierName } from '../model/advertisement.ts';
import type { TopologyReport } from '../model/topology.ts';

export class Topologies {
  readonly #reports = new Map<CarrierName, TopologyReport>();
  #changed = false;

  /** Replaces the carrier's former report. Without areas there is none any more. */
  report(report: TopologyReport): void {
    const { carrier, areas } = report;
    if (areas.length > 0) this.#reports.set(carrier, report);
    else if (!this.#reports.delete(carrier)) return;
    this.#changed = true;
  }

  /** One of each carrier that reports any, in order of their first reports. */
  all(): readonly TopologyReport[] {
    return [...this.#reports.values()];
  }

  /** Whether `all` may differ from what it was at the last call. */
  takeChanged(): boolean {
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }
}
