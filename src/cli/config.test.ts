import { Certificates } from '../northbound/certificates.fixture.ts';
import { describe, expect, test } from 'vitest';
import type { ConfigOutcome, ConfigPlan, PlaneChanges } from '../model/config-change.ts';
import { exampleState } from '../northbound/state.fixture.ts';
import type { ClientOptions } from '../northbound/client.ts';
import { failing, fakeCnpd, run } from './fake-cnpd.fixture.ts';

const entries = Array.from({ length: 30 }, (_, i) => ({
  operation: 'add' as const,
  entry: `ports eth${i}`,
  detail: 'k-max 1',
}));
const plane = (name: PlaneChanges['plane'], added = 0): PlaneChanges => ({
  ...{ plane: name, added, changed: 0, removed: 0, entries: entries.slice(0, added) },
});
const PLANES = [plane('advertisements'), plane('programs', 1), plane('map-entries', 30), plane('routes')];
const file = { openRemote: async () => ({ kind: 'text' as const, text: 'router: { name: r }\n' }) };

const planning = (plan: ConfigPlan) => ({ ...fakeCnpd(exampleState()), plan: async () => plan });
const NOTHING: ConfigPlan = { ok: true, errors: [], changed: [], planes: [plane('programs')] };
const SOMETHING: ConfigPlan = { ok: true, errors: [], changed: ['ports'], planes: PLANES };

describe('cnpctl plan and diff', () => {
  test.each([
    ['nothing would change', NOTHING, 0],
    ['something would', SOMETHING, 2],
    ['a setting alone would', { ...NOTHING, changed: ['log'] }, 2],
    ['the file has errors', { ok: false, errors: ['a:1:1: x'], changed: [] }, 4],
  ] as const)('exit code when %s', async (_, plan, code) => {
    for (const line of ['plan new.yaml', 'diff', 'diff -o json'])
      expect((await run(line, planning(plan), file)).code).toBe(code);
  });

  test('a table has the planes, the first entries, and how many more there are', async () => {
    const { out } = await run('diff', planning(SOMETHING));
    expect(out.split('\n').slice(0, 5)).toEqual([
      'sections that differ: ports',
      'advertisements: no change',
      'programs: 1 added, 0 changed, 0 removed',
      '  + ports eth0: k-max 1',
      'map entries: 30 added, 0 changed, 0 removed',
    ]);
    expect(out).toContain('  … and 10 more\n');
    expect(JSON.parse((await run('diff -o json', planning(SOMETHING))).out)).toEqual(SOMETHING);
  });

  test('an entry fits in 100 columns, or in the terminal; --wide has it in one line', async () => {
    const detail = Array.from({ length: 40 }, (_, i) => `threshold-${i} 1000 → 2000`).join(', ');
    const entry = { operation: 'change' as const, entry: 'ports eth0', detail };
    const plan = planning({ ...SOMETHING, planes: [{ ...plane('programs', 1), entries: [entry] }] });
    const lines = async (line: string, columns?: number): Promise<string[]> =>
      (await run(line, plan, { columns: () => columns })).out.trimEnd().split('\n').slice(2);
    const [whole, ...none] = await lines('diff --wide');
    expect([whole, none]).toEqual([`  ~ ports eth0: ${detail}`, []]);
    const narrow = await lines('diff');
    expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(narrow.slice(1).every((line) => /^ {6}\S/.test(line))).toBe(true);
    expect(narrow.join(' ').split(/\s+/)).toEqual(whole!.split(/\s+/));
    expect((await lines('diff', 200)).length).toBeLessThan(narrow.length);
  });

  test('a file that cannot be read is an error, and cnpd is not asked', async () => {
    expect(await run('plan new.yaml', failing('refused'))).toMatchObject({
      code: 4,
      err: 'cnpctl: new.yaml: not there\n',
    });
  });
});

describe('cnpctl apply, reload and rollback', () => {
  const DONE: ConfigOutcome = {
    ...{ ok: true, errors: [], changed: ['ports'], planes: PLANES },
    ...{ health: 'degraded', problems: ['port eth2: its root qdisc is pfifo_fast'] },
  };

  test.each(['reload', 'rollback', 'apply new.yaml'])('%s prints what changed and what health became', async (line) => {
    const { code, out } = await run(line, fakeCnpd(exampleState(), DONE), file);
    expect(code).toBe(0);
    expect(out).toMatch(/^(reloaded|rolled back|applied): changed ports\n/);
    expect(out).toMatch(/\nhealth: degraded\n {2}port eth2: its root qdisc is pfifo_fast\n$/);
  });

  test('on trial it says until when', async () => {
    const { out } = await run('apply new.yaml --confirm 60s', fakeCnpd(exampleState(), DONE), file);
    expect(out).toMatch(
      /\non trial until 2026-11-20T12:01:10.000Z: cnpctl confirm keeps it, otherwise cnpd takes it back\n$/,
    );
  });

  test.each(['0s', '25h', '1d', '', 'soon'])('a time that is not allowed: %s', async (time) => {
    expect((await run(`apply new.yaml --confirm=${time}`)).code).toBe(2);
  });

  test.each([
    ['5', 5000],
    ['90s', 90_000],
    ['2m', 120_000],
    ['24h', 86_400_000],
  ])('a time: %s', async (time, ms) => {
    const asked: unknown[] = [];
    const client = fakeCnpd(exampleState(), DONE);
    const apply: typeof client.apply = (text, terms) => (asked.push(text, terms), client.apply(text, terms));
    const more = { ...file, connect: ({ socket }: ClientOptions) => (asked.push(socket), { ...client, apply }) };
    expect((await run(`apply new.yaml --temporary --confirm ${time}`, client, more)).code).toBe(0);
    expect(asked).toEqual([
      '/run/cnpd/gnmi-config.sock',
      { text: 'router: { name: r }\n', name: 'new.yaml' },
      { confirmMs: ms, isTemporary: true },
    ]);
  });
});

