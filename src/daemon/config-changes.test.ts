import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { InTurn } from '../coordinator/in-turn.ts';
import type { Intent } from '../intent/intent.ts';
import { MAX_FILE_BYTES } from '../intent/yaml-limits.ts';
import { manualClock } from '../model/clock.ts';
import type { ConfigOutcome } from '../model/config-change.ts';
import { silentLog } from '../model/log.ts';
import { eventLoopWork } from '../model/work.ts';
import { ConfigChanges } from './config-changes.ts';
import { tryConfig, writeConfig } from './config-store.ts';
import { IntentFile, readIntentFile } from './intent-file.ts';

const config = (level: string): string =>
  `router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\nlog: { level: ${level} }\n`;
const [INFO, WARN, DEBUG] = [config('info'), config('warn'), config('debug')];
const MINUTE = 60_000;

let dir: string, path: string;
let clock: ReturnType<typeof manualClock>;
let inTurn: InTurn;
let file: IntentFile;
let counts: string[];
/** Levels of the log that were put in force, in order. */
let followed: string[];
let write: typeof writeConfig;
/** What a reload or an apply waits for before it is done. */
let gate: Promise<void>;
let isStopping: boolean;
/** What the comparison of a plan takes. */
let comparingMs: number;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnpd-changes-'));
  path = join(dir, 'cnpd.yaml');
  [clock, inTurn, counts, followed] = [manualClock(), new InTurn(), [], []];
  [write, gate, isStopping, comparingMs] = [writeConfig, Promise.resolve(), false, 0];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** As a start of cnpd. */
function started(text?: string): ConfigChanges {
  if (text !== undefined) writeFileSync(path, text);
  const read = readIntentFile(path);
  if (!read.ok) throw new Error(read.error.rendered);
  file = new IntentFile(path, read.value, () => new Date(clock.now()));
  const follow = async (_: Intent): Promise<ConfigOutcome> => {
    await gate;
    followed.push(file.intent.logLevel);
    return { ok: true, errors: [], changed: ['log'] };
  };
  return new ConfigChanges({
    file,
    inTurn: (run) => inTurn.run(run),
    follow,
    compare: async () => (clock.advance(comparingMs), []),
    ...{ write: (to: string, content: string) => write(to, content), tryWrite: tryConfig },
    reloading: (run) => run(),
    isStopping: () => isStopping,
    clock,
    work: eventLoopWork(),
    now: () => new Date(clock.now()),
    count: (name) => void counts.push(name),
    log: silentLog,
  });
}
const onDisk = (): string => readFileSync(path, 'utf8');
const apply = (changes: ConfigChanges, text: string, terms = {}) => changes.apply(text, 'new.yaml', terms);

