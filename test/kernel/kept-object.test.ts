// Objects whose programs outlive the process: what an earlier process has left is taken over whole, or not at all.
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mountBpffs, unmountBpffs } from '../../src/kernel/bpf/bpffs.ts';
import { keptDirectory, openKeptObject } from '../../src/kernel/bpf/kept-object.ts';
import { compileCounterProgram } from './support/counter-program.ts';

let directory: string, bpfDir: string, path: string;
let errors: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 't-kernel-kept-'));
  bpfDir = join(directory, 'bpffs');
  mountBpffs(bpfDir);
  path = compileCounterProgram(directory, 'kept');
  errors = [];
});
afterEach(() => {
  unmountBpffs(bpfDir);
  rmSync(directory, { recursive: true });
});

const onNotKept = (error: unknown): void => void errors.push(String(error));
const kept = (): string[] => readdirSync(keptDirectory(bpfDir));
/** The kernel's number of a program of the object that a process opens. */
function opened(): number {
  const object = openKeptObject(path, { bpfDir, unpinned: [], onNotKept });
  const { id } = object.program('count_first');
  object.close();
  return id;
}

test('a pin that cannot be opened: it says so, loads the object and keeps that, and no descriptor stays open', () => {
  const before = opened();
  const descriptors = readdirSync('/proc/self/fd').length;
  const pin = join(keptDirectory(bpfDir), kept()[0]!, 'programs/report');
  rmSync(pin);
  mkdirSync(pin);
  const after = opened();
  expect(after).not.toBe(before);
  expect(errors).toEqual([expect.stringContaining('open pinned')]);
  expect(opened()).toBe(after);
  expect(readdirSync('/proc/self/fd')).toHaveLength(descriptors);
});

test('a file that an upgrade replaces while it is loaded: its programs are not kept as those of either', () => {
  const upgraded = {
    ...{ bpfDir, onNotKept },
    get unpinned(): string[] {
      appendFileSync(path, '\0');
      return [];
    },
  };
  openKeptObject(path, upgraded).close();
  expect(errors).toEqual([expect.stringContaining('has changed while it was loaded')]);
  expect(() => kept()).toThrow('ENOENT');
});

test('of several values of a key in one batch the last one counts, though the map has it already', () => {
  const open = () => openKeptObject(path, { bpfDir, unpinned: [], onNotKept });
  const first = open();
  const { keySize, valueSize } = first.map('flows').info;
  const [key, before, other] = [new Uint8Array(keySize), new Uint8Array(valueSize), new Uint8Array(valueSize).fill(7)];
  first.map('flows').update(key, before);
  first.close();
  const next = open();
  next.map('flows').updateBatch([
    [key, other],
    [key, before],
  ]);
  expect([next.map('flows').isReused, next.map('flows').lookup(key)]).toEqual([true, before]);
  next.close();
});