test('cnpctl show config prints the file as it is in force; JSON has the defaults apart', async () => {
  expect((await run('show config')).out).toBe('log:\n  level: info # default\n');
  expect(JSON.parse((await run('show config -o json')).out)).toEqual({
    configuration: { log: { level: 'info' } },
    defaults: ['log.level'],
  });
});

describe('cnpctl --target', () => {
  const TLS = '--tls-ca ca --tls-cert cert --tls-key key';
  const asked = async (line: string) => {
    const options: ClientOptions[] = [];
    const client = fakeCnpd(exampleState());
    const connect = (given: ClientOptions) => (options.push(given), client);
    const result = await run(line, client, {
      connect,
      readFile: (path) => (path === 'none' ? undefined : `PEM ${path}`),
    });
    return { ...result, tcp: options[0]?.tcp };
  };

  test('views and commands ask there, with the certificates', async () => {
    const tls = { ca: 'PEM ca', certificate: 'PEM cert', key: 'PEM key' };
    for (const command of ['show proxies', 'reload', 'confirm', 'log'])
      expect(await asked(`--target leaf1:9339 ${TLS} ${command}`)).toMatchObject({
        code: 0,
        tcp: { target: 'leaf1:9339', tls },
      });
    expect((await asked('--target [2001:db8::1]:9339 --plaintext show proxies')).tcp).toEqual({
      target: '[2001:db8::1]:9339',
    });
  });

  test.each([
    ['without certificates', '--target leaf1:9339 show proxies', /needs --tls-ca/],
    ['certificates without a target', `${TLS} show proxies`, /need --target/],
    ['no port', `--target leaf1 ${TLS} show proxies`, /HOST:PORT/],
    ['a socket too', `--target leaf1:9339 --socket /x ${TLS} show proxies`, /give one of them/],
    ['certificates in plaintext', `--target leaf1:9339 --plaintext ${TLS} show proxies`, /no certificates/],
    ['what is about this machine', `--target leaf1:9339 ${TLS} clear counters`, /clear is about this machine/],
  ])('refused: %s', async (_, line, message) => {
    expect(await asked(line)).toMatchObject({ code: 2, tcp: undefined, err: expect.stringMatching(message) });
  });

  test('a file that cannot be read is named', async () => {
    const { code, err } = await asked('--target leaf1:9339 --tls-ca none --tls-cert b --tls-key c show proxies');
    expect([code, err]).toEqual([2, 'cnpctl: none: cannot be read\n']);
  });

  test('a certificate with the key of another: both files are named', async () => {
    const files = new Certificates();
    try {
      for (const name of ['own', 'other']) files.make(name);
      const asks = (tls: string) =>
        run(`--target leaf1:9339 ${tls} show proxies`, undefined, {
          connect: () => {
            throw new Error('error:05800074:x509 certificate routines::key values mismatch');
          },
          readFile: (file) => files.read(file).toString(),
        });
      const ca = '--tls-ca own.pem';
      expect(await asks(`${ca} --tls-cert own.pem --tls-key other.key`)).toMatchObject({
        code: 2,
        err: expect.stringMatching(/^cnpctl: --tls-cert own\.pem and --tls-key other\.key do not belong together/),
      });
      expect((await asks(`${ca} --tls-cert own.key --tls-key own.key`)).err).toMatch(/--tls-cert own\.key is no cert/);
      expect((await asks(`${ca} --tls-cert own.pem --tls-key own.pem`)).err).toMatch(
        /--tls-key own\.pem is no private/,
      );
    } finally {
      files.remove();
    }
  });

  test.each([
    ['apply', 2],
    ['plan', 4],
  ])('%s of a file that is not there: cnpd has not refused it', async (command, code) => {
    expect(await run(`${command} /nonexist`)).toMatchObject({ code, err: 'cnpctl: /nonexist: not there\n' });
  });
});
