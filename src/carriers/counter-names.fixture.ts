// The counters that a carrier's sources count, read from their text: each has its row in the carrier's table.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const LITERAL = /^(['`])([^'`]+)\1/;

/**
 * Names without the carrier's prefix; what is put in is a `<>`.
 * @param calls further functions whose first literal is a counter's name, with what stands before it
 */
export function countedIn(text: string, calls: readonly string[] = []): string[] {
  const starts = ['(?:count|warnLimited)\\(\\s*[sc],\\s*', ...calls];
  const named = starts.flatMap((start) =>
    [...text.matchAll(new RegExp(start, 'g'))].flatMap(({ index, 0: { length } }) => {
      const literal = LITERAL.exec(text.slice(index + length));
      return literal ? [literal[2]!] : [];
    }),
  );
  // At the edge the prefix is written out.
  const atEdge = [...text.matchAll(/\bcount\(`(?:isis|bgp|\$\{this\.(?:name|opts\.prefix)\})\.([^`]+)`/g)];
  return [...named, ...atEdge.map((match) => match[1]!)].map((name) => name.replace(/\$\{[^}]*\}/g, '<>'));
}

/** The sources of a folder by their path in it, without tests and the table itself. */
export function sourcesOf(directory: string): readonly { readonly file: string; readonly text: string }[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(test|fixture|d)\.ts$|(^|\/)(counters\.ts$|gen\/)/.test(file))
    .map((file) => ({ file, text: readFileSync(join(directory, file), 'utf8') }));
}

/** The link to FRR is shared by the carriers and takes the prefix as a parameter. */
export const linkSource = (): string => readFileSync(join(import.meta.dirname, 'frr-link.edge.ts'), 'utf8');
