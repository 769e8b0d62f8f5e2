// `cnpd check` and `cnpctl check`: validates files, and notes what a valid one promises and cannot keep.
import { createReadStream, statSync } from 'node:fs';
import { groupSizeNotes } from '../diagnosis/group-sizes.ts';
import { type PathState, missingFileNotes } from '../diagnosis/missing-files.ts';
import { notifierNotes } from '../diagnosis/notifiers.ts';
import { promiseProblems } from '../diagnosis/promises.ts';
import { uselessNotes } from '../diagnosis/useless.ts';
import type { Intent } from '../intent/intent.ts';
import type { Problem } from '../model/problem.ts';
import type { Result } from '../model/result.ts';
import { MAX_FILE_BYTES } from '../intent/yaml-limits.ts';
import { type Config, type IntentRefusal, readConfig, readIntentFile } from './intent-file.ts';

export interface CheckOptions {
  readonly output: 'table' | 'json';
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Default: standard input. */
  readonly stdin?: () => Promise<string>;
}

const STDIN = '-';

const notesOn = (intent: Intent): Problem[] => [
  ...[promiseProblems, notifierNotes, groupSizeNotes, uselessNotes].flatMap((notes) => notes(intent)),
  ...missingFileNotes(intent, pathState),
];

const ABSENT = ['ENOENT', 'ENOTDIR'];

/** A directory into which only root may look hides what is there. */
function pathState(path: string): PathState {
  try {
    return statSync(path).isFile() ? 'file' : 'no-file';
  } catch (error) {
    return ABSENT.includes((error as NodeJS.ErrnoException).code ?? '') ? 'absent' : 'unknown';
  }
}

/** @returns whether all of them are valid; notes are no errors */
export async function checkFiles(files: readonly string[], options: CheckOptions): Promise<boolean> {
  const { output, out, stdin = () => textOf(process.stdin) } = options;
  const results: object[] = [];
  let isValid = true;
  for (const file of files) {
    const read = await readFrom(file, stdin);
    isValid &&= read.ok;
    if (output === 'json') results.push(asJson(file, read));
    else report(file, read, options);
  }
  if (output === 'json') out(`${JSON.stringify(results, null, 2)}\n`);
  return isValid;
}

async function readFrom(file: string, stdin: () => Promise<string>): Promise<Result<Config, IntentRefusal>> {
  if (file === STDIN) return readConfig(await stdin(), 'standard input');
  // As of `<(command)` in a shell. A daemon does not wait for who writes into a pipe.
  return isPipe(file) ? readConfig(await textOf(createReadStream(file)), file) : readIntentFile(file);
}

function isPipe(file: string): boolean {
  try {
    return statSync(file).isFIFO();
  } catch {
    // What reads the file says why it cannot.
    return false;
  }
}

/** No more than shows that it is too much. */
async function textOf(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    if ((length += bytes.length) > MAX_FILE_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

const asJson = (file: string, read: Result<Config, IntentRefusal>): object =>
  read.ok
    ? { file, ok: true, errors: [], notes: notesOn(read.value.intent) }
    : { file, ok: false, errors: read.error.errors, notes: [] };

function report(file: string, read: Result<Config, IntentRefusal>, { out, err }: CheckOptions): void {
  if (!read.ok) return err(`${read.error.rendered}\n`);
  out(`${file}: ok\n`);
  for (const { problem, remedy } of notesOn(read.value.intent)) out(`${file}: note: ${problem}; ${remedy}\n`);
}
