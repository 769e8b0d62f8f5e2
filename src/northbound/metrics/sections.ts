// The sections of a scrape: where each is read, and its families. A section that cannot be read is missing from the
// scrape, and the others are there.
import type { TelemetrySource } from '../../model/telemetry-state.ts';
import { counterFamily } from './counter-families.ts';
import { CARRIERS, DAEMON, LEARNED, RTT, STAGES } from './daemon-families.ts';
import type { Family, SampledFamily, Sample } from './family.ts';
import { GROUPS, HOLDS } from './hold-families.ts';
import { FLOW_CONTROL, PORTS } from './port-families.ts';
import { TABLES } from './table-families.ts';
import { PROCESS, SCRAPE, processNumbers } from './process-families.ts';

/** A family whose samples are at hand. */
export interface Collected {
  readonly family: SampledFamily;
  readonly samples: () => Iterable<Sample>;
}

export interface Section {
  readonly name: string;
  /** For the documentation; empty: they follow from docs/reference/counters.md. */
  readonly families: readonly SampledFamily[];
  readonly read: (source: TelemetrySource) => Promise<readonly Collected[]>;
}

/** @param read may throw or reject */
const section = <T>(
  name: string,
  families: readonly Family<T>[],
  read: (source: TelemetrySource) => T | Promise<T>,
): Section => ({
  name,
  families,
  read: async (source) => {
    const state = await read(source);
    return families.map((family) => ({ family, samples: () => family.samples(state) }));
  },
});

async function counters(source: TelemetrySource): Promise<Collected[]> {
  return (await source.state.counters()).map((counter) => {
    const family = counterFamily(counter, source.meaningOf(counter.name));
    return { family, samples: () => family.samples(counter) };
  });
}

export const SECTIONS: readonly Section[] = [
  section('daemon', DAEMON, (source) => source.daemon()),
  section('stages', STAGES, (source) => source.stages()),
  section('carriers', CARRIERS, (source) => source.carriers()),
  section('learned', LEARNED, (source) => source.learned()),
  section('ports', PORTS, (source) => source.state.ports()),
  section('flow-control', FLOW_CONTROL, async (source) => (await source.state.flowControl()).ports),
  section('holds', HOLDS, (source) => source.holds()),
  section('groups', GROUPS, (source) => source.groups()),
  section('tables', TABLES, (source) => source.tables()),
  section('rtt', RTT, (source) => source.state.rtt()),
  section('process', PROCESS, () => processNumbers()),
  { name: 'counters', families: [], read: counters },
];

/** All families but those of counters, for the documentation and the tests. */
export const ALL_FAMILIES: readonly SampledFamily[] = [...SECTIONS.flatMap(({ families }) => families), ...SCRAPE];
