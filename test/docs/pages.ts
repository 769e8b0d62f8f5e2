// The Markdown of this repository.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOREIGN = /^(\.|node_modules$|dist$|out$)/;

const pagesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !FOREIGN.test(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? pagesIn(path) : path.endsWith('.md') ? [path] : [];
    });

export const pages: readonly string[] = pagesIn('.');
