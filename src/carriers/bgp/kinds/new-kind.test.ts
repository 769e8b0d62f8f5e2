// A new kind of advertisement is one file and one row: the carrier is given the row, and all else follows. The kind is
// that of color.fixture.ts. Through a real gobgpd: test/e2e/gobgp-new-kind.test.ts.
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import { origination } from '../../../model/advertisement.fixture.ts';
import type { LearnedAdvertisement, Origination } from '../../../model/advertisement.ts';
import { type Prefix, formatPrefix, hostPrefix, prefix } from '../../../model/prefix.ts';
import { privateCharacteristic } from '../../../packet/bgp/characteristics.ts';
import { fromHex, toHex } from '../../../packet/hex.ts';
import { Agent, CODES, END_CON, declaration, nhc, path, pnc, route, shown } from '../content.fixture.ts';
import { PATH_CAPACITY } from '../constants.ts';
import { COLOR, COLOR_TLV, WITH_COLOR, colorOf } from './color.fixture.ts';
import { BGP_KINDS, BgpKinds } from './table.ts';

const [RED, BLUE] = [prefix('2001:db8:1::/48'), prefix('2001:db8:2::/56')];
const [HOST4, HOST6] = ['192.0.2.1/32', '2001:db8::1/128'];
const SENDERS = declaration({ '2001:db8:a::/48': '2001:db8::1' });
const SID = { sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: END_CON };

const agent = (rest: ConstructorParameters<typeof Agent>[0] = {}, kinds = WITH_COLOR): Agent => {
  const made = new Agent(rest, kinds);
  made.connect();
  return made;
};
const learner = (kinds?: typeof WITH_COLOR): Agent => {
  const made = new Agent({}, kinds);
  made.connect();
  return made;
};
function declare(origin: Agent, declared: Origination): string[] {
  origin.declare(declared);
  return origin.answer();
}

/** gobgpd passes on what it has from one cnpd, and that it has no longer what it had. */
function passOn(from: Agent, to: Agent): void {
  const had = [...to.content.learning.known].map(([text]) => text).filter((text) => !from.gobgpd.has(text));
  const has = [...from.gobgpd].map(([text, own]) =>
    route(text, path(formatAddress(own.nextHop), { nhc: own.nhc, neighbor: '2001:db8::1' })),
  );
  to.report(...had.map((text) => route(text)), ...has);
}

const colorsOf = ({ reports }: Agent): string[] =>
  [...reports.values()]
    .flatMap(({ source, originator, advertisements }) =>
      (advertisements as readonly (LearnedAdvertisement | { kind: 'color'; prefix: Prefix; color: number })[])
        .filter((one) => one.kind === 'color')
        .map((one) => `${source} ${originator} ${formatPrefix(one.prefix)} ${one.color}`),
    )
    .sort();

