// The dashboard of contrib/ as Grafana with a Prometheus data source shows it: variables are resolved as Grafana does,
// and each panel asks what Grafana would ask. Grafana itself does not run here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly instant?: boolean;
}
interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly Target[];
}
interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: string;
  readonly allValue?: string;
}
interface Dashboard {
  readonly time: { readonly from: string; readonly to: string };
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}
export const DASHBOARD_FILE = join(import.meta.dirname, '../../contrib/grafana/cnpd.json');

/** Of the answers of Prometheus' HTTP API, what is used here. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, string])[];
}
/** Asks Prometheus' HTTP API. @returns `data` of the answer; throws Error for any other answer than success */
export type Ask = (path: string, parameters: Readonly<Record<string, string>>) => Promise<unknown>;

/** @param fetched has the text of an answer */
export const asker =
  (server: string, fetched: (url: string) => string | Promise<string>): Ask =>
  async (path, parameters) => {
    const text = await fetched(`${server}${path}?${new URLSearchParams(parameters).toString()}`);
    const answer = JSON.parse(text) as { status: string; error?: string; data: unknown };
    if (answer.status !== 'success') throw new Error(`${JSON.stringify(parameters)}: ${answer.error}`);
    return answer.data;
  };

/** A program that prints the text of an answer: it can be started where the server is. */
export const fetching = (url: string, accept = '*/*'): string[] => [
  process.execPath,
  '-e',
  `fetch('http://${url}', { headers: { accept: '${accept}' } }).then(async (r) => process.stdout.write(await r.text()))`,
];

export interface Shown {
  readonly title: string;
  readonly refId: string;
  /** As it was asked, with nothing left to resolve. */
  readonly expr: string;
  readonly series: readonly Series[];
}

/** The interval of scrapes that a data source assumes unless it is told another one, and the points of a panel. */
const SCRAPE_INTERVAL_S = 15;
const POINTS = 1000;
const RANGE_S = 3600;
const STEP_S = Math.max(SCRAPE_INTERVAL_S, RANGE_S / POINTS);
/** $__rate_interval: four scrapes, so that a rate has two samples although one is late. */
const RATE_INTERVAL_S = Math.max(STEP_S + SCRAPE_INTERVAL_S, 4 * SCRAPE_INTERVAL_S);

/** In a matcher with `=~`, within quotes. */
const escaped = (value: string): string => value.replace(/\\/g, '\\\\\\\\').replace(/[$^*{}[\]'+?.()|]/g, '\\\\$&');

/** What a variable stands for in an expression. */
function interpolated(values: readonly string[]): string {
  const parts = values.map(escaped);
  return parts.length === 1 ? parts[0]! : `(${parts.join('|')})`;
}

/** @throws Error where something is left */
export function resolve(expression: string, variables: ReadonlyMap<string, string>): string {
  const resolved = expression
    .replaceAll('$__rate_interval', `${RATE_INTERVAL_S}s`)
    .replaceAll('$__interval', `${STEP_S}s`)
    .replaceAll(
      /\$(\w+)|\$\{(\w+)\}/g,
      (text, plain?: string, braced?: string) => variables.get(plain ?? braced!) ?? text,
    );
  if (resolved.includes('$')) throw new Error(`${expression} has an unknown variable`);
  return resolved;
}

/** The values that a variable offers: `label_values(SELECTOR, LABEL)`. */
async function offered(ask: Ask, query: string, now: number): Promise<readonly string[]> {
  const [, selector, label] = /^label_values\((.*), *(\w+)\)$/.exec(query) ?? [];
  if (selector === undefined) throw new Error(`${query} is no query that is known here`);
  const range = { start: String(now - RANGE_S), end: String(now) };
  return (await ask(`/api/v1/label/${label}/values`, { 'match[]': selector, ...range })) as string[];
}

/**
 * @param choice values by variable, as a user chooses them; else what the dashboard says, which is "All"
 * @throws Error where a variable does not offer a choice
 */
async function variablesOf(
  dashboard: Dashboard,
  ask: Ask,
  now: number,
  choice: Readonly<Record<string, readonly string[]>>,
): Promise<Map<string, string>> {
  const variables = new Map<string, string>();
  for (const { name, type, query, allValue } of dashboard.templating.list) {
    if (type === 'datasource') continue;
    const values = await offered(ask, resolve(query, variables), now);
    const chosen = choice[name];
    const unknown = (chosen ?? []).find((value) => !values.includes(value));
    if (unknown !== undefined) throw new Error(`${name} does not offer ${unknown}, but ${values.join()}`);
    variables.set(name, chosen === undefined ? (allValue ?? interpolated(values)) : interpolated(chosen));
  }
  return variables;
}

/** Each query of each panel over the last hour, which is what the dashboard opens with. */
export async function show(
  ask: Ask,
  now: number,
  choice: Readonly<Record<string, readonly string[]>> = {},
): Promise<readonly Shown[]> {
  const dashboard = JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')) as Dashboard;
  if (dashboard.time.from !== 'now-1h' || dashboard.time.to !== 'now') throw new Error('another range of time');
  const variables = await variablesOf(dashboard, ask, now, choice);
  const shown: Shown[] = [];
  for (const { title, targets = [] } of dashboard.panels)
    for (const { refId, expr: unresolved, instant } of targets) {
      const expr = resolve(unresolved, variables);
      const series = await (instant === true ? atOnce(ask, expr, now) : overTime(ask, expr, now));
      shown.push({ title, refId, expr, series });
    }
  return shown;
}

async function overTime(ask: Ask, query: string, now: number): Promise<readonly Series[]> {
  const end = Math.ceil(now / STEP_S) * STEP_S;
  const range = { start: String(end - RANGE_S), end: String(end), step: String(STEP_S) };
  return ((await ask('/api/v1/query_range', { query, ...range })) as { result: Series[] }).result;
}

async function atOnce(ask: Ask, query: string, now: number): Promise<readonly Series[]> {
  const answer = await ask('/api/v1/query', { query, time: String(now) });
  const { result } = answer as { result: { metric: Series['metric']; value: readonly [number, string] }[] };
  return result.map(({ metric, value }) => ({ metric, values: [value] }));
}
