// Monitored ports with Debian 12's own kernel, 6.1: it lacks the cast of a tc program's context (6.2), TCX links (6.6)
// and look-ups without neighbors (6.3). Or with another one, which may lack more.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingFeatures } from '../../src/plan/facts.ts';
import type { Guest } from '../guests/guest.ts';
import { WHY_NOT, runInGuest } from './guest-program.ts';
import { LIMIT_MS, bootKernel, kernels } from './kernels.ts';
import { PARTS } from './loading.ts';
import type { MonitoredPort } from './monitored-port.guest.ts';

const isAtLeast = (version: string, major: number, minor: number): boolean => {
  const [has = 0, hasMinor = 0] = version.split('.').map(Number);
  return has > major || (has === major && hasMinor >= minor);
};

describe.skipIf(WHY_NOT !== undefined).each(kernels('stock'))(WHY_NOT ?? 'in a guest with %s', (_, tested) => {
  let guest: Guest | undefined;
  let version: string;
  let seen: MonitoredPort;
  beforeAll(async () => {
    const modules = ['veth', 'sch_tbf', 'sch_htb', 'sch_ingress', 'cls_bpf'];
    ({ guest, version } = await bootKernel(tested, { name: 'monitored-port', modules }));
    seen = (await runInGuest(guest, 'monitored-port', LIMIT_MS)) as MonitoredPort;
    const missing = seen.features.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`);
    console.log(`Linux ${version} lacks ${missing.join('; ') || 'nothing'}`);
  }, 2 * LIMIT_MS);
  afterAll(() => guest?.stop());

  test('every program loads whose part of cnpd lacks nothing that the probe knows', () => {
    expect(Object.keys(seen.objects)).toEqual(Object.keys(PARTS));
    for (const [object, part] of Object.entries(PARTS))
      if (missingFeatures(part, seen).length === 0) expect([object, seen.objects[object]]).toEqual([object, 'loaded']);
  });

  test("Debian's kernel lacks nothing that a part needs", ({ skip }) => {
    skip(tested.kernel !== 'stock', `this is Linux ${version}`);
    for (const part of Object.values(PARTS)) expect(missingFeatures(part, seen)).toEqual([]);
  });

  test('what stands in for what the kernel lacks is told', () => {
    const found = new Map(seen.features.map(({ name, ok, detail }) => [name, { ok, detail }]));
    const depth = isAtLeast(version, 6, 2) ? 'bpf_cast_to_kern_ctx is there' : 'bpf_probe_read_kernel';
    expect(found.get('packet-memory')).toEqual({ ok: true, detail: depth });
    expect([found.get('tcx')!.ok, found.get('clsact')!.ok]).toEqual([isAtLeast(version, 6, 6), true]);
  });

  test('LHCNP-5.3.1-a: the depth is that of `tc`, and each format is sent above the threshold only', ({ skip }) => {
    const missing = missingFeatures('ports', seen);
    skip(missing.length > 0, missing.map(({ problem }) => problem).join('; '));
    expect(seen.monitored!.below).toBe(0);
    const formats = ['proxy', 'fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'];
    expect(seen.monitored!.sent).toEqual(
      formats.map((format) => ({ sent: [{ format, queueBytes: 150_000 }], depth: 150_000 })),
    );
  });
});
