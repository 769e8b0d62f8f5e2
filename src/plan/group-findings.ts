// Findings about groups as problems: one a kind, with the first finding and the number of the others.
import type { Problem, ProblemCode } from '../model/problem.ts';

export const FEATURE = 'groups';

/** Of the findings of one kind. @param sentence about the first */
export function summary<T>(
  code: ProblemCode,
  found: readonly T[],
  sentence: (first: T) => string,
  remedy: string | ((first: T) => string),
): Problem[] {
  const [first] = found;
  if (first === undefined) return [];
  const more = found.length > 1 ? ` (and ${found.length - 1} more like it)` : '';
  const text = typeof remedy === 'string' ? remedy : remedy(first);
  return [{ code, feature: FEATURE, problem: `${sentence(first)}${more}`, remedy: text }];
}
