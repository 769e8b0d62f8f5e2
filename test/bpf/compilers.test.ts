// Every program, from every clang on this machine, is accepted by this kernel's verifier: other compilers make other code of the same loops and bounds checks.
// The build needs one clang only, Debian's; newer ones (`apt-get install clang-19`) are tried where they are installed.
import { readdirSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { openBpfObject } from '../../src/kernel/bpf/object.ts';
import { compileBpfWith } from './compile.ts';

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // PATH may name what is not there
  }
}

/** Each compiler once, though `clang` is usually one of the others. */
const compilers = [...new Set((process.env['PATH'] ?? '').split(delimiter).flatMap((directory) =>
  entries(directory).filter((name) => /^clang(-\d+)?$/.test(name)).map((name) => realpathSync(join(directory, name)))))].sort();
const sources = readdirSync(new URL('../../bpf', import.meta.url)).filter((name) => name.endsWith('.bpf.c')).sort();

test('there are programs, and a compiler for them', () => {
  expect(compilers.length).toBeGreaterThan(0);
  expect(sources).toEqual(expect.arrayContaining(['egress.bpf.c', 'guard.bpf.c', 'proxy.bpf.c']));
});

test.each(compilers.flatMap((clang) => sources.map((source) => [source, clang] as const)))('%s by %s is accepted by the verifier', (source, clang) => {
  const compiled = compileBpfWith(clang, `bpf/${source}`);
  try {
    const object = openBpfObject(compiled.path);
    expect(object.programNames.length).toBeGreaterThan(0);
    object.close();
  } finally {
    compiled.remove();
  }
});
