// docs/reference/telemetry.md lists the metrics and the limits that the source has. `npm run conformance` rewrites the
// list.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sourcesOf } from '../../src/carriers/counter-names.fixture.ts';
import { MAX_SERIES } from '../../src/northbound/metrics/exposition.ts';
import type { SampledFamily } from '../../src/northbound/metrics/family.ts';
import { ALL_FAMILIES, SECTIONS } from '../../src/northbound/metrics/sections.ts';
import { LIMITS } from '../../src/northbound/metrics/server.ts';
import { expectGenerated } from './generated.ts';

const PAGE = 'docs/reference/telemetry.md';
const METRICS = 'Other metrics, with type and labels:';
const SUFFIX = { counter: '_total', info: '_info', gauge: '', stateset: '' } as const;

const row = ({ name, type, labels, help }: SampledFamily): string =>
  `- \`${name}${SUFFIX[type]}\` (${[type, ...labels.map((label) => `\`${label.name}\``)].join(', ')}): ${help}`;

function labelLines(): string[] {
  const bounds = new Map<string, Set<string>>();
  for (const { labels } of ALL_FAMILIES)
    for (const { name, bound } of labels) bounds.set(name, (bounds.get(name) ?? new Set()).add(bound));
  return [...bounds].map(([name, found]) => `- \`${name}\`: ${[...found].join('; ')}`);
}

function withLists(text: string): string {
  const from = text.indexOf(METRICS);
  const to = text.indexOf('\n## Health');
  if (from < 0 || to < from) throw new Error(`${PAGE} has no place for the metrics`);
  const labels = ['', 'The labels, and what bounds the number of their values:', '', ...labelLines(), ''];
  const lists = [METRICS, '', ...ALL_FAMILIES.map(row), ...labels];
  return text.slice(0, from) + lists.join('\n') + text.slice(to);
}

test('docs/reference/telemetry.md lists every metric with its type, labels and meaning', () =>
  expectGenerated(PAGE, withLists(readFileSync(PAGE, 'utf8'))));

test('the sections of a scrape are those that the label promises', () => {
  const label = ALL_FAMILIES.flatMap(({ labels }) => labels).find(({ name }) => name === 'section');
  expect(label?.bound).toBe(SECTIONS.map(({ name }) => name).join(', '));
});

test('docs/reference/telemetry.md tells every limit of the server', () => {
  const page = readFileSync(PAGE, 'utf8');
  const rows = new Map([...page.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\|/gm)].map(([, name, value]) => [name!, value!]));
  const seconds = (ms: number): string => `${ms / 1000} s`;
  expect(Object.fromEntries(rows)).toMatchObject({
    connections: String(LIMITS.connections),
    'line and headers of a request': `${LIMITS.requestBytes.toLocaleString('en-US')} bytes`,
    'time for a request': seconds(LIMITS.requestMs),
    'time from the request to the last byte of the answer': seconds(LIMITS.answerMs),
    'time without a request after an answer': seconds(LIMITS.idleMs),
    requests: `${LIMITS.requestsPerSecond} a second, ${LIMITS.requestBurst} at once`,
    'series of a scrape': MAX_SERIES.toLocaleString('en-US'),
    'expositions made': `one at a time, one in ${LIMITS.expositionGapMs} ms`,
  });
});

test('docs/reference/telemetry.md names every event of the log', () => {
  const page = readFileSync(PAGE, 'utf8');
  const sources = sourcesOf('src').map(({ text }) => text);
  const events = sources.flatMap((text) => [...text.matchAll(/\bevent: '([a-z.-]+)'/g)].map(([, name]) => name!));
  expect(events.length).toBeGreaterThan(5);
  expect(events.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
