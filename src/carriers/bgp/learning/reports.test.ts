// What is reported to the learned table when gobgpd reports something again, something else, or no longer.
import { byKind } from '../../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import {
  Agent,
  CODE_POINTS,
  container,
  declaration,
  nhc,
  path,
  pnc,
  reported,
  route,
  shown,
} from '../content.fixture.ts';
import { OWN_IDENTIFIER } from '../gobgp/gobgp.ts';

const [LEAF, OTHER] = ['2001:db8::2', '2001:db8::3'];
const [A, B] = ['2001:db8:a::/48', '2001:db8:b::/48'];
const flagged = (rest = {}) => path(LEAF, { nhc: nhc(LEAF, pnc(LEAF)), ...rest });

function connected(config: ConstructorParameters<typeof Agent>[0] = {}): Agent {
  const agent = new Agent(config);
  agent.connect();
  return agent;
}
const since = (agent: Agent): number[] =>
  shown(agent.content, { now: agent.now, toWall: 0 }).map((row) => Date.parse(row.since));

describe('a path', () => {
  test('that is received again unchanged is not reported again, and keeps the time of the first report', () => {
    const agent = connected();
    agent.report(route(A, flagged()));
    expect(agent.reports.get(A)!.advertisements).toMatchObject([{ kind: 'sender-prefix', pnc: true }]);
    agent.pass(10_000);
    expect(reported(agent, () => agent.report(route(A, flagged())))).toEqual([]);
    expect(since(agent)).toEqual([10_000]);
    agent.pass(10_500);
    expect(reported(agent, () => agent.report(route(A, flagged({ med: 1 }))))).toEqual([`${A} ${LEAF}`]);
    expect(since(agent)).toEqual([30_000]);
  });

  test('that has lost the attribute and gets it again says it since then', () => {
    const agent = connected();
    agent.report(route(A, flagged()));
    agent.report(route(A, path(LEAF)));
    expect({ since: since(agent), sinceSize: agent.content.learning.since.size }).toEqual({ since: [], sinceSize: 0 });
    agent.pass(10_000);
    agent.report(route(A, flagged()));
    expect(since(agent)).toEqual([20_000]);
  });

  test('of several neighbors that say the same is one for each; with learn: all each is reported', () => {
    const agent = connected({ learn: 'all' });
    const [one, two] = ['2001:db8::e', '2001:db8::f'].map((neighbor) => flagged({ neighbor }));
    agent.report(route(A, one!, two!, flagged({ neighbor: '2001:db8::f', identifier: 7 })));
    expect([...agent.reports.keys()].sort()).toEqual([
      `${A} 2001:db8::e 0`,
      `${A} 2001:db8::f 0`,
      `${A} 2001:db8::f 7`,
    ]);
    expect(shown(agent.content, { now: agent.now, toWall: 0 }).map(({ peer }) => peer)).toEqual([
      '2001:db8::e',
      '2001:db8::f',
      '2001:db8::f',
    ]);
    expect(reported(agent, () => agent.report(route(A, one!)))).toEqual([`${A} 2001:db8::f 0 `, `${A} 2001:db8::f 7 `]);
    expect({
      paths: agent.content.learning.paths,
      used: agent.content.learning.used,
      sinceSize: agent.content.learning.since.size,
    }).toEqual({ paths: 1, used: 1, sinceSize: 1 });
  });

  test('that is no longer the best, with learn: best, is gone, although gobgpd has it still', () => {
    const agent = connected();
    agent.report(route(A, flagged()));
    expect(reported(agent, () => agent.report(route(A, flagged({ best: false }))))).toEqual([`${A} `]);
  });
});

test('a path that a neighbor has passed on is no path of ours, although it has our identifier', () => {
  const agent = connected();
  agent.declare(declaration({}));
  agent.report(route(A, flagged({ identifier: OWN_IDENTIFIER })));
  expect({ learned: agent.learned(), changes: agent.changes }).toEqual({
    learned: [`${A} ${LEAF} ${LEAF} 0`],
    changes: undefined,
  });
});

describe('next hops that count as reachable', () => {
  test('are those of paths that there are: one counts as long as a path has it', () => {
    const agent = connected();
    agent.report(route(A, path(LEAF)), route(B, path(LEAF)));
    agent.report(route(A));
    agent.report(route('2001:db8:c::/48', path(OTHER)));
    expect(agent.reachable).toEqual(new Set([LEAF, OTHER]));
    agent.report(route(B));
    agent.report(route('2001:db8:d::/48', path('2001:db8::4')));
    expect(agent.reachable).toEqual(new Set([OTHER, '2001:db8::4']));
  });

  test('are reported again only when there is a new one', () => {
    const agent = connected();
    agent.report(route(A, path(LEAF)));
    const times = agent.effects.filter(({ type }) => type === 'reachability').length;
    agent.report(route(B, path(LEAF)), route(A, path(LEAF, { med: 1 })));
    expect(agent.effects.filter(({ type }) => type === 'reachability')).toHaveLength(times);
  });
});

