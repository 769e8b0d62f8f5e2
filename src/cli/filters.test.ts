// `--port` and `--prefix`: in every view that has such a column, and in no other.
import { describe, expect, test } from 'vitest';
import { exampleState } from '../northbound/state.fixture.ts';
import { buildProgram } from './program.ts';
import type { CliDependencies } from './context.ts';
import { fakeCnpd, run } from './fake-cnpd.fixture.ts';
import { describeCommand, placesOf } from './reference/describe.ts';

const rowsOf = async (line: string): Promise<Record<string, unknown>[]> =>
  JSON.parse((await run(`${line} -o json`)).out) as Record<string, unknown>[];
const places = placesOf(describeCommand(buildProgram({ version: '1' } as CliDependencies, () => {})));
const optionsOf = (line: string): string[] =>
  places
    .find(({ command }) => command.path.join(' ') === `cnpctl ${line}`)!
    .command.options.flatMap(({ names }) => names)
    .filter((name) => name === '--port' || name === '--prefix');

describe('which views take which', () => {
  const both = ['--port', '--prefix'];
  test.each([
    ['show flows', both],
    ['show notifications', both],
    ['show received', both],
    ['show rtt', both],
    ['show holds', both],
    ['show flow-control', both],
    ['show ports', ['--port']],
    ['show isis neighbors', ['--port']],
    ['show ospfv3 neighbors', ['--port']],
    ['show senders', ['--prefix']],
    ['show proxies', ['--prefix']],
    ['show sources', ['--prefix']],
    ['show srv6 sids', ['--prefix']],
    ['show bgp peers', ['--prefix']],
    ['show bgp paths', ['--prefix']],
    ['show groups', ['--prefix']],
    ['group list', ['--prefix']],
    ['show counters', []],
    ['show bgp', []],
    ['show isis database', []],
  ])('%s: %s', (line, options) => expect(optionsOf(line)).toEqual(options));

  const refused: [string, string][] = [
    ['show counters --port eth2', 'cnpctl: --port cannot be applied here: this view has no column of ports'],
    ['show ports --prefix ::/0', 'cnpctl: --prefix cannot be applied here: this view has no column of addresses'],
    ['show bgp --prefix=::/0', 'cnpctl: --prefix cannot be applied here'],
    ['show status --port=eth2', 'cnpctl: --port cannot be applied here'],
    ['show groups weights --prefix ::/0', '--prefix cannot be applied to a tree'],
    ['show groups weights tree --prefix ::/0', '--prefix cannot be applied to a tree'],
    ['show senders --prefix 2001:db8::1/64', 'allowed: an IP prefix without host bits, or an IP address'],
    ['show senders ::/0 --prefix ::/0', 'allowed: one of them'],
    ['show ports eth2 --port eth2', 'allowed: one of them'],
  ];
  test.each(refused)('2: %s', async (line, text) => {
    expect(await run(line)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(text) });
  });
});

