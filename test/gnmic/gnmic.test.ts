import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ConfigCall, fakeConfig } from '../../src/northbound/config.fixture.ts';
import type { GroupChange } from '../../src/model/group-change.ts';
import { silentLog } from '../../src/model/log.ts';
import { fail, ok } from '../../src/model/result.ts';
import { JsonText } from '../../src/model/configuration-state.ts';
import type { CnpdState, StateSource } from '../../src/model/state.ts';
import { eventLoopWork } from '../../src/model/work.ts';
import { Certificates } from '../../src/northbound/certificates.fixture.ts';
import type { NorthboundDependencies } from '../../src/northbound/dependencies.ts';
import { type Northbound, startNorthbound, startTcpNorthbound } from '../../src/northbound/server.ts';
import { exampleState, sourceOf } from '../../src/northbound/state.fixture.ts';
import { readTcpSettings } from '../../src/northbound/tcp.ts';
import { contains, matches, until } from '../support/until.ts';
import { Gnmic, buildGnmic } from './gnmic.ts';

let program: string;
let dir: string;
let state: CnpdState;
let changes: GroupChange[];
let calls: string[];
let configCalls: ConfigCall[];
let servers: Pick<Northbound, 'close'>[];
const files = new Certificates();
const running: Gnmic[] = [];

const dependencies = (): NorthboundDependencies => ({
  source: new Proxy({} as StateSource, { get: (_, name) => sourceOf(state)[name as keyof StateSource] }),
  work: eventLoopWork(),
  log: silentLog,
  count: (name) => void calls.push(name),
  actions: {
    reload: async () => ({ ok: true, errors: [], changed: [] }),
    set: async (set) => (changes.push(...set), ok(undefined)),
    config: fakeConfig(configCalls),
    restartGroup: () => fail({ code: 'conflict' as const, errors: [] }),
    release: () => 0,
    logLevels: () => ok([]),
  },
});

beforeAll(() => {
  program = buildGnmic();
  files.make('ca');
  files.make('router', { ca: 'ca', san: 'DNS:localhost,IP:127.0.0.1' });
  files.make('collector', { ca: 'ca' });
  files.make('operator', { ca: 'ca' });
  files.make('other');
});
afterAll(() => files.remove());
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cnpd-interop-'));
  state = exampleState();
  changes = [];
  calls = [];
  configCalls = [];
  const [base, socket] = [dependencies(), join(dir, 'gnmi.sock')];
  servers = [
    await startNorthbound({ socket }, base),
    await startNorthbound({ socket, role: 'set' }, base),
    await startNorthbound({ socket, role: 'config' }, base),
  ];
});
afterEach(async () => {
  for (const gnmic of running.splice(0)) await gnmic.stop();
  for (const server of servers) await server.close();
  rmSync(dir, { recursive: true, force: true });
});

function start(args: readonly string[], socket = 'gnmi.sock'): Gnmic {
  const gnmic = new Gnmic(program, ['-a', `unix://${join(dir, socket)}`, '--insecure', ...args]);
  running.push(gnmic);
  return gnmic;
}
async function run(args: readonly string[], socket?: string): Promise<Gnmic> {
  const gnmic = start(args, socket);
  await gnmic.over;
  return gnmic;
}
const subscribe = (args: readonly string[]) => start(['subscribe', '--format', 'flat', ...args]);

