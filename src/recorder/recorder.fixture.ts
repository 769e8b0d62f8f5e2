// For tests: recordings in a directory that lasts as long as the test file.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { silentLog } from '../model/log.ts';
import { type Clock, manualClock } from '../model/clock.ts';
import { createRecordingFile } from './file.edge.ts';
import { EventRecorder, type RecorderDependencies } from './recorder.ts';

export function recordings() {
  const directory = mkdtempSync(join(tmpdir(), 'cnpd-recordings-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const made: EventRecorder[] = [];
  // A file that nobody closes is an error for Node.js 26, in whatever runs when it is found.
  afterEach(() => Promise.all(made.splice(0).map((recorder) => recorder.stop())));
  return {
    directory,
    /** @param clock that of the machines */
    recorder: (clock: Clock = manualClock(), rest: Partial<RecorderDependencies> = {}) => {
      const counts: Record<string, number> = {};
      const recorder = new EventRecorder({
        ...{ clock, version: '0.0.1', log: silentLog, wallClock: () => 1_800_000_000_000 },
        count: (name, by = 1) => void (counts[name] = (counts[name] ?? 0) + by),
        create: () => createRecordingFile(directory),
        ...rest,
      });
      made.push(recorder);
      return { recorder, counts };
    },
  };
}

export const LIMITS = { limitBytes: 1 << 24, limitSeconds: 3600 };
export const linesIn = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);
