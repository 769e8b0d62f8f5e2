// What is reported to the learned table when gobgpd tells of something again, of something else, or of it no more.
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../model/address.ts';
import { ABOUT, Agent, container, nhc, path, pnc, route, shown } from './content.fixture.ts';

const [LEAF, OTHER] = ['2001:db8::2', '2001:db8::3'];
const [A, B] = ['2001:db8:a::/48', '2001:db8:b::/48'];
const flagged = (rest = {}) => path(LEAF, { nhc: nhc(LEAF, pnc(LEAF)), ...rest });
const host = (proxy: string, rest = {}) => route(`${LEAF}/128`, path(LEAF, { nhc: nhc(LEAF, pnc(proxy)), ...rest }));

function connected(config: ConstructorParameters<typeof Agent>[0] = {}): Agent {
  const agent = new Agent(config);
  agent.connect();
  return agent;
}
/** Sources that are reported while this is done, with the proxy. */
function reported(agent: Agent, what: () => void): string[] {
  const from = agent.effects.length;
  what();
  return agent.effects
    .slice(from)
    .flatMap((effect) =>
      effect.type === 'learned'
        ? [
            `${effect.report.source} ${effect.report.prefixes.map(({ proxy }) => (proxy ? formatAddress(proxy) : '-')).join()}`,
          ]
        : [],
    );
}
const since = (agent: Agent): number[] =>
  shown(agent.content, { now: agent.now, wall: agent.now }).map((row) => Date.parse(row.since));

describe('a path', () => {
  test('that is told again as it was is not reported again, and says it since the first time', () => {
    const agent = connected();
    agent.tell(route(A, flagged()));
    agent.pass(10_000);
    expect(reported(agent, () => agent.tell(route(A, flagged())))).toEqual([]);
    expect(since(agent)).toEqual([10_000]);
    agent.pass(10_500);
    expect(reported(agent, () => agent.tell(route(A, flagged({ med: 1 }))))).toEqual([`${A} ${LEAF}`]);
    expect(since(agent)).toEqual([30_000]);
  });

  test('that has lost the attribute and gets it again says it since then', () => {
    const agent = connected();
    agent.tell(route(A, flagged()));
    agent.tell(route(A, path(LEAF)));
    expect([since(agent), agent.content.learning.since.size]).toEqual([[], 0]);
    agent.pass(10_000);
    agent.tell(route(A, flagged()));
    expect(since(agent)).toEqual([20_000]);
  });

  test('of several neighbours that say the same is one for each; with learn: all each is reported', () => {
    const agent = connected({ learn: 'all' });
    const [one, two] = ['2001:db8::e', '2001:db8::f'].map((neighbor) => flagged({ neighbor }));
    agent.tell(route(A, one!, two!, flagged({ neighbor: '2001:db8::f', identifier: 7 })));
    expect([...agent.reports.keys()].sort()).toEqual([
      `${A} 2001:db8::e 0`,
      `${A} 2001:db8::f 0`,
      `${A} 2001:db8::f 7`,
    ]);
    expect(shown(agent.content, { now: agent.now, wall: agent.now }).map(({ peer }) => peer)).toEqual([
      '2001:db8::e',
      '2001:db8::f',
      '2001:db8::f',
    ]);
    expect(reported(agent, () => agent.tell(route(A, one!)))).toEqual([`${A} 2001:db8::f 0 `, `${A} 2001:db8::f 7 `]);
    expect([agent.content.learning.paths, agent.content.learning.used, agent.content.learning.since.size]).toEqual([
      1, 1, 1,
    ]);
  });

  test('that is no longer the best, with learn: best, is gone, although gobgpd has it still', () => {
    const agent = connected();
    agent.tell(route(A, flagged()));
    expect(reported(agent, () => agent.tell(route(A, flagged({ best: false }))))).toEqual([`${A} `]);
  });
});

describe('next hops that count as reachable', () => {
  test('are those of paths that there are: one counts as long as a path has it', () => {
    const agent = connected();
    agent.tell(route(A, path(LEAF)), route(B, path(LEAF)));
    agent.tell(route(A));
    agent.tell(route('2001:db8:c::/48', path(OTHER)));
    expect(agent.reachable).toEqual(new Set([LEAF, OTHER]));
    agent.tell(route(B));
    agent.tell(route('2001:db8:d::/48', path('2001:db8::4')));
    expect(agent.reachable).toEqual(new Set([OTHER, '2001:db8::4']));
  });

  test('are told anew only when there is a new one', () => {
    const agent = connected();
    agent.tell(route(A, path(LEAF)));
    const told = agent.effects.filter(({ type }) => type === 'reachability').length;
    agent.tell(route(B, path(LEAF)), route(A, path(LEAF, { med: 1 })));
    expect(agent.effects.filter(({ type }) => type === 'reachability')).toHaveLength(told);
  });
});

