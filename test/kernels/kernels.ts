// The kernels that the tests of this folder run in guests: Debian's, or in their place the one that CNPD_KERNEL names.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { missingFeatures } from '../../src/plan/facts.ts';
import { Guest, emptyFolder } from '../guests/guest.ts';
import { type GuestKernel, prepareGuestImage, versionOf } from '../guests/image.ts';
import { runInGuest } from './guest-program.ts';
import type { Loading } from './loading.ts';

const OUT = join(new URL('../..', import.meta.url).pathname, 'out');
/** A guest computes many times slower than a processor. */
export const LIMIT_MS = 480_000;

export interface TestedKernel {
  readonly kernel: GuestKernel;
  /** Of its image. */
  readonly folder: string;
  readonly version: RegExp | string;
}
/** The name of a group of tests, and what they run with. */
type NamedKernel = readonly [name: string, tested: TestedKernel];

const DEBIANS = {
  stock: ["Debian 12's own kernel", { kernel: 'stock', folder: 'kernels-stock', version: /^6\.1\./ }],
  backported: ["Debian 12's backported kernel", { kernel: 'backported', folder: 'kernels', version: /^6\.12\./ }],
} as const satisfies Record<string, NamedKernel>;

/** Folder of the kernel to run in place of Debian's. */
const GIVEN = process.env['CNPD_KERNEL'];

/** Why tests of certain kernels do not run. */
export const ONLY_GIVEN = GIVEN === undefined ? undefined : `CNPD_KERNEL names the only kernel to test, ${GIVEN}`;

export function kernels(...ofDebian: readonly (keyof typeof DEBIANS)[]): NamedKernel[] {
  if (GIVEN === undefined) return ofDebian.map((name) => DEBIANS[name]);
  const version = versionOf({ at: GIVEN });
  return [[`Linux ${version}, which CNPD_KERNEL names`, { kernel: { at: GIVEN }, folder: 'kernels-given', version }]];
}

interface Boot {
  readonly name: string;
  readonly modules: readonly string[];
  readonly devices?: readonly string[];
  /** The part of cnpd under test; absent: none that an old kernel could lack. */
  readonly part?: Parameters<typeof missingFeatures>[0];
  readonly spawn?: (command: readonly string[]) => ChildProcess;
}

const spawnQemu = ([command, ...args]: readonly string[]): ChildProcess =>
  spawn(command!, args, { stdio: ['ignore', 'ignore', 'pipe'] });

/** Also returns why the part cannot run, where somebody has given a kernel that is too old for it. */
export async function bootKernel(
  { kernel, folder, version }: TestedKernel,
  { name, modules, devices = [], part, spawn: start = spawnQemu }: Boot,
): Promise<{ guest: Guest; version: string; whyNot: string | undefined }> {
  const image = prepareGuestImage(join(OUT, folder), { kernel, modules });
  expect(image.version).toMatch(version);
  const control = emptyFolder(join(OUT, folder, name));
  const guest = await Guest.boot({ name: image.version, image, control, devices, spawn: start });
  if (typeof kernel !== 'object' || part === undefined) return { guest, version: image.version, whyNot: undefined };
  const seen = (await runInGuest(guest, 'what-loads', LIMIT_MS)) as Loading;
  const missing = missingFeatures(part, seen).map(({ problem }) => problem);
  return { guest, version: image.version, whyNot: missing.length > 0 ? missing.join('; ') : undefined };
}
