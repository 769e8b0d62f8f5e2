// Code points of cnpd.yaml that mean something else to others, or are equal, and the port of STAMP: refused, unless
// `allow-assigned: on` under code-points takes the risk.
import { STAMP_CONSEQUENCE, collisionOfStamp, collisions, consequenceOf } from '../model/assigned-numbers.ts';
import { DEFAULT_CODE_POINTS } from '../model/code-points.ts';
import { DEFAULTS } from './build.ts';
import type { Report, Rule, View } from './rules-view.ts';

const ALLOWED = 'a value that is not assigned, or `allow-assigned: on` beside it';
const STAMP_ALLOWED = 'a port that is not assigned, or `allow-assigned: on` under code-points';

/** One that is misspelt has been reported, and was meant. */
const mayCollide = ({ codePoints }: View): boolean =>
  codePoints !== undefined && 'allow-assigned' in codePoints && codePoints['allow-assigned'] !== false;

function assigned(view: View, report: Report): void {
  const { codePoints, stamp } = view;
  if (!codePoints || mayCollide(view)) return;
  // A default that equals what is written beside it is reported at what is written.
  const written = Object.entries(codePoints).filter(
    ([name, value]) => name in DEFAULT_CODE_POINTS && value !== undefined,
  );
  const values = { ...DEFAULT_CODE_POINTS, ...Object.fromEntries(written) };
  const port = stamp && ('port' in stamp ? stamp.port : DEFAULTS.stampPort);
  const others =
    port === undefined || !('pnc-udp-port' in codePoints)
      ? []
      : [{ like: 'pnc-udp-port' as const, value: port, use: 'stamp.port' }];
  for (const { name, value, with: use } of collisions(values, others)) {
    const key =
      name in codePoints
        ? name
        : (Object.keys(codePoints).find((other) => values[other as typeof name] === value) ?? name);
    report(
      ['code-points', key],
      ALLOWED,
      `${value} is ${key === name ? use : `the default of code-points.${name}`}: ${consequenceOf(name)}. ` +
        'Take another value, or say allow-assigned: on',
    );
  }
}

/** The port of STAMP, where code-points says nothing of the other port that it equals. */
function stampPort(view: View, report: Report): void {
  const { codePoints, stamp } = view;
  if (stamp?.port === undefined || mayCollide(view)) return;
  const isDefault = !(codePoints && 'pnc-udp-port' in codePoints) && stamp.port === DEFAULT_CODE_POINTS['pnc-udp-port'];
  const [use, consequence] = isDefault
    ? ['the default of code-points.pnc-udp-port', consequenceOf('pnc-udp-port')]
    : [collisionOfStamp(stamp.port), STAMP_CONSEQUENCE];
  if (use === undefined) return;
  const reason =
    `${stamp.port} is ${use}: ${consequence}. Take another port, ` + 'or say allow-assigned: on under code-points';
  report(['stamp', 'port'], STAMP_ALLOWED, reason);
}

export const CODE_POINT_RULES: readonly Rule[] = [assigned, stampPort];
