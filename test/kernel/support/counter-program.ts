// Compiles counter.bpf.c with chosen definitions, into a directory that is removed afterwards.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { CLANG_FLAGS } from '../../../src/setup/clang.mjs';

export function compileCounterProgram(directory: string, name: string, definitions: readonly string[] = []): string {
  const output = join(directory, `${name}.bpf.o`);
  const machine = execFileSync('uname', ['-m'], { encoding: 'utf8' }).trim();
  execFileSync('clang', [
    ...CLANG_FLAGS,
    `-I/usr/include/${machine}-linux-gnu`,
    ...definitions.map((d) => `-D${d}`),
    '-c',
    new URL('counter.bpf.c', import.meta.url).pathname,
    '-o',
    output,
  ]);
  return output;
}
