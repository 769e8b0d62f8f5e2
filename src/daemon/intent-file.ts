// The operator's file and the intent in force. A file with errors never replaces a loaded intent: the old one stays in
// force, and the refusal is kept for `cnpctl show status`.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { formatIntentErrors, type IntentError } from '../intent/errors.ts';
import type { Intent } from '../intent/intent.ts';
import { loadIntent, outlineOf } from '../intent/load.ts';
import { MAX_FILE_BYTES } from '../intent/yaml-limits.ts';
import { groupNumber } from '../kernel/ffi/libc.ts';
import { messageOf } from '../model/error-text.ts';
import type { RollBackReason } from '../model/config-change.ts';
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

/** A configuration, and what it means. */
export interface Config {
  readonly text: string;
  readonly intent: Intent;
}

/** Reads and validates a file. An unreadable file is a refusal too. */
export function readIntentFile(file: string): Result<Config, IntentRefusal> {
  const text = readConfigText(file);
  return text.ok ? readConfig(text.value, file) : text;
}

/** A long file without its lists. Undefined: it is short, or has to be read as a whole to say what is wrong with it. */
export function readIntentOutline(file: string): Intent | undefined {
  const text = readConfigText(file);
  return text.ok ? outlineOf(text.value) : undefined;
}

/** The content of a file, whatever it says. */
export function readConfigText(file: string): Result<string, IntentRefusal> {
  try {
    const bytes = readUpTo(file, MAX_FILE_BYTES + 1);
    if (bytes.length > MAX_FILE_BYTES)
      return refusal(`${file}: more than ${MAX_FILE_BYTES} bytes, the most that is read`);
    return ok(bytes.toString('utf8'));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    const refused = refusal(`${file}: ${messageOf(error)}`);
    return fail({ ...refused.error, unreadable: code ?? 'not a file' });
  }
}

/**
 * @param name of the text, for messages
 * @param line how an error reads
 */
export function readConfig(text: string, name: string, line = oneLine): Result<Config, IntentRefusal> {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    return refusal(`${name}: more than ${MAX_FILE_BYTES} bytes, the most that is read`);
  const loaded = loadIntent(text, name, { groupExists: (group) => groupNumber(group) !== undefined });
  if (loaded.ok) return ok({ text, intent: loaded.value });
  return fail({ errors: loaded.error.map(line), rendered: formatIntentErrors(loaded.error, text) });
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

/** Of what has no lines: values of a request. */
export const withoutPlace = (e: IntentError): string => `${e.path === '' ? '' : `${e.path}: `}${e.message}`;

const oneLine = (e: IntentError): string => `${e.file}:${e.line}:${e.column}: ${withoutPlace(e)}`;

export class IntentFile {
  readonly #file: string;
  readonly #now: () => Date;
  #loadedAt: Date;
  #lastReload: { at: Date; ok: boolean; errors: readonly string[] } | undefined;
  #inForce: Config;
  /** The file as it was last loaded, or written. */
  #loaded: string;
  /** The file as it was last seen, with errors or without. */
  #seen: string | undefined;
  #refused = false;
  /** When what is in force is taken back unless it is confirmed. */
  confirmBy: Date | undefined;
  #rolledBack: { at: Date; reason: RollBackReason } | undefined;

  /** `config` is what readIntentFile(file) gave at start. */
  constructor(file: string, config: Config, now: () => Date) {
    this.#file = file;
    this.#inForce = config;
    this.#loaded = this.#seen = config.text;
    this.#now = now;
    this.#loadedAt = now();
  }

  get path(): string {
    return this.#file;
  }

  get inForce(): Config {
    return this.#inForce;
  }

  get intent(): Intent {
    return this.#inForce.intent;
  }

  /** Whether a restart would come up with what is in force, as far as cnpd knows. */
  get isPersistent(): boolean {
    return this.#inForce.text === this.#loaded;
  }

  /** The file as it is now; undefined: it cannot be read. */
  now(): string | undefined {
    const read = readConfigText(this.#file);
    return read.ok ? read.value : undefined;
  }

  get loaded(): string {
    return this.#loaded;
  }

  get seen(): string | undefined {
    return this.#seen;
  }

  /** What the file says now. Nothing is put in force. */
  read(): Result<Config, IntentRefusal> {
    return readIntentFile(this.#file);
  }

  /** Reads the file again. If it is refused, the current intent stays in force. */
  reload(): Result<Config, IntentRefusal> {
    const text = readConfigText(this.#file);
    const read = text.ok ? readConfig(text.value, this.#file) : text;
    this.#seen = text.ok ? text.value : undefined;
    this.#refused = !read.ok;
    this.#lastReload = { at: this.#now(), ok: read.ok, errors: read.ok ? [] : read.error.errors };
    if (read.ok) {
      this.#loaded = read.value.text;
      this.adopt(read.value);
    }
    return read;
  }

  /** Another configuration is in force. */
  adopt(config: Config): void {
    this.#inForce = config;
    this.#loadedAt = this.#now();
    this.#rolledBack = undefined;
  }

  /** The former configuration is in force again. */
  takeBack(former: Config, reason: RollBackReason): void {
    this.adopt(former);
    this.#rolledBack = { at: this.#loadedAt, reason };
  }

  /** The file has this text now. */
  written(text: string): void {
    this.#loaded = this.#seen = text;
    this.#refused = false;
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
    const [last, back] = [this.#lastReload, this.#rolledBack];
    return {
      file: this.#file,
      loadedAt: this.#loadedAt.toISOString(),
      persistent: this.isPersistent,
      ...(this.confirmBy && { confirmBy: this.confirmBy.toISOString() }),
      ...(back && { rolledBack: { at: back.at.toISOString(), reason: back.reason } }),
      ...(last ? { lastReload: { at: last.at.toISOString(), ok: last.ok, errors: [...last.errors] } } : {}),
    };
  }
}