describe('apply', () => {
  test('is in force, and in the file', async () => {
    const changes = started(INFO);
    expect(await apply(changes, WARN)).toMatchObject({ ok: true, value: { ok: true, changed: ['log'] } });
    expect([followed, onDisk(), file.isPersistent]).toEqual([['warn'], WARN, true]);
  });

  test('with errors changes nothing, and names the place', async () => {
    const changes = started(INFO);
    const refused = await apply(changes, config('loud'));
    expect(refused).toMatchObject({ ok: false, error: { code: 'invalid' } });
    if (!refused.ok) expect(refused.error.errors[0]).toMatch(/^new\.yaml:2:\d+: log\.level: /);
    expect([followed, onDisk(), counts]).toEqual([[], INFO, ['intent.apply.refused.invalid']]);
  });

  test('that is larger than any file may be is refused, and so is a section that makes it so', async () => {
    const changes = started(INFO);
    const large = '#'.repeat(MAX_FILE_BYTES);
    expect(await apply(changes, INFO + large)).toMatchObject({
      error: { code: 'invalid', errors: [expect.stringMatching(/^new\.yaml: more than \d+ bytes/)] },
    });
    expect(await changes.set([{ operation: 'replace', section: 'log', value: { level: large } }], {})).toMatchObject({
      error: { code: 'invalid' },
    });
    expect([followed, onDisk()]).toEqual([[], INFO]);
  });

  test('that cannot be written is not in force either', async () => {
    const changes = started(INFO);
    const cause = Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' });
    write = () => Promise.reject(new Error('not written', { cause }));
    const error = { code: 'not-stored', errors: ['not written'], systemCode: 'ENOSPC' };
    expect(await apply(changes, WARN)).toMatchObject({ error });
    expect([followed, onDisk(), counts]).toEqual([
      [],
      INFO,
      ['intent.write.failed', 'intent.apply.refused.not-stored'],
    ]);
  });

  test('does not overwrite what somebody has written since; of a file with errors that cnpd has refused it may', async () => {
    const changes = started(INFO);
    writeFileSync(path, DEBUG);
    expect(await apply(changes, WARN)).toMatchObject({ ok: false, error: { code: 'conflict' } });
    expect([followed, onDisk()]).toEqual([[], DEBUG]);
    writeFileSync(path, config('loud'));
    expect((await changes.reload()).ok).toBe(false);
    expect(file.refused).toBe(true);
    expect((await apply(changes, WARN)).ok).toBe(true);
    expect([onDisk(), file.refused]).toEqual([WARN, false]);
  });

  test('of the file itself, edited in place, is a reload; on trial it is refused: a restart would not take it back', async () => {
    const changes = started(INFO);
    writeFileSync(path, WARN);
    expect(await apply(changes, WARN, { confirmMs: MINUTE })).toMatchObject({ error: { code: 'conflict' } });
    expect((await apply(changes, WARN)).ok).toBe(true);
    expect([followed, onDisk()]).toEqual([['warn'], WARN]);
  });

  test('for a time leaves the file as it is, and a reload ends it', async () => {
    const changes = started(INFO);
    expect((await apply(changes, WARN, { isTemporary: true })).ok).toBe(true);
    expect([followed, onDisk(), file.isPersistent]).toEqual([['warn'], INFO, false]);
    await changes.reload();
    expect([followed, file.isPersistent]).toEqual([['warn', 'info'], true]);
  });
});

