// Builds a program for a guest, and runs it there. One file: a guest reads this machine's files slowly.
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Guest } from '../guests/guest.ts';

const REPOSITORY = new URL('../..', import.meta.url).pathname;
/** As deep below the repository as test/bpf/support, whose files name compiled programs from where they are. */
const FOLDER = join(REPOSITORY, 'out', 'kernels', 'programs');

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
  const output = await guest.run(`${process.execPath} ${outfile}`, limitMs);
  const last = output.trimEnd().split('\n').at(-1)!;
  return JSON.parse(last);
}
