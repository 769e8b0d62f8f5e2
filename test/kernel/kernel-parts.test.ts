// What a start of the daemon asks the kernel, and what the next one need not ask.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KernelParts } from '../../src/daemon/kernel-parts.ts';
import { createLogging } from '../../src/daemon/logging.ts';
import { unmountBpffs } from '../../src/kernel/bpf/bpffs.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { manualClock } from '../../src/model/clock.ts';
import { ManualWork } from '../../src/model/work.fixture.ts';

let runDir: string;
let poller: Poller;
beforeEach(() => {
  runDir = mkdtempSync(join(tmpdir(), 't-parts-'));
  poller = Poller.open({
    onError: (error) => {
      throw error;
    },
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  poller.close();
  unmountBpffs(join(runDir, 'bpf'));
  rmSync(runDir, { recursive: true });
});

/** @returns how many network namespaces it has made, to try something in */
async function start(use: (parts: KernelParts) => void = () => {}): Promise<number> {
  const made = vi.spyOn(Netns, 'create');
  const logging = createLogging('error');
  const objectDir = 'dist/bpf';
  const dependencies = { objectDir, clock: manualClock(), work: new ManualWork(), count: () => {}, onChange: () => {} };
  const parts = await KernelParts.open({ runDir, poller, logging, ...dependencies });
  use(parts);
  parts.keepFeatures();
  parts.close();
  const { length } = made.mock.calls;
  made.mockRestore();
  return length;
}

test('a restart tries nothing that the start before it has found', async () => {
  expect([await start(), await start()]).toEqual([1, 0]);
});

test('once a program could not be loaded, the next start tries everything again', async () => {
  await start();
  const problem = { code: 'dataplane.not-loaded' as const, feature: 'proxy', problem: 'refused', remedy: 'none' };
  const refused = (parts: KernelParts): unknown => vi.spyOn(parts.dataplane, 'problems').mockReturnValue([problem]);
  expect(await start(refused)).toBe(0);
  expect(existsSync(join(runDir, 'kernel-features.json'))).toBe(false);
  expect(await start()).toBe(1);
});
