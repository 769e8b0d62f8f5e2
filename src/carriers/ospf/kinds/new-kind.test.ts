// A new kind of advertisement is one file and one row: the content is given the row, and all else follows. The kind is
// that of color.fixture.ts.
import { describe, expect, test } from 'vitest';
import type { LearnedAdvertisement } from '../../../model/advertisement.ts';
import { type Prefix, formatPrefix, prefix } from '../../../model/prefix.ts';
import { fromHex, toHex } from '../../../packet/hex.ts';
import {
  type AnyVersion,
  type ContentAgent,
  ContentNet,
  declaration,
  named,
  senderPrefix,
} from '../content.fixture.ts';
import { BORDER, CORE, FAR, LEAF, SECOND, SETTLED, VERSIONS } from '../leaking/leaking.fixture.ts';
import { unplacedEntries } from '../show.ts';
import { AREA_LOCAL, COLOR_LSA, WITH_COLOR, colorOf } from './color.fixture.ts';

interface LearnedColor {
  readonly kind: 'color';
  readonly prefix: Prefix;
  readonly color: number;
}

/** What is learned from routers that can be reached. */
const colorsOf = ({ reports, reachable }: ContentAgent): string[] =>
  [...reports.values()]
    .filter(({ originator }) => reachable.has(originator))
    .flatMap(({ originator, advertisements }) =>
      (advertisements as readonly (LearnedAdvertisement | LearnedColor)[])
        .filter((one) => one.kind === 'color')
        .map((one) => `${originator} ${formatPrefix(one.prefix)} ${one.color}`),
    )
    .sort();

/** The contents of the LSAs of the kind that an agent advertises in an area, in hex. */
const lsasOf = (version: AnyVersion, agent: ContentAgent, areaId: number): string[] =>
  (agent.advertised.get(areaId) ?? [])
    .filter(({ type, lsId }) => type === COLOR_LSA[version].type && lsId >= COLOR_LSA[version].lsId)
    .flatMap(({ body }) => (body.kind === 'unknown' ? [toHex(body.content)] : []));