describe('PNC-5.4-b: the proxy that a next hop’s host route names', () => {
  test('is reported anew of the paths that have no other, through that next hop, when it is another one', () => {
    const agent = connected({ viaNextHop: true });
    agent.tell(
      route(A, path(LEAF)),
      route(B, flagged()),
      route('2001:db8:c::/48', path(OTHER)),
      route('2001:db8:d::/48', path(LEAF, { asPath: [{ type: 'sequence', numbers: [7] }] })),
    );
    expect(reported(agent, () => agent.tell(host('2001:db8::99')))).toEqual([
      `${LEAF}/128 2001:db8::99`,
      `${A} 2001:db8::99`,
    ]);
    expect(reported(agent, () => agent.tell(host('2001:db8::99', { med: 5 })))).toEqual([`${LEAF}/128 2001:db8::99`]);
    expect(reported(agent, () => agent.tell(route(`${LEAF}/128`)))).toEqual([`${LEAF}/128 `, `${A} -`]);
  });

  test('is of IPv4 as well', () => {
    const agent = connected({ viaNextHop: true });
    agent.tell(
      route('10.1.0.0/16', path('192.0.2.2')),
      route('192.0.2.2/32', path('192.0.2.2', { nhc: nhc('192.0.2.2', pnc('192.0.2.9')) })),
    );
    expect(agent.learned()).toContain('10.1.0.0/16 192.0.2.2 192.0.2.9 0');
  });

  test('is that of the first path that names one', () => {
    const agent = connected({ viaNextHop: true, learn: 'all' });
    agent.tell(
      route(
        `${LEAF}/128`,
        path(LEAF),
        ...['2001:db8::98', '2001:db8::99'].map((proxy, i) =>
          path(LEAF, { neighbor: `2001:db8::e${i}`, best: false, nhc: nhc(LEAF, pnc(proxy)) }),
        ),
      ),
    );
    agent.tell(route(A, path(LEAF)));
    expect([...agent.reports.values()].at(-1)!.prefixes).toMatchObject([{ proxy: address('2001:db8::98') }]);
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
    agent.tell(route(A, path(LEAF)));
    expect(reported(agent, () => agent.tell(host('2001:db8::99')))).toEqual([`${LEAF}/128 2001:db8::99`]);
  });
});

describe('SIDs', () => {
  test('of the behaviours that are wanted alone', () => {
    const agent = connected({ sidBehaviors: [0x8003] });
    agent.tell(route(`${LEAF}/128`, path(LEAF, { nhc: nhc(LEAF, container('2001:db8:c::1')) })));
    const report = agent.reports.get(`${LEAF}/128`)!;
    expect([report.sids, report.routerAddresses]).toEqual([undefined, [address(LEAF)]]);
  });

  test('of a prefix that begins at its next hop’s address, but is no host prefix, are not the node’s', () => {
    const agent = connected();
    agent.tell(
      route('2001:db8::/64', path('2001:db8::', { nhc: nhc('2001:db8::', container('2001:db8:c::1')) })),
      route('10.0.0.0/24', path('10.0.0.0', { nhc: nhc('10.0.0.0', container('2001:db8:c::1')) })),
    );
    expect(agent.count('learn.private-misplaced')).toBe(2);
  });

  test('a host route of IPv4 has them too', () => {
    const agent = connected();
    agent.tell(route('192.0.2.2/32', path('192.0.2.2', { nhc: nhc('192.0.2.2', container('2001:db8:c::1')) })));
    expect(agent.reports.get('192.0.2.2/32')!.sids).toHaveLength(1);
  });
});

test('a malformed private characteristic alone says nothing of a proxy', () => {
  const agent = connected();
  agent.tell(route(A, path(LEAF, { nhc: nhc(LEAF, { code: 65501, value: Uint8Array.of(2, 0, 0, 0) }) })));
  expect(shown(agent.content, { now: agent.now, wall: agent.now })).toMatchObject([{ status: 'no-characteristic' }]);
});

test('RFC 5065: a member AS is known from its first path on, and no news after that', () => {
  const agent = connected();
  const member = { neighborAs: 65101, asPath: [{ type: 'confed-sequence' as const, numbers: [65101] }] };
  agent.tell(route(A, flagged(member)));
  const { members } = agent.content.learning;
  expect(members).toEqual(new Set([65101]));
  agent.tell(route(B, flagged(member)));
  expect(agent.content.learning.members).toBe(members);
  agent.tell(route(B, flagged({ neighborAs: 65102, asPath: [{ type: 'confed-sequence', numbers: [65102] }] })));
  expect(agent.content.learning.members).toEqual(new Set([65101, 65102]));
  agent.lose();
  agent.connect();
  expect(agent.content.learning.members).toEqual(new Set());
});

describe('after the hold time', () => {
  test('every path that was not told again is dropped and counted, each of learn: all', () => {
    const agent = connected({ learn: 'all' });
    agent.tell(
      route(A, flagged({ neighbor: '2001:db8::e' }), flagged({ neighbor: '2001:db8::f' })),
      route(B, flagged()),
    );
    agent.lose();
    expect(reported(agent, () => agent.pass(119_999))).toEqual([]);
    expect(reported(agent, () => agent.pass(1))).toHaveLength(3);
    expect([agent.count('learn.dropped'), agent.content.learning.paths, agent.content.learning.held]).toEqual([
      3,
      0,
      [],
    ]);
  });

  test('that is held is shown as it was', () => {
    const agent = connected();
    agent.tell(route(A, flagged()), route(B, path(OTHER)));
    agent.lose();
    expect(shown(agent.content, { now: agent.now, wall: agent.now }).map(({ prefix }) => prefix)).toEqual([A]);
  });
});
