// Work that takes several turns: whatever comes between two of them, the end is as if it had been done in one, and no
// turn is long.
import { describe, expect, test } from 'vitest';
import { BUILD_BATCH, DECLARE_BATCH, TAKE_OVER_BATCH } from './constants.ts';
import { type AnyVersion, ContentAgent, contentConfig, declaration } from './content.fixture.ts';
import { contentWake } from './content-tasks.ts';
import { AREA, Link, Router, testConfig } from './simulation.fixture.ts';
import { nextWake } from './tasks.ts';
import { OSPFV3, type OwnLsa } from './version.ts';

const SELF = 0x01010101;
const numbers = (count: number, from = 0): number[] => Array.from({ length: count }, (_, n) => from + n);
/** More than one turn takes. */
const MANY = 2 * Math.max(DECLARE_BATCH, BUILD_BATCH, TAKE_OVER_BATCH);

describe.each([2, 3] as const)('OSPFv%d, a declaration of many prefixes', (version: AnyVersion) => {
  const agent = (): ContentAgent => new ContentAgent(contentConfig(version, SELF, [AREA]));
  const declare = (to: ContentAgent, prefixes: readonly number[]): void =>
    void to.event({ type: 'declare', origination: declaration(version, prefixes) });
  const settle = (one: ContentAgent): void => {
    while (contentWake(one.content) === -Infinity) one.event({ type: 'timer' });
  };
  const contentOf = (one: ContentAgent): string[] =>
    one.advertised
      .get(AREA)!
      .map(({ type, lsId, body }) =>
        JSON.stringify({ type, lsId, body }, (_key, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value,
        ),
      );

  test('is handed over once, when all of it is placed: LSAs of an earlier run are not flushed before', () => {
    const one = agent();
    declare(one, numbers(MANY));
    let turns = 0;
    for (; contentWake(one.content) === -Infinity; turns++) {
      expect(one.advertised.has(AREA)).toBe(false);
      one.event({ type: 'timer' });
    }
    expect(turns).toBeGreaterThan(MANY / BUILD_BATCH - 1);
    expect(
      [...one.content.areas.get(AREA)!.placements.values()].reduce((sum, { whereIs }) => sum + whereIs.size, 0),
    ).toBe(MANY);
  });

  test.each([1, 2, 3, 5, 8])(
    'another one after %d turns replaces it: what it no longer has is withdrawn, what stays does not move',
    (turns) => {
      const one = agent();
      one.declares(declaration(version, numbers(MANY)));
      const before = new Set(contentOf(one));
      declare(one, numbers(MANY, MANY));
      for (let turn = 1; turn < turns; turn++) one.event({ type: 'timer' });
      declare(one, numbers(MANY - 1));
      settle(one);
      expect(one.content.declared.size).toBe(MANY - 1);
      const plain = agent();
      plain.declares(declaration(version, numbers(MANY - 1)));
      const prefixesOf = (who: ContentAgent): string[] =>
        [...who.content.areas.get(AREA)!.placements.values()].flatMap(({ whereIs }) => [...whereIs.keys()]).sort();
      expect(prefixesOf(one)).toEqual(prefixesOf(plain));
      if (turns === 1) expect(contentOf(one).filter((lsa) => !before.has(lsa))).toHaveLength(1);
    },
  );
});

describe('what the core is to advertise', () => {
  const lsas = (count: number, size: number, from = 0): OwnLsa[] =>
    numbers(count, from).map((lsId) => ({
      type: 0xa023,
      lsId,
      body: { kind: 'unknown', content: new Uint8Array(size) },
    }));
  const pair = (): { a: Router; b: Router; link: Link } => {
    const [a, b] = [new Router(testConfig(SELF, OSPFV3)), new Router(testConfig(0x02020202, OSPFV3))];
    const link = new Link(a, b);
    link.until('full', () => a.state === 'full' && b.state === 'full');
    return { a, b, link };
  };
  const flood = (link: Link, what: readonly OwnLsa[]): void =>
    link.event(0, { type: 'originate', areaId: AREA, lsas: what });

  test('is replaced half-way: everything of the last set is there in the end, and nothing else', () => {
    const { a, b, link } = pair();
    flood(link, lsas(MANY, 4));
    link.until('all are known', () => b.notified.size >= MANY);
    flood(link, lsas(MANY, 8, MANY));
    expect(nextWake(a.speaker)).toBe(-Infinity);
    flood(link, lsas(MANY, 12, MANY / 2));
    link.run(60_000);
    const own = [...b.notified].filter(([key]) => key.startsWith(`${0xa023}/`));
    expect(own.map(([key]) => Number(key.split('/')[1])).sort((x, y) => x - y)).toEqual(numbers(MANY, MANY / 2));
    expect(new Set(own.map(([, content]) => content.length))).toEqual(new Set([24]));
  });

  test('a clean stop half-way flushes all of it', () => {
    const { a, b, link } = pair();
    flood(link, lsas(MANY, 4));
    link.until('all are known', () => b.notified.size >= MANY);
    flood(link, lsas(MANY, 8, MANY));
    link.event(0, { type: 'stop' });
    link.until('stopped', () => a.stopped !== undefined);
    expect(a.stopped).toBe(true);
    expect([...b.notified.keys()].filter((key) => key.startsWith(`${0xa023}/`))).toEqual([]);
  });

  test('what changes while the database is described is flooded and not lost', () => {
    const [a, b] = [new Router(testConfig(SELF, OSPFV3)), new Router(testConfig(0x02020202, OSPFV3))];
    const link = new Link(a, b);
    link.weather = () => [];
    flood(link, lsas(MANY, 4));
    link.run(10_000);
    link.weather = () => [1];
    link.until('the exchange runs', () => a.state === 'exchange');
    flood(link, [...lsas(MANY - 1, 4).slice(1), ...lsas(10, 4, MANY)]);
    link.until('full', () => a.state === 'full' && b.state === 'full');
    link.run(20_000);
    expect([...b.notified.keys()].filter((key) => key.startsWith(`${0xa023}/`))).toHaveLength(MANY - 2 + 10);
  });
});
