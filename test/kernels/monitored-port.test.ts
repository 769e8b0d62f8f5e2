// Monitored ports with Debian 12's own kernel, 6.1: it lacks the cast of a tc program's context (6.2), TCX links (6.6)
// and look-ups without neighbors (6.3).
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Guest, emptyFolder } from '../guests/guest.ts';
import { prepareGuestImage } from '../guests/image.ts';
import { WHY_NOT, runInGuest } from './guest-program.ts';
import type { MonitoredPort } from './monitored-port.guest.ts';

const FOLDER = join(new URL('../..', import.meta.url).pathname, 'out', 'kernels-stock');
/** A guest computes many times slower than a processor. */
const LIMIT_MS = 480_000;

let guest: Guest;
let seen: MonitoredPort;

describe.skipIf(WHY_NOT !== undefined)(WHY_NOT ?? "in a guest with Debian 12's own kernel", () => {
  beforeAll(async () => {
    const image = prepareGuestImage(FOLDER, {
      kernel: 'stock',
      modules: ['veth', 'sch_tbf', 'sch_htb', 'sch_ingress', 'cls_bpf'],
    });
    expect(image.version).toMatch(/^6\.1\./);
    guest = await Guest.boot({
      ...{ name: image.version, image, control: emptyFolder(join(FOLDER, 'monitored-port')) },
      spawn: ([command, ...args]) => spawn(command!, args, { stdio: ['ignore', 'ignore', 'pipe'] }),
    });
    seen = (await runInGuest(guest, 'monitored-port', LIMIT_MS)) as MonitoredPort;
  }, 2 * LIMIT_MS);
  afterAll(() => guest?.stop());

  test('every program loads', () => {
    for (const [name, how] of Object.entries(seen.objects)) expect([name, how]).toEqual([name, 'loaded']);
    expect(Object.keys(seen.objects)).toHaveLength(7);
  });

  test('what stands in for what the kernel lacks is told', () => {
    const found = new Map(seen.features.map(({ name, ok, detail }) => [name, { ok, detail }]));
    expect(found.get('packet-memory')).toEqual({ ok: true, detail: 'bpf_probe_read_kernel' });
    expect([found.get('tcx')!.ok, found.get('clsact')!.ok]).toEqual([false, true]);
  });

  test('LHCNP-5.3.1-a: the depth is that of `tc`, and each format is sent above the threshold only', () => {
    expect(seen.monitored.below).toBe(0);
    const formats = ['proxy', 'fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'];
    expect(seen.monitored.sent).toEqual(
      formats.map((format) => ({ sent: [{ format, queueBytes: 150_000 }], depth: 150_000 })),
    );
  });
});
