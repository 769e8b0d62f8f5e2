// When gobgpd is asked about own paths that it has not reported, and when those that it drops are added again.
import { describe, expect, test } from 'vitest';
import { formatPrefix } from '../../../model/prefix.ts';
import { Agent, declaration, given, ownAsReported, route, sessionOf } from '../content.fixture.ts';

const [A, B] = ['10.1.0.0/16', '10.2.0.0/16'];

describe('when gobgpd is asked', () => {
  test('three seconds after it took the last, or reported one; there is one question at a time', () => {
    const agent = given([A, B], { echoes: false });
    agent.pass(2999);
    expect(agent.looks).toBeUndefined();
    agent.report(route(A, ownAsReported(agent.gobgpd.get(A)!)));
    agent.pass(2999);
    expect(agent.looks).toBeUndefined();
    agent.pass(1);
    expect(agent.looks!.map(formatPrefix)).toEqual([B]);
    const asked = agent.looks;
    agent.pass(60_000);
    expect(agent.looks).toBe(asked);
  });

  test('three seconds after the last it took over a new connection, however old cnpd is', () => {
    const agent = given([A]);
    agent.pass(60_000);
    agent.lose();
    agent.connect();
    agent.echoes = false;
    agent.declare(declaration({ [A]: '192.0.2.1', [B]: '192.0.2.1' }));
    agent.answer();
    agent.pass(2999);
    expect(agent.looks).toBeUndefined();
    agent.pass(1);
    expect(agent.lookUp()).toEqual([B]);
  });

  test('what is taken out meanwhile does not put it off', () => {
    const agent = given([A], { echoes: false });
    agent.declare(declaration({ [A]: '192.0.2.1', [B]: '192.0.2.1' }));
    agent.answer();
    agent.report(route(B, ownAsReported(agent.gobgpd.get(B)!)));
    agent.pass(2000);
    agent.declare(declaration({ [A]: '192.0.2.1' }));
    agent.answer();
    agent.pass(1000);
    expect(agent.lookUp()).toEqual([A]);
  });

  test('not about what it has refused to change: that is tried again', () => {
    const agent = given([A], { echoes: false });
    agent.declare(declaration({ [A]: '192.0.2.3' }));
    agent.answer('no');
    agent.pass(4999);
    expect({ looks: agent.looks, changes: agent.changes }).toEqual({ looks: undefined, changes: undefined });
    agent.pass(1);
    expect({ looks: agent.looks, answer: agent.answer() }).toEqual({ looks: undefined, answer: [`+${A}`] });
  });

  test('a repeated report of a known path does not postpone it', () => {
    const agent = given([A, B], { echoes: false });
    const tellA = (): void => agent.report(route(A, ownAsReported(agent.gobgpd.get(A)!)));
    tellA();
    agent.pass(2000);
    tellA();
    agent.pass(1000);
    expect(agent.lookUp()).toEqual([B]);
  });

  test('after half a minute at the latest, however much it goes on telling; and half a minute later of what came since', () => {
    const [first, second] = [10, 11].map((net) => Array.from({ length: 40 }, (_, n) => `${net}.${n}.0.0/16`));
    const agent = given(first!, { echoes: false });
    /** It reports one after the other. @returns when it is asked, and about how many */
    const asked = (prefixes: readonly string[]): unknown[] => {
      const start = agent.now;
      for (const text of prefixes) {
        agent.pass(2000);
        if (agent.looks) break;
        agent.report(route(text, ownAsReported(agent.gobgpd.get(text)!)));
      }
      return [agent.now - start, agent.lookUp()?.length];
    };
    expect(asked(first!)).toEqual([30_000, 26]);
    agent.declare(declaration(Object.fromEntries([...first!, ...second!].map((text) => [text, '192.0.2.1']))));
    agent.answer();
    expect(asked(second!)).toEqual([30_000, 26]);
  });

  test('not while changes are on their way, nor while we stop, nor without a connection', () => {
    const agent = given([A], { echoes: false });
    agent.declare(declaration({ [A]: '192.0.2.1', [B]: '192.0.2.1' }));
    expect(agent.changes).toBeDefined();
    agent.pass(60_000);
    expect(agent.looks).toBeUndefined();
    agent.answer();
    expect(agent.lookUp()).toEqual([A, B]);
    const lost = given([A], { echoes: false });
    lost.lose();
    lost.pass(60_000);
    expect(lost.looks).toBeUndefined();
    const stopping = given([A], { echoes: false });
    stopping.event({ type: 'stop' });
    stopping.pass(60_000);
    expect(stopping.looks).toBeUndefined();
  });

  test('about what is declared no more, or says something else by now, it is not asked', () => {
    const agent = given([A, B], { echoes: false });
    agent.declare(declaration({ [B]: '192.0.2.3' }));
    agent.answer();
    agent.pass(3000);
    expect(agent.lookUp()).toEqual([B]);
  });

  test('its answer about a path that was put in again meanwhile says nothing: that has its own turn', () => {
    const agent = given([A], { echoes: false });
    agent.pass(3000);
    agent.pass(1);
    agent.declare(declaration({ [A]: '192.0.2.3' }));
    const asked = agent.looks!;
    agent.looks = undefined;
    agent.event({ type: 'looked', prefixes: asked });
    expect(agent.count('own.dropped')).toBe(0);
    agent.answer();
    agent.pass(3000);
    expect(agent.lookUp()).toEqual([A]);
    expect(sessionOf(agent).originated).toBe(1);
  });

  test('its answer to a question of an earlier connection says nothing', () => {
    const agent = given([A], { echoes: false });
    agent.pass(3000);
    const asked = agent.looks!;
    agent.lose();
    agent.connect();
    agent.event({ type: 'looked', prefixes: [...asked] });
    expect({ ownDropped: agent.count('own.dropped'), originated: sessionOf(agent).originated }).toEqual({
      ownDropped: 0,
      originated: 1,
    });
  });

  test('a failure is no answer: three seconds later it is asked again', () => {
    const agent = given([A], { echoes: false });
    agent.pass(3000);
    agent.lookUp('no answer');
    agent.pass(2999);
    expect(agent.looks).toBeUndefined();
    agent.pass(1);
    expect({ lookUp: agent.lookUp(), originated: sessionOf(agent).originated }).toEqual({ lookUp: [A], originated: 1 });
  });
});

