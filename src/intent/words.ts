// Words of cnpd.yaml: the path to a place and where in the text that is, and which known word an unknown one was meant
// to be.

export type Path = readonly (string | number)[];

/** Both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export function placeIn(text: string, offset: number): Place {
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < offset; end = text.indexOf('\n', lineStart))
    [line, lineStart] = [line + 1, end + 1];
  return { line, column: offset - lineStart + 1 };
}

/** The known word nearest to an unknown one (Damerau-Levenshtein), if it is close enough. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  const ranked = known
    .map((k) => ({ k, distance: editDistance(word.toLowerCase().replaceAll('_', '-'), k) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(1, Math.floor(best.k.length / 3)) ? best.k : undefined;
}

/** Insertions, deletions, substitutions and exchanges of neighbors (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = best;
    }
  }
  return rows[a.length]![b.length]!;
}
