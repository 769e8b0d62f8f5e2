// The rows of the learned table, made in many turns of the event loop while the table changes.
import { expect, test } from 'vitest';
import type { SenderState } from '../model/state.ts';
import { fixture, flagged } from './table.fixture.ts';

const COUNT = 1000;
const PROXIES = ['2001:db8:ffff::1', '2001:db8:ffff::2'] as const;
const textOf = (i: number): string => `2001:db8:${i.toString(16)}::/48`;
const prefixOf = (i: number, proxy: string = PROXIES[0]) => flagged(textOf(i), proxy);
const all = Array.from({ length: COUNT }, (_, i) => i + 1);

function world() {
  const { table, report, reach } = fixture();
  report(
    'cnpd1',
    all.map((i) => prefixOf(i)),
  );
  table.takeChanges();
  /** Calls `meanwhile` after each step. */
  const rows = (meanwhile: (step: number) => void = () => undefined): SenderState[] => {
    const steps = table.rows();
    for (let step = 0; ; step++) {
      const next = steps.next();
      if (next.done) return next.value;
      meanwhile(step);
      table.takeChanges();
    }
  };
  return { table, report, reach, rows };
}

test('a step makes few of them, and together they are the entries', () => {
  const { table, rows } = world();
  let steps = 0;
  expect(rows(() => void steps++)).toEqual(table.entries());
  expect(steps).toBeGreaterThanOrEqual(COUNT / 64);
});

test('prefixes that go meanwhile, and others in their place: no row comes twice, none of an old prefix comes later', () => {
  const { table, report, rows } = world();
  const shown = rows((step) => {
    if (step !== 4) return;
    report('cnpd1', []);
    table.takeChanges();
    // All nodes are free now, and these have their numbers.
    report(
      'cnpd2',
      all.map((i) => prefixOf(COUNT + i, PROXIES[1])),
    );
  });
  const [old, young] = PROXIES.map((proxy) => shown.filter((row) => row.proxy === proxy).map(({ prefix }) => prefix));
  expect(new Set(shown.map(({ prefix }) => prefix)).size).toBe(shown.length);
  expect(old!.length).toBeLessThanOrEqual(5 * 64);
  expect(young).toEqual(all.map((i) => textOf(COUNT + i)));
});

test('the rows of a prefix are of one moment', () => {
  const { report, rows } = world();
  const other = (metric: number): void =>
    report(
      'cnpd2',
      all.map((i) => ({ ...prefixOf(i, PROXIES[1]), metric })),
    );
  const shown = rows((step) => other(step % 2 === 0 ? 1 : 0xfe000002));
  const best = shown.filter((row) => row.best).map(({ prefix }) => prefix);
  expect([best.length, new Set(best).size]).toEqual([COUNT, COUNT]);
  expect(new Set(shown.map(({ prefix, originator }) => `${prefix} ${originator}`)).size).toBe(shown.length);
});

test('routers that have come back are evaluated first, in steps too', () => {
  const { report, reach, table } = world();
  for (const i of all) report('leaf1', [flagged(`2001:db9:${i.toString(16)}::/48`, PROXIES[1])], 'isis', i);
  reach(['cnpd1']);
  reach(['cnpd1', 'leaf1']);
  const steps = (): number => [...table.rows()].length;
  const [pending, settled] = [steps(), steps()];
  expect(pending - settled).toBeGreaterThanOrEqual(COUNT / 64);
});
