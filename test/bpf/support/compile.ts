// Compiles a program of the dataplane, or one of a test's own, as the build does, into a directory of its own.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CLANG_FLAGS } from '../../../src/setup/clang.mjs';

export interface Compiled {
  readonly path: string;
  remove(): void;
}

/** @param source from the root of the repository, `bpf/proxy.bpf.c` */
export const compileBpf = (source: string): Compiled => compileBpfWith('clang', source);

/** @throws Error with what the compiler said */
export function compileBpfWith(clang: string, source: string, flags: readonly string[] = []): Compiled {
  const directory = mkdtempSync(join(tmpdir(), 't-bpf-'));
  const path = join(directory, basename(source).replace(/c$/, 'o'));
  execFileSync(clang, [...CLANG_FLAGS, ...flags, '-c', source, '-o', path], { stdio: ['ignore', 'ignore', 'pipe'] });
  execFileSync('llvm-strip', ['-g', path]);
  return { path, remove: () => rmSync(directory, { recursive: true }) };
}
