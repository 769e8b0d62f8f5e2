// What gobgpd has for a prefix, from a list, events and answers that come in every order.
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import { silentLog } from '../../../model/log.ts';
import { formatPrefix, prefix } from '../../../model/prefix.ts';
import { fail, ok } from '../../../model/result.ts';
import type { GobgpApi } from './api.ts';
import { OWN_IDENTIFIER } from './gobgp.ts';
import { Routes, type RoutesOptions } from './routes.ts';

/**
 * `PREFIX HOP [best|own|unreachable]…`, `PREFIX - […]` a withdrawal, `PREFIX !` a path whose next hop cannot be read,
 * `!` one that cannot be read at all, `?` one of another family.
 */
const decodePath: GobgpApi['decodePath'] = (bytes) => {
  const [name, hop, ...flags] = Buffer.from(bytes).toString().split(' ') as [string, string, ...string[]];
  if (name === '?') return undefined;
  if (name === '!') return fail({ code: 'prefix', message: 'no prefix' });
  if (hop === '!') return fail({ code: 'next-hop', message: 'no next hop', prefix: prefix(name) });
  const own = flags.includes('own');
  const [neighbor, identifier, unreachable] = [
    own ? undefined : '192.0.2.100',
    own ? OWN_IDENTIFIER : 0,
    flags.includes('unreachable'),
  ];
  const path =
    hop === '-'
      ? undefined
      : {
          identifier,
          neighbor,
          neighborAs: 65001,
          nextHop: address(hop),
          asPath: [],
          med: 0,
          best: flags.includes('best'),
        };
  return ok({ prefix: prefix(name), path, neighbor, identifier, unreachable });
};
const path = (text: string): Uint8Array => Buffer.from(text);
const [P, Q, V6] = ['10.1.0.0/16', '10.2.0.0/16', '2001:db8::/32'] as const;

function setUp(options: Partial<RoutesOptions> = {}): {
  routes: Routes;
  reported: () => string[];
  counters: Map<string, number>;
} {
  const counters = new Map<string, number>();
  const routes = new Routes(
    { api: { decodePath }, learn: 'best', multipath: false, ...options },
    { log: silentLog, count: (name) => void counters.set(name, (counters.get(name) ?? 0) + 1) },
  );
  const reported = (): string[] =>
    routes.take().map(({ prefix, paths }) => {
      const hops = paths.map((p) => formatAddress(p.nextHop) + (p.best ? '*' : ''));
      return `${formatPrefix(prefix)}: ${hops.join(' ')}`.trim();
    });
  return { routes, reported, counters };
}

