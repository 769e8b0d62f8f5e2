// What is answered at which path: metrics, and the two questions about health. `/livez`: does the event loop turn?
// `/readyz`: is what is declared in force, or named as a problem?
import type { DaemonSummary, Stage } from '../../model/telemetry-state.ts';
import { CONTENT_TYPES, type Format } from './exposition.ts';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

export const PATHS = ['/metrics', '/livez', '/readyz'] as const;
export type Path = (typeof PATHS)[number];

export const plain = (status: number, text: string): Answer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: Buffer.from(`${text}\n`),
});

export const livez = (): Answer => plain(200, 'alive');

/**
 * 503 while cnpd starts; 200 when it runs, and also when it is degraded: the rest of it works, and the problems are
 * named. Codes only, since anyone who reaches the address reads this; `cnpctl show status` has the sentences.
 */
export function readyz({ health, problems }: DaemonSummary, stages: readonly Stage[]): Answer {
  const codes = [...new Set(problems.map(({ code, feature }) => `${feature}: problem ${code}`))];
  const lines = stages.map(({ name, state, reason }) => `${name}: ${state}${reason === '' ? '' : `: ${reason}`}`);
  return plain(health === 'starting' ? 503 : 200, [health, ...lines, ...codes].join('\n'));
}

const LESS_THAN_ONE = /^q=0(?:\.|$)/;
const ZERO = /^q=0(?:\.0*)?$/;

/** `*\/*` with less than the full quality is what a client takes for want of what it names. */
function takesOpenMetrics(element: string): boolean {
  const [range, ...parameters] = element.split(';').map((part) => part.trim().toLowerCase());
  if (range === 'application/openmetrics-text') return !parameters.some((parameter) => ZERO.test(parameter));
  return range === '*/*' && !parameters.some((parameter) => LESS_THAN_ONE.test(parameter));
}

/**
 * OpenMetrics for clients that accept it; others get Prometheus text. Whoever reaches the address writes the header:
 * its elements are judged one by one, in linear time.
 * @param accept the header; absent: the client takes anything
 */
export const formatFor = (accept: string | undefined): Format =>
  accept === undefined || accept.split(',').some(takesOpenMetrics) ? 'openmetrics' : 'text';

export const metrics = (format: Format, body: Buffer): Answer => ({
  status: 200,
  contentType: CONTENT_TYPES[format],
  body,
});