describe('paths that gobgpd drops', () => {
  /** Times from one try to the next, as long as it drops them. */
  const pauses = (agent: Agent, count: number): number[] => {
    const times: number[] = [];
    for (let last = agent.now; times.length < count; agent.pass(500)) {
      agent.lookUp();
      if (!agent.changes) continue;
      times.push(agent.now - last);
      last = agent.now;
      agent.answer();
    }
    return times;
  };

  test('are put in again after five seconds, then after twice as long each time, up to a minute; three seconds go by before each is asked about', () => {
    const agent = given([A], { drops: [A] });
    expect(pauses(agent, 7)).toEqual([8000, 13_000, 23_000, 43_000, 63_000, 63_000, 63_000]);
    expect(agent.count('own.dropped')).toBe(7);
    expect(agent.effects).toContainEqual(
      expect.objectContaining({ type: 'log', fields: { counter: 'bgp.own.dropped', paths: 1 } }),
    );
  });

  test('once it has kept one the pauses begin anew', () => {
    const agent = given([A], { drops: [A] });
    pauses(agent, 4);
    agent.drops.clear();
    agent.pass(3000);
    agent.lookUp();
    pauses(agent, 1);
    expect(sessionOf(agent)).toMatchObject({ originated: 1 });
    agent.drops.add(B);
    agent.declare(declaration({ [A]: '192.0.2.1', [B]: '192.0.2.1' }));
    agent.answer();
    expect(pauses(agent, 2)).toEqual([8000, 13_000]);
  });

  test('one that is kept without ever having been dropped changes nothing about that', () => {
    const agent = given([A], { drops: [A] });
    pauses(agent, 2);
    agent.declare(declaration({ [A]: '192.0.2.1', [B]: '192.0.2.1' }));
    agent.answer();
    expect(sessionOf(agent).originated).toBe(1);
    expect(pauses(agent, 1)).toEqual([23_000]);
  });

  test('are put in again while gobgpd is being asked about others: it is not asked twice at a time', () => {
    const agent = given([A], { drops: [A] });
    agent.pass(3000);
    agent.lookUp();
    agent.echoes = false;
    agent.declare(declaration({ [A]: '192.0.2.1', [B]: '192.0.2.1' }));
    agent.answer();
    agent.pass(3000);
    const asked = agent.looks!;
    agent.declare(declaration({ [A]: '192.0.2.1', [B]: '192.0.2.1', '10.3.0.0/16': '192.0.2.1' }));
    agent.answer();
    agent.pass(2000);
    expect({ looks: agent.looks, answer: agent.answer() }).toEqual({ looks: asked, answer: [`+${A}`] });
  });

  test('begin anew with a connection, too', () => {
    const agent = given([A], { drops: [A] });
    pauses(agent, 4);
    agent.pass(3000);
    agent.lookUp();
    expect(sessionOf(agent).dropped).toBe(1);
    agent.lose();
    agent.connect();
    expect(sessionOf(agent)).not.toHaveProperty('dropped');
    agent.answer();
    expect(pauses(agent, 2)).toEqual([8000, 13_000]);
  });

  test('one that is reported after all is there, and not added again', () => {
    const agent = given([A], { drops: [A] });
    const desiredPath = agent.content.own.paths.get(A)!.desired!;
    agent.pass(3000);
    agent.lookUp();
    agent.report(route(A, ownAsReported(desiredPath)));
    expect(sessionOf(agent)).toMatchObject({ originated: 1, reason: 'connected' });
    agent.pass(60_000);
    expect(agent.changes).toBeUndefined();
  });

  test('those of a second question wait with the first', () => {
    const agent = given([A], { drops: [A, B] });
    agent.pass(3000);
    agent.lookUp();
    agent.declare(declaration({ [A]: '192.0.2.1', [B]: '192.0.2.1' }));
    agent.answer();
    agent.pass(3000);
    agent.lookUp();
    expect(sessionOf(agent).dropped).toBe(2);
    agent.pass(2000);
    expect(agent.answer()).toEqual([`+${A}`, `+${B}`]);
  });
});