describe('on trial', () => {
  test('is taken back when nobody confirms it, whoever asked for it; a restart meanwhile comes up without it', async () => {
    const changes = started(INFO);
    const applied = await apply(changes, WARN, { confirmMs: MINUTE });
    expect(applied).toMatchObject({ value: { confirmBy: new Date(MINUTE).toISOString() } });
    expect([followed, onDisk(), file.state().confirmBy]).toEqual([['warn'], INFO, new Date(MINUTE).toISOString()]);
    const restarted = readIntentFile(path);
    expect(restarted.ok && restarted.value.intent.logLevel).toBe('info');
    clock.advance(MINUTE - 1);
    await inTurn.idle();
    expect(followed).toEqual(['warn']);
    clock.advance(1);
    await inTurn.idle();
    expect(file.state().rolledBack).toEqual({ at: new Date(MINUTE).toISOString(), reason: 'not-confirmed' });
    expect([followed, onDisk(), file.intent.logLevel, file.confirmBy]).toEqual([
      ['warn', 'info'],
      INFO,
      'info',
      undefined,
    ]);
    expect(counts).toContain('intent.apply.rolled-back');
    expect(await changes.confirm()).toMatchObject({ ok: false, error: { code: 'conflict' } });
  });

  test('that was rolled back is shown until a reload is done, or something else is applied', async () => {
    const changes = started(INFO);
    const rolledBack = () => file.state().rolledBack?.reason;
    const rollBack = async () => {
      await apply(changes, WARN, { confirmMs: MINUTE });
      await changes.rollBack();
    };
    await rollBack();
    expect(rolledBack()).toBe('requested');
    expect((await apply(changes, config('loud'))).ok).toBe(false);
    writeFileSync(path, config('loud'));
    expect((await changes.reload()).ok).toBe(false);
    expect(rolledBack()).toBe('requested');
    writeFileSync(path, INFO);
    expect((await changes.reload()).ok).toBe(true);
    expect(rolledBack()).toBeUndefined();
    await rollBack();
    await apply(changes, DEBUG, { confirmMs: MINUTE });
    expect(rolledBack()).toBeUndefined();
  });

  test('stays when it is confirmed, and is in the file from then on', async () => {
    const changes = started(INFO);
    await apply(changes, WARN, { confirmMs: MINUTE });
    expect(onDisk()).toBe(INFO);
    expect((await changes.confirm()).ok).toBe(true);
    expect([onDisk(), file.isPersistent, file.confirmBy]).toEqual([WARN, true, undefined]);
    clock.advance(10 * MINUTE);
    await inTurn.idle();
    expect(followed).toEqual(['warn']);
  });

  test('is not begun where it could not be written at its confirmation', async () => {
    const changes = started(INFO);
    mkdirSync(`${path}.cnpd-new`.replace(/([^/]+)$/, '.$1'));
    const error = { code: 'not-stored', systemCode: expect.stringMatching(/^E/) as string };
    expect(await apply(changes, WARN, { confirmMs: MINUTE })).toMatchObject({ error });
    expect([followed, onDisk(), file.confirmBy]).toEqual([[], INFO, undefined]);
  });

  test('a confirmation that cannot be written is refused, and the configuration goes on waiting', async () => {
    const changes = started(INFO);
    await apply(changes, WARN, { confirmMs: MINUTE });
    write = () => Promise.reject(new Error('read-only file system'));
    const refused = await changes.confirm();
    expect(refused).toMatchObject({ ok: false, error: { code: 'not-stored' } });
    if (!refused.ok) expect(refused.error.errors.join()).toMatch(/read-only.*still waits/);
    clock.advance(MINUTE);
    await inTurn.idle();
    expect([followed, onDisk()]).toEqual([['warn', 'info'], INFO]);
  });

  test('neither another configuration nor a reload comes between', async () => {
    const changes = started(INFO);
    await apply(changes, WARN, { confirmMs: MINUTE });
    const second = await apply(changes, DEBUG);
    expect(second).toMatchObject({ ok: false, error: { code: 'conflict' } });
    if (!second.ok) expect(second.error.errors[0]).toMatch(/waits for its confirmation until .*cnpctl confirm/);
    const reloaded = await changes.reload();
    expect([reloaded.ok, reloaded.errors[0]]).toEqual([false, expect.stringContaining('waits for its confirmation')]);
    expect([followed, file.intent.logLevel]).toEqual([['warn'], 'warn']);
    expect((await changes.rollBack()).ok).toBe(true);
    expect(followed).toEqual(['warn', 'info']);
    expect((await apply(changes, DEBUG)).ok).toBe(true);
  });

  test('an edit of the file meanwhile is not overwritten by the confirmation', async () => {
    const changes = started(INFO);
    await apply(changes, WARN, { confirmMs: MINUTE });
    writeFileSync(path, DEBUG);
    expect(await changes.confirm()).toMatchObject({ ok: false, error: { code: 'conflict' } });
    expect(onDisk()).toBe(DEBUG);
  });

  test('its time ends while the reload that began it still runs: taken back after it, once', async () => {
    const changes = started(INFO);
    let open = (): void => undefined;
    gate = new Promise((resolve) => (open = resolve));
    const applied = apply(changes, WARN, { confirmMs: MINUTE });
    // The trial has begun once its time runs.
    while (file.confirmBy === undefined) await new Promise((resolve) => void setImmediate(resolve));
    const reloaded = changes.reload();
    clock.advance(MINUTE);
    expect(followed).toEqual([]);
    open();
    expect((await applied).ok).toBe(true);
    expect((await reloaded).ok).toBe(false);
    await inTurn.idle();
    expect([followed, file.intent.logLevel]).toEqual([['warn', 'info'], 'info']);
    expect((await changes.reload()).ok).toBe(true);
  });

  test('another id confirms nothing; the time can begin anew', async () => {
    const changes = started(INFO);
    await apply(changes, WARN, { confirmMs: MINUTE, id: 'a' });
    expect(await changes.confirm('b')).toMatchObject({ error: { code: 'invalid' } });
    clock.advance(MINUTE - 1);
    expect((await changes.extend('a', MINUTE)).ok).toBe(true);
    clock.advance(MINUTE - 1);
    await inTurn.idle();
    expect(followed).toEqual(['warn']);
    expect((await changes.confirm('a')).ok).toBe(true);
  });

  test('a stop ends the wait, and takes nothing back: the file was not touched', async () => {
    const changes = started(INFO);
    await apply(changes, WARN, { confirmMs: MINUTE });
    isStopping = true;
    changes.stop();
    clock.advance(MINUTE);
    await inTurn.idle();
    expect([followed, onDisk()]).toEqual([['warn'], INFO]);
    expect(await apply(changes, DEBUG)).toMatchObject({ error: { code: 'stopping' } });
  });
});

