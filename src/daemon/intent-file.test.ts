import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_FILE_BYTES } from '../intent/yaml-limits.ts';
import { IntentFile, readIntentFile } from './intent-file.ts';

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnpd-intent-'));
  file = join(dir, 'cnpd.yaml');
});
afterEach(() => rmSync(dir, { recursive: true }));

const GOOD = 'router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\n';

function opened(): IntentFile {
  writeFileSync(file, GOOD);
  const read = readIntentFile(file);
  if (!read.ok) throw new Error(read.error.rendered);
  return new IntentFile(file, read.value, () => new Date('2026-01-01T00:00:00Z'));
}

describe('the file and the intent in force', () => {
  test('a file that cannot be read is a refusal that names it', () => {
    const read = readIntentFile(join(dir, 'absent.yaml'));
    expect(read.ok).toBe(false);
    if (!read.ok) expect(read.error.errors[0]).toContain('absent.yaml');
  });

  test('an endless file is read only up to the size limit', () => {
    const read = readIntentFile('/dev/zero');
    expect(!read.ok && read.error.errors).toEqual(['/dev/zero: not a regular file']);
  });

  test('a file of exactly the longest length is read', () => {
    writeFileSync(file, `${GOOD}${'#'.repeat(MAX_FILE_BYTES - GOOD.length)}`);
    expect(readIntentFile(file).ok).toBe(true);
  });

  test('a reload with errors keeps the current intent, and every error with its position', () => {
    const subject = opened();
    const before = subject.intent;
    writeFileSync(file, 'router: { name: r1, lopback: {} }\nports: 3\n');
    expect(subject.reload().ok).toBe(false);
    expect(subject.intent).toBe(before);
    expect(subject.refused).toBe(true);
    const last = subject.state().lastReload!;
    expect(last.ok).toBe(false);
    expect(last.errors).toHaveLength(2);
    expect(last.errors[0]).toMatch(new RegExp(`^${file}:1:\\d+: `));
    expect(last.errors[1]).toMatch(new RegExp(`^${file}:2:\\d+: `));
  });

  test('a corrected file takes effect and clears the refusal', () => {
    const subject = opened();
    writeFileSync(file, 'router: [\n');
    subject.reload();
    writeFileSync(file, GOOD.replace('r1', 'r2'));
    expect(subject.reload().ok).toBe(true);
    expect(subject.intent.router.name).toBe('r2');
    expect(subject.refused).toBe(false);
  });
});
