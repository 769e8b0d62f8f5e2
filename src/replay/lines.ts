// The lines of a recording, one after another, with their numbers. What is no recording of this format, or only a part
// of one, is refused with the number of the line.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { RECORDING_LIMITS } from '../model/recording.ts';
import { messageOf } from '../model/error-text.ts';
import { FORMAT, FORMAT_VERSION, type Header, MOST_LINE_BYTES } from '../recorder/format.ts';

export class ReplayError extends Error {
  override readonly name = 'ReplayError';
  /** @param line counted from 1; undefined: the file as a whole */
  constructor(line: number | undefined, reason: string) {
    super(line === undefined ? reason : `line ${line}: ${reason}`);
  }
}

export interface Line {
  readonly number: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

const CHUNK = 1 << 20;
const NEWLINE = 0x0a;

/** @param partial a last line that is not whole is left out. @throws ReplayError, Error of the system */
export function* linesOf(path: string, partial: boolean): Generator<Line> {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size > RECORDING_LIMITS.bytes.most)
      throw new ReplayError(
        undefined,
        `the file has ${size} bytes: recordings have at most ${RECORDING_LIMITS.bytes.most}`,
      );
    let number = 0;
    for (const text of rawLines(file, () => number, partial))
      yield { number: ++number, fields: fieldsOf(text, number) };
  } finally {
    closeSync(file);
  }
}

function* rawLines(file: number, lastNumber: () => number, partial: boolean): Generator<string> {
  const chunk = Buffer.alloc(CHUNK);
  let parts: Buffer[] = [];
  let length = 0;
  for (;;) {
    const bytes = readSync(file, chunk);
    if (bytes === 0) break;
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && at < bytes; at = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, at));
      yield Buffer.concat(parts).toString();
      [parts, length, from] = [[], 0, at + 1];
    }
    parts.push(Buffer.from(chunk.subarray(from, bytes)));
    length += bytes - from;
    if (length > MOST_LINE_BYTES)
      throw new ReplayError(lastNumber() + 1, `it has more than ${MOST_LINE_BYTES} bytes: no event has so many`);
  }
  if (length > 0 && !partial) throw new ReplayError(lastNumber() + 1, `the file ends within it: ${CUT_OFF}`);
}

export const CUT_OFF =
  'it was not recorded to its end (cnpd still records, or ended, or the disk was full); --partial replays what there is';

function fieldsOf(text: string, number: number): Line['fields'] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ReplayError(number, `it is no JSON: ${messageOf(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ReplayError(number, 'it is no JSON object');
  return value as Line['fields'];
}

/** @throws ReplayError */
export function headerOf(line: Line | undefined): Header {
  const { fields } = line ?? { fields: {} as Line['fields'] };
  if (fields['format'] !== FORMAT) throw new ReplayError(1, `this is no recording: "format":"${FORMAT}" is expected`);
  if (fields['version'] !== FORMAT_VERSION)
    throw new ReplayError(
      1,
      `its format has version ${JSON.stringify(fields['version'])?.slice(0, 16)}, this cnpd replays ` +
        `version ${FORMAT_VERSION}; cnpd ${String(fields['cnpd']).slice(0, 32)} wrote it`,
    );
  for (const name of ['now', 'wall', 'monotonic']) numberIn({ number: 1, fields }, name);
  if (typeof fields['cnpd'] !== 'string') throw new ReplayError(1, 'cnpd: the version that wrote it is expected');
  return fields as unknown as Header;
}

/** Of times: so that dates stay dates. */
const MOST = 8.64e15;

/** @throws ReplayError */
export function numberIn({ number, fields }: Line, name: string): number {
  const value = fields[name];
  if (typeof value === 'number' && Math.abs(value) <= MOST) return value;
  throw new ReplayError(number, `${name}: a number is expected`);
}
