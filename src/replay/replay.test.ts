// Files that are no whole recording are refused with the line; held flows are replayed, and what is checked in.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { findingFunctions, recordCalls } from '../model/recorded-calls.ts';
import { LIMITS, linesIn, recordings } from '../recorder/recorder.fixture.ts';
import { AskedNeighbors } from '../flow-control/asked.ts';
import { NEIGHBOR, askedOptions, filled, pausedOptions } from '../flow-control/flow-control.fixture.ts';
import { ASKED_EVENTS, PAUSED_EVENTS } from '../flow-control/flow-control.ts';
import { PausedTraffic } from '../flow-control/paused.ts';
import { HOLDS_EVENTS } from '../source/enforcement.ts';
import { defaultHoldOptions } from '../source/hold.ts';
import { NODE, flowOf } from '../source/holds.fixture.ts';
import { Holds } from '../source/holds.ts';
import { replayCommand } from './command.ts';
import { ReplayError } from './lines.ts';
import { replay } from './replay.ts';

const { directory, recorder: newRecorder } = recordings();

/** Flows of odd Queue Pairs are held, notified again, and one is let go. */
async function recordHolds() {
  const clock = manualClock(100);
  const { recorder } = newRecorder(clock);
  await recorder.start(LIMITS);
  const options = {
    ...defaultHoldOptions(1e9),
    enforces: ({ receiverQpn }: { receiverQpn: number }) => receiverQpn % 2 === 1,
  };
  const tape = recorder.begin('holds', clock.now(), options);
  const counts: Record<string, number> = {};
  const count = (name: string, by = 1): void => void (counts[name] = (counts[name] ?? 0) + by);
  const holds = recordCalls(new Holds(findingFunctions(options, tape), { count }), HOLDS_EVENTS, tape, () =>
    clock.now(),
  );
  for (let i = 0; i < 40; i++) {
    const event = { flow: flowOf(1 + (i % 7)), senderQpn: 9, node: NODE, format: 'fast-cnp' as const };
    holds.onNotification(event, clock.now());
    clock.advance(3.25);
    holds.advance(clock.now());
  }
  holds.release(flowOf(3), clock.now());
  holds.reconfigure({ ...options, enforces: ({ receiverQpn }) => receiverQpn === 1 }, clock.now());
  const { file } = await recorder.stop();
  return { file: file!, holds, counts, now: clock.now() };
}

test('held flows: the same views and counters, with functions among the options', async () => {
  const { file, holds, counts, now } = await recordHolds();
  const { machines, counters } = replay(file);
  expect([...machines.holds!.views(now)]).toEqual([...holds.views(now)]);
  expect([...holds.views(now)].map(({ state }) => state).sort()).toEqual(['held', 'leaving', 'leaving', 'leaving']);
  expect(Object.fromEntries(counters)).toEqual(counts);
});

test('precise flow control: what is asked and paused', async () => {
  const clock = manualClock(1);
  const { recorder } = newRecorder(clock);
  await recorder.start(LIMITS);
  const now = (): number => clock.now();
  const count = (): void => undefined;
  const taped = [
    recorder.begin('flow-control-asked', 1, askedOptions),
    recorder.begin('flow-control-paused', 1, pausedOptions),
  ];
  const asked = recordCalls(new AskedNeighbors(askedOptions, { count }, 1), ASKED_EVENTS, taped[0], now);
  const paused = recordCalls(new PausedTraffic(pausedOptions, { count }), PAUSED_EVENTS, taped[1], now);
  const { traffic } = filled();
  const [first, second] = [3, 4].map((ifindex) => ({ address: NEIGHBOR, ifindex }));
  asked.onFilled(filled(), first!, 1000, now());
  asked.onFilled(filled(), second!, 1000, now());
  paused.onRequest({ held: { traffic, egress: 8 }, neighbor: NEIGHBOR, pauseMs: 9.5 }, now());
  clock.advance(6.125);
  let looks = 0;
  asked.onQueues(() => looks++ === 0, now());
  paused.reconfigure({ ...pausedOptions, drainMs: 77 }, () => true, now());
  const { file: path } = await recorder.stop();
  const { machines } = replay(path!);
  expect([...machines['flow-control-asked']!.views()]).toEqual([...asked.views()]);
  expect([...asked.views()]).toHaveLength(1);
  expect([...machines['flow-control-paused']!.views(now())]).toEqual([...paused.views(now())]);
  expect([...paused.views(now())]).toMatchObject([{ state: 'paused', until: 10.5 }]);
});

let serial = 0;
function file(text: string | readonly string[]): string {
  const path = join(directory, `hostile-${serial++}.jsonl`);
  writeFileSync(path, typeof text === 'string' ? text : text.map((line) => `${line}\n`).join(''));
  return path;
}
const refusal = (path: string): string => {
  try {
    replay(path);
  } catch (error) {
    expect(error).toBeInstanceOf(ReplayError);
    return (error as Error).message;
  }
  return 'accepted';
};

