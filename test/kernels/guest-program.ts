// Builds a program for a guest, and runs it there. One file: a guest reads this machine's files slowly.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { CNPD } from '../guests/arm64-image.ts';
import type { Guest } from '../guests/guest.ts';

const REPOSITORY = new URL('../..', import.meta.url).pathname;
/** As deep below the repository as test/bpf/support, whose files name compiled programs from where they are. */
const PROGRAMS = 'out/kernels/programs';
const FOLDER = join(REPOSITORY, PROGRAMS);

/** Undefined where there can be guests. */
export const WHY_NOT =
  process.arch === 'x64' ? undefined : `guests are amd64, and this machine is ${process.arch}: nothing is tested`;

/** Runs `NAME.guest.ts` of this folder; returns the JSON that it has printed last. @throws Error with its output */
export async function runInGuest(guest: Guest, name: string, limitMs: number): Promise<unknown> {
  const outfile = join(FOLDER, `${name}.mjs`);
  await build({
    ...{ entryPoints: [join(REPOSITORY, 'test', 'kernels', `${name}.guest.ts`)], outfile },
    ...{ bundle: true, platform: 'node', target: 'node20', format: 'esm', external: ['koffi'], logLevel: 'warning' },
    banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
  });
  const { root } = guest;
  if (root !== undefined) cpSync(outfile, join(root, CNPD, PROGRAMS, `${name}.mjs`));
  const command =
    root === undefined ? [process.execPath, outfile] : ['/usr/bin/node', join(CNPD, PROGRAMS, `${name}.mjs`)];
  const output = await guest.run(command.join(' '), limitMs);
  const last = output.trimEnd().split('\n').at(-1)!;
  return JSON.parse(last);
}