describe('a list and events', () => {
  test('of a listed prefix the best path and cnpd’s own are reported', () => {
    const { routes, reported } = setUp();
    routes.listed([path(`${P} 192.0.2.1 best`), path(`${P} 192.0.2.2`), path(`${P} 192.0.2.3 own`)]);
    routes.listed([path(`${Q} 192.0.2.1`)]);
    expect(reported()).toEqual([`${P}: 192.0.2.1* 192.0.2.3`, `${Q}:`]);
  });
  test('an event is newer than the list’s entry, whichever comes first', () => {
    const { routes, reported } = setUp();
    routes.listed([path(`${P} 192.0.2.1 best`)]);
    routes.event(path(`${P} 192.0.2.2`));
    routes.event(path(`${Q} -`));
    routes.listed([path(`${Q} 192.0.2.1 best`)]);
    expect(reported()).toEqual([`${P}: 192.0.2.1*`, `${P}: 192.0.2.2*`, `${Q}:`]);
    routes.loaded();
    routes.event(path(`${Q} 192.0.2.3`));
    expect(reported()).toEqual([`${Q}: 192.0.2.3*`]);
  });
  test('a best path whose next hop became unreachable is none', () => {
    const { routes, reported } = setUp();
    routes.event(path(`${P} 192.0.2.1 unreachable`));
    expect(reported()).toEqual([`${P}:`]);
  });
  test('cnpd’s own path that is the best is reported once', () => {
    const { routes, reported } = setUp();
    routes.listed([path(`${P} 192.0.2.3 best own`), path(`${P} 192.0.2.1`)]);
    expect(reported()).toEqual([`${P}: 192.0.2.3*`]);
  });
  test('paths of another family are none of ours', () => {
    const { routes, reported, counters } = setUp({ learn: 'all' });
    routes.event(path('?'));
    routes.listed([path('?'), path(`${P} 192.0.2.1 best`)]);
    routes.listed([path('?')]);
    routes.answer([path('?')]);
    expect({ reported: reported(), ask: routes.ask(10), countersSize: counters.size }).toEqual({
      reported: [`${P}: 192.0.2.1*`],
      ask: undefined,
      countersSize: 0,
    });
  });
  test('how many routes there are to tell is known before they are taken', () => {
    const { routes, reported } = setUp();
    expect(routes.unreported).toBe(0);
    routes.listed([path(`${P} 192.0.2.1 best`)]);
    routes.listed([path(`${Q} 192.0.2.1 best`)]);
    expect({ untoldBefore: routes.unreported, reported: reported().length, untoldAfter: routes.unreported }).toEqual({
      untoldBefore: 2,
      reported: 2,
      untoldAfter: 0,
    });
  });
  test('where the list shows cnpd’s own path under a newer event’s, the prefix is asked about', () => {
    const { routes, reported } = setUp();
    routes.event(path(`${P} 192.0.2.1`));
    routes.listed([path(`${P} 192.0.2.1 best`), path(`${P} 192.0.2.3 own`)]);
    expect(routes.ask(10)?.prefixes.map(formatPrefix)).toEqual([P]);
    routes.answer([path(`${P} 192.0.2.1 best`), path(`${P} 192.0.2.3 own`)]);
    routes.answered();
    expect(reported()).toEqual([`${P}: 192.0.2.1*`, `${P}: 192.0.2.1* 192.0.2.3`]);
  });
});

