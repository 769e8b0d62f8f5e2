// A family of metrics: one row of the tables beside this file. The exposition, docs/reference/telemetry.md and the
// tests read the same rows. Names begin with cnpd_ and end with their unit, which is a base unit.

/** What one scrape reads; see sections.ts. */
export interface Sample {
  /** In the order of the family's labels. */
  readonly labels: readonly string[];
  readonly value: number;
}

export interface Label {
  readonly name: string;
  /** What bounds the number of its values, for the documentation. */
  readonly bound: string;
}

export interface Family<Section> {
  /** Without the suffix of the type: `_total` of a counter, `_info`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'info' | 'stateset';
  readonly unit?: 'bytes' | 'seconds' | 'ratio' | 'bytes_per_second';
  readonly help: string;
  readonly labels: readonly Label[];
  readonly samples: (section: Section) => Iterable<Sample>;
}

export type SampledFamily = Omit<Family<never>, 'samples'>;

export const one = (value: number, ...labels: readonly string[]): Sample => ({ labels, value });
export const flag = (isSet: boolean): number => (isSet ? 1 : 0);
