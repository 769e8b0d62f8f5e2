// Every program, from every clang on this machine, is accepted by this kernel's verifier: other compilers make other
// code of the same loops and bounds checks. The build needs one clang only, and setup installs Debian's default, clang
// 14 in Debian 12: on a machine that setup has made this tries that one and no other. Newer ones are tried where
// somebody has installed them (Debian 12 has clang-16 and clang-19); the first test names what was found. The loader
// asks for no verifier log, as a daemon should. Of a program that is refused libbpf asks for it by itself and prints
// it; so what can be held against an accepted one is that libbpf had nothing to say.
import { execFileSync } from 'node:child_process';
import { readdirSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { libbpf } from '../../../src/kernel/ffi/libbpf.ts';
import { compileBpfWith } from '../support/compile.ts';

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // PATH may name what is not there
  }
}

/** Each compiler once, though `clang` is usually one of the others. */
const compilers = [
  ...new Set(
    (process.env['PATH'] ?? '').split(delimiter).flatMap((directory) =>
      entries(directory)
        .filter((name) => /^clang(-\d+)?$/.test(name))
        .map((name) => realpathSync(join(directory, name))),
    ),
  ),
].sort();
const sources = readdirSync(new URL('../../../bpf', import.meta.url))
  .filter((name) => name.endsWith('.bpf.c'))
  .sort();

const versions = compilers.map((clang) => execFileSync(clang, ['--version'], { encoding: 'utf8' }).split('\n')[0]!);

test(`there are programs, and compilers for them: ${versions.join(', ') || 'none'}`, () => {
  expect(compilers.length).toBeGreaterThan(0);
  expect(sources).toEqual(expect.arrayContaining(['egress.bpf.c', 'guard.bpf.c', 'proxy.bpf.c']));
});

test.each(compilers.flatMap((clang) => sources.map((source) => [source, clang] as const)))(
  '%s by %s is accepted by the verifier, and nothing is printed',
  (source, clang) => {
    const compiled = compileBpfWith(clang, `bpf/${source}`);
    try {
      const object = openBpfObject(compiled.path);
      const warnings = libbpf().printed();
      object.close();
      expect(object.programNames.length).toBeGreaterThan(0);
      expect(warnings).toBe('');
    } finally {
      compiled.remove();
    }
  },
);