describe('questions', () => {
  test('of an own prefix another’s path is asked about, cnpd’s own is reported at once', () => {
    const { routes, reported } = setUp();
    routes.put([{ prefix: prefix(P) }]);
    routes.event(path(`${P} 192.0.2.3 own`));
    expect({ reported: reported(), ask: routes.ask(10) }).toEqual({ reported: [`${P}: 192.0.2.3*`], ask: undefined });
    routes.event(path(`${P} 192.0.2.1`));
    expect({ reported: reported(), ask: routes.ask(10) }).toEqual({
      reported: [],
      ask: { family: 4, prefixes: [prefix(P)] },
    });
    routes.answered();
    expect(reported()).toEqual([`${P}:`]);
    routes.event(path(`${P} 192.0.2.1`));
    expect(reported()).toEqual([`${P}: 192.0.2.1*`]);
  });
  test.each([{ learn: 'all' }, { multipath: true }] as const)(
    'with %o every event is a question, one family at a time and no more than the limit',
    (options) => {
      const { routes, reported } = setUp(options);
      for (const name of [P, V6, Q]) routes.event(path(`${name} -`));
      expect(routes.ask(1)?.prefixes.map(formatPrefix)).toEqual([P]);
      routes.answered();
      expect(routes.ask(10)?.prefixes.map(formatPrefix)).toEqual([V6]);
      routes.answer([path(`${V6} 2001:db8::1 best`)]);
      routes.answered();
      expect(routes.ask(10)?.prefixes.map(formatPrefix)).toEqual([Q]);
      routes.answered();
      expect({ reported: reported(), ask: routes.ask(10) }).toEqual({
        reported: [`${P}:`, `${V6}: 2001:db8::1*`, `${Q}:`],
        ask: undefined,
      });
    },
  );
  test('an event that comes before the answer makes it worthless: the prefix is asked about again', () => {
    const { routes, reported } = setUp({ learn: 'all' });
    routes.event(path(`${P} 192.0.2.1`));
    routes.ask(10);
    routes.event(path(`${P} -`));
    routes.answer([path(`${P} 192.0.2.1 best`)]);
    routes.answered();
    expect(reported()).toEqual([]);
    expect(routes.ask(10)?.prefixes.map(formatPrefix)).toEqual([P]);
    routes.answered();
    expect(reported()).toEqual([`${P}:`]);
  });
  test('a prefix that is to be asked about is not reported before the answer, whatever happens to it', () => {
    const { routes, reported } = setUp();
    routes.event(path(`${P} !`));
    routes.event(path(`${P} 192.0.2.1`));
    expect(reported()).toEqual([]);
    expect(routes.ask(10)?.prefixes.map(formatPrefix)).toEqual([P]);
    routes.answer([path(`${P} 192.0.2.2 best`)]);
    expect(reported()).toEqual([`${P}: 192.0.2.2*`]);
  });
  test('cnpd can have prefixes asked about: they are open until they are answered', () => {
    const { routes, reported } = setUp();
    const keys = routes.doubt([prefix(P), prefix(V6)]);
    const open = (): boolean[] => keys.map((key) => routes.isOpen(key));
    expect({ keysSize: new Set(keys).size, open: open() }).toEqual({ keysSize: 2, open: [true, true] });
    routes.ask(10);
    expect(open()).toEqual([true, true]);
    routes.answer([path(`${P} 192.0.2.1 best`)]);
    expect(open()).toEqual([false, true]);
    routes.ask(10);
    routes.answered();
    expect({ open: open(), reported: reported() }).toEqual({
      open: [false, false],
      reported: [`${P}: 192.0.2.1*`, `${V6}:`],
    });
  });
  test('of a prefix that cnpd puts a path in another’s news are a question from then on, until it has taken it out', () => {
    const { routes, reported } = setUp();
    routes.put([{ prefix: prefix(P) }]);
    routes.event(path(`${P} 192.0.2.1`));
    expect({ reported: reported(), prefixes: routes.ask(10)?.prefixes.map(formatPrefix) }).toEqual({
      reported: [],
      prefixes: [P],
    });
    routes.answer([path(`${P} 192.0.2.1 best`), path(`${P} 192.0.2.3 own`)]);
    expect(reported()).toHaveLength(1);
    routes.taken([prefix(P)]);
    routes.event(path(`${P} 192.0.2.2`));
    expect({ reported: reported(), ask: routes.ask(10) }).toEqual({ reported: [`${P}: 192.0.2.2*`], ask: undefined });
  });
  test('an answer to a question that was not asked is not reported', () => {
    const { routes, reported } = setUp({ learn: 'all' });
    routes.answer([path(`${P} 192.0.2.1 best`)]);
    expect(reported()).toEqual([]);
  });
});

describe('paths that cannot be read', () => {
  test('are counted and left out; the rest of the prefix is reported', () => {
    const { routes, reported, counters } = setUp({ learn: 'all' });
    routes.listed([path(`${P} !`), path(`${P} 192.0.2.2`)]);
    routes.listed([path('!')]);
    routes.listed([]);
    expect(reported()).toEqual([`${P}: 192.0.2.2`]);
    expect(Object.fromEntries(counters)).toEqual({ 'bgp.gobgp.path.next-hop': 1, 'bgp.gobgp.path.prefix': 1 });
  });
  test('in an event, the prefix is asked about, so that what was known before does not stay', () => {
    const { routes, reported } = setUp();
    routes.event(path(`${P} 192.0.2.1`));
    routes.event(path(`${P} !`));
    routes.event(path('!'));
    expect(routes.ask(10)?.prefixes.map(formatPrefix)).toEqual([P]);
    routes.answer([path(`${P} !`)]);
    routes.answered();
    expect(reported()).toEqual([`${P}: 192.0.2.1*`, `${P}:`]);
  });
});
