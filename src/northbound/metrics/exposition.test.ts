import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../model/log.ts';
import { PROBLEM_CODES } from '../../model/problem.ts';
import type { TelemetrySource } from '../../model/telemetry-state.ts';
import { ManualWork } from '../../model/work.fixture.ts';
import { eventLoopWork, finish } from '../../model/work.ts';
import { exampleState } from '../state.fixture.ts';
import { familyNameOf } from './counter-families.ts';
import { type Format, exposition, formatNumber } from './exposition.ts';
import { type ReadFamily, readOpenMetrics } from './openmetrics.fixture.ts';
import { ALL_FAMILIES } from './sections.ts';
import { exampleTelemetry } from './telemetry.fixture.ts';

const work = eventLoopWork();

async function scrape(source: TelemetrySource, format: Format = 'openmetrics', maxSeries?: number) {
  const counted = new Map<string, number>();
  const count = (name: string, by = 1) => void counted.set(name, (counted.get(name) ?? 0) + by);
  const limit = maxSeries === undefined ? {} : { maxSeries };
  const text = String(await finish(work, exposition(format, { source, log: silentLog, count, ...limit }), 4));
  return { text, counted };
}
const read = async (source: TelemetrySource = exampleTelemetry()): Promise<Map<string, ReadFamily>> =>
  readOpenMetrics((await scrape(source)).text);
const seriesOf = (families: Map<string, ReadFamily>): number =>
  [...families.values()].reduce((sum, { samples }) => sum + samples.length, 0);

describe('an exposition', () => {
  test('is OpenMetrics, with every family of the tables and every counter', async () => {
    const families = await read();
    expect(ALL_FAMILIES.map(({ name }) => name).filter((name) => !families.has(name))).toEqual([]);
    for (const { name } of exampleState().counters) expect([...families.keys()]).toContain(familyNameOf(name));
    expect(families.get('cnpd_health')!.samples).toEqual(
      ['starting', 'running', 'degraded'].map((state) => ({
        name: 'cnpd_health',
        labels: { cnpd_health: state },
        value: state === 'degraded' ? 1 : 0,
      })),
    );
    expect(families.get('cnpd_problems')!.samples).toEqual([
      { name: 'cnpd_problems', labels: { code: 'ports.queue-unreadable', feature: 'port eth2' }, value: 1 },
    ]);
  });

  test('values are those of the state, in base units', async () => {
    const [port] = exampleState().ports;
    const families = await read(
      exampleTelemetry({
        state: { ...exampleTelemetry().state, ports: () => [{ ...port!, rttMs: 12.5, ecnMarkingRate: 25, kMax: 7 }] },
      }),
    );
    const value = (name: string) => families.get(name)!.samples[0]!.value;
    expect(value('cnpd_port_rtt_seconds')).toBe(0.0125);
    expect(value('cnpd_port_ecn_marking_ratio')).toBe(0.25);
    expect(value('cnpd_port_k_max_bytes')).toBe(7);
    expect(value('cnpd_port_bytes')).toBe(port!.bytes);
    expect(families.get('cnpd_port_bytes')).toMatchObject({ type: 'counter', unit: 'bytes' });
    expect(value('cnpd_start_time_seconds')).toBe(1_764_000_000.25);
  });

  test('held flows and groups: every state is there, in base units', async () => {
    const families = await read();
    const values = (name: string) =>
      Object.fromEntries(
        families.get(name)!.samples.map(({ labels, value }) => [Object.values(labels).join(' '), value]),
      );
    expect(values('cnpd_hold_flows')).toEqual({ held: 3, paused: 2, recovering: 0, leaving: 0 });
    expect(values('cnpd_hold_rate_bytes_per_second')).toEqual({ '': 10_000 });
    expect(values('cnpd_group_members')).toEqual({ 'train source': 1, 'train receiver': 4 });
    expect(values('cnpd_group_branches')).toMatchObject({ 'train up': 3, 'train stalled': 1, 'train silent': 0 });
    expect(values('cnpd_group_answers')).toEqual({ 'train branching': 100, 'train edge': 1 });
    expect(families.get('cnpd_group_packets')!.type).toBe('counter');
  });

  test('labels may hold what names of interfaces may, and help what meanings may', async () => {
    const [port] = exampleState().ports;
    const name = 'a"b\\c\nd';
    const families = await read(
      exampleTelemetry({
        state: {
          ...exampleTelemetry().state,
          ports: () => [{ ...port!, interface: name }],
          counters: () => [{ name: 'isis.lsp.sent', value: 3 }],
        },
      }),
    );
    expect(families.get('cnpd_port_k_min_bytes')!.samples[0]!.labels).toEqual({ port: name });
    expect(families.get('cnpd_isis_lsp_sent')).toMatchObject({
      help: 'Counter isis.lsp.sent: LSPs sent, "all" of them.',
      samples: [{ name: 'cnpd_isis_lsp_sent_total', value: 3 }],
    });
  });

  test('a section that cannot be read is missing, counted and told; the others are there', async () => {
    const source = exampleTelemetry({
      state: { ...exampleTelemetry().state, ports: () => Promise.reject(new Error('netlink')) },
    });
    const { text, counted } = await scrape(source);
    const families = readOpenMetrics(text);
    expect([...families.keys()].filter((name) => name.startsWith('cnpd_port'))).toEqual([]);
    expect(families.has('cnpd_learned_entries')).toBe(true);
    expect(families.get('cnpd_scrape_section_read')!.samples.filter(({ value }) => value === 0)).toMatchObject([
      { labels: { section: 'ports' } },
    ]);
    expect([...counted]).toEqual([['metrics.section.unreadable', 1]]);
  });

  test('the number of series is bounded; what is left out is told', async () => {
    const all = seriesOf(await read());
    const { text, counted } = await scrape(exampleTelemetry(), 'openmetrics', 50);
    const families = readOpenMetrics(text);
    expect(seriesOf(families)).toBe(50);
    expect(families.get('cnpd_scrape_series_left_out')!.samples[0]!.value).toBe(all - 50);
    expect(counted.get('metrics.series.left-out')).toBe(all - 50);
  });

  const [port] = exampleState().ports;
  test.each([
    ['families', { counters: () => Array.from({ length: 10_000 }, (_, i) => ({ name: `a.${i}`, value: i })) }],
    ['samples', { ports: () => Array.from({ length: 400 }, (_, i) => ({ ...port!, interface: `eth${i}`, rttMs: 1 })) }],
  ])('is made in many small steps: many %s', (_, state) => {
    const source = exampleTelemetry({ state: { ...exampleTelemetry().state, ...state } });
    const manual = new ManualWork();
    const dependencies = { source, log: silentLog, count: () => {} };
    return new Promise<void>((resolve, reject) => {
      const onDone = (made: Buffer): void => {
        expect(seriesOf(readOpenMetrics(String(made)))).toBeGreaterThan(10_000);
        expect(manual.turns).toBeGreaterThan(10_000 / 256);
        resolve();
      };
      manual.run(exposition('openmetrics', dependencies), { budgetMs: 1, onDone, onError: reject });
      const turn = (): void => {
        manual.settle();
        if (manual.turns < 1000) setImmediate(turn);
      };
      turn();
    });
  });
});

