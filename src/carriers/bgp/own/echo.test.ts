// Own paths that gobgpd accepts: whether it has them is known only from what it reports.
import { expect, test } from 'vitest';
import { ABOUT, Agent, declaration, given, path, route, sessionOf, shown } from '../content.fixture.ts';

const [A, B, SIX] = ['10.1.0.0/16', '10.2.0.0/16', '2001:db8:a::/48'];
const rows = (agent: Agent): unknown[] =>
  shown(agent.content, { now: agent.now, toWall: 0 }).map(({ prefix, best }) => [prefix, best]);

/** How many look-ups have failed, and what was logged about it since the last call. */
function failures(agent: Agent): [number, object[]] {
  const counter = 'bgp.own.look-failed';
  const logged = agent.effects
    .splice(0)
    .flatMap((effect) => (effect.type === 'log' && 'counter' in effect.fields ? [effect.fields] : []))
    .filter((fields) => fields.counter === counter);
  return [agent.count('own.look-failed'), logged];
}

test('a path counts when gobgpd has reported it, not when it has accepted it', () => {
  const agent = given([A, B], { echoes: false });
  expect({ originated: sessionOf(agent).originated, rows: rows(agent) }).toEqual({ originated: 0, rows: [] });
  expect(sessionOf(agent)).not.toHaveProperty('dropped');
  agent.pass(5000);
  expect(agent.lookUp()).toEqual([A, B]);
  expect({ sessionOf: sessionOf(agent), rows: rows(agent), ownDropped: agent.count('own.dropped') }).toMatchObject({
    sessionOf: { originated: 2, wanted: 2 },
    rows: [
      [A, true],
      [B, true],
    ],
    ownDropped: 0,
  });
  agent.pass(600_000);
  expect({ looks: agent.looks, logged: agent.logged }).toEqual({ looks: undefined, logged: ['gobgpd is ready'] });
});

test('what gobgpd reports by itself it is not asked about', () => {
  const agent = given([A, B]);
  agent.pass(600_000);
  expect({ looks: agent.looks, originated: sessionOf(agent).originated }).toEqual({ looks: undefined, originated: 2 });
});

test('paths behind better ones of others are not reported unasked, and are found', () => {
  const agent = given([A], { echoes: false });
  agent.report(route(A, path('192.0.2.9')));
  expect(agent.count('own.put-back')).toBe(0);
  agent.pass(5000);
  agent.lookUp();
  expect(sessionOf(agent).originated).toBe(1);
});

test('paths that gobgpd takes without an error and does not have: how many, tried again more and more seldom, until it keeps them', () => {
  const agent = given([A, B], { drops: [A] });
  agent.pass(5000);
  agent.lookUp();
  expect(sessionOf(agent)).toMatchObject({
    originated: 1,
    wanted: 2,
    dropped: 1,
    reason: expect.stringContaining('does not have 1 of'),
  });
  expect({
    ownDropped: agent.count('own.dropped'),
    logged: agent.logged.some((text) => text.includes('does not have')),
  }).toEqual({ ownDropped: 1, logged: true });
  let tries = 0;
  for (const end = agent.now + 600_000; agent.now < end; agent.pass(1000)) {
    if (agent.answer().length > 0) tries++;
    agent.lookUp();
    expect(sessionOf(agent)).toMatchObject({ originated: 1, dropped: 1 });
  }
  expect(tries).toBeGreaterThan(7);
  expect(tries).toBeLessThan(16);
  agent.drops.clear();
  agent.pass(70_000);
  expect(agent.answer()).toEqual([`+${A}`]);
  expect(sessionOf(agent)).toMatchObject({ originated: 2, wanted: 2 });
  expect(sessionOf(agent)).not.toHaveProperty('dropped');
});