describe('gnmic', () => {
  test('capabilities', async () => {
    const { code, out } = await run(['capabilities']);
    expect(code).toBe(0);
    for (const text of ['gNMI version: 0.10.0', 'cnpd', 'JSON_IETF', 'PROTO']) expect(out).toContain(text);
  });

  test.each(['json', 'json_ietf', 'proto'])('get in %s', async (encoding) => {
    const pid = await run(['get', '--path', '/cnpd/status/pid', '-e', encoding, '--format', 'flat']);
    expect([pid.code, pid.lines]).toEqual([0, ['cnpd/status/pid: 42']]);
    const list = await run([
      'get',
      '--path',
      'cnpd:/cnpd/ports[interface=*]/k-max',
      '-e',
      encoding,
      '--format',
      'flat',
    ]);
    expect(list.lines).toEqual([expect.stringMatching(/ports\[interface=eth2\]\/k-max: 100000$/)]);
  });

  test('get with prefix and target, and a path that does not exist', async () => {
    const prefixed = await run(['get', '--prefix', '/cnpd', '--target', 'leaf1', '--path', 'status/pid']);
    expect(JSON.parse(prefixed.out)).toMatchObject([{ target: 'leaf1', updates: [{ Path: 'cnpd/status/pid' }] }]);
    const wrong = await run(['get', '--path', '/cnpd/nothing']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('no element "nothing"')]);
  });

  test('set: delete, replace, update; refused on the socket that reads', async () => {
    const group = '/cnpd/groups/group[proxy-address=2001:db8:aa::1]';
    const member = `${group}/member[role=receiver][address=2001:db8:2::1]`;
    const value = '{"qpn": 201}';
    const args = [
      ...['set', '-e', 'json_ietf', '--delete', member],
      ...[
        '--replace-path',
        member,
        '--replace-value',
        value,
        '--update-path',
        group,
        '--update-value',
        '{"name": "w"}',
      ],
    ];
    expect(await run(args, 'gnmi-set.sock')).toMatchObject({
      code: 0,
      out: expect.stringContaining('"operation": "REPLACE"'),
    });
    expect(changes.map(({ operation }) => operation)).toEqual(['delete', 'replace', 'update']);
    expect(changes[1]).toMatchObject({ member: { role: 'receiver', address: '2001:db8:2::1' }, value: { qpn: 201 } });
    expect(await run(args)).toMatchObject({ code: 1, err: expect.stringContaining('PermissionDenied') });
  });

  test.each(['json', 'json_ietf'])('the configuration in %s: got, and set as one change', async (encoding) => {
    const got = await run(['get', '--path', '/cnpd/configuration', '--type', 'config', '-e', encoding]);
    expect([got.code, got.out]).toEqual([0, expect.stringContaining('"k-max": "100kB"')]);
    writeFileSync(join(dir, 'ports.json'), '[{"interface": "eth3"}]');
    const args = [
      ...['set', '-e', encoding, '--delete', '/cnpd/configuration/stamp'],
      // gnmic takes a list from a file only.
      ...['--replace-path', '/cnpd/configuration/ports', '--replace-file', join(dir, 'ports.json')],
      ...['--update-path', '/cnpd/configuration/log', '--update-value', '{"level": "debug"}'],
      ...['--update-path', '/cnpd/configuration/persistent', '--update-value', 'false'],
    ];
    expect(await run(args, 'gnmi-config.sock')).toMatchObject({
      code: 0,
      out: expect.stringContaining('"operation": "DELETE"'),
    });
    expect(configCalls).toEqual([
      {
        call: 'set',
        terms: { isTemporary: true },
        changes: [
          { operation: 'delete', section: 'stamp' },
          { operation: 'replace', section: 'ports', value: [{ interface: 'eth3' }] },
          { operation: 'update', section: 'log', value: { level: 'debug' } },
        ],
      },
    ]);
    for (const socket of ['gnmi-set.sock', 'gnmi.sock'])
      expect(await run(args, socket)).toMatchObject({ code: 1, err: expect.stringContaining('PermissionDenied') });
    expect(configCalls).toHaveLength(1);
  });

  test('a change of the configuration is seen by who subscribes to it', async () => {
    const stream = start(['subscribe', '--stream-mode', 'on-change', '--path', '/cnpd/configuration', '-e', 'json']);
    await until('the first values', () => stream.out.includes('100kB'));
    state.configuration.ports = new JsonText([{ interface: 'eth7' }]);
    await until('the change', () => stream.out.includes('eth7'));
  });

  test.each(['json', 'json_ietf', 'proto'])('subscribe once in %s', async (encoding) => {
    const once = subscribe(['--mode', 'once', '-e', encoding, '--path', '/cnpd/ports', '--path', '/cnpd/status/pid']);
    await once.over;
    expect(once.code).toBe(0);
    expect(once.lines).toContain('cnpd/status/pid: 42');
    expect(once.lines).toContain('cnpd/ports[interface=eth2]/k-max: 100000');
    expect(once.lines.filter((line) => line.includes('/explanation'))).toHaveLength(1);
  });

  test('stream, on change: changes and deletes', async () => {
    const stream = start(['subscribe', '--stream-mode', 'on-change', '--path', '/cnpd/ports']);
    await until('the first values', () => stream.out.includes('unseen-other'));
    state.ports[0]!.kMax = 7;
    await until('the change', () => /k-max": 7\b/.test(stream.out));
    state.ports = [];
    await until('the delete', () => stream.out.includes('"deletes"'));
    expect(stream.out).toContain('cnpd/ports[interface=eth2]');
  });

  test('stream, on change, with a heartbeat', async () => {
    const stream = subscribe([
      '--stream-mode',
      'on-change',
      '--heartbeat-interval',
      '1s',
      '--path',
      '/cnpd/status/pid',
    ]);
    await until('three times', () => stream.lines.filter((line) => line === 'cnpd/status/pid: 42').length >= 3);
  });

  test('stream, samples; with suppress-redundant; updates-only', async () => {
    const sample = ['--stream-mode', 'sample', '--sample-interval', '100ms'];
    const all = subscribe([...sample, '--path', '/cnpd/status/pid']);
    const news = subscribe([...sample, '--suppress-redundant', '--path', '/cnpd/ports/triggers']);
    const only = subscribe(['--stream-mode', 'on-change', '--updates-only', '--path', '/cnpd/ports/triggers']);
    await until('samples', () => all.lines.filter((line) => line.includes('pid: 42')).length >= 5);
    const triggers = (gnmic: Gnmic) =>
      gnmic.lines.flatMap((line) => /triggers: (\d+)$/.exec(line)?.slice(1) ?? []).map(Number);
    await until('the first value', () => triggers(news).length > 0);
    // Again and again: gnmic does not tell that its subscription without first values has begun.
    await until('a change alone', () => (state.ports[0]!.triggers++, triggers(only).length > 0));
    await until('the change', () => triggers(news).includes(state.ports[0]!.triggers));
    expect(triggers(news)[0]).toBe(5);
    expect(triggers(news)).toEqual([...new Set(triggers(news))]);
    expect(triggers(only)).not.toContain(5);
  });

  test('stream, as the target defines', async () => {
    const stream = subscribe([
      '--stream-mode',
      'target-defined',
      '--sample-interval',
      '300ms',
      '--path',
      '/cnpd/ports',
    ]);
    await until('the first values', () => stream.lines.some((line) => line.includes('packets: 10')));
    state.ports[0]!.kMax = 8;
    state.ports[0]!.packets = 11;
    await until('both', () => ['k-max: 8', 'packets: 11'].every((text) => stream.lines.some((l) => l.includes(text))));
  });

  test('poll', async () => {
    // gnmic asks on a terminal what to poll, and shows one response a poll: values, or sync_response.
    const at = `unix://${join(dir, 'gnmi.sock')}`;
    const command = `${program} -a ${at} --insecure subscribe --mode poll --path /cnpd/status/pid`;
    const poll = new Gnmic('script', ['-qec', command, '/dev/null']);
    running.push(poll);
    await until(
      'the question',
      () => calls.includes('northbound.call.subscribe') && poll.out.includes('select target'),
    );
    state.status.pid = 43;
    const enter = (): string => {
      poll.type('\r');
      return poll.out;
    };
    await until('the value as it is now', enter, matches(/pid": 43\b/));
    await until('the end of the answer', enter, contains("received sync response 'true'"));
  });

  test('what is not served answers at once', async () => {
    const path = ['--path', '/cnpd/status'];
    const history = start(['subscribe', '--mode', 'once', '--history-snapshot', '2026-01-01T00:00:00Z', ...path]);
    await until('an answer', () => /history is not served/.test(history.err + history.out));
    const qos = start(['subscribe', '--mode', 'once', '--qos', '20', ...path]);
    await until('an answer', () => /QoS markings are not served/.test(qos.err + qos.out));
  });
});

describe('gnmic over TLS', () => {
  let port: number;
  beforeEach(async () => {
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    ({ port } = probe.address() as AddressInfo);
    await new Promise((resolve) => probe.close(resolve));
    const tls = { certificate: files.at('router.pem'), key: files.at('router.key'), clientCa: files.at('ca.pem') };
    const rights = [
      { name: 'collector', read: ['/cnpd/status'], write: [] },
      { name: 'operator', read: [], write: ['/cnpd/configuration'] },
    ];
    servers.push(
      await startTcpNorthbound(readTcpSettings({ address: '127.0.0.1', port, tls, rights }), dependencies()),
    );
  });

  const over = async (who: string, args: readonly string[]): Promise<Gnmic> => {
    const own = [
      '--tls-ca',
      files.at('ca.pem'),
      '--tls-cert',
      files.at(`${who}.pem`),
      '--tls-key',
      files.at(`${who}.key`),
    ];
    const gnmic = new Gnmic(program, ['-a', `localhost:${port}`, ...own, '--timeout', '5s', ...args]);
    running.push(gnmic);
    await gnmic.over;
    return gnmic;
  };

  test('a certificate reads what its name may, and nothing else', async () => {
    const pid = await over('collector', ['get', '--path', '/cnpd/status/pid', '--format', 'flat']);
    expect([pid.code, pid.lines]).toEqual([0, ['cnpd/status/pid: 42']]);
    const once = await over('collector', ['subscribe', '--mode', 'once', '--path', '/cnpd/status', '--format', 'flat']);
    expect(once.lines).toContain('cnpd/status/pid: 42');
    expect(await over('collector', ['get', '--path', '/cnpd/ports'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('PermissionDenied'),
    });
    const set = ['set', '--update-path', '/cnpd/configuration/log', '--update-value', '{"level": "warn"}'];
    expect((await over('operator', set)).code).toBe(0);
    expect(configCalls).toMatchObject([{ call: 'set', terms: {}, changes: [{ section: 'log' }] }]);
    expect(await over('collector', set)).toMatchObject({
      code: 1,
      err: expect.stringContaining('PermissionDenied'),
    });
    expect((await over('other', ['get', '--path', '/cnpd/status/pid'])).code).toBe(1);
  });
});