describe('SIDs', () => {
  test('of the configured behaviors only', () => {
    const agent = connected({ codePoints: { ...CODE_POINTS, 'end-con-behavior': 0x8003 } });
    agent.report(route(`${LEAF}/128`, path(LEAF, { nhc: nhc(LEAF, container('2001:db8:c::1')) })));
    const report = byKind(agent.reports.get(`${LEAF}/128`)!.advertisements);
    expect({ sids: report.sids, routerAddresses: report.routerAddresses }).toEqual({
      sids: [],
      routerAddresses: [address(LEAF)],
    });
  });

  test('of a prefix that begins at its next hop’s address, but is no host prefix, are not the node’s', () => {
    const agent = connected();
    agent.report(
      route('2001:db8::/64', path('2001:db8::', { nhc: nhc('2001:db8::', container('2001:db8:c::1')) })),
      route('10.0.0.0/24', path('10.0.0.0', { nhc: nhc('10.0.0.0', container('2001:db8:c::1')) })),
    );
    expect(agent.count('learn.private-misplaced')).toBe(2);
  });

  test('are used, and the path is called so, also where its proxy is malformed', () => {
    const agent = connected();
    const bad = { code: 65500, value: Uint8Array.of(1) };
    agent.report(route(`${LEAF}/128`, path(LEAF, { nhc: nhc(LEAF, bad, container('2001:db8:c::1')) })));
    expect(shown(agent.content, { now: agent.now, toWall: 0 })).toMatchObject([
      { status: 'used', proxy: null, sids: ['2001:db8:c::1'] },
    ]);
    expect(agent.count('characteristic.bad-length')).toBe(1);
  });

  test('a host route of IPv4 has them too', () => {
    const agent = connected();
    agent.report(route('192.0.2.2/32', path('192.0.2.2', { nhc: nhc('192.0.2.2', container('2001:db8:c::1')) })));
    expect(byKind(agent.reports.get('192.0.2.2/32')!.advertisements).sids).toHaveLength(1);
  });
});

test('what is not used is named when it is warned of: prefix, neighbor, status', () => {
  const agent = connected();
  agent.report(route(A, path(OTHER, { nhc: nhc(LEAF, pnc(LEAF)) })));
  expect(agent.effects).toContainEqual(
    expect.objectContaining({
      type: 'log',
      fields: {
        counter: 'bgp.learn.next-hop-mismatch',
        prefix: A,
        peer: '2001:db8::ffff',
        status: 'next-hop-mismatch',
      },
    }),
  );
});

test('a malformed private characteristic alone has no effect on the proxy', () => {
  const agent = connected();
  agent.report(route(A, path(LEAF, { nhc: nhc(LEAF, { code: 65501, value: Uint8Array.of(2, 0, 0, 0) }) })));
  expect(shown(agent.content, { now: agent.now, toWall: 0 })).toMatchObject([{ status: 'no-characteristic' }]);
});

test('RFC 5065: a member AS is known from its first path on, and no news after that', () => {
  const agent = connected();
  const member = { neighborAs: 65101, asPath: [{ type: 'confed-sequence' as const, numbers: [65101] }] };
  agent.report(route(A, flagged(member)));
  const { members } = agent.content.learning;
  expect(members).toEqual(new Set([65101]));
  agent.report(route(B, flagged(member)));
  expect(agent.content.learning.members).toBe(members);
  agent.report(route(B, flagged({ neighborAs: 65102, asPath: [{ type: 'confed-sequence', numbers: [65102] }] })));
  expect(agent.content.learning.members).toEqual(new Set([65101, 65102]));
  agent.lose();
  agent.connect();
  expect(agent.content.learning.members).toEqual(new Set());
});

describe('after the hold time', () => {
  test('every path that was not reported again is dropped and counted, each of learn: all', () => {
    const agent = connected({ learn: 'all' });
    agent.report(
      route(A, flagged({ neighbor: '2001:db8::e' }), flagged({ neighbor: '2001:db8::f' })),
      route(B, flagged()),
    );
    agent.lose();
    expect(reported(agent, () => agent.pass(119_999))).toEqual([]);
    expect(reported(agent, () => agent.pass(1))).toHaveLength(3);
    expect({
      learnDropped: agent.count('learn.dropped'),
      paths: agent.content.learning.paths,
      held: agent.content.learning.held,
    }).toEqual({ learnDropped: 3, paths: 0, held: [] });
  });

  test('that is held is shown as it was', () => {
    const agent = connected();
    agent.report(route(A, flagged()), route(B, path(OTHER)));
    agent.lose();
    expect(shown(agent.content, { now: agent.now, toWall: 0 }).map(({ prefix }) => prefix)).toEqual([A]);
  });
});
