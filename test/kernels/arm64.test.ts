// cnpd on arm64, as an emulated machine runs Debian 13: kernel, Node.js and libbpf of that architecture, and dist/ as
// it was built here. Compiled programs are of no machine, and the kernel's types are found when they are loaded.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, afterAll, beforeAll, expect, test } from 'vitest';
import { CNPD, prepareArm64Image } from '../guests/arm64-image.ts';
import { Guest, emptyFolder } from '../guests/guest.ts';
import type { GuestImage } from '../guests/image.ts';
import { runInGuest } from './guest-program.ts';
import { LIMIT_MS, ONLY_GIVEN } from './kernels.ts';
import type { MonitoredPort } from './monitored-port.guest.ts';

const FOLDER = join(new URL('../..', import.meta.url).pathname, 'out', 'kernels-arm64');
const MODULES = ['veth', 'sch_tbf', 'sch_htb', 'sch_fq', 'sch_ingress', 'cls_bpf', 'vrf', 'tun'];

let guest: Guest | undefined;
let seen: MonitoredPort;
let whyNot = ONLY_GIVEN;

function prepared(): GuestImage | undefined {
  if (whyNot !== undefined) return undefined;
  try {
    return prepareArm64Image(FOLDER, MODULES);
  } catch (error) {
    whyNot = `no guest for arm64 can be made here, nothing is tested: ${(error as Error).message}`;
    console.warn(whyNot);
    return undefined;
  }
}

/** To begin each test with. */
const needsGuest = ({ skip }: TestContext): void => skip(whyNot !== undefined, whyNot);

beforeAll(async () => {
  const image = prepared();
  if (!image) return;
  guest = await Guest.boot({
    ...{ name: image.version, image, control: emptyFolder(join(FOLDER, 'arm64')) },
    spawn: ([command, ...args]) => spawn(command!, args, { stdio: ['ignore', 'ignore', 'pipe'] }),
  });
  expect(await guest.run('uname -m')).toBe('aarch64\n');
  seen = (await runInGuest(guest, 'monitored-port', LIMIT_MS)) as MonitoredPort;
}, 2 * LIMIT_MS);
afterAll(() => guest?.stop());

test('every program loads', (context) => {
  needsGuest(context);
  for (const [name, how] of Object.entries(seen.objects)) expect([name, how]).toEqual([name, 'loaded']);
  expect(Object.keys(seen.objects)).toHaveLength(7);
});

test('Debian 13 lacks nothing that cnpd uses', (context) => {
  needsGuest(context);
  expect(seen.features.filter(({ ok }) => !ok)).toEqual([]);
  expect(seen.features.find(({ name }) => name === 'tcx')).toMatchObject({ detail: 'supported' });
});

test('LHCNP-5.3.1-a: the depth is that of `tc`, and each format is sent above the threshold only', (context) => {
  needsGuest(context);
  expect(seen.monitored!.below).toBe(0);
  const formats = ['proxy', 'fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'];
  expect(seen.monitored!.sent).toEqual(
    formats.map((format) => ({ sent: [{ format, queueBytes: 150_000 }], depth: 150_000 })),
  );
});

test('programs that were built on another processor start', async (context) => {
  needsGuest(context);
  // What they say of a router without a cnpd is other tests' business: here, they say something and end.
  const check = await guest!.begin(`cd ${CNPD} && dist/cnpd.js check /nonexistent.yaml`)(LIMIT_MS);
  expect(check.output).toMatch(/^\/nonexistent\.yaml: .*ENOENT/);
  const doctor = await guest!.begin(`cd ${CNPD} && dist/cnpctl.js doctor`)(LIMIT_MS);
  expect(doctor.output).toMatch(/^ok +kernel\.btf: /m);
});