describe('what matches', () => {
  test('a port by its whole name', async () => {
    expect(await rowsOf('show notifications --port eth2')).toHaveLength(2);
    expect(await rowsOf('show rtt --port eth2')).toMatchObject([{ target: '2001:db8:ffff::2' }]);
    expect(await rowsOf('show flows --port eth')).toEqual([]);
  });

  test('a prefix that equals it, contains it, or lies in it', async () => {
    const prefixes = async (prefix: string) =>
      (await rowsOf(`show senders --prefix ${prefix}`)).map((row) => row['prefix']);
    expect(await prefixes('2001:db8:1::/64')).toEqual(['2001:db8:1::/64', '2001:db8::/32']);
    expect(await prefixes('2001:db8:1::/48')).toEqual(['2001:db8:1::/64', '2001:db8::/32']);
    expect(await prefixes('2001:db8:7::/48')).toEqual(['2001:db8::/32']);
    expect(await prefixes('0.0.0.0/0')).toEqual([]);
    expect(await rowsOf('show senders 2001:db8:7::/48')).toEqual(await rowsOf('show senders --prefix 2001:db8:7::/48'));
    expect(await rowsOf('show senders ::/0 --all')).toHaveLength(4);
  });

  test('an address, in any column that has some', async () => {
    expect(await rowsOf('show notifications --prefix 2001:db8:1::2')).toMatchObject([{ sequence: 1 }]);
    expect(await rowsOf('show notifications --prefix 2001:db8:c::/48')).toMatchObject([{ sequence: 2 }]);
    expect(await rowsOf('show proxies --prefix 198.51.100.7')).toHaveLength(1);
    expect(await rowsOf('show holds --prefix 2001:db8:ffff::/48')).toMatchObject([{ nodes: ['2001:db8:ffff::2'] }]);
    expect(await rowsOf('show groups weights members --prefix 2001:db8:2::/48')).toMatchObject([{ role: 'receiver' }]);
    expect(await rowsOf('show groups --prefix 2001:db8:aa::/48')).toHaveLength(1);
  });

  test('all filters at once, and then the newest', async () => {
    const line = 'show notifications --port eth2 --prefix 2001:db8:2::/64';
    expect(await rowsOf(line)).toHaveLength(2);
    expect(await rowsOf(`${line} --last 1`)).toMatchObject([{ sequence: 2 }]);
    expect(await rowsOf('show notifications --port eth3 --prefix 2001:db8:2::/64')).toEqual([]);
  });

  test('of several tables, those without such a column are left out', async () => {
    expect((await run('show holds --port eth2')).out).toMatch(/^PAUSED .*\n/);
    expect(await rowsOf('show holds --port eth2')).toHaveLength(3);
    const shown = JSON.parse((await run('show flow-control --prefix 2001:db8:a::/64 -o json')).out) as object;
    expect(shown).toMatchObject({ mode: 'service', asked: [{}, {}], paused: [{}], problems: [] });
    expect(shown).not.toHaveProperty('ports');
    expect((await run('show flow-control --port eth3')).out).toMatch(/^eth3 +400000/m);
  });
});

describe('where nothing matches, that is said, and is no fault', () => {
  test.each([
    ['show flows --port eth9', 'no row matches --port eth9, of 1'],
    ['show notifications --port eth9 --prefix ::/0', 'no row matches --port eth9 --prefix ::/0, of 2'],
    ['show senders 10.0.0.0/8', 'no row matches --prefix 10.0.0.0/8, of 2'],
    ['show bgp peers --prefix 10.0.0.0/8', 'no row matches --prefix 10.0.0.0/8, of 2'],
    ['show holds --port eth9', 'no row matches --port eth9, of 4'],
  ])('%s', async (line, sentence) => {
    const { code, out } = await run(line);
    expect({ code, first: out.split('\n')[0] }).toEqual({ code: 0, first: sentence });
  });

  test('but `show ports` names a port: exit code 1, and the ports that there are', async () => {
    const state = exampleState();
    for (const line of ['show ports eth9', 'show ports --port eth9', 'show ports eth9 -o json'])
      expect(await run(line)).toEqual({
        code: 1,
        out: '',
        err: 'cnpctl: port eth9 is not monitored; monitored: eth2\n',
      });
    state.ports = Array.from({ length: 20 }, (_, i) => ({ ...state.ports[0]!, interface: `swp${i}` }));
    expect((await run('show ports eth9', fakeCnpd(state))).err).toMatch(/: swp0, .*, swp7 and 12 more\n$/);
    expect((await run('show ports eth9', fakeCnpd({ ...state, ports: [] }))).err).toBe(
      'cnpctl: port eth9 is not monitored; no port is monitored\n',
    );
  });

  test('with --watch too', async () => {
    let looks = 0;
    const pause = async (): Promise<boolean> => ++looks < 2;
    const { out } = await run('show --watch flows --port eth9', undefined, { pause });
    expect(out).toBe('no row matches --port eth9, of 1\n---\nno row matches --port eth9, of 1\n');
    expect(exampleState().flows).toHaveLength(1);
  });
});
