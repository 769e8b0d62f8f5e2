// PNC §5.4 with via-next-hop: when the host route of a next hop names another proxy, what is reported anew.
import { byKind } from '../../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { ABOUT, Agent, nhc, path, pnc, reported, route } from '../content.fixture.ts';

const [LEAF, OTHER] = ['2001:db8::2', '2001:db8::3'];
const [A, B] = ['2001:db8:a::/48', '2001:db8:b::/48'];
const flagged = (rest = {}) => path(LEAF, { nhc: nhc(LEAF, pnc(LEAF)), ...rest });
const host = (proxy: string, rest = {}) => route(`${LEAF}/128`, path(LEAF, { nhc: nhc(LEAF, pnc(proxy)), ...rest }));

function connected(config: ConstructorParameters<typeof Agent>[0] = {}): Agent {
  const agent = new Agent(config);
  agent.connect();
  return agent;
}

describe('PNC-5.4-b: the proxy that a next hop’s host route names', () => {
  test('is reported anew of the paths that have no other, through that next hop, when it is another one', () => {
    const agent = connected({ viaNextHop: true });
    agent.report(
      route(A, path(LEAF)),
      route(B, flagged()),
      route('2001:db8:c::/48', path(OTHER)),
      route('2001:db8:d::/48', path(LEAF, { asPath: [{ type: 'sequence', numbers: [7] }] })),
    );
    expect(reported(agent, () => agent.report(host('2001:db8::99')))).toEqual([
      `${LEAF}/128 2001:db8::99`,
      `${A} 2001:db8::99`,
    ]);
    expect(reported(agent, () => agent.report(host('2001:db8::99', { med: 5 })))).toEqual([`${LEAF}/128 2001:db8::99`]);
    expect(reported(agent, () => agent.report(route(`${LEAF}/128`)))).toEqual([`${LEAF}/128 `, `${A} -`]);
    const none = (med: number): void => agent.report(route(`${LEAF}/128`, path(LEAF, { med })));
    expect([0, 1].flatMap((med) => reported(agent, () => none(med)))).toEqual([`${LEAF}/128 -`, `${LEAF}/128 -`]);
    agent.report(route(`${LEAF}/128`), route(A), route(B), route('2001:db8:c::/48'), route('2001:db8:d::/48'));
    expect(agent.content.learning.known.size).toBe(0);
  });

  test('is not one that a shorter prefix names, although it begins at the next hop', () => {
    const agent = connected({ viaNextHop: true });
    agent.report(route(A, path('2001:db8::')));
    const advertised = route('2001:db8::/64', path('2001:db8::', { nhc: nhc('2001:db8::', pnc('2001:db8::9')) }));
    expect(reported(agent, () => agent.report(advertised))).toEqual(['2001:db8::/64 2001:db8::9']);
  });

  describe('while hundreds of paths are looked at again', () => {
    const many = (hop: string, from: number) =>
      Array.from({ length: 300 }, (_, n) => route(`2001:db9:${(from + n).toString(16)}::/48`, path(hop)));
    const proxyOf = (agent: Agent, source: string) =>
      byKind(agent.reports.get(source)!.advertisements).prefixes.map(({ proxy }) => proxy);

    test('another next hop’s proxy changes: both are reported', () => {
      const agent = connected({ viaNextHop: true });
      agent.report(...many(LEAF, 0), ...many(OTHER, 300));
      agent.event({ type: 'routes', routes: [host('2001:db8::98')] });
      agent.event({ type: 'timer' });
      agent.event({
        type: 'routes',
        routes: [route(`${OTHER}/128`, path(OTHER, { nhc: nhc(OTHER, pnc('2001:db8::99')) }))],
      });
      agent.settle();
      for (let n = 0; n < 600; n++)
        expect(proxyOf(agent, `2001:db9:${n.toString(16)}::/48`.replace(':0::', '::'))).toEqual([
          address(n < 300 ? '2001:db8::98' : '2001:db8::99'),
        ]);
    });

    test('a held path that is received again is reported with the proxy of now; those that are not, as well', () => {
      const agent = connected({ viaNextHop: true });
      agent.report(host('2001:db8::98'), ...many(LEAF, 1));
      agent.lose();
      agent.connect(host('2001:db8::98'));
      agent.event({ type: 'routes', routes: [host('2001:db8::99')] });
      agent.event({ type: 'timer' });
      agent.event({ type: 'routes', routes: [many(LEAF, 300)[0]!] });
      agent.settle();
      for (const n of [1, 299, 300])
        expect(proxyOf(agent, `2001:db9:${n.toString(16)}::/48`)).toEqual([address('2001:db8::99')]);
    });
  });

  test('is of IPv4 as well', () => {
    const agent = connected({ viaNextHop: true });
    agent.report(
      route('10.1.0.0/16', path('192.0.2.2')),
      route('192.0.2.2/32', path('192.0.2.2', { nhc: nhc('192.0.2.2', pnc('192.0.2.9')) })),
    );
    expect(agent.learned()).toContain('10.1.0.0/16 192.0.2.2 192.0.2.9 0');
  });

  test('is that of the first path that names one', () => {
    const agent = connected({ viaNextHop: true, learn: 'all' });
    agent.report(
      route(
        `${LEAF}/128`,
        path(LEAF),
        ...['2001:db8::98', '2001:db8::99'].map((proxy, i) =>
          path(LEAF, { neighbor: `2001:db8::e${i}`, best: false, nhc: nhc(LEAF, pnc(proxy)) }),
        ),
      ),
    );
    agent.report(route(A, path(LEAF)));
    expect([...agent.reports.values()].at(-1)!.advertisements).toMatchObject([{ proxy: address('2001:db8::98') }]);
  });

  test('waits while gobgpd lists what it has: then every path is looked at once', () => {
    const agent = new Agent({ viaNextHop: true });
    agent.event({ type: 'connected', about: ABOUT });
    agent.event({ type: 'routes', routes: [route(A, path(LEAF))] });
    expect(
      reported(agent, () => {
        agent.event({ type: 'routes', routes: [host('2001:db8::98')] });
        agent.settle();
        agent.event({ type: 'routes', routes: [host('2001:db8::99')] });
        agent.settle();
      }),
    ).toEqual([`${LEAF}/128 2001:db8::98`, `${LEAF}/128 2001:db8::99`]);
    expect(
      reported(agent, () => {
        agent.event({ type: 'listed' });
        agent.settle();
      }),
    ).toEqual([`${A} 2001:db8::99`]);
  });

  test('without via-next-hop nothing is looked at again', () => {
    const agent = connected();
    agent.report(route(A, path(LEAF)));
    expect(reported(agent, () => agent.report(host('2001:db8::99')))).toEqual([`${LEAF}/128 2001:db8::99`]);
  });
});
