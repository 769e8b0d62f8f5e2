import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunDirBusy, claimRunDir, runDirHolder } from './run-dir.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnpd-run-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('the claim on the run directory', () => {
  it('is held by this process until it lets go', () => {
    const release = claimRunDir(dir);
    expect(runDirHolder(dir)).toBe(process.pid);
    release();
    expect(runDirHolder(dir)).toBeUndefined();
  });

  it('is refused while another process that wrote it lives', () => {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    writeFileSync(join(dir, 'cnpd.pid'), `${process.ppid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}\n`);
    expect(() => claimRunDir(dir)).toThrow(RunDirBusy);
  });

  it('is not held by a later process that happens to have the number', () => {
    writeFileSync(join(dir, 'cnpd.pid'), `${process.ppid} 1\n`);
    expect(runDirHolder(dir)).toBeUndefined();
    claimRunDir(dir);
    expect(runDirHolder(dir)).toBe(process.pid);
  });
});
