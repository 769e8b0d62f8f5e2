// What lies in contrib/ fits the metrics that cnpd has. `npm run test:telemetry` has Prometheus itself judge it.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { familyNameOf } from '../../src/northbound/metrics/counter-families.ts';
import { ALL_FAMILIES } from '../../src/northbound/metrics/sections.ts';

const SUFFIX = { counter: '_total', info: '_info', gauge: '', stateset: '' } as const;

/** Names of samples: of the tables, and of the counters that docs/reference/counters.md lists. */
const KNOWN = new Set([
  ...ALL_FAMILIES.map(({ name, type }) => name + SUFFIX[type]),
  ...[...readFileSync('docs/reference/counters.md', 'utf8').matchAll(/`([a-z0-9-]+(?:\.[a-z0-9-]+)+)`/g)].map(
    ([, name]) => `${familyNameOf(name!)}_total`,
  ),
]);
const LABELS = new Set(ALL_FAMILIES.flatMap(({ labels }) => labels.map(({ name }) => name)));

const unknownIn = (expressions: readonly string[]): string[] =>
  expressions.flatMap((text) => text.match(/\bcnpd_[a-z0-9_]+/g) ?? []).filter((name) => !KNOWN.has(name));

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly remedy: string };
}
const { groups } = parse(readFileSync('contrib/prometheus/cnpd-alerts.yml', 'utf8')) as {
  groups: { rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}
const dashboard = JSON.parse(readFileSync('contrib/grafana/cnpd.json', 'utf8')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
};

test('alerts are about metrics that cnpd has, and say how bad it is and what to do', () => {
  expect(rules.length).toBeGreaterThan(10);
  expect(unknownIn(rules.map(({ expr }) => expr))).toEqual([]);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, labels, annotations } of rules) {
    expect(alert).toMatch(/^Cnpd[A-Z]/);
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    for (const name of ['summary', 'description', 'remedy'] as const) expect(annotations[name], alert).toMatch(/\w/);
  }
});

test('each alert has a test in which it fires', () => {
  const { tests } = parse(readFileSync('contrib/prometheus/cnpd-alerts.test.yml', 'utf8')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
  };
  const firing = tests
    .flatMap(({ alert_rule_test: all }) => all)
    .filter(({ exp_alerts: alerts = [] }) => alerts.length > 0);
  const names = new Set(firing.map(({ alertname }) => alertname));
  expect(rules.map(({ alert }) => alert).filter((alert) => !names.has(alert))).toEqual([]);
});

test('annotations use labels that the metrics have', () => {
  const used = rules.flatMap(({ annotations }) =>
    [
      ...Object.values(annotations)
        .join(' ')
        .matchAll(/\$labels\.([a-z_]+)/g),
    ].map(([, name]) => name!),
  );
  expect(used.length).toBeGreaterThan(10);
  // Prometheus adds the instance.
  expect(used.filter((name) => !LABELS.has(name) && name !== 'instance')).toEqual([]);
});

test('the dashboard shows metrics that cnpd has, and every panel something', () => {
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');
  expect(panels.length).toBeGreaterThan(10);
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(panels.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
  expect(unknownIn([...expressions, ...dashboard.templating.list.map(({ query }) => query)])).toEqual([]);
  const variables = new Set(dashboard.templating.list.map(({ name }) => name));
  const used = expressions.flatMap((text) => [...text.matchAll(/\$([a-z]+)/g)].map(([, name]) => name!));
  expect(used.filter((name) => !variables.has(name))).toEqual([]);
});