test.each<[string, (lines: string[]) => string | readonly string[], RegExp]>([
  ['an empty file', () => '', /^line 1: this is no recording/],
  ['another file', () => '{"a":1}\n', /^line 1: this is no recording/],
  ['no JSON', () => 'isis {\n', /^line 1: it is no JSON/],
  ['a list', () => '[]\n', /^line 1: it is no JSON object/],
  [
    'a foreign version',
    ([first, ...rest]) => [first!.replace('"version":1', '"version":2'), ...rest],
    /^line 1: its format has version 2, this cnpd replays version 1; cnpd 0.0.1 wrote it/,
  ],
  ['no end', (lines) => lines.slice(0, -1), /^line \d+: it is the last one, and no end: .*--partial/],
  ['half a line', (lines) => lines.join('\n').slice(0, -3), /^line \d+: the file ends within it: .*--partial/],
  [
    'a missing event',
    (lines) => lines.filter((line) => !line.includes('"release"')),
    /^line \d+: events: 8\d came before/,
  ],
  [
    'a missing finding',
    (lines) => lines.filter((line, i) => i < 10 || !line.includes('"found"')),
    /^line \d+: a finding is asked for/,
  ],
  [
    'a finding too many',
    (lines) => lines.flatMap((line) => (line.includes('"found"') ? [line, line] : [line])),
    /^line 3: holds did not ask for 1 findings/,
  ],
  [
    'a finding without an event',
    ([first, ...rest]) => [first!, '{"m":1,"found":1}', ...rest],
    /^line 2: a finding stands behind/,
  ],
  [
    'an unknown machine',
    ([first]) => [first!, '{"m":1,"now":100,"machine":"constructor","config":{}}'],
    /^line 2: machine: there is none/,
  ],
  [
    'an event before its machine',
    ([first]) => [first!, '{"m":1,"now":100,"event":{"type":"advance"}}'],
    /^line 2: m: machine 1 has not begun/,
  ],
  [
    'an unknown event',
    ([a, b]) => [a!, b!, '{"m":1,"now":100,"event":{"type":"constructor","args":[]}}', ''],
    /^line 3: event: holds has no such event|^line 4/,
  ],
  [
    'an event without its arguments',
    ([a, b, ...c]) => [a!, b!, '{"m":1,"now":100,"event":{"type":"advance"}}', ...c],
    /^line 3: holds cannot take it/,
  ],
  [
    'no event',
    ([a, b, ...c]) => [a!, b!, '{"m":1,"now":100,"event":null}', ...c],
    /^line 3: event: holds has no such event/,
  ],
  [
    'time that goes back',
    ([a, b, ...c]) => [a!, b!, '{"m":1,"now":1,"event":{"type":"advance"}}', ...c],
    /^line 3: now: time goes back/,
  ],
  ['no time', ([a, b, ...c]) => [a!, b!, '{"m":1,"now":"x","event":{}}', ...c], /^line 3: now: a number is expected/],
  ['something behind the end', (lines) => [...lines, lines[2]!], /^line \d+: the recording ended in line/],
  [
    'a prototype',
    ([a, b, ...c]) => [a!, b!, '{"m":1,"now":100,"event":{"__proto__":{"type":"advance"}}}', ...c],
    /^line 3: .*__proto__/,
  ],
  [
    'a deep value',
    ([a, b, ...c]) => [a!, b!, `{"m":1,"now":100,"event":${'['.repeat(5000)}${']'.repeat(5000)}}`, ...c],
    /^line 3: .*nested more than 64 deep/,
  ],
  [
    'an unknown kind of value',
    ([a, b, ...c]) => [a!, b!, '{"m":1,"now":100,"event":{"$q":1}}', ...c],
    /^line 3: .*\$q is no kind of value/,
  ],
  [
    'a machine without a configuration',
    ([a, , ...c]) => [a!, '{"m":1,"now":100,"machine":"isis","config":{}}', ...c],
    /^line 2: isis cannot take it/,
  ],
])('%s is refused', async (_what, change, expected) => {
  const lines = linesIn((await recordHolds()).file);
  expect(refusal(file(change(lines)))).toMatch(expected);
});

test('a line longer than any event is refused without being read whole', () => {
  expect(refusal(file(`{"format":"${'x'.repeat(33 << 20)}`))).toMatch(/^line 1: it has more than 33554432 bytes/);
});

test('a part is replayed where that is asked for', async () => {
  const lines = linesIn((await recordHolds()).file);
  const path = file(`${lines.slice(0, 40).join('\n')}\n{"m":1,"no`);
  expect(replay(path, { partial: true })).toMatchObject({ end: undefined, events: new Map([['holds', 25]]) });
});

test('whatever is changed in a recording, it is replayed or refused with a line', async () => {
  const text = readFileSync((await recordHolds()).file, 'latin1');
  let seed = 7;
  const random = (below: number): number => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below;
  let refused = 0;
  for (let i = 0; i < 400; i++) {
    const at = random(text.length);
    const changed = text.slice(0, at) + '{}[]",:019x\n'[random(12)] + text.slice(at + random(3));
    if (/^line \d+: /.test(refusal(file(changed)))) refused++;
  }
  expect(refused).toBeGreaterThan(200);
});

test('the command prints what `cnpctl show` prints, and tells what is wrong with a file', async () => {
  const { file: path } = await recordHolds();
  const run = async (view: string[], output: 'table' | 'json', of = path) => {
    let [out, err] = ['', ''];
    const streams = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) };
    const code = await replayCommand(of, view, { output, partial: false }, streams);
    return { code, out, err };
  };
  const holds = await run(['holds'], 'json');
  expect([holds.code, (JSON.parse(holds.out) as unknown[]).length]).toEqual([0, 4]);
  const all = await run([], 'table');
  expect(all.out).toMatch(
    /recorded by cnpd 0\.0\.1 from 2027-01-15T08:00:00\.000Z on, 0\.1 s, ended: stopped\nholds: 82 events/,
  );
  expect(all.out).toContain('2001:db8:1::10');
  expect(JSON.parse((await run([], 'json')).out)).toMatchObject({
    recording: { events: { holds: 82 }, end: 'stopped' },
  });
  expect(await run(['nothing'], 'table')).toMatchObject({ code: 2 });
  const none = await run([], 'table', '/nowhere/recording');
  expect(none).toMatchObject({ code: 1, err: expect.stringMatching(/^cnpd: \/nowhere\/recording: ENOENT/) });
});