describe.each(VERSIONS)('OSPFv%d, a kind that exists only here', (version) => {
  const [one, two] = ([1, 2] as const).map((n) => prefix(senderPrefix(version, n))) as [Prefix, Prefix];
  const [ONE, TWO] = [formatPrefix(one), formatPrefix(two)];
  /** An entry in hex. */
  const entry = (flags: string, color: string, n: 1 | 2): string =>
    `${flags}${color}${version === 2 ? `18000a000${n}00` : `300020010db8000${n}${'0'.repeat(20)}`}`;

  function scene() {
    const net = new ContentNet(version, WITH_COLOR);
    const [leaf, border, core] = [net.agent(LEAF, [1]), net.agent(BORDER, [0, 1]), net.agent(CORE, [0])];
    net.run(SETTLED);
    return { net, leaf, border, core };
  }

  test('crosses from one area through the backbone into another, and is withdrawn again', () => {
    const { net, leaf, border, core } = scene();
    const [second, far] = [net.agent(SECOND, [0, 2]), net.agent(FAR, [2])];
    net.declare(leaf, [colorOf(one, 7), colorOf(two, 9)]);
    net.run(3 * SETTLED);
    expect(lsasOf(version, leaf, 1)).toEqual([entry('00', '07', 1) + entry('00', '09', 2)]);
    expect(lsasOf(version, border, 0)).toEqual([entry('80', '07', 1) + entry('80', '09', 2)]);
    expect(lsasOf(version, second, 2)).toEqual(lsasOf(version, border, 0));
    expect(colorsOf(core)).toEqual([`${named(0, BORDER)} ${ONE} 7`, `${named(0, BORDER)} ${TWO} 9`]);
    expect(colorsOf(far)).toEqual([`${named(2, SECOND)} ${ONE} 7`, `${named(2, SECOND)} ${TWO} 9`]);
    expect({
      borderCarryCarried: border.count('carry.carried'),
      secondCarryCarried: second.count('carry.carried'),
    }).toEqual({ borderCarryCarried: 2, secondCarryCarried: 2 });
    net.declare(leaf, [colorOf(two, 9)]);
    net.run(3 * SETTLED);
    expect(colorsOf(far)).toEqual([`${named(2, SECOND)} ${TWO} 9`]);
    net.declare(leaf, []);
    net.run(3 * SETTLED);
    expect({ core: colorsOf(core), far: colorsOf(far) }).toEqual({ core: [], far: [] });
    expect({ border: lsasOf(version, border, 0), second: lsasOf(version, second, 2) }).toEqual({
      border: [],
      second: [],
    });
    expect({
      borderCarryWithdrawn: border.count('carry.withdrawn'),
      secondCarryWithdrawn: second.count('carry.withdrawn'),
    }).toEqual({ borderCarryWithdrawn: 2, secondCarryWithdrawn: 2 });
  });

  test('a color that changes is copied anew, and what the border router declares itself comes before a copy', () => {
    const { net, leaf, border, core } = scene();
    net.declare(leaf, [colorOf(one, 7)]);
    net.run(SETTLED);
    net.declare(leaf, [colorOf(one, 8)]);
    net.run(SETTLED);
    expect(colorsOf(core)).toEqual([`${named(0, BORDER)} ${ONE} 8`]);
    net.declare(border, [colorOf(one, 3)]);
    net.run(SETTLED);
    expect({ area0: lsasOf(version, border, 0), area1: lsasOf(version, border, 1) }).toEqual({
      area0: [entry('00', '03', 1)],
      area1: [entry('00', '03', 1)],
    });
    net.declare(border, []);
    net.run(2 * SETTLED);
    expect(colorsOf(core)).toEqual([`${named(0, BORDER)} ${ONE} 8`]);
  });

  test('has its own rules: what is for its area stays there, and of two the one that the rules prefer is copied', () => {
    const { net, leaf, border, core } = scene();
    const other = net.agent(FAR, [1]);
    net.run(SETTLED);
    net.declare(leaf, [colorOf(one, 7), colorOf(two, AREA_LOCAL)]);
    net.declare(other, [colorOf(one, 8)]);
    net.run(SETTLED);
    expect(colorsOf(core)).toEqual([`${named(0, BORDER)} ${ONE} 8`]);
    expect(colorsOf(border)).toEqual([
      `${named(1, LEAF)} ${ONE} 7`,
      `${named(1, LEAF)} ${TWO} ${AREA_LOCAL}`,
      `${named(1, FAR)} ${ONE} 8`,
    ]);
  });

  test('of two agents between the areas one copies it, and neither copies the other’s back', () => {
    const { net, leaf, border, core } = scene();
    const second = net.agent(SECOND, [0, 1]);
    net.run(SETTLED);
    net.declare(leaf, [colorOf(one, 7)]);
    net.run(4 * SETTLED);
    expect(colorsOf(core)).toEqual([`${named(0, BORDER)} ${ONE} 7`]);
    expect([border, second].flatMap((agent) => lsasOf(version, agent, 1))).toEqual([]);
  });

  test('is placed beside the other kinds, and what cannot be advertised is counted', () => {
    const { net, leaf, border } = scene();
    const many = Array.from({ length: 200 }, (_, n) => colorOf(prefix(senderPrefix(version, n)), 5));
    net.declare(leaf, [...declaration(version, [7]), ...many, colorOf(prefix(senderPrefix(version, 300)), 0)]);
    net.run(SETTLED);
    expect(lsasOf(version, leaf, 1).length).toBeGreaterThan(1);
    expect({
      colorsOfLength: colorsOf(border).length,
      learnedLength: border.learned(senderPrefix(version, 7)).length,
    }).toEqual({ colorsOfLength: 200, learnedLength: 1 });
    expect({
      originateUnusableColor: leaf.count('originate.unusable-color'),
      unplacedEntries: unplacedEntries(leaf.content),
    }).toEqual({ originateUnusableColor: 1, unplacedEntries: 1 });
  });

  test.each<[string, (whole: string, bad: string) => string]>([
    ['color-zero', (whole, bad) => bad + whole],
    ['color-overrun', (whole, bad) => whole + bad.replace(/^(....)../, '$1ff')],
    ['color-overrun', (whole, bad) => whole + bad.slice(0, 8)],
  ])('%s: a hostile value is counted, what is right beside it is used', (what, content) => {
    const { net, border } = scene();
    border.now = net.now;
    const body = { kind: 'unknown' as const, content: fromHex(content(entry('00', '07', 1), entry('00', '00', 2))) };
    border.hears(1, LEAF, { ...COLOR_LSA[version], body });
    expect({ border: border.count(`learn.${what}`), colorsOf: colorsOf(border) }).toEqual({
      border: 1,
      colorsOf: [`${named(1, LEAF)} ${ONE} 7`],
    });
  });
});
