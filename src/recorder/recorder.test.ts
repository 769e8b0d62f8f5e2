// Limits and faults of recordings: whatever happens to the file, machines go on, and what is missing is counted.
import { mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { recordCalls } from '../model/recorded-calls.ts';
import { MOST_FILES, createRecordingFile, newestRecording } from './file.edge.ts';
import { LIMITS, linesIn, recordings } from './recorder.fixture.ts';
import { MOST_WAITING_BYTES } from './recorder.ts';
import { fromJson, toJson } from './values.ts';

const { directory, recorder: newRecorder } = recordings();
const EVENT = { type: 'received', pdu: new Uint8Array(1000) };

test('without a recording a machine gets no tape, and is not touched', () => {
  const { recorder, counts } = newRecorder();
  expect(recorder.begin('isis', 0, {})).toBeUndefined();
  const machine = { step: () => 1 };
  const { step } = machine;
  expect(recordCalls(machine, ['step'], undefined, () => 0).step).toBe(step);
  expect([recorder.status(), counts]).toEqual([{ state: 'off', events: 0, bytes: 0, dropped: 0, machines: [] }, {}]);
});

test('lines: a header, a begin, events with their findings behind them, an end', async () => {
  const { recorder } = newRecorder(manualClock(5));
  await recorder.start(LIMITS);
  const tape = recorder.begin('isis', 5, { interface: 'x', mtu: 1500n })!;
  tape.event(6, { type: 'timer' });
  expect(tape.find(() => 'ok')).toBe('ok');
  expect(
    tape.find(
      () => 'secret',
      () => 'masked',
    ),
  ).toBe('secret');
  recorder.carrierStopped(7, 'isis', 1000);
  const { file, state } = await recorder.stop();
  expect(state).toBe('off');
  expect(linesIn(file!).map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ format: 'cnpd-recording', version: 1, cnpd: '0.0.1', now: 5, ...LIMITS }),
    { m: 1, now: 5, machine: 'isis', config: { interface: 'x', mtu: { $n: '1500' } } },
    { m: 1, now: 6, event: { type: 'timer' } },
    { m: 1, found: 'ok' },
    { m: 1, found: 'masked' },
    { now: 7, stopped: 'isis', holdMs: 1000 },
    { now: 5, end: 'stopped', events: 1 },
  ]);
  tape.event(8, { type: 'timer' });
  expect(recorder.status()).toMatchObject({ events: 1, dropped: 0 });
});

test('the file and its directory are for the owner alone; of older files the latest stay', async () => {
  const { file } = await newRecorder().recorder.start(LIMITS);
  expect(statSync(file!).mode & 0o777).toBe(0o600);
  const made = `${directory}/deep/recordings`;
  for (let i = 0; i < MOST_FILES + 7; i++) await (await createRecordingFile(made)).close();
  expect(statSync(made).mode & 0o777).toBe(0o700);
  // By number, not by letter: 9 is older than 10.
  expect(readdirSync(made).sort()).toEqual([8, 9, 10, 11].map((i) => `recording-${i}.jsonl`).sort());
  expect(await newestRecording(made)).toBe(`${made}/recording-11.jsonl`);
});

test('recordings that begin at once have names of their own', async () => {
  const made = `${directory}/at-once`;
  const files = await Promise.all(Array.from({ length: MOST_FILES }, () => createRecordingFile(made)));
  await Promise.all(files.map(({ close }) => close()));
  expect(new Set(files.map(({ path }) => path)).size).toBe(MOST_FILES);
  expect(readdirSync(made)).toHaveLength(MOST_FILES);
});

test('links and directories with the name of a recording are none: neither followed nor in the way', async () => {
  const made = `${directory}/strange/recordings`;
  const { path, close } = await createRecordingFile(made);
  await close();
  mkdirSync(`${made}/recording-2.jsonl`);
  for (const number of [3, 4, 5, 99]) symlinkSync('/etc/hostname', `${made}/recording-${number}.jsonl`);
  expect(await newestRecording(made)).toBe(path);
  for (let i = 0; i < MOST_FILES; i++) await (await createRecordingFile(made)).close();
  expect(readdirSync(made)).toHaveLength(MOST_FILES + 5);
  expect(await newestRecording(made)).toBe(`${made}/recording-${99 + MOST_FILES}.jsonl`);
  expect(await newestRecording(`${directory}/nowhere`)).toBeUndefined();
  await expect(newestRecording('/dev/null')).rejects.toThrow(/ENOTDIR/);
});

test('at the limit of bytes it ends, whole; what comes later is counted', async () => {
  const { recorder, counts } = newRecorder();
  await recorder.start({ ...LIMITS, limitBytes: 10_000 });
  const tape = recorder.begin('isis', 0, {})!;
  for (let i = 0; i < 10; i++) tape.event(i, EVENT);
  const before = recorder.status();
  expect(before).toMatchObject({ state: 'limit', events: 4, dropped: 6, reason: 'limit of bytes reached' });
  await recorder.stop();
  expect(statSync(before.file!).size).toBeLessThanOrEqual(10_000);
  expect(JSON.parse(linesIn(before.file!).at(-1)!)).toMatchObject({ end: 'bytes', events: 4 });
  expect(counts).toEqual({ 'recorder.event.dropped': 6 });
  expect(recorder.status()).toMatchObject({ state: 'off' });
});

