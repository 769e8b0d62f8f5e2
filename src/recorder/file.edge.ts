// Files of recordings, in a directory of cnpd's own: what they have is for its owner alone.
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordingFile } from './recorder.ts';

/** With the new one. */
export const MOST_FILES = 4;

const NAME = /^recording-[\dTZ-]+\.jsonl$/;

/** The oldest first. What is no file is nobody's recording: a link could lead to a file of somebody else. */
async function recordingsIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && NAME.test(entry.name))
    .map(({ name }) => name)
    .sort();
}

/** @returns the path of the newest recording in a directory; undefined: there is none. @throws Error */
export async function newestRecording(directory: string): Promise<string | undefined> {
  const newest = (await recordingsIn(directory).catch(() => [])).at(-1);
  return newest === undefined ? undefined : join(directory, newest);
}

/** Makes a new file; of the older ones the latest stay. @throws Error of the system */
export async function createRecordingFile(directory: string, at: Date): Promise<RecordingFile> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const older = await recordingsIn(directory);
  for (const name of older.slice(0, Math.max(0, older.length - MOST_FILES + 1))) await rm(join(directory, name));
  const path = join(directory, `recording-${at.toISOString().replaceAll(/[:.]/g, '-')}.jsonl`);
  const handle = await open(path, 'wx', 0o600);
  return {
    path,
    append: (text) => handle.appendFile(text),
    close: () => handle.close(),
  };
}
