// The session with gobgpd as it is counted, logged and shown.
import { describe, expect, test } from 'vitest';
import {
  ABOUT,
  Agent,
  declaration,
  because,
  nhc,
  ownAsReported,
  path,
  pnc,
  route,
  sessionOf,
} from '../content.fixture.ts';
import { type Connection, sessionState } from '../show.ts';

const A = '10.1.0.0/16';
const SIX = '2001:db8:a::/48';
const declared = (agent = new Agent()): Agent => {
  agent.declare(declaration({ [A]: '192.0.2.1' }));
  return agent;
};
const since = (agent: Agent): number => Date.parse(sessionOf(agent).since);
const shownWith = ({ content, now }: Agent, connection: Partial<Connection>) =>
  sessionState(content, 'unix:/x', { now, toWall: 0 }, { policy: { state: 'installed' }, silentMs: 0, ...connection });

describe('since when', () => {
  test('gobgpd cannot be used, attempts that fail do not change; nor does one that has not listed everything yet', () => {
    const agent = new Agent();
    const start = agent.now;
    agent.pass(1000);
    agent.lose();
    agent.pass(1000);
    agent.event({ type: 'connected', about: ABOUT });
    expect({ since: since(agent), state: sessionOf(agent).state }).toEqual({ since: start, state: 'loading' });
    agent.pass(1000);
    agent.event({ type: 'listed' });
    expect({ since: since(agent), state: sessionOf(agent).state }).toEqual({ since: start + 3000, state: 'ready' });
    agent.pass(1000);
    agent.lose();
    agent.pass(1000);
    agent.lose();
    expect(since(agent)).toBe(start + 4000);
  });
});

describe('a connection that is lost', () => {
  const lost = (agent: Agent): unknown[] => [
    agent.count('session.lost'),
    agent.logged.filter((message) => message === 'connection to gobgpd lost').length,
  ];

  test('is counted and logged; an attempt that fails is no connection', () => {
    const agent = new Agent();
    agent.lose();
    agent.lose();
    expect({ lost: lost(agent), sessionConnected: agent.count('session.connected') }).toEqual({
      lost: [0, 0],
      sessionConnected: 0,
    });
    agent.event({ type: 'connected', about: ABOUT });
    agent.lose();
    expect({ lost: lost(agent), sessionConnected: agent.count('session.connected') }).toEqual({
      lost: [1, 1],
      sessionConnected: 1,
    });
    expect(agent.effects).toContainEqual(
      expect.objectContaining({ type: 'log', fields: { event: 'bgp.session.down', reason: 'gone' } }),
    );
    agent.connect();
    agent.lose();
    agent.lose();
    expect({ lost: lost(agent), sessionConnected: agent.count('session.connected') }).toEqual({
      lost: [2, 2],
      sessionConnected: 2,
    });
  });

  test('with a gobgpd that has reported nothing changes nothing that was reported', () => {
    const agent = new Agent();
    agent.connect();
    agent.lose();
    expect(agent.effects.filter(({ type }) => type === 'reachability')).toEqual([]);
  });

  test('makes its originators unreachable, and reports it once', () => {
    const agent = new Agent();
    agent.connect(route(SIX, path('2001:db8::2')));
    agent.lose();
    agent.connect(route(SIX));
    expect(agent.effects.flatMap((effect) => (effect.type === 'reachability' ? [[...effect.reachable]] : []))).toEqual([
      ['2001:db8::2'],
      [],
    ]);
  });
});

test('originators are reported before the routes that need them', () => {
  const agent = new Agent();
  agent.connect();
  agent.effects.length = 0;
  agent.report(route(SIX, path('2001:db8::2', { nhc: nhc('2001:db8::2', pnc('2001:db8::2')) })));
  expect(agent.effects.map(({ type }) => type)).toEqual(['reachability', 'learned']);
});

test('the same warning comes once a minute, its counter each time; another one is not held back by it', () => {
  const agent = new Agent();
  agent.connect();
  const mismatch = (proxy: string): void =>
    agent.report(route(SIX, path('2001:db8::3', { nhc: nhc('2001:db8::2', pnc(proxy)) })));
  const warned = (): unknown[] => [
    agent.logged.filter((message) => message.includes('characteristics that are not used')).length,
    agent.count('learn.next-hop-mismatch'),
  ];
  mismatch('2001:db8::4');
  agent.pass(59_999);
  mismatch('2001:db8::5');
  expect(warned()).toEqual([1, 2]);
  agent.report(route('2001:db8:b::/48', path('2001:db8::3', { nhc: Uint8Array.of(0) })));
  expect(warned()).toEqual([2, 2]);
  agent.pass(1);
  mismatch('2001:db8::6');
  expect(warned()).toEqual([3, 3]);
});

describe('what is shown of a session', () => {
  test('a gobgpd that does not answer is named after two seconds, with whole seconds, while it is there', () => {
    const agent = declared();
    expect(shownWith(agent, { silentMs: 5000 })).toMatchObject({ state: 'connecting', reason: 'not connected yet' });
    agent.connect();
    agent.answer();
    expect(shownWith(agent, { silentMs: 1999 })).toMatchObject({ state: 'ready', reason: 'connected' });
    expect(shownWith(agent, { silentMs: 1999 })).not.toHaveProperty('silent');
    for (const silentMs of [2000, 2999])
      expect(shownWith(agent, { silentMs })).toMatchObject({
        state: 'ready',
        silent: 2,
        reason: 'gobgpd does not answer (for 2 s)',
      });
  });

  test('the policies, and why they are not there', () => {
    const agent = new Agent();
    expect(shownWith(agent, { policy: { state: 'off' } })).toMatchObject({ policy: 'off' });
    expect(shownWith(agent, {})).not.toHaveProperty('policyReason');
    const failed = { state: 'failed', reason: 'no', fault: 'not-there', nameTaken: false } as const;
    expect(shownWith(agent, { policy: failed })).toMatchObject({
      policy: 'failed',
      policyReason: 'no',
      policyFault: 'not-there',
      policyNameTaken: false,
    });
  });

  test('what gobgpd has of ours counts as originated even if it is not desired', () => {
    const agent = declared();
    agent.connect();
    agent.answer();
    agent.declare(declaration({}));
    expect(sessionOf(agent)).toMatchObject({ originated: 0, wanted: 0 });
    const left = new Agent();
    left.connect(route(A, ownAsReported(agent.gobgpd.get(A)!)));
    expect(sessionOf(left)).toMatchObject({ originated: 1, wanted: 0 });
  });

  test('a wait is rounded up to whole seconds', () => {
    const agent = new Agent();
    agent.event({ type: 'lost', fault: because('gone'), retryAt: agent.now + 1 });
    expect(sessionOf(agent).reason).toBe('gone; tries again in 1 s');
    agent.pass(1);
    expect(sessionOf(agent)).toMatchObject({ state: 'connecting', reason: 'gone; tries again now' });
  });
});

test('before anything is declared nothing is taken out, whatever is configured; nor while the declaration is being worked on', () => {
  const before = declared();
  before.connect();
  before.answer();
  const agent = new Agent();
  agent.event({ type: 'configure', changes: { ...agent.content.config, communities: [7] } });
  agent.connect(route(A, ownAsReported(before.gobgpd.get(A)!)));
  expect(agent.changes).toBeUndefined();
  agent.pass(600_000);
  agent.event({ type: 'declare', origination: declaration({ [A]: '192.0.2.1' }) });
  expect(agent.changes).toBeUndefined();
  agent.settle();
  expect(agent.answer()).toEqual([`+${A}`]);
});
