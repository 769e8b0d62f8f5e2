// The operator's file and the intent in force. A file that does not load never replaces an intent that did: the old one stays in force and the
// refusal is kept for `cnpctl show status`.
import { readFileSync, statSync } from 'node:fs';
import { formatIntentErrors, type IntentError } from '../intent/errors.ts';
import type { Intent } from '../intent/intent.ts';
import { loadIntent } from '../intent/load.ts';
import { MAX_FILE_BYTES } from '../intent/source.ts';
import { type Result, fail, ok } from '../model/result.ts';
import type { StatusState } from '../model/state.ts';

export interface IntentRefusal {
  /** One line an error. */
  readonly errors: readonly string[];
  /** The same with the offending lines and carets, for a terminal. */
  readonly rendered: string;
}

/** Reads and validates a file; an unreadable file is a refusal like any other. */
export function readIntentFile(file: string): Result<Intent, IntentRefusal> {
  let text: string;
  try {
    const { size } = statSync(file);
    if (size > MAX_FILE_BYTES) return refusal(`${file}: ${size} bytes; at most ${MAX_FILE_BYTES} are read`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return refusal(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const loaded = loadIntent(text, file);
  if (loaded.ok) return ok(loaded.value);
  return fail({ errors: loaded.error.map(oneLine), rendered: formatIntentErrors(loaded.error, text) });
}

const refusal = (message: string): { ok: false; error: IntentRefusal } => fail({ errors: [message], rendered: message });

const oneLine = (e: IntentError): string => `${e.file}:${e.line}:${e.column}: ${e.message}`;

export class IntentFile {
  readonly #file: string;
  readonly #now: () => Date;
  #loadedAt: Date;
  #lastReload: { at: Date; ok: boolean; errors: readonly string[] } | undefined;
  #intent: Intent;

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

  /** Reads the file again. On refusal the intent in force stays. */
  reload(): Result<Intent, IntentRefusal> {
    const read = readIntentFile(this.#file);
    const at = this.#now();
    this.#lastReload = { at, ok: read.ok, errors: read.ok ? [] : read.error.errors };
    if (read.ok) {
      this.#intent = read.value;
      this.#loadedAt = at;
    }
    return read;
  }

  /** The last reload was refused, so the file and the intent in force differ. */
  get refused(): boolean {
    return this.#lastReload !== undefined && !this.#lastReload.ok;
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
