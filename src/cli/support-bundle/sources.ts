// Where the parts of a support bundle come from: programs, files and addresses of this router. Each has a limit of time
// and of size.
import { execFile } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';

export const PART_TIMEOUT_MS = 10_000;
export const PART_BYTES = 4 << 20;
export const RECORDING_BYTES = 64 << 20;

/** What of a part there is; `truncated`: its limit of size was reached. */
export interface Part {
  readonly text: string;
  readonly truncated?: boolean;
}

export interface BundleSources {
  /** @throws Error with the reason */
  run(program: string, args: readonly string[]): Promise<Part>;
  /** @throws Error of the system */
  read(path: string, maxBytes: number): Part;
  /** @throws Error */
  fetch(url: string): Promise<Part>;
  /** The configuration with all defaults, and where metrics are served. @throws Error */
  configuration(file: string): Promise<{ readonly intent: unknown; readonly metrics?: string }>;
  parseYaml(text: string): Promise<unknown>;
  /** Of cnpd here; undefined: there is none. */
  newestRecording(): Promise<string | undefined>;
  hostname(): string;
  /** Makes a file for the owner alone, which must not exist. @throws Error of the system */
  writeNew(path: string, bytes: Uint8Array): void;
}

export function run(program: string, args: readonly string[]): Promise<Part> {
  const options = { timeout: PART_TIMEOUT_MS, maxBuffer: PART_BYTES, killSignal: 'SIGKILL' as const };
  return new Promise((resolve, reject) => {
    execFile(program, [...args], { ...options, encoding: 'utf8' }, (error, stdout, stderr) => {
      if (!error) return resolve({ text: stdout });
      if ((error as NodeJS.ErrnoException).code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
        return resolve({ text: stdout, truncated: true });
      reject(new Error(error.killed ? `${program}: no end within ${PART_TIMEOUT_MS / 1000} s` : reason(error, stderr)));
    });
  });
}

const reason = (error: Error, stderr: string): string => (stderr.trim() || error.message).slice(0, 1000);

export function read(path: string, maxBytes: number): Part {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(maxBytes, Math.max(size, 1 << 16)));
    const length = readSync(file, bytes);
    return { text: bytes.toString('utf8', 0, length), truncated: size > maxBytes };
  } finally {
    closeSync(file);
  }
}

export async function fetchText(url: string): Promise<Part> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PART_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  let text = '';
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.length > PART_BYTES) return { text: text.slice(0, PART_BYTES), truncated: true };
  }
  return { text };
}

export const writeNew = (path: string, bytes: Uint8Array): void =>
  writeFileSync(path, bytes, { mode: 0o600, flag: 'wx' });
