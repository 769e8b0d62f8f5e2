// The dashboard of contrib/ has the form that Grafana publishes, as types, in the npm package @grafana/schema.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { tryRun } from '../support/run.ts';
import { DASHBOARD_FILE, resolve } from './dashboard.ts';

const SCHEMA = '@grafana/schema';
const PANELS = `${SCHEMA}/dist/esm/raw/composable`;
/** Panels of these types have options of their own. */
const OPTIONS = {
  stat: `${PANELS}/stat/panelcfg/x/StatPanelCfg_types.gen`,
  table: `${PANELS}/table/panelcfg/x/TablePanelCfg_types.gen`,
  timeseries: `${PANELS}/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen`,
} as const;

const DASHBOARD = readFileSync(DASHBOARD_FILE, 'utf8');
/** What it says, and what says the same badly; the compiler names it so. */
const MISTAKES = [
  ['"schemaVersion": 38', '"schemaVersion": "38"', "'string' is not assignable to type 'number'"],
  ['"type": "datasource"', '"type": "source"', 'VariableType'],
  ['"gridPos": {', '"gridPosition": {', 'gridPosition'],
  ['"options": {}', '"options": { "graphMood": "area" }', 'graphMood'],
] as const;

/** The text as a literal, which may have no property that the types lack. */
function asLiteral(json: string): string {
  const { panels } = JSON.parse(json) as { panels: { type: string; options: unknown }[] };
  const options = panels
    .filter(({ type }) => type !== 'row')
    .map(({ type, options: own }) => {
      const module = OPTIONS[type as keyof typeof OPTIONS];
      return `{ const _: Partial<import('${module}').Options> = ${JSON.stringify(own)}; }`;
    });
  const dashboard = `export const dashboard: import('${SCHEMA}').Dashboard = ${json};`;
  return [dashboard, ...options].join('\n');
}

/** One run of the compiler for all. */
let complaints: string;

beforeAll(() => {
  const cache = join(import.meta.dirname, '../../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  // Beneath node_modules/, where the package is found.
  const directory = mkdtempSync(join(cache, 'dashboard-'));
  try {
    writeFileSync(join(directory, 'right.ts'), asLiteral(DASHBOARD));
    for (const [i, [right, wrong]] of MISTAKES.entries())
      writeFileSync(join(directory, `wrong-${i}.ts`), asLiteral(DASHBOARD.replace(right, wrong)));
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext'];
    const files = readdirSync(directory).map((name) => join(directory, name));
    complaints = tryRun('node_modules/.bin/tsc', ...flags, ...files).output;
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('it has the form of a dashboard, and its panels have their options', () => {
  expect(complaints).not.toMatch(/right\.ts.*error/);
});

test.each([...MISTAKES.entries()])('the compiler notices mistakes (%i)', (i, [right, , complaint]) => {
  expect(DASHBOARD).toContain(right);
  expect(complaints.split(`wrong-${i}.ts`)[1]).toContain(complaint);
});

test('variables stand in expressions as Grafana puts them there', () => {
  const variables = new Map([['port', '(a|b)']]);
  expect(resolve('rate(x{port=~"$port"}[$__rate_interval])', variables)).toBe('rate(x{port=~"(a|b)"}[60s])');
  expect(resolve('x{port=~"${port}"}[$__interval]', variables)).toBe('x{port=~"(a|b)"}[15s]');
  expect(() => resolve('x{port=~"$prot"}', variables)).toThrow('unknown variable');
});
