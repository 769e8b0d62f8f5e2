// The operator's file and the intent in force. A file with errors never replaces a loaded intent: the old one stays in
// force, and the refusal is kept for `cnpctl show status`.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { formatIntentErrors, type IntentError } from '../intent/errors.ts';
import type { Intent } from '../intent/intent.ts';
import { loadIntent } from '../intent/load.ts';
import { MAX_FILE_BYTES } from '../intent/yaml-limits.ts';
import { groupNumber } from '../kernel/ffi/libc.ts';
import { messageOf } from '../model/error-text.ts';
import { type Result, fail, ok } from '../model/result.ts';
import type { StatusState } from '../model/state.ts';

/** Bytes per read. */
const CHUNK = 64 * 1024;

export interface IntentRefusal {
  /** One line per error. */
  readonly errors: readonly string[];
  /** The same with the offending lines and carets, for a terminal. */
  readonly rendered: string;
  /** Set if the file could not be read: the system's error code, or `not a file`. */
  readonly unreadable?: string;
}

/** Reads and validates a file. An unreadable file is a refusal too. */
export function readIntentFile(file: string): Result<Intent, IntentRefusal> {
  let text: string;
  try {
    const bytes = readUpTo(file, MAX_FILE_BYTES + 1);
    if (bytes.length > MAX_FILE_BYTES)
      return refusal(`${file}: more than ${MAX_FILE_BYTES} bytes, the most that is read`);
    text = bytes.toString('utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    const refused = refusal(`${file}: ${messageOf(error)}`);
    return fail({ ...refused.error, unreadable: code ?? 'not a file' });
  }
  const loaded = loadIntent(text, file, { groupExists: (name) => groupNumber(name) !== undefined });
  if (loaded.ok) return ok(loaded.value);
  return fail({ errors: loaded.error.map(oneLine), rendered: formatIntentErrors(loaded.error, text) });
}

/** Content of the file, cut at `most` bytes. The size of a file is no bound: devices and pipes have size 0. */
function readUpTo(file: string, most: number): Buffer {
  const chunks: Buffer[] = [];
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(fd).isFile()) throw new Error('not a regular file');
    for (let left = most; left > 0;) {
      const chunk = Buffer.alloc(Math.min(left, CHUNK));
      const length = readSync(fd, chunk);
      if (length === 0) break;
      chunks.push(chunk.subarray(0, length));
      left -= length;
    }
  } finally {
    closeSync(fd);
  }
  return Buffer.concat(chunks);
}

const refusal = (message: string): { ok: false; error: IntentRefusal } =>
  fail({ errors: [message], rendered: message });

const oneLine = (e: IntentError): string =>
  `${e.file}:${e.line}:${e.column}: ${e.path === '' ? '' : `${e.path}: `}${e.message}`;

export class IntentFile {
  readonly #file: string;
  readonly #now: () => Date;
  #loadedAt: Date;
  #lastReload: { at: Date; ok: boolean; errors: readonly string[] } | undefined;
  #intent: Intent;
  #refused = false;

  /** `intent` is what readIntentFile(file) gave at start. */
  constructor(file: string, intent: Intent, now: () => Date) {
    this.#file = file;
    this.#intent = intent;
    this.#now = now;
    this.#loadedAt = now();
  }

  get intent(): Intent {
    return this.#intent;
  }

  /** Reads the file again. If it is refused, the current intent stays in force. */
  reload(): Result<Intent, IntentRefusal> {
    const read = readIntentFile(this.#file);
    const at = this.#now();
    this.#refused = !read.ok;
    this.#lastReload = { at, ok: read.ok, errors: read.ok ? [] : read.error.errors };
    if (read.ok) {
      this.#intent = read.value;
      this.#loadedAt = at;
    }
    return read;
  }

  /** The new intent is in force, but a part of it failed. `lastReload` shows the message. */
  notDone(message: string): void {
    if (this.#lastReload) this.#lastReload = { ...this.#lastReload, ok: false, errors: [message] };
  }

  /** The last reload was refused, so the file and the intent in force differ. */
  get refused(): boolean {
    return this.#refused;
  }

  state(): StatusState['intent'] {
    const last = this.#lastReload;
    return {
      file: this.#file,
      loadedAt: this.#loadedAt.toISOString(),
      ...(last ? { lastReload: { at: last.at.toISOString(), ok: last.ok, errors: [...last.errors] } } : {}),
    };
  }
}