describe('as values', () => {
  test('a section is set, and its errors are those of the file, without lines', async () => {
    const changes = started(`# mine\n${INFO}`);
    const set = (value: unknown) => changes.set([{ operation: 'replace', section: 'log', value }], {});
    expect(await set({ level: 'loud' })).toEqual({
      ok: false,
      error: { code: 'invalid', errors: [expect.stringMatching(/^log\.level: found "loud"; allowed: /)] },
    });
    expect((await set({ level: 'warn' })).ok).toBe(true);
    expect(onDisk()).toBe(`# mine\n${WARN}`);
  });

  test('a storm of requests is bounded: the rest is refused at once, none is half done', async () => {
    const changes = started(INFO);
    const storm = Array.from({ length: 500 }, (_, i) =>
      changes.set([{ operation: 'replace', section: 'log', value: { level: i % 2 ? 'warn' : 'debug' } }], {}),
    );
    const done = await Promise.all(storm);
    expect(done.filter(({ ok }) => ok)).toHaveLength(64);
    expect(done.filter((one) => !one.ok && one.error.code === 'full')).toHaveLength(436);
    expect(onDisk()).toBe(WARN);
  });

  test('plans, which whoever reads may ask for, take half of the time at most', async () => {
    const changes = started(INFO);
    comparingMs = 500;
    const first = changes.plan(WARN, 'new');
    let done = 0;
    const second = changes.plan(DEBUG, 'new').finally(() => done++);
    expect((await first).ok).toBe(true);
    clock.advance(499);
    // It needs no rest, and comes after whatever could have begun.
    expect((await apply(changes, WARN)).ok).toBe(true);
    expect(done).toBe(0);
    clock.advance(1);
    expect((await second).ok).toBe(true);
  });

  test('a storm of plans, which whoever reads may ask for, keeps nobody from confirming or taking back', async () => {
    const changes = started(INFO);
    await changes.apply(WARN, 'new', { confirmMs: MINUTE });
    const plans = Array.from({ length: 500 }, () => changes.plan(DEBUG, 'new'));
    const confirmed = await changes.confirm();
    expect(confirmed.ok).toBe(true);
    const refused = (await Promise.all(plans)).filter((one) => !one.ok && one.error.code === 'full');
    expect(refused).toHaveLength(500 - 8);
    expect(onDisk()).toBe(WARN);
  });

  test('what is in force is shown with its defaults, and put together once', async () => {
    const changes = started(INFO);
    expect(await changes.shown()).toBe(await changes.shown());
    const state = await changes.state();
    expect(state).toMatchObject({ persistent: true, log: { text: '{"level":"info"}' } });
    expect((await changes.state()).log).toBe(state.log);
  });
});
