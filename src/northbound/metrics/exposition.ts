// The text that a scrape gets: OpenMetrics 1.0.0, or Prometheus text 0.0.4 for clients that do not accept the former.
// Made in steps, so that a large scrape never holds the event loop for long. The number of series is bounded.
import type { Count, Log } from '../../model/log.ts';
import { messageOf } from '../../model/error-text.ts';
import { type Steps, wait } from '../../model/work.ts';
import type { TelemetrySource } from '../../model/telemetry-state.ts';
import type { SampledFamily, Sample } from './family.ts';
import { SCRAPE } from './process-families.ts';
import { type Collected, type Section, SECTIONS } from './sections.ts';

export type Format = 'openmetrics' | 'text';

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  text: 'text/plain; version=0.0.4; charset=utf-8',
};

/** Of one scrape. What is beyond is left out, and counted. */
export const MAX_SERIES = 20_000;
/** Series of one step. */
const STEP = 256;

export interface ExpositionDependencies {
  readonly source: TelemetrySource;
  readonly log: Log;
  readonly count: Count;
  /** For tests. */
  readonly sections?: readonly Section[];
  readonly maxSeries?: number;
}

/** The suffix that samples have in addition to the family's name. */
const SUFFIX = { counter: '_total', info: '_info', gauge: '', stateset: '' } as const;
/** The types that Prometheus text knows. */
const TEXT_TYPE = { counter: 'counter', info: 'gauge', gauge: 'gauge', stateset: 'gauge' } as const;

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' };
export const escapeLabel = (text: string): string => text.replaceAll(/[\\\n"]/g, (one) => ESCAPES[one]!);
/** Quotes are escaped in OpenMetrics alone. */
const escapeHelp = (text: string, format: Format): string =>
  text.replaceAll(format === 'openmetrics' ? /[\\\n"]/g : /[\\\n]/g, (one) => ESCAPES[one]!);

export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : '-Inf';
}

function headOf({ name, type, unit, help }: SampledFamily, format: Format): string {
  const shown = format === 'openmetrics' ? name : name + SUFFIX[type];
  const lines = [`# TYPE ${shown} ${format === 'openmetrics' ? type : TEXT_TYPE[type]}\n`];
  if (unit !== undefined && format === 'openmetrics') lines.push(`# UNIT ${shown} ${unit}\n`);
  lines.push(`# HELP ${shown} ${escapeHelp(help, format)}\n`);
  return lines.join('');
}

function lineOf({ name, type, labels }: SampledFamily, sample: Sample): string {
  const pairs = labels.map((label, i) => `${label.name}="${escapeLabel(sample.labels[i] ?? '')}"`);
  const braces = pairs.length > 0 ? `{${pairs.join(',')}}` : '';
  return `${name}${SUFFIX[type]}${braces} ${formatNumber(sample.value)}\n`;
}

/** The bytes of the scrape, and how many series beyond the limit it lacks. */
class Text {
  readonly #format: Format;
  #maxSeries: number;
  readonly #done: Buffer[] = [];
  #lines: string[] = [];
  #series = 0;
  leftOut = 0;

  constructor(format: Format, maxSeries: number) {
    this.#format = format;
    this.#maxSeries = maxSeries;
  }

  /** A family without samples is not there. */
  *add({ family, samples }: Collected): Steps {
    let isNew = true;
    for (const sample of samples()) {
      if (this.#series >= this.#maxSeries) {
        this.leftOut++;
        continue;
      }
      if (isNew) this.#lines.push(headOf(family, this.#format));
      isNew = false;
      this.#lines.push(lineOf(family, sample));
      if (++this.#series % STEP === 0) {
        this.#flush();
        yield;
      }
    }
  }

  #flush(): void {
    this.#done.push(Buffer.from(this.#lines.join('')));
    this.#lines = [];
  }

  end(): Buffer {
    if (this.#format === 'openmetrics') this.#lines.push('# EOF\n');
    this.#flush();
    return Buffer.concat(this.#done);
  }

  /** From now on nothing is left out: for what says that something is. */
  liftLimit(): void {
    this.#maxSeries = Infinity;
  }
}

export function* exposition(format: Format, dependencies: ExpositionDependencies): Steps<Buffer> {
  const { source, log, count, sections = SECTIONS, maxSeries = MAX_SERIES } = dependencies;
  // Room for what says that something is missing: a series for each section, and one.
  const text = new Text(format, maxSeries - sections.length - 1);
  const results: { section: string; isRead: boolean }[] = [];
  for (const { name, read } of sections) {
    let collected: readonly Collected[] = [];
    try {
      collected = yield* wait(read(source));
      results.push({ section: name, isRead: true });
    } catch (error) {
      results.push({ section: name, isRead: false });
      count('metrics.section.unreadable');
      log.debug({ section: name, error: messageOf(error) }, 'a section of the metrics cannot be read');
    }
    for (const one of collected) yield* text.add(one);
  }
  if (text.leftOut > 0) count('metrics.series.left-out', text.leftOut);
  const { leftOut } = text;
  text.liftLimit();
  for (const family of SCRAPE)
    yield* text.add({ family, samples: () => family.samples({ sections: results, leftOut }) });
  return text.end();
}