test('at the limit of time it ends', async () => {
  const clock = manualClock();
  const { recorder } = newRecorder(clock);
  await recorder.start({ ...LIMITS, limitSeconds: 60 });
  clock.advance(59_999);
  expect(recorder.status().state).toBe('recording');
  clock.advance(1);
  expect(recorder.status()).toMatchObject({ state: 'limit', reason: 'limit of time reached' });
});

test('it does not end between an event and its findings', async () => {
  const { recorder } = newRecorder();
  await recorder.start({ ...LIMITS, limitBytes: 3000 });
  const tape = recorder.begin('isis', 0, {})!;
  tape.event(0, EVENT);
  for (let i = 0; i < 100; i++) tape.find(() => 'wrong');
  expect(recorder.status().state).toBe('recording');
  tape.event(1, { type: 'timer' });
  const { file } = await recorder.stop();
  expect(linesIn(file!)).toHaveLength(104);
  expect(
    linesIn(file!)
      .slice(2, 104)
      .map((line) => Object.keys(JSON.parse(line) as object)[1]),
  ).toEqual(['now', ...Array.from({ length: 100 }, () => 'found'), 'end']);
});

test('one recording at a time', async () => {
  const { recorder } = newRecorder();
  const both = [recorder.start(LIMITS), recorder.start(LIMITS)];
  await expect(both[1]).rejects.toThrow(/stop it first/);
  await both[0];
  await expect(recorder.start(LIMITS)).rejects.toThrow(/recording-.*jsonl is being recorded/);
});

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

test('a full disk ends the recording, is a problem and counted, and no machine hears of it', async () => {
  const clock = manualClock();
  const closed: string[] = [];
  const create = async () => ({
    path: '/full/recording',
    append: () => Promise.reject(full),
    close: async () => void closed.push('closed'),
  });
  const { recorder, counts } = newRecorder(clock, { create });
  await recorder.start(LIMITS);
  const tape = recorder.begin('isis', 0, {})!;
  clock.advance(1000);
  await Promise.resolve().then(() => undefined);
  await new Promise(setImmediate);
  tape.event(1, EVENT);
  expect(recorder.status()).toMatchObject({ state: 'failed', dropped: 1, reason: full.message });
  expect(recorder.problems()).toMatchObject([{ code: 'recorder.failed', problem: expect.stringContaining('ENOSPC') }]);
  expect([counts, closed]).toEqual([{ 'recorder.failed': 1, 'recorder.event.dropped': 1 }, ['closed']]);
  await recorder.stop();
  expect(recorder.problems()).toEqual([]);
});

test('a disk that is full at the last line: the recording has failed, and nothing says that it has ended', async () => {
  const [closed, logged]: [string[], unknown[]] = [[], []];
  const create = async () => ({
    path: '/full/recording',
    append: () => Promise.reject(full),
    close: async () => void closed.push('closed'),
  });
  const log = { ...silentLog, info: ({ event }: { event?: unknown }) => void logged.push(event) };
  const { recorder, counts } = newRecorder(undefined, { create, log });
  await recorder.start(LIMITS);
  expect(await recorder.stop()).toMatchObject({ state: 'failed', reason: full.message });
  expect([closed, logged, counts]).toEqual([['closed'], ['recorder.started'], { 'recorder.failed': 1 }]);
});

test('a directory in which no file can be made: an error with its path', async () => {
  const create = () => createRecordingFile('/dev/null/recordings');
  const { recorder } = newRecorder(undefined, { create });
  await expect(recorder.start(LIMITS)).rejects.toThrow(/ENOTDIR.*\/dev\/null/);
  expect(recorder.status().state).toBe('off');
});

test('a disk that is slower than the events ends it: memory is bounded', async () => {
  const create = async () => ({ path: '/slow', append: () => new Promise<void>(() => {}), close: async () => {} });
  const { recorder, counts } = newRecorder(undefined, { create });
  await recorder.start({ ...LIMITS, limitBytes: 1 << 30 });
  const tape = recorder.begin('isis', 0, {})!;
  const event = { type: 'received', pdu: new Uint8Array(12 << 20) };
  for (let i = 0; i <= MOST_WAITING_BYTES / (24 << 20); i++) tape.event(i, event);
  expect(recorder.status()).toMatchObject({ state: 'failed', reason: 'the disk is slower than the events' });
  expect(counts).toEqual({ 'recorder.failed': 1, 'recorder.event.dropped': 1 });
});

test('values that JSON does not have come back', () => {
  const value = {
    ...{ bytes: Uint8Array.of(0, 255), big: -5n, list: [undefined, Infinity, -Infinity], text: '$b', nothing: null },
    ...{ set: new Set([1n]), map: new Map([['a', Uint8Array.of(1)]]) },
  };
  expect(fromJson(JSON.parse(JSON.stringify(toJson(value))), () => 0)).toEqual(value);
  const read = fromJson(JSON.parse(JSON.stringify(toJson({ of: () => 1 }))), () => 'found') as { of: () => string };
  expect(read.of()).toBe('found');
});
