// What the senders of a prefix understand, in BGP: a characteristic of the path of the prefix, and of no other path.
import { describe, expect, test } from 'vitest';
import { byKind } from '../../../model/advertisement.fixture.ts';
import { address, formatAddress } from '../../../model/address.ts';
import type { Origination } from '../../../model/advertisement.ts';
import { prefix } from '../../../model/prefix.ts';
import { understood } from '../../../model/understood.ts';
import { readCharacteristics } from '../../../packet/bgp/characteristics.ts';
import { decodeNhc } from '../../../packet/bgp/nhc.ts';
import { fromHex } from '../../../packet/hex.ts';
import { Agent, CODES, nhc, path, pnc, route } from '../content.fixture.ts';

const P = '2001:db8:a::/48';
const LEAF = '2001:db8::2';
const FAST = understood(['fast-cnp']);
const saying = (hex: string) => ({ code: CODES.supports, value: fromHex(hex) });
const declared = (proxy: boolean): Origination => [
  { kind: 'sender-prefix', prefix: prefix(P), ...(proxy && { proxy: address('2001:db8::1') }), supports: FAST },
];
function connected(config: ConstructorParameters<typeof Agent>[0] = {}): Agent {
  const agent = new Agent(config);
  agent.connect();
  return agent;
}
const inPaths = ({ gobgpd }: Agent): Record<string, unknown> =>
  Object.fromEntries(
    [...gobgpd].map(([text, own]) => {
      const decoded = decodeNhc(own.nhc);
      const read = readCharacteristics(decoded.ok ? decoded.value.characteristics : [], CODES);
      return [text, [read.proxy ? formatAddress(read.proxy) : 'none', read.supports?.join()]];
    }),
  );
const learned = (agent: Agent, source: string): unknown =>
  byKind(agent.reports.get(source)?.advertisements ?? []).prefixes.map(({ pnc: flag, proxy, supports }) => [
    flag,
    proxy ? formatAddress(proxy) : 'none',
    supports?.join(),
  ]);

describe('our own paths', () => {
  test('have it beside the proxy, or alone, and no longer when it is not declared', () => {
    const agent = connected();
    agent.declare(declared(true));
    agent.answer();
    expect(inPaths(agent)).toEqual({ [P]: ['2001:db8::1', 'fast-cnp'] });
    agent.declare(declared(false));
    agent.answer();
    expect(inPaths(agent)).toEqual({ [P]: ['none', 'fast-cnp'] });
    agent.declare([]);
    agent.answer();
    expect(inPaths(agent)).toEqual({});
  });

  test('for the host prefix of a proxy do not: it is left out and counted', () => {
    const agent = connected({ advertise: 'proxy-host' });
    agent.declare(declared(true));
    agent.answer();
    expect(Object.values(inPaths(agent))).toEqual([['2001:db8::1', undefined]]);
    expect(agent.count('originate.supports-without-path')).toBe(1);
  });
});

describe('paths of others', () => {
  test.each([
    ['with a proxy', [pnc(LEAF), saying('0180')], [true, LEAF, 'fast-cnp']],
    ['without one', [saying('01bf')], [false, 'none', 'fast-cnp,long-haul-roce']],
    ['with bits that are not known', [saying('011f')], [false, 'none', undefined]],
    ['of another version', [pnc(LEAF), saying('0280')], [true, LEAF, undefined]],
    ['of another length', [pnc(LEAF), saying('018000')], [true, LEAF, undefined]],
  ] as const)('%s', (_what, characteristics, expected) => {
    const agent = connected();
    agent.report(route(P, path(LEAF, { nhc: nhc(LEAF, ...characteristics) })));
    expect(learned(agent, P)).toEqual([expected]);
    agent.report(route(P));
    expect(learned(agent, P)).toEqual([]);
  });

  test('PNC-5.4-b: with another next hop than the header’s it does not count', () => {
    const agent = connected();
    agent.report(route(P, path('2001:db8::7', { nhc: nhc(LEAF, saying('0180')) })));
    expect(learned(agent, P)).toEqual([[false, 'none', undefined]]);
  });

  test('that of a host route is not about the paths through the host; their own stays, with the host’s proxy', () => {
    const agent = connected({ viaNextHop: true });
    const host = route(`${LEAF}/128`, path(LEAF, { nhc: nhc(LEAF, pnc('2001:db8::99'), saying('01e0')) }));
    const own = path(LEAF, { nhc: nhc(LEAF, saying('0180')) });
    agent.report(route(P, path(LEAF)), route('2001:db8:b::/48', own), host);
    expect([learned(agent, P), learned(agent, '2001:db8:b::/48')]).toEqual([
      [[true, '2001:db8::99', undefined]],
      [[true, '2001:db8::99', 'fast-cnp']],
    ]);
    agent.report(route(`${LEAF}/128`, path(LEAF, { nhc: nhc(LEAF, saying('01e0')) })));
    expect([learned(agent, P), learned(agent, '2001:db8:b::/48')]).toEqual([
      [[false, 'none', undefined]],
      [[false, 'none', 'fast-cnp']],
    ]);
  });
});
