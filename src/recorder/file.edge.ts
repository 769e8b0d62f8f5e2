// Files of recordings, in a directory of cnpd's own: what they have is for its owner alone.
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordingFile } from './recorder.ts';

/** With the new one. */
export const MOST_FILES = 4;

/** Numbers, not times: two recordings may begin within a millisecond, and a wall clock may be set back. */
const NAME = /^recording-([1-9]\d{0,14})\.jsonl$/;
/** Where another process makes recordings in the same directory, a number may be taken in between. */
const MOST_ATTEMPTS = 8;

interface Named {
  readonly number: number;
  readonly path: string;
  /** What is no file is nobody's recording: a link could lead to a file of somebody else. */
  readonly isRecording: boolean;
}

/** Everything with the name of a recording, the oldest first. */
async function namedIn(directory: string): Promise<Named[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .map((entry) => ({
      number: Number(NAME.exec(entry.name)?.[1] ?? 0),
      path: join(directory, entry.name),
      isRecording: entry.isFile(),
    }))
    .filter(({ number }) => number > 0)
    .sort((a, b) => a.number - b.number);
}

/** @returns the path of the newest recording in a directory; undefined: there is none. @throws Error of the system */
export async function newestRecording(directory: string): Promise<string | undefined> {
  const named = await namedIn(directory).catch((error: NodeJS.ErrnoException): Named[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return named.findLast(({ isRecording }) => isRecording)?.path;
}

/** Makes a new file; of the older ones the latest stay. @throws Error of the system */
export async function createRecordingFile(directory: string): Promise<RecordingFile> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const named = await namedIn(directory);
  const older = named.filter(({ isRecording }) => isRecording);
  for (const { path } of older.slice(0, Math.max(0, older.length - MOST_FILES + 1))) await rm(path, { force: true });
  return openNew(directory, (named.at(-1)?.number ?? 0) + 1);
}

async function openNew(directory: string, number: number, attempts = MOST_ATTEMPTS): Promise<RecordingFile> {
  const path = join(directory, `recording-${number}.jsonl`);
  try {
    const handle = await open(path, 'wx', 0o600);
    return { path, append: (text) => handle.appendFile(text), close: () => handle.close() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempts === 1) throw error;
    return openNew(directory, number + 1, attempts - 1);
  }
}
