// Abbreviated commands, and views that are shown again and again.
import { describe, expect, test } from 'vitest';
import { exampleState } from '../northbound/state.fixture.ts';
import { failing, fakeCnpd, run } from './fake-cnpd.fixture.ts';

const asIf = async (line: string, full: string): Promise<void> => expect(await run(line)).toEqual(await run(full));

describe('abbreviations', () => {
  test.each([
    ['sh st', 'show status'],
    ['sh sr s', 'show srv6 sids'],
    ['-o json sh por', 'show ports -o json'],
    ['sh isis nei', 'show isis neighbors'],
    ['--socket show sh st', '--socket show show status'],
    ['g li', 'group list'],
    ['com fish', 'completion fish'],
    ['sh --watch st', 'show --watch status'],
  ])('%s', asIf);

  test('several begin with it: an error that lists them', async () => {
    expect((await run('sh osp da')).err).toBe('cnpctl: "osp" is ambiguous: ospfv2, ospfv3\n');
  });

  test.each([
    ['show ospf neighbors', 'show ospfv2 neighbors'],
    ['sh ospf da -o json', 'show ospfv2 database -o json'],
    ['show ospf3 database', 'show ospfv3 database'],
  ])('%s, as a released cnpctl took it, and help does not show it', async (line, full) => {
    await asIf(line, full);
    expect((await run('show --help')).out).not.toMatch(/ospf3|ospf /);
  });

  test('an argument is not expanded', async () => {
    expect(await run('sh send 2001:db8:1::2')).toEqual(await run('show senders 2001:db8:1::2'));
    expect((await run('sh gr st')).err).toContain('no group has the name or the Proxy Address st');
  });

  test('an ambiguous one names what it may be, and nothing is done', async () => {
    expect(await run('sh s', failing('unreachable'))).toEqual({
      code: 2,
      out: '',
      err: 'cnpctl: "s" is ambiguous: status, senders, sources, srv6\n',
    });
    expect((await run('re')).err).toBe('cnpctl: "re" is ambiguous: reload, record, release\n');
  });

  test('what begins no command is left to the parser', async () => {
    expect((await run('sh xyz')).err).toContain("unknown command 'xyz'");
    expect((await run('help')).out).toContain('Usage: cnpctl');
  });
});

describe('--watch', () => {
  const looks = (count: number) => {
    const waited: number[] = [];
    return {
      waited,
      pause: async (ms: number) => {
        waited.push(ms);
        return waited.length < count;
      },
    };
  };

  test('shows the view again after each interval, until nobody reads it', async () => {
    const once = await run('show isis neighbors');
    const { waited, pause } = looks(3);
    const { code, out } = await run('show isis neighbors --watch --interval 0.5', undefined, { pause });
    expect({ code, out }).toEqual({ code: 0, out: [once.out, once.out, once.out].join('---\n') });
    expect(waited).toEqual([500, 500, 500]);
  });

  test('two seconds pass by default; options of the view count', async () => {
    const { waited, pause } = looks(1);
    const line = 'show -w notifications --last 1 -o json';
    const [watched, once] = [await run(line, undefined, { pause }), await run('show notifications --last 1 -o json')];
    expect(JSON.parse(watched.out)).toEqual(JSON.parse(once.out));
    expect(waited).toEqual([2000]);
  });

  test('of JSON in a pipe each line is a document; on a terminal it is laid out', async () => {
    const once = await run('show ports -o json');
    const watched = (more: object) => run('show ports -w -o json', undefined, { pause: looks(3).pause, ...more });
    const lines = (await watched({})).out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
      Array.from({ length: 3 }, () => JSON.parse(once.out) as unknown),
    );
    expect((await watched({ terminal: true })).out).toContain(`\u001b[H${once.out}\u001b[J`);
  });

  test('a terminal is written over, from the upper left', async () => {
    const once = await run('show isis neighbors');
    const { out } = await run('show isis neighbors -w', undefined, { terminal: true, ...looks(2) });
    expect(out).toBe(`\u001b[2J${`\u001b[H${once.out}\u001b[J`.repeat(2)}`);
  });

  test('a cnpd that does not answer is waited for; the error is on the terminal, else on standard error', async () => {
    let connections = 0;
    const connect = () => (connections++ % 2 === 0 ? failing('unreachable') : fakeCnpd(exampleState()));
    const watched = (terminal: boolean) => run('show isis neighbors -w', undefined, { connect, terminal, ...looks(2) });
    const view = (await run('show isis neighbors')).out;
    const error = 'cnpctl: cannot reach cnpd: because\n';
    expect(await watched(false)).toEqual({ code: 0, out: view, err: error });
    const { out, err } = await watched(true);
    expect([out.includes(error), out.includes(view), err]).toEqual([true, true, '']);
  });

  test('it is an option of show alone', async () => {
    expect((await run('reload --watch')).code).toBe(2);
    expect((await run('show status --interval 0 -w')).code).toBe(2);
  });
});
