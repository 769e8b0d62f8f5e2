// The recorder in the daemon: restarts for it are rare, and no fault of its disk keeps the daemon from starting.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { RecordingPart } from './recording-part.ts';

const runDir = mkdtempSync(join(tmpdir(), 'cnpd-run-'));
afterAll(() => rmSync(runDir, { recursive: true }));
const REQUEST = { limitBytes: 1e6, limitSeconds: 3600 };

function part(options: { runDir: string; stateDir?: string }) {
  const clock = manualClock();
  const seen = { restarts: 0, counts: {} as Record<string, number> };
  const recording = new RecordingPart(options, {
    ...{ clock, log: silentLog, restart: async () => void seen.restarts++ },
    count: (name) => void (seen.counts[name] = (seen.counts[name] ?? 0) + 1),
  });
  return { clock, seen, recording };
}

test('machines begin anew at most once a minute; a recording without that is always possible', async () => {
  const { clock, seen, recording } = part({ runDir });
  expect(await recording.start(REQUEST, true)).toMatchObject({ state: 'recording' });
  await recording.stop();
  await expect(recording.start(REQUEST, true)).rejects.toThrow(/within the last 60 s/);
  expect(recording.status().state).toBe('off');
  expect((await recording.start(REQUEST, false)).file).toMatch(new RegExp(`^${runDir}/recordings/recording-`));
  await recording.stop();
  clock.advance(60_000);
  await recording.start(REQUEST, true);
  await recording.stop();
  expect(seen).toEqual({ restarts: 2, counts: {} });
});

test('from the start: a directory in which no file can be made is counted, and the daemon goes on', async () => {
  const { seen, recording } = part({ runDir, stateDir: '/dev/null' });
  await recording.fromStart();
  expect([recording.status().state, seen.counts]).toEqual(['off', { 'recorder.failed': 1 }]);
  await expect(recording.start(REQUEST, true)).rejects.toThrow(/ENOTDIR/);
  expect(seen.restarts).toBe(0);
});
