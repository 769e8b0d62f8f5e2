// What cnpd says of a kernel that is too old for it, in a guest with Debian 11's.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingFeatures } from '../../src/plan/facts.ts';
import { Guest, emptyFolder } from '../guests/guest.ts';
import { prepareGuestImage } from '../guests/image.ts';
import { WHY_NOT, runInGuest } from './guest-program.ts';
import { LIMIT_MS, ONLY_GIVEN } from './kernels.ts';
import type { Loading } from './loading.ts';

const FOLDER = join(new URL('../..', import.meta.url).pathname, 'out', 'kernels-former');
const NOT_HERE = WHY_NOT ?? ONLY_GIVEN;

let guest: Guest;
let seen: Loading;

describe.skipIf(NOT_HERE !== undefined)(NOT_HERE ?? "in a guest with Debian 11's kernel", () => {
  beforeAll(async () => {
    const image = prepareGuestImage(FOLDER, {
      kernel: 'former',
      modules: ['veth', 'sch_tbf', 'sch_htb', 'sch_fq', 'sch_ingress', 'cls_bpf', 'vrf', 'tun'],
    });
    expect(image.version).toMatch(/^5\.10\./);
    guest = await Guest.boot({
      ...{ name: image.version, image, control: emptyFolder(join(FOLDER, 'what-loads')) },
      spawn: ([command, ...args]) => spawn(command!, args, { stdio: ['ignore', 'ignore', 'pipe'] }),
    });
    seen = (await runInGuest(guest, 'what-loads', LIMIT_MS)) as Loading;
  }, 2 * LIMIT_MS);
  afterAll(() => guest?.stop());

  test('each feature that it lacks is named, with the version that has it', () => {
    const missing = seen.features.filter(({ ok }) => !ok).map(({ name, remedy }) => [name, remedy]);
    expect(missing).toEqual([
      ['coarse-clock', 'boot Linux 5.11 or newer'],
      ['atomics', 'boot Linux 5.12 or newer'],
      ['function-memory', 'boot Linux 5.12 or newer'],
      ['stack-memory', 'boot Linux 6.8 or newer, or a long-term one from 6.1.100 or 6.6.14 on'],
      ['loop', 'boot Linux 5.17 or newer'],
      ['percpu-lookup', 'boot Linux 5.19 or newer'],
      ['tcx', expect.stringContaining('Linux 6.6 or newer')],
    ]);
  });

  test('so no part of cnpd tries to load what this kernel refuses', () => {
    for (const [name, how] of Object.entries(seen.objects)) expect([name, how]).not.toEqual([name, 'loaded']);
    for (const part of ['ports', 'proxy', 'source', 'flow-control', 'border-ports', 'srv6', 'groups'] as const)
      expect(missingFeatures(part, seen).map(({ problem }) => problem)).toContain(
        `this kernel lacks atomics, required for ${part}: the kernel refuses a program that uses this (EINVAL)`,
      );
  });
});
