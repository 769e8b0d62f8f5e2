// Code points of cnpd.yaml that mean something else to others, or are equal: refused, unless `allow-assigned: on`
// beside them takes the risk.
import { collisions } from '../model/assigned-numbers.ts';
import { DEFAULT_CODE_POINTS } from '../model/code-points.ts';
import { DEFAULTS } from './build.ts';
import type { Report, Rule, View } from './rules-view.ts';

const ALLOWED = 'a value that is not assigned, or `allow-assigned: on` beside it';

function assigned({ codePoints, stamp }: View, report: Report): void {
  // One that is misspelt has been reported, and was meant.
  if (!codePoints || ('allow-assigned' in codePoints && codePoints['allow-assigned'] !== false)) return;
  const port = stamp && ('port' in stamp ? stamp.port : DEFAULTS.stampPort);
  const others = port === undefined ? [] : [{ like: 'pnc-udp-port' as const, value: port, use: 'stamp.port' }];
  // A default that equals what is written beside it is reported at what is written.
  const written = Object.entries(codePoints).filter(
    ([name, value]) => name in DEFAULT_CODE_POINTS && value !== undefined,
  );
  const values = { ...DEFAULT_CODE_POINTS, ...Object.fromEntries(written) };
  for (const { name, value, with: use } of collisions(values, others)) {
    const key =
      name in codePoints
        ? name
        : (Object.keys(codePoints).find((other) => values[other as typeof name] === value) ?? name);
    report(
      ['code-points', key],
      ALLOWED,
      `${value} is ${key === name ? use : `the default of code-points.${name}`}: whoever knows it takes cnpd's messages for that, and border ports drop that as cnpd's. Take another value, or say allow-assigned: on`,
    );
  }
}

export const CODE_POINT_RULES: readonly Rule[] = [assigned];
