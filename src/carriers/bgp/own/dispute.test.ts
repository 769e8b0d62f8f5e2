// When own paths that another client changes are changed back.
import { describe, expect, test } from 'vitest';
import { type Agent, declaration, given, route } from '../content.fixture.ts';
import { disputed } from './dispute.ts';

const A = '10.1.0.0/16';

describe('the pauses of a dispute', () => {
  const takeOut = (agent: Agent): void => agent.report(route(A));
  /** How long each of so many rounds waits before ours is put back. */
  const pauses = (agent: Agent, rounds: number): number[] =>
    Array.from({ length: rounds }, () => {
      takeOut(agent);
      const from = agent.now;
      while (!agent.changes) agent.pass(500);
      agent.answer();
      return agent.now - from;
    });

  test('ten rounds without one; then two seconds, twice as long each time, up to a minute', () => {
    const agent = given([A]);
    expect(pauses(agent, 18)).toEqual([
      ...new Array<number>(11).fill(0),
      2000,
      4000,
      8000,
      16_000,
      32_000,
      60_000,
      60_000,
    ]);
    expect(agent.count('own.disputed')).toBe(8);
    expect(agent.effects).toContainEqual(
      expect.objectContaining({ type: 'log', fields: { counter: 'bgp.own.disputed', rounds: 11 } }),
    );
  });

  test('begin with the eleventh round: the first that waits is a dispute', () => {
    const agent = given([A]);
    pauses(agent, 10);
    expect(disputed(agent.content, agent.now)).toBe(false);
    pauses(agent, 1);
    expect(disputed(agent.content, agent.now)).toBe(true);
  });

  test('are over once nothing has been changed for two and a half minutes, not before', () => {
    const agent = given([A]);
    pauses(agent, 12);
    agent.pass(150_000 - 2000);
    expect(disputed(agent.content, agent.now)).toBe(true);
    takeOut(agent);
    agent.answer();
    expect(agent.content.own.dispute.rounds).toBe(13);
    agent.pass(150_001);
    expect(disputed(agent.content, agent.now)).toBe(false);
    takeOut(agent);
    agent.answer();
    expect(agent.content.own.dispute.rounds).toBe(1);
  });

  test('are for what others make necessary: a declaration that changes often is none', () => {
    const agent = given([A]);
    takeOut(agent);
    agent.answer();
    for (let i = 0; i < 30; i++) {
      agent.declare(declaration({ [A]: `192.0.2.${i + 2}` }));
      expect(agent.answer()).toEqual([`+${A}`]);
    }
    expect(agent.count('own.disputed')).toBe(0);
  });
});
