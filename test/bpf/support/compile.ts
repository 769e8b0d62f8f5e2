// Compiles a program of the dataplane, or one of a test's own, as the build does. A program is compiled once for all
// tests, as long as nothing changes that it is made of: many of them want the same few.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { CLANG_FLAGS } from '../../../src/setup/clang.mjs';

const CACHE = new URL('../../../node_modules/.cache/bpf/', import.meta.url).pathname;

export interface Compiled {
  /** In a directory of the caller's own. */
  readonly path: string;
  remove(): void;
}

/** @param source from the root of the repository, `bpf/proxy.bpf.c` */
export const compileBpf = (source: string): Compiled => ownDirectory(source, (path) => cpSync(cached(source), path));

/** With this compiler, and now. @throws Error with the compiler's output */
export const compileBpfWith = (clang: string, source: string, flags: readonly string[] = []): Compiled =>
  ownDirectory(source, (path) => compile(clang, source, flags, path));

function ownDirectory(source: string, put: (path: string) => void): Compiled {
  const directory = mkdtempSync(join(tmpdir(), 't-bpf-'));
  const path = join(directory, basename(source).replace(/c$/, 'o'));
  put(path);
  return { path, remove: () => rmSync(directory, { recursive: true }) };
}

function compile(clang: string, source: string, flags: readonly string[], path: string): void {
  execFileSync(clang, [...CLANG_FLAGS, ...flags, '-c', source, '-o', path], { stdio: ['ignore', 'ignore', 'pipe'] });
  execFileSync('llvm-strip', ['-g', path]);
}

/** What a process has found or compiled; the sources do not change meanwhile. */
const found = new Map<string, string>();

function cached(source: string): string {
  const before = found.get(source);
  if (before !== undefined) return before;
  const path = lookUp(source);
  found.set(source, path);
  return path;
}

/** What `npm run build` has made of it, unless anything of bpf/ has changed since. */
function built(source: string): string | undefined {
  if (!source.startsWith('bpf/')) return undefined;
  const path = `dist/bpf/${source.slice('bpf/'.length).replaceAll('/', '_').replace(/c$/, 'o')}`;
  if (!existsSync(path)) return undefined;
  const sources = readdirSync('bpf', { recursive: true, encoding: 'utf8' }).filter((name) => /\.[ch]$/.test(name));
  const newest = Math.max(...sources.map((name) => statSync(join('bpf', name)).mtimeMs));
  return statSync(path).mtimeMs > newest ? path : undefined;
}

function lookUp(source: string): string {
  const done = built(source);
  if (done !== undefined) return done;
  const path = join(CACHE, `${basename(source)}-${ingredients(source)}.o`);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  // Several processes compile: it gets its name when it is whole.
  const own = `${path}.${process.pid}`;
  compile('clang', source, [], own);
  renameSync(own, path);
  return path;
}

/** Of everything that an object is made of: the compiler, its flags, the source and all that it may include. */
function ingredients(source: string): string {
  const hash = createHash('sha256').update(
    JSON.stringify([execFileSync('clang', ['--version']).toString(), CLANG_FLAGS]),
  );
  for (const folder of new Set(['/usr/include/bpf', 'bpf', dirname(source)]))
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
      if (/\.[ch]$/.test(name)) hash.update(`${name}\n`).update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 32);
}
