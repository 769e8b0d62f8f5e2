import { expect, test } from 'vitest';
import { exampleState } from '../northbound/state.fixture.ts';
import { failing, fakeCnpd, run } from './fake-cnpd.fixture.ts';

const counting = (values: Record<string, number>, startedAt = '2026-11-20T11:00:00.000Z') => {
  const state = exampleState();
  return fakeCnpd({
    ...state,
    status: { ...state.status, startedAt },
    counters: Object.entries(values).map(([name, value]) => ({ name, value })),
  });
};

function files() {
  const written = new Map<string, string>();
  return {
    written,
    readFile: (path: string) => written.get(path),
    writeFile: (path: string, text: string) => void written.set(path, text),
  };
}
const rows = (out: string): string[] => out.split('\n').filter((line) => /^[ab] /.test(line));

test('after a clear the table shows what came since, and says so; a new counter begins at 0', async () => {
  const disk = files();
  expect(await run('--socket /x/gnmi.sock clear counters', counting({ a: 7 }), disk)).toMatchObject({
    code: 0,
    err: '',
  });
  expect([...disk.written.keys()]).toEqual(['/x/counters-cleared.json']);
  const { out } = await run('--socket /x/gnmi.sock show counters', counting({ a: 9, b: 4 }), disk);
  expect(rows(out)).toEqual(['a         2', 'b         4']);
  expect(out).toContain('since 2026-11-20T12:00:10.000Z (0s ago)');
});

test('--total and JSON have all that was counted', async () => {
  const disk = files();
  await run('clear counters', counting({ a: 7 }), disk);
  expect(rows((await run('show counters --total', counting({ a: 9 }), disk)).out)).toEqual(['a         9']);
  expect(JSON.parse((await run('-o json show counters', counting({ a: 9 }), disk)).out)).toEqual([
    { name: 'a', value: 9 },
  ]);
});

test('what is zero is counted, and shown with --all; after a clear that is what has not counted since', async () => {
  const disk = files();
  const { out } = await run('show counters', counting({ a: 7, b: 0, c: 0 }), disk);
  expect([rows(out), out]).toEqual([['a         7'], expect.stringMatching(/\n\n2 more are zero: --all\n$/)]);
  const all = (await run('show counters --all', counting({ a: 7, b: 0 }), disk)).out;
  expect([rows(all), all.includes('zero')]).toEqual([['a         7', 'b         0'], false]);
  await run('clear counters', counting({ a: 7 }), disk);
  expect((await run('show counters', counting({ a: 7 }), disk)).out).toMatch(
    /\n\nnothing was counted yet\n\n1 more is zero: --all\n$/,
  );
  expect(rows((await run('show counters --all', counting({ a: 7 }), disk)).out)).toEqual(['a         0']);
});

test.each([
  ['another run of cnpd', undefined, '2026-11-20T11:30:00.000Z'],
  ['a file that is not ours', '{"at":1}', undefined],
  ['no JSON', 'x', undefined],
])('%s: the totals', async (_name, text, startedAt) => {
  const disk = files();
  await run('clear counters', counting({ a: 7 }), disk);
  if (text !== undefined) for (const path of disk.written.keys()) disk.written.set(path, text);
  const { out } = await run('show counters', counting({ a: 9 }, startedAt), disk);
  expect(rows(out)).toEqual(['a         9']);
  expect(out).not.toContain('since');
});

test('who may not write there, and no cnpd: an error, and nothing is noted', async () => {
  const writeFile = () => {
    throw new Error('EACCES');
  };
  const refused = await run('clear counters', counting({ a: 7 }), { writeFile });
  expect(refused).toMatchObject({ code: 4, out: '' });
  expect(refused.err).toMatch(/cannot note the counters in .*counters-cleared\.json: EACCES/);
  const disk = files();
  expect((await run('clear counters', failing('unreachable'), disk)).code).toBe(3);
  expect(disk.written.size).toBe(0);
});
