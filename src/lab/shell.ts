// Words and shells: containerlab splits `exec` and `cmd` into words as a shell would, but runs no shell. The inverse
// (quoting) is needed where the lab hands a generated script to /bin/sh.

/** Splits as a POSIX shell does (quotes, backslash), without expansion. Undefined when a quote is left open. */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: '"' | "'" | undefined;
  for (let i = 0; i < line.length; i++) {
    const c = line[i]!;
    if (quote === "'") {
      if (c === "'") quote = undefined;
      else word += c;
    } else if (c === '\\' && (quote === undefined || '"\\$`'.includes(line[i + 1] ?? ''))) {
      word = (word ?? '') + (line[++i] ?? '');
    } else if (quote === '"') {
      if (c === '"') quote = undefined;
      else word += c;
    } else if (c === '"' || c === "'") {
      quote = c;
      word ??= '';
    } else if (/\s/.test(c)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + c;
    }
  }
  if (quote !== undefined) return undefined;
  if (word !== undefined) words.push(word);
  return words;
}

/** One word for /bin/sh, whatever it holds. */
export const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
