// The section `code-points`: values that the drafts leave unassigned. Those that mean something else to others, or are
// equal, and the port of STAMP that does, are refused unless `allow-assigned: on` takes the risk.
import type * as z from 'zod';
import {
  STAMP_CONSEQUENCE,
  besideStamp,
  collisionOfStamp,
  collisions,
  consequenceOf,
} from '../model/assigned-numbers.ts';
import {
  ARN_BIT_ORDERS,
  type ArnBitOrder,
  CODE_POINTS,
  type CodePointName,
  type CodePointValues,
  DEFAULT_CODE_POINTS,
} from '../model/code-points.ts';
import { defaulted, filled, section } from './schema-parts.ts';
import { type Report, type Rule, type Seen, orDefaults } from './seen.ts';
import * as stamp from './stamp.ts';
import { integer, oneOf, onOff } from './values.ts';

const codePoint = ({ min, max, default: fallback, description, source }: (typeof CODE_POINTS)[number]) =>
  defaulted(integer(min, max), String(fallback), (text) => `${description}; default ${text} (${source})`);

export const schema = section(
  {
    ...(Object.fromEntries(CODE_POINTS.map((c) => [c.name, codePoint(c)])) as Record<
      CodePointName,
      ReturnType<typeof codePoint>
    >),
    'arn-bit-order': defaulted(
      oneOf<ArnBitOrder>(...ARN_BIT_ORDERS),
      'msb-first',
      'which bit of the Para-Type of an Adaptive Routing Notification is bit 0: the most or the least significant',
    ),
    'allow-assigned': defaulted(onOff, 'off', 'on: accepts values that already mean something else, and equal values'),
  },
  'values that the drafts leave unassigned',
);

interface Sections {
  readonly 'code-points'?: Seen<typeof schema> | undefined;
  readonly stamp?: Seen<typeof stamp.schema> | undefined;
}

const ALLOWED = 'a value that is not assigned, or `allow-assigned: on` beside it';
const STAMP_ALLOWED = 'a port that is not assigned, or `allow-assigned: on` under code-points';

/** One that is misspelled has been reported, and was meant. */
const mayCollide = (written: Seen<typeof schema> | undefined): boolean =>
  orDefaults(schema, written)['allow-assigned'] !== false;

function assigned({ 'code-points': codePoints, stamp: probes }: Sections, report: Report): void {
  if (!codePoints || mayCollide(codePoints)) return;
  // A default that equals a written value is reported at the written value.
  const written = Object.entries(codePoints).filter(
    ([name, value]) => name in DEFAULT_CODE_POINTS && value !== undefined,
  );
  const values = { ...DEFAULT_CODE_POINTS, ...Object.fromEntries(written) };
  const port = probes && orDefaults(stamp.schema, probes).port;
  const others = port === undefined ? [] : besideStamp(port).filter(({ like }) => like in codePoints);
  for (const { name, value, with: use } of collisions(values, others)) {
    const key =
      name in codePoints
        ? name
        : (Object.keys(codePoints).find((other) => values[other as typeof name] === value) ?? name);
    report(
      ['code-points', key],
      ALLOWED,
      `${value} is ${key === name ? use : `the default of code-points.${name}`}: ${consequenceOf(name)}. ` +
        'Choose another value, or set allow-assigned: on',
    );
  }
}

/** The port of STAMP, where code-points says nothing of the other port that it equals. */
function stampPort({ 'code-points': codePoints, stamp: probes }: Sections, report: Report): void {
  if (probes?.port === undefined || mayCollide(codePoints)) return;
  const equal = besideStamp(probes.port).find(
    ({ like, value }) => !(codePoints && like in codePoints) && value === DEFAULT_CODE_POINTS[like],
  )?.like;
  const [use, consequence] = equal
    ? [`the default of code-points.${equal}`, consequenceOf(equal)]
    : [collisionOfStamp(probes.port), STAMP_CONSEQUENCE];
  if (use === undefined) return;
  const reason =
    `${probes.port} is ${use}: ${consequence}. Choose another port, ` + 'or set allow-assigned: on under code-points';
  report(['stamp', 'port'], STAMP_ALLOWED, reason);
}

export const rules: readonly Rule<Sections>[] = [assigned, stampPort];

export function build(declared: z.output<typeof schema> | undefined): CodePointValues {
  const { 'allow-assigned': _, 'arn-bit-order': __, ...values } = filled(schema, declared);
  return values;
}

export const bitOrder = (declared: z.output<typeof schema> | undefined): ArnBitOrder =>
  filled(schema, declared)['arn-bit-order'];
