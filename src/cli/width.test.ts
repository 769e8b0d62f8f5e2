// Every view with the widest rows that are realistic, in 100 columns of text, and with no address cut.
import { describe, expect, test } from 'vitest';
import { parseAddress } from '../model/address.ts';
import { parsePrefix } from '../model/prefix.ts';
import type { NorthboundClient } from '../northbound/client.ts';
import { exampleState } from '../northbound/state.fixture.ts';
import { buildProgram } from './program.ts';
import type { CliDependencies } from './context.ts';
import { fakeCnpd, run } from './fake-cnpd.fixture.ts';
import { describeCommand, placesOf } from './reference/describe.ts';
import { TABLE_WIDTH } from './table.ts';

const LONGEST_ADDRESS = '2001:db8:1111:2222:3333:4444:5555:6666';
const ADDRESS = LONGEST_ADDRESS.replace('db8', '1db8');
const PREFIX = `${ADDRESS}/128`;
const INTERFACE = 'enp129s0f1np1v1';
const WIDEST: Readonly<Record<string, string>> = {
  ...{ interface: INTERFACE, port: INTERFACE, ingress: INTERFACE, target: `[${ADDRESS}]:65535` },
  hostname: 'leaf-4711.row-12.hall-3.datacenter.example.net',
  reason: `${'the neighbor has another area, another MTU and another key than this router; '.repeat(3)}see doctor`,
  originator: 'L2 ffff.ffff.ffff (leaf-4711.row-12.hall-3)',
  source: 'L2 ffff.ffff.ffff.ff-ff',
  traffic: `flow ${ADDRESS} port 65535 to ${ADDRESS} port 65535`,
  'as-path': Array.from({ length: 12 }, () => '4200000000').join(' '),
  name: 'weights-of-model-17-to-all-of-hall-3',
};
/** A day before the time of the tests. */
const LONG_AGO = '2026-08-01T00:00:00.000Z';
/** The shape of a tree is in its names: they stay apart. */
const nodeName = (value: unknown): unknown =>
  typeof value === 'string' ? `${ADDRESS.slice(0, -4)}${value.replaceAll(':', '').slice(-4)}` : value;

function widest(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap((one) => Array.from({ length: 9 }, () => widest(key, one)));
  if (typeof value === 'number') return key.endsWith('qpn') ? 0xffffff : key === 'age' ? 3600 : 9_999_999_999_999;
  if (typeof value !== 'string') return value;
  if (parsePrefix(value)) return PREFIX;
  if (parseAddress(value)?.family === 6) return ADDRESS;
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return LONG_AGO;
  return WIDEST[key] ?? value;
}

/** All leaves that any row has, each as wide as it may be; what is a list in a list is widened too. */
function widened(value: unknown): unknown {
  if (Array.isArray(value)) {
    if (!value.every((row) => typeof row === 'object' && row !== null)) return value;
    const rows = value as Record<string, unknown>[];
    const all = Object.assign({}, ...rows) as Record<string, unknown>;
    const isTree = 'parent' in all;
    return rows.map((row) =>
      Object.fromEntries(
        Object.entries(isTree ? row : { ...all, ...row }).map(([key, leaf]) => [
          key,
          isTree && /^(node|parent)$/.test(key) ? nodeName(leaf) : isList(leaf) ? widened(leaf) : widest(key, leaf),
        ]),
      ),
    );
  }
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, widened(part)]));
  return value;
}
const isList = (value: unknown): boolean => Array.isArray(value) && typeof value[0] === 'object';

const honest = fakeCnpd(exampleState());
const client: NorthboundClient = { ...honest, get: async (path) => widened(await honest.get(path)) };

const cnpctl = describeCommand(buildProgram({ version: '1' } as CliDependencies, () => {}));
const views = placesOf(cnpctl)
  .filter(({ command: { path } }) => path[1] === 'show' || path.join(' ') === 'cnpctl group list')
  .filter(({ command: { path, commands } }) => commands.length === 0 || path.at(-1) === 'bgp')
  .map(({ command: { path } }) => path.slice(1).join(' '))
  // No tables: a list of facts, and a file.
  .filter((view) => view !== 'show status' && view !== 'show config');
const ofGroup = ['members', 'receivers', 'branches', 'tree'].map((part) => `show groups 2001:db8:aa::1 ${part}`);

/** Words of the first that the second has not, and the other way about; each as often as it is there. */
function without(first: readonly string[], second: readonly string[]): [string[], string[]] {
  const rest = [...second];
  const left = first.filter((word) => {
    const at = rest.indexOf(word);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  return [left, rest];
}

describe(`no table is wider than ${TABLE_WIDTH} columns`, () => {
  test('the widest address has 39 characters', () => expect(ADDRESS).toHaveLength(39));
  test('of at least 20 views', () => expect(views.length).toBeGreaterThan(20));

  test.each(views)('%s', async (view) => {
    const { out } = await run(view, client);
    expect(out.split('\n').filter((line) => line.length > TABLE_WIDTH)).toEqual([]);
    expect(out.split('\n').length).toBeGreaterThan(2);
    // Cutting would leave a part of the address alone.
    expect(out.replaceAll(ADDRESS, '')).not.toContain(ADDRESS.slice(0, 9));
    const wide = (await run(`${view} --wide`, client)).out;
    const [left, added] = without(wide.split(/\s+/), out.split(/\s+/));
    expect(added).toEqual([]);
    // Of columns in which no row has anything.
    expect(left.filter((word) => word !== '-' && !/^[A-Z]+$/.test(word))).toEqual([]);
    expect(left.includes('-')).toBe(left.length > 0);
  });

  test.each(ofGroup)('%s', async (view) => {
    // The groups themselves by their real address; then the part of it.
    const part: NorthboundClient = {
      ...honest,
      get: async (path) =>
        path.at(-1) === 'group'
          ? honest.get(path)
          : (widened(await honest.get(path)) as object[]).map((row) => ({ ...row, group: '2001:db8:aa::1' })),
    };
    const { code, out } = await run(view, part);
    expect(code).toBe(0);
    expect(out.split('\n').filter((line) => line.length > TABLE_WIDTH)).toEqual([]);
    expect(out).toContain(ADDRESS.slice(0, -4));
  });

  test('a wider terminal is used, a narrower one is not', async () => {
    const width = async (columns: number): Promise<number> =>
      Math.max(
        ...(await run('show ports', client, { columns: () => columns })).out.split('\n').map((line) => line.length),
      );
    expect(await width(140)).toBeGreaterThan(TABLE_WIDTH);
    expect(await width(140)).toBeLessThanOrEqual(140);
    expect(await width(60)).toBe(await width(TABLE_WIDTH));
  });
});
