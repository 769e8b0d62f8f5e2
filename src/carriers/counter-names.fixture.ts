// The counters that a carrier's sources count, read from their text. Each has its row in the carrier's table.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const LITERAL = /^(['`])([^'`]+)\1/;

/**
 * Names without the carrier's prefix; a substitution becomes `<>`.
 * @param calls regular expressions of further calls whose first literal is a counter's name, up to that literal
 */
export function countedIn(text: string, calls: readonly string[] = []): string[] {
  const starts = ['(?:count|warnLimited)\\(\\s*[sc],\\s*', ...calls];
  const named = starts.flatMap((start) =>
    [...text.matchAll(new RegExp(start, 'g'))].flatMap(({ index, 0: { length } }) => {
      const literal = LITERAL.exec(text.slice(index + length));
      return literal ? [literal[2]!] : [];
    }),
  );
  // In edge files the prefix is written out.
  const atEdge = [...text.matchAll(/\bcount\(`(?:isis|bgp|\$\{this\.(?:name|opts\.prefix)\})\.([^`]+)`/g)];
  return [...named, ...atEdge.map((match) => match[1]!)].map((name) => name.replace(/\$\{[^}]*\}/g, '<>'));
}

/** The sources of a folder by relative path, without tests and the table itself. */
export function sourcesOf(directory: string): readonly { readonly file: string; readonly text: string }[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(test|fixture|d)\.ts$|(^|\/)(counters\.ts$|gen\/)/.test(file))
    .map((file) => ({ file, text: readFileSync(join(directory, file), 'utf8') }));
}

/** The link to FRR, which the carriers share; it takes the prefix as a parameter. */
export const linkSource = (): string => readFileSync(join(import.meta.dirname, 'router-link.edge.ts'), 'utf8');