describe('a kind that exists only here', () => {
  test('crosses from one cnpd to another, changes, and is withdrawn; the other kinds beside it too', () => {
    const [origin, other] = [agent(), learner(WITH_COLOR)];
    const rest = [...SENDERS, ...origination({ sids: [SID] })];
    expect(declare(origin, [...rest, colorOf(RED, 7), colorOf(BLUE, 9)])).toEqual([
      `+${HOST4}`,
      `+${HOST6}`,
      '+2001:db8:a::/48',
    ]);
    expect(toHex(origin.gobgpd.get(HOST6)!.nhc)).toBe(
      '00020110' +
        '20010db8000000000000000000000001' +
        'ffdd0038' +
        '01000000' +
        '00010014' +
        '80023000' +
        '20010db8000c00000000000000000001' +
        '00fa0008' +
        '0730' +
        '20010db80001' +
        '00fa0009' +
        '0938' +
        '20010db8000200' +
        '000000',
    );
    passOn(origin, other);
    const both = (color: number): string[] => [
      `${HOST4} 192.0.2.1 2001:db8:1::/48 ${color}`,
      `${HOST4} 192.0.2.1 2001:db8:2::/56 9`,
      `${HOST6} 2001:db8::1 2001:db8:1::/48 ${color}`,
      `${HOST6} 2001:db8::1 2001:db8:2::/56 9`,
    ];
    expect(colorsOf(other)).toEqual(both(7));
    expect(other.learned()).toContain('2001:db8:a::/48 2001:db8::1 2001:db8::1 0');

    expect(declare(origin, [...rest, colorOf(BLUE, 9), colorOf(RED, 8)])).toEqual([`+${HOST4}`, `+${HOST6}`]);
    passOn(origin, other);
    expect(colorsOf(other)).toEqual(both(8));

    declare(origin, [...rest, colorOf(BLUE, 9)]);
    passOn(origin, other);
    expect(colorsOf(other)).toEqual(both(8).filter((row) => row.endsWith(' 9')));

    expect(declare(origin, SENDERS)).toEqual([`-${HOST4}`, `-${HOST6}`]);
    passOn(origin, other);
    expect({ colorsOf: colorsOf(other), reportsSize: other.reports.size }).toEqual({ colorsOf: [], reportsSize: 1 });
  });

  test('is passed over by a cnpd without the row, which learns the rest', () => {
    const [origin, other] = [agent(), learner()];
    declare(origin, [...origination({ sids: [SID] }), colorOf(RED, 7)]);
    passOn(origin, other);
    expect({
      colorsOf: colorsOf(other),
      counters: [...other.counters.keys()].filter((name) => /learn|characteristic/.test(name)),
    }).toEqual({ colorsOf: [], counters: [] });
    const rows = shown(other.content, { now: other.now, toWall: 0 });
    expect(rows.map(({ status, sids, unknown }) => [status, sids, unknown])).toEqual([
      ['used', ['2001:db8:c::1'], []],
      ['used', ['2001:db8:c::1'], []],
    ]);
  });

  test('has its own rules: of two colors for a prefix the higher; what cannot be advertised is counted', () => {
    const [origin, other] = [agent({ nextHop4: undefined }), learner(WITH_COLOR)];
    declare(origin, [colorOf(RED, 7), colorOf(RED, 8), colorOf(RED, 6), colorOf(BLUE, 0)]);
    passOn(origin, other);
    expect({ colorsOf: colorsOf(other), originateUnusableColor: origin.count('originate.unusable-color') }).toEqual({
      colorsOf: [`${HOST6} 2001:db8::1 2001:db8:1::/48 8`],
      originateUnusableColor: 1,
    });
  });

  test('shares the capacity of a path with the others, and needs a next hop as they do', () => {
    const many = Array.from({ length: 300 }, (_, i) => colorOf(prefix(`2001:db8:${(i + 1).toString(16)}::/48`), 5));
    const sids = Array.from({ length: 100 }, (_, i) => ({
      ...SID,
      sid: address(`2001:db8:c::${(i + 1).toString(16)}`),
    }));
    const origin = agent({ nextHop4: undefined });
    declare(origin, [...many, ...origination({ sids })]);
    // A color takes 12 bytes, a SID 24.
    const fitting = Math.floor((PATH_CAPACITY - 100 * 24) / 12);
    expect({ originateNoRoom: origin.count('originate.no-room'), unplaced: origin.content.unplaced }).toEqual({
      originateNoRoom: 300 - fitting,
      unplaced: 300 - fitting,
    });
    expect(origin.gobgpd.get(HOST6)!.nhc.length).toBeLessThan(3500);
    // What takes the place of another has its bytes.
    const fits = many.slice(0, fitting);
    const higher = fits.map((one) => colorOf((one as unknown as { prefix: Prefix }).prefix, 6));
    const again = agent({ nextHop4: undefined });
    declare(again, [...fits, ...higher, ...origination({ sids })]);
    expect({ originateNoRoom: again.count('originate.no-room'), unplaced: again.content.unplaced }).toEqual({
      originateNoRoom: 0,
      unplaced: 0,
    });
    const nowhere = agent({ nextHop4: undefined, nextHop6: undefined });
    expect(declare(nowhere, [colorOf(RED, 7)])).toEqual([]);
    expect({ originateNoNextHop: nowhere.count('originate.no-next-hop'), unplaced: nowhere.content.unplaced }).toEqual({
      originateNoNextHop: 1,
      unplaced: 1,
    });
  });

  test('one entry that no path can hold makes no path; keys are those of a kind, whatever other kinds have', () => {
    const { own } = COLOR;
    const huge = { ...COLOR, own: { ...own, entries: { ...own.entries, size: () => PATH_CAPACITY + 1 } } };
    const origin = agent({ nextHop4: undefined }, new BgpKinds([...BGP_KINDS.rows, huge]));
    expect(declare(origin, [colorOf(RED, 7)])).toEqual([]);
    expect({ originateNoRoom: origin.count('originate.no-room'), pathsSize: origin.content.own.paths.size }).toEqual({
      originateNoRoom: 1,
      pathsSize: 0,
    });

    const keyOfSid = formatAddress(SID.sid);
    const place: typeof own.declare = ([one], paths) => {
      paths.place({ ...one!, key: keyOfSid }, hostPrefix(address('2001:db8::1')), 'at-end');
      return [];
    };
    const alike = agent(
      { nextHop4: undefined },
      new BgpKinds([...BGP_KINDS.rows, { ...COLOR, own: { ...own, declare: place } }]),
    );
    const other = learner(WITH_COLOR);
    declare(alike, [...origination({ sids: [SID] }), colorOf(RED, 7)]);
    passOn(alike, other);
    expect(other.reports.get(HOST6)?.advertisements.map(({ kind }) => kind as string)).toEqual([
      'sender-prefix',
      'sid',
      'router-address',
      'color',
    ]);
  });

  test.each([
    ['no color', '003020010db80009'],
    ['a prefix that is cut off', '0730' + '20010db8'],
    ['a prefix longer than an address', '0781' + '20010db8'.repeat(5)],
    ['nothing', ''],
  ])('a hostile value, %s, is counted; what is right beside it is used', (_what, hex) => {
    const other = learner(WITH_COLOR);
    const [bad, good] = [hex, '0730' + '20010db80001'].map(
      (value) => ({ tlv: 'unknown', type: COLOR_TLV, value: fromHex(value) }) as const,
    );
    const hop = '2001:db8::9';
    const container = privateCharacteristic(CODES.private, [bad!, good!]);
    other.report(route(formatPrefix(hostPrefix(address(hop))), path(hop, { nhc: nhc(hop, pnc(hop), container) })));
    expect({ characteristicBadColor: other.count('characteristic.bad-color'), colorsOf: colorsOf(other) }).toEqual({
      characteristicBadColor: 1,
      colorsOf: [`${hop}/128 ${hop} 2001:db8:1::/48 7`],
    });
    expect(other.learned()).toEqual([`${hop}/128 ${hop} ${hop} 0`]);
  });
});