test('Prometheus text: names with their suffix, no units, no end', async () => {
  const { text } = await scrape(exampleTelemetry(), 'text');
  expect(text).toContain('# TYPE cnpd_port_bytes_total counter\n# HELP cnpd_port_bytes_total ');
  expect(text).toContain('# TYPE cnpd_build_info gauge\n');
  expect(text).toContain('# TYPE cnpd_health gauge\n');
  expect(text).not.toMatch(/# UNIT|# EOF/);
});

test.each([
  [0, '0'],
  [1.5, '1.5'],
  [-3, '-3'],
  [1e21, '1e+21'],
  [NaN, 'NaN'],
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
])('%d is written %s', (value, text) => expect(formatNumber(value)).toBe(text));

describe('names', () => {
  /** The page lists the counters of carriers without the name of the carrier. */
  const CARRIERS: Readonly<Record<string, string>> = { 'IS-IS': 'isis.', OSPF: 'ospfv2.', BGP: 'bgp.' };
  const page = readFileSync('docs/reference/counters.md', 'utf8').split('\n## ');
  const counters = page.flatMap((part) => {
    const prefix = CARRIERS[part.split('\n', 1)[0]!] ?? '';
    return [...part.matchAll(/^- `([a-z0-9.-]+)`/gm)].map(([, name]) => familyNameOf(`${prefix}${name}`));
  });

  test('begin with cnpd_, are no two alike, and end with their unit', () => {
    const names = [...ALL_FAMILIES.map(({ name }) => name), ...counters];
    expect(names.length).toBeGreaterThan(300);
    expect(names.filter((name) => !/^cnpd_[a-z0-9_]+$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, unit, type } of ALL_FAMILIES) {
      if (unit !== undefined) expect(name.endsWith(`_${unit}`), name).toBe(true);
      if (type === 'counter') expect(name).not.toMatch(/_total$/);
    }
  });

  test('units are base units', () => {
    expect(
      ALL_FAMILIES.map(({ name }) => name).filter((name) => /_(ms|us|ns|kb|percent|bits|minutes)(_|$)/.test(name)),
    ).toEqual([]);
  });

  test('every label says what bounds it, and none is a flow, a Queue Pair or a prefix', () => {
    for (const { name, labels } of ALL_FAMILIES)
      for (const label of labels) {
        expect(label.bound, name).not.toBe('');
        expect(label.name).toMatch(
          /^(version|cnpd_health|code|feature|stage|state|carrier|interface|kind|port|reason|tunnel|answered|section|format|group|role|table)$/,
        );
      }
    expect(PROBLEM_CODES.length).toBeLessThan(200);
  });
});