test('what is declared no more, and cannot be taken out yet, is not dropped', () => {
  const agent = given([A, B], { drops: [A] });
  agent.pass(5000);
  agent.lookUp();
  agent.declare(declaration({ [A]: '192.0.2.1', [B]: '192.0.2.1', '10.3.0.0/16': '192.0.2.1' }));
  agent.declare(declaration({ [B]: '192.0.2.1' }));
  expect(agent.changes).toBeDefined();
  expect(sessionOf(agent)).not.toHaveProperty('dropped');
});

test('what is declared no more is not dropped any more', () => {
  const agent = given([A, B], { drops: [A] });
  agent.pass(5000);
  agent.lookUp();
  agent.declare(declaration({ [B]: '192.0.2.1' }));
  agent.answer();
  expect(sessionOf(agent)).not.toHaveProperty('dropped');
  agent.pass(600_000);
  expect({ changes: agent.changes, looks: agent.looks }).toEqual({ changes: undefined, looks: undefined });
});

test('a gobgpd without a table of the family: named, for desired paths only', () => {
  const agent = new Agent();
  agent.declare(declaration({ [A]: '192.0.2.1', [SIX]: '2001:db8::1' }));
  agent.event({ type: 'connected', about: ABOUT });
  agent.event({ type: 'listed', without: [4] });
  agent.settle();
  agent.drops.add(A);
  agent.answer();
  expect(sessionOf(agent)).toMatchObject({ originated: 1, wanted: 2, dropped: 1, noTable: ['ipv4-unicast'] });
  agent.declare(declaration({ [SIX]: '2001:db8::1', '10.9.0.0/16': 'ff02::1' }));
  agent.declare(declaration({}));
  expect(agent.content.own.paths.size).toBeGreaterThan(0);
  expect(sessionOf(agent)).not.toHaveProperty('noTable');
});

test('what a gobgpd has that is away is not known: nothing counts, nothing is shown, until it has listed it', () => {
  const agent = given([A, B]);
  expect(rows(agent)).toHaveLength(2);
  agent.lose();
  expect({ sessionOf: sessionOf(agent), rows: rows(agent) }).toMatchObject({
    sessionOf: { originated: 0, wanted: 2 },
    rows: [],
  });
  agent.connect();
  expect({ originated: sessionOf(agent).originated, rowsLength: rows(agent).length }).toEqual({
    originated: 2,
    rowsLength: 2,
  });
});

test('an upload of communities alone is nothing new to gobgpd: the path is there all the time', () => {
  const agent = given([A]);
  agent.echoes = false;
  agent.event({ type: 'configure', changes: { ...agent.content.config, communities: [7] } });
  agent.settle();
  expect(agent.answer()).toEqual([`+${A}`]);
  expect(sessionOf(agent).originated).toBe(1);
  agent.pass(60_000);
  expect(agent.looks).toBeUndefined();
});

test('many are asked about a part at a time', () => {
  const agent = given(
    Array.from({ length: 2500 }, (_, n) => `10.${n >> 8}.${n & 255}.0/24`),
    { echoes: false },
  );
  agent.pass(5000);
  const parts: number[] = [];
  for (let asked = agent.lookUp(); asked; asked = agent.lookUp()) parts.push(asked.length);
  expect({ parts, originated: sessionOf(agent).originated }).toEqual({ parts: [1000, 1000, 500], originated: 2500 });
});

test('a look-up that fails is made again; one of a connection that is gone says nothing', () => {
  const agent = given([A], { echoes: false });
  agent.pass(5000);
  agent.lookUp('no answer');
  expect(sessionOf(agent)).not.toHaveProperty('dropped');
  expect(failures(agent)).toEqual([1, [expect.objectContaining({ reason: 'no answer' })]]);
  agent.pass(5000);
  agent.lookUp('no answer');
  expect(failures(agent)).toEqual([2, []]);
  agent.pass(5000);
  agent.lose();
  agent.lookUp('gone');
  expect(failures(agent)[0]).toBe(2);
  agent.connect();
  expect(sessionOf(agent)).toMatchObject({ originated: 1 });
});
