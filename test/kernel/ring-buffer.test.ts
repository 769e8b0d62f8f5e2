// The mapped ring buffer, filled by a program that another process runs at full speed.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mountBpffs, unmountBpffs } from '../../src/kernel/bpf/bpffs.ts';
import { type BpfObject, openBpfObject } from '../../src/kernel/bpf/object.ts';
import { type RingBufferReader, openRingBuffer } from '../../src/kernel/bpf/ring-buffer.ts';
import { pinObject } from '../../src/kernel/bpf/syscall.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { compileCounterProgram } from './support/counter-program.ts';
import { atLeast, is, until } from '../support/until.ts';

let directory: string;
let object: BpfObject;
let poller: Poller;
let errors: unknown[];
const packet = new Uint8Array(64);

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 't-kernel-ring-'));
  mountBpffs(join(directory, 'bpffs'));
});

afterAll(() => {
  unmountBpffs(join(directory, 'bpffs'));
  rmSync(directory, { recursive: true });
});

beforeEach(() => {
  errors = [];
  poller = Poller.open({ onError: (error) => errors.push(error) });
  object = openBpfObject(compileCounterProgram(directory, 'ring'));
});

afterEach(() => {
  poller.close();
  object.close();
});

const report = (times: number): number => object.program('report').testRun({ data: packet, repeat: times }).retval;
const maps = (): number =>
  readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .filter((line) => line.includes('bpf')).length;

describe('the ring buffer reader', () => {
  test('delivers every record once, in order, whole, across hundreds of turns of the ring; discarded ones are skipped', async () => {
    const total = 400_000;
    let previous = -1;
    let torn = 0;
    const reader = openRingBuffer(object.map('events'), {
      poller,
      onRecord(data, offset, length) {
        const sequence = data.getUint32(offset, true);
        if (
          length !== 16 ||
          data.getUint32(offset + 8, true) !== sequence ||
          data.getUint32(offset + 12, true) !== ~sequence >>> 0
        )
          torn++;
        if (sequence <= previous || sequence % 100 === 99) torn++;
        previous = sequence;
      },
    });
    const program = join(directory, 'bpffs', 'report');
    pinObject(object.program('report').fd, program);
    writeFileSync(join(directory, 'packet'), packet);
    // Runs of 2,000 so that a ring of 2,730 records does not overflow in one: what is dropped is counted and added up
    // all the same.
    const producer = spawn(
      'bash',
      [
        '-c',
        `for i in $(seq ${total / 2000}); do bpftool prog run pinned ${program} data_in ` +
          `${join(directory, 'packet')} repeat 2000 >/dev/null; done`,
      ],
      { stdio: 'inherit' },
    );
    await new Promise((resolve) => producer.on('exit', resolve));
    const dropped = Number(object.map('counters').sumCounters(Uint8Array.of(3, 0, 0, 0))![0]);
    const reserved = total - dropped;
    await until('the last record', () => previous, atLeast(reserved - 2));
    expect({ torn, records: reader.records }).toEqual({ torn: 0, records: reserved - Math.floor(reserved / 100) });
    expect(reserved).toBeGreaterThan(total / 2);
    expect(errors).toEqual([]);
    reader.close();
  }, 60_000);

  test('what a reader has not read, the next one reads; what it has read does not come again', async () => {
    expect(report(10)).toBe(1);
    const seen: number[] = [];
    const open = (): RingBufferReader =>
      openRingBuffer(object.map('events'), {
        poller,
        onRecord: (data, offset) => seen.push(data.getUint32(offset, true)),
      });
    const first = open();
    await until('ten', () => seen.length, is(10));
    first.close();
    report(5);
    const second = open();
    second.drain();
    expect(seen).toEqual(Array.from({ length: 15 }, (_, i) => i));
    second.close();
  });

  test('one for new records alone skips those that are there', () => {
    report(10);
    const seen: number[] = [];
    const onRecord = (data: DataView, offset: number): void => void seen.push(data.getUint32(offset, true));
    const reader = openRingBuffer(object.map('events'), { poller, onRecord, onlyNew: true });
    reader.drain();
    expect(seen).toEqual([]);
    report(2);
    reader.drain();
    expect(seen).toEqual([10, 11]);
    reader.close();
  });

  test('closed from inside its own callback it stops there; an exception in one loses none behind it', async () => {
    report(20);
    const seen: number[] = [];
    const before = maps();
    const reader: RingBufferReader = openRingBuffer(object.map('events'), {
      poller,
      onRecord(data, offset) {
        seen.push(data.getUint32(offset, true));
        if (seen.length === 5) throw new Error('owner');
        if (seen.length === 10) reader.close();
      },
    });
    expect(maps()).toBe(before + 2);
    reader.drain();
    expect(seen).toEqual(Array.from({ length: 10 }, (_, i) => i));
    expect(errors.map(String)).toEqual(['Error: owner']);
    expect(maps()).toBe(before);
    reader.drain();
    expect(seen).toHaveLength(10);
  });

  test('a map that is not a ring buffer is refused by name', () => {
    expect(() => openRingBuffer(object.map('flows'), { poller, onRecord: () => {} })).toThrow(
      /map flows is not a ring buffer but hash/,
    );
  });
});
