import { expect, test } from 'vitest';
import type { Mode, RunResult } from '../results.ts';
import { goodRun, portResult, summary } from '../runs.fixture.ts';
import { source } from './source.ts';

const QUIET = { notifications: summary('cnp', { count: 0 }), goodputBps: 36e6 };
const GOOD: Partial<Record<Mode, Partial<RunResult>>> = {
  none: { ports: [portResult('p1 eth2', { drops: 1000 })] },
  receiver: QUIET,
  cnpd: QUIET,
};
const verdictWith = (changes: Partial<Record<Mode, Partial<RunResult>>>): string =>
  source
    .verdict(source.runs.map(({ mode }) => ({ ...goodRun(source, mode, 'cnp'), ...GOOD[mode], ...changes[mode] })))
    .join('\n');

test('loss without control, and with cnpd a bounded queue, no loss, and a host that hears nothing, pass', () => {
  expect(verdictWith({})).toBe('');
  expect(source.verdict([])).toEqual(['not all three runs were made']);
});

test.each<[string, Mode, Partial<RunResult>]>([
  ['the overload is too small', 'none', { ports: [portResult('p1 eth2', { drops: 0 })] }],
  ["on h1's wire", 'cnpd', { notifications: summary('long-haul-icmpv6', { count: 1 }) }],
  ["on h1's wire", 'receiver', { notifications: summary('cnp', { count: 1 }) }],
  ['reached', 'cnpd', { ports: [portResult('p1 eth2', { peakQueueBytes: 500_000 })] }],
  ['dropped', 'cnpd', { ports: [portResult('p1 eth2', { drops: 1 })] }],
  ['arrived, less than', 'cnpd', { goodputBps: 1e6 }],
])('it fails with "%s": %s %j', (message, mode, change) => {
  expect(verdictWith({ [mode]: change })).toContain(message);
});
