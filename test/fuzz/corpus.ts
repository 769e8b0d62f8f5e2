// The corpus on disk: test/fuzz/corpus/<target>/<hash>, bytes as they are. It belongs to the repository and grows: what
// reached code that nothing had reached, and what broke a promise (crash-<hash>), which every run of the tests tries
// again.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const CORPUS = 'test/fuzz/corpus';

/** In the order of names, so that a seed means the same everywhere. */
export function readCorpus(target: string): Uint8Array[] {
  const dir = join(CORPUS, target);
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .sort()
    .map((file) => new Uint8Array(readFileSync(join(dir, file))));
}

/** @returns the file's path */
export function writeCorpus(target: string, bytes: Uint8Array, kind: 'input' | 'crash'): string {
  const dir = join(CORPUS, target);
  mkdirSync(dir, { recursive: true });
  const name = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const path = join(dir, kind === 'crash' ? `crash-${name}` : name);
  writeFileSync(path, bytes);
  return path;
}
