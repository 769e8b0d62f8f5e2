// What is asked for while databases are brought together, and what comes instead of it (RFC 2328 §10.7, §10.9, §13).
import { describe, expect, test } from 'vitest';
import { opaqueLsId } from '../../../packet/ospf/lsa-type.ts';
import { decodeLsa, encodeLsa } from '../../../packet/ospf/lsa.ts';
import { lsaKeyText } from '../../../packet/ospf/router-id.ts';
import type { Lsa, LsaHeader, LsaKey } from '../../../packet/ospf/types.ts';
import { AREA, Link, Router, VERSIONS, testConfig } from '../simulation.fixture.ts';

const A = 0x01010101;
const B = 0x02020202;
const OTHER = 0x03030303;

describe.each(VERSIONS)('%s', (_name, version) => {
  const type = version.version === 2 ? 10 : 0xa023;

  /** An instance of another router's LSA. */
  function lsaOf(n: number, sequence: number, bytes = 4, age = 1): Lsa {
    const header = { age, options: 0, type, lsId: opaqueLsId(99, n), advertisingRouter: OTHER, sequence };
    const body = { kind: 'unknown' as const, content: new Uint8Array(bytes) };
    const lsa = decodeLsa(version.version, encodeLsa(version.version, header, body));
    if (!lsa.ok) throw new Error(lsa.error.detail);
    return lsa.value;
  }
  const headerOf = ({ raw: _raw, ...header }: Lsa): LsaHeader => header;
  const keyOf = (n: number): string => lsaKeyText({ type, lsId: opaqueLsId(99, n), advertisingRouter: OTHER });

  function scene(): { a: Router; link: Link; requests: () => (readonly LsaKey[])[] } {
    const a = new Router(testConfig(A, version));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.until('full', () => a.state === 'full');
    link.run(10_000);
    link.weather = () => [];
    const from = link.sent.length;
    const requests = (): (readonly LsaKey[])[] =>
      link.sent
        .slice(from)
        .flatMap(({ from: who, packet }) =>
          who === 0 && packet?.kind === 'link-state-request' ? [packet.requests] : [],
        );
    return { a, link, requests };
  }
  const update = (link: Link, ...lsas: Lsa[]): void => link.hand(0, { kind: 'link-state-update', lsas });

  /** B is master of an exchange and describes these. */
  function describing({ area: { neighbor } }: Router, link: Link, headers: readonly LsaHeader[], more = true): void {
    Object.assign(neighbor!, { state: 'exchange', weAreMaster: false });
    const { options, ddSequence } = neighbor!;
    link.hand(0, {
      ...{ kind: 'database-description', mtu: 1500, options, initialize: false, more, master: true },
      ...{ sequence: ddSequence + 1, headers },
    });
  }

  describe('an LSA that was asked for', () => {
    test.each([
      ['the one that we have', 5],
      ['an older one', 4],
    ])('comes as %s: a bad request, the exchange restarts, nothing after it counts (§13 step 6)', (_what, sequence) => {
      const { a, link, requests } = scene();
      update(link, lsaOf(1, 5));
      describing(a, link, [headerOf(lsaOf(1, 7))]);
      expect(requests().flat().map(lsaKeyText)).toEqual([keyOf(1)]);
      update(link, lsaOf(1, sequence), lsaOf(2, 1));
      expect({
        state: a.state,
        neighborBadRequest: a.count('neighbor.bad-request'),
        hasKeyOf: a.area.lsdb.byKey.has(keyOf(2)),
      }).toEqual({ state: 'ex-start', neighborBadRequest: 1, hasKeyOf: false });
    });

    test('comes in a version between ours and that which was listed: taken, and still asked for', () => {
      const { a, link } = scene();
      update(link, lsaOf(1, 5));
      link.run(2000);
      describing(a, link, [headerOf(lsaOf(1, 7))], false);
      expect(a.state).toBe('loading');
      update(link, lsaOf(1, 6));
      expect({ state: a.state, sequence: a.area.lsdb.byKey.get(keyOf(1))!.sequence }).toEqual({
        state: 'loading',
        sequence: 6,
      });
      link.run(2000);
      update(link, lsaOf(1, 7));
      expect({ state: a.state, sequence: a.area.lsdb.byKey.get(keyOf(1))!.sequence }).toEqual({
        state: 'full',
        sequence: 7,
      });
    });

    test('comes newer than it was listed: that will do', () => {
      const { a, link } = scene();
      describing(a, link, [headerOf(lsaOf(1, 7))], false);
      update(link, lsaOf(1, 8));
      expect({ state: a.state, neighborBadRequest: a.count('neighbor.bad-request') }).toEqual({
        state: 'full',
        neighborBadRequest: 0,
      });
    });

    test('is not asked for when ours is the same or newer', () => {
      const { a, link, requests } = scene();
      update(link, lsaOf(1, 5), lsaOf(2, 5));
      describing(a, link, [headerOf(lsaOf(1, 5)), headerOf(lsaOf(2, 4))], false);
      expect({ requests: requests(), state: a.state }).toEqual({ requests: [], state: 'full' });
    });
  });

  describe('a description (§10.6)', () => {
    test.each(['loading', 'full'] as const)(
      'in %s, where only duplicates are expected, begins the exchange anew',
      (state) => {
        const { a, link } = scene();
        const neighbor = a.area.neighbor!;
        Object.assign(neighbor, { state, weAreMaster: false });
        const { options, ddSequence } = neighbor;
        link.hand(0, {
          ...{ kind: 'database-description', mtu: 1500, options, initialize: false, more: true, master: true },
          ...{ sequence: ddSequence + 1, headers: [] },
        });
        expect({
          state: a.state,
          neighborSequenceNumberMismatch: a.count('neighbor.sequence-number-mismatch'),
        }).toEqual({ state: 'ex-start', neighborSequenceNumberMismatch: 1 });
      },
    );

    test('is ignored in the pause after exchanges that failed, and heard when it is over', () => {
      const { a, link } = scene();
      const claim = (): void =>
        link.hand(0, {
          ...{ kind: 'database-description', mtu: 1500, options: version.exchangeOptions(false), headers: [] },
          ...{ initialize: true, more: true, master: true, sequence: 77 },
        });
      const neighbor = a.area.neighbor!;
      neighbor.state = 'ex-start';
      neighbor.exchangeFrom = link.now + 1000;
      claim();
      expect({ state: a.state, exchangeBackingOff: a.count('exchange.backing-off') }).toEqual({
        state: 'ex-start',
        exchangeBackingOff: 1,
      });
      neighbor.exchangeFrom = link.now;
      claim();
      expect({ state: a.state, exchangeBackingOff: a.count('exchange.backing-off') }).toEqual({
        state: 'exchange',
        exchangeBackingOff: 1,
      });
    });

    test('that is refused, wholly or for an LSA without the shape of its type, is reported with what differs', () => {
      const { a, link } = scene();
      const before = a.fields.length;
      const base = version.version === 2 ? 1 : 0x2001;
      describing(a, link, [{ ...headerOf(lsaOf(1, 1)), type: base, length: 23 }]);
      link.hand(0, {
        ...{ kind: 'database-description', mtu: 9000, options: a.area.neighbor!.options, headers: [] },
        ...{ initialize: false, more: true, master: true, sequence: 1 },
      });
      expect(a.fields.slice(before)).toMatchObject([
        {
          counter: expect.stringMatching(/bad-shape/) as string,
          detail: expect.stringMatching(/^23 bytes, shorter/) as string,
        },
        { counter: expect.stringMatching(/mtu-mismatch/) as string, theirs: 9000, ours: 1500 },
      ]);
    });
  });

  test('requests go a packet at a time, the next when all of the last is answered (§10.9)', () => {
    const { a, link, requests } = scene();
    const fit = Math.floor((1500 - version.ipHeader - (version.version === 2 ? 24 : 16)) / 12);
    const headers = Array.from({ length: fit + 3 }, (_, n) => headerOf(lsaOf(n, 1)));
    for (let at = 0; at < headers.length; at += 50) describing(a, link, headers.slice(at, at + 50));
    const first = requests()[0]!.length;
    expect(requests().map(({ length }) => length)).toEqual([first]);
    for (let n = 0; n < first - 1; n++) update(link, lsaOf(n, 1));
    expect(requests()).toHaveLength(1);
    update(link, lsaOf(first - 1, 1));
    expect(requests().map(({ length }) => length)).toEqual([first, Math.min(fit, headers.length - first)]);
    expect(new Set(requests().flat().map(lsaKeyText)).size).toBe(requests().flat().length);
  });

  test('unanswered, the same is asked for again every 5 s, and no more once it has come', () => {
    const { a, link, requests } = scene();
    describing(a, link, [headerOf(lsaOf(1, 1)), headerOf(lsaOf(2, 1))], false);
    link.run(4999);
    expect(requests()).toHaveLength(1);
    link.run(5001);
    expect(requests().map((keys) => keys.map(lsaKeyText))).toEqual(new Array(3).fill([keyOf(1), keyOf(2)]));
    update(link, lsaOf(1, 1));
    link.run(5000);
    expect(requests().at(-1)!.map(lsaKeyText)).toEqual([keyOf(2)]);
    update(link, lsaOf(2, 1));
    const before = requests().length;
    link.run(20_000);
    expect({ requestsLength: requests().length - before, state: a.state }).toEqual({
      requestsLength: 0,
      state: 'full',
    });
  });

  describe('the neighbor asks', () => {
    const answers = (link: Link, from: number): Lsa[][] =>
      link.sent
        .slice(from)
        .flatMap(({ from: who, packet }) =>
          who === 0 && packet?.kind === 'link-state-update' ? [[...packet.lsas]] : [],
        );

    test('and is answered at once, in one update, in the order in which it asked', () => {
      const { link } = scene();
      update(link, lsaOf(1, 5), lsaOf(2, 6));
      const from = link.sent.length;
      link.hand(0, { kind: 'link-state-request', requests: [lsaOf(2, 6), lsaOf(1, 5)] });
      expect(answers(link, from).map((lsas) => lsas.map(lsaKeyText))).toEqual([[keyOf(2), keyOf(1)]]);
    });

    test('for one that we lack among others: a bad request, and none is sent (§10.7)', () => {
      const { a, link } = scene();
      update(link, lsaOf(1, 5));
      const from = link.sent.length;
      link.hand(0, { kind: 'link-state-request', requests: [lsaOf(1, 5), lsaOf(2, 6)] });
      expect({
        answers: answers(link, from),
        state: a.state,
        neighborBadRequest: a.count('neighbor.bad-request'),
      }).toEqual({ answers: [], state: 'ex-start', neighborBadRequest: 1 });
    });

    test.each(['init', 'ex-start'] as const)(
      'in %s, before an exchange: no answer, and nothing begins anew',
      (state) => {
        const { a, link } = scene();
        a.area.neighbor!.state = state;
        const from = link.sent.length;
        link.hand(0, { kind: 'link-state-request', requests: [lsaOf(1, 5)] });
        update(link, lsaOf(1, 5));
        link.hand(0, { kind: 'link-state-acknowledgment', headers: [headerOf(lsaOf(1, 5))] });
        expect({ answers: answers(link, from), state: a.state, hasKeyOf: a.area.lsdb.byKey.has(keyOf(1)) }).toEqual({
          answers: [],
          state,
          hasKeyOf: false,
        });
        expect(['request', 'update', 'acknowledgment'].map((what) => a.count(`${what}.not-exchanging`))).toEqual([
          1, 1, 1,
        ]);
      },
    );
  });

  describe('an LSA at MaxAge that we do not have (§13 step 4)', () => {
    const acknowledged = (link: Link, from: number): string[] =>
      link.sent
        .slice(from)
        .flatMap(({ from: who, packet }) =>
          who === 0 && packet?.kind === 'link-state-acknowledgment' ? packet.headers.map(lsaKeyText) : [],
        );

    test('is acknowledged at once and not kept', () => {
      const { a, link } = scene();
      const from = link.sent.length;
      update(link, lsaOf(1, 5, 4, 3600));
      expect({ acknowledged: acknowledged(link, from), hasKeyOf: a.area.lsdb.byKey.has(keyOf(1)) }).toEqual({
        acknowledged: [keyOf(1)],
        hasKeyOf: false,
      });
    });

    test.each(['exchange', 'loading'] as const)('is kept in %s, because it may still be listed', (state) => {
      const { a, link } = scene();
      const from = link.sent.length;
      a.area.neighbor!.state = state;
      update(link, lsaOf(1, 5, 4, 3600));
      expect({ acknowledged: acknowledged(link, from), hasKeyOf: a.area.lsdb.byKey.has(keyOf(1)) }).toEqual({
        acknowledged: [],
        hasKeyOf: true,
      });
    });
  });
});

test('what is reported of an originated LSA goes to no area but its own', () => {
  const a = new Router(testConfig(A));
  expect(() =>
    new Link(a, new Router(testConfig(B))).event(0, { type: 'originate', areaId: AREA + 1, lsas: [] }),
  ).toThrow(/area 2 is not configured/);
});
