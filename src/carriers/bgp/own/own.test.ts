// Own paths when another client of the same gobgpd changes them, and when the desired and the present paths become
// known at the same time.
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { Agent, declaration, nhc, ownAsReported, path, pnc, route, sessionOf, shown } from '../content.fixture.ts';
import { disputed } from './dispute.ts';
import { type GobgpPath, OWN_IDENTIFIER, type OwnPath } from '../gobgp/gobgp.ts';

const SENDER = '10.1.0.0/16';
const placed = (pairs: Readonly<Record<string, string>> = { [SENDER]: '192.0.2.1' }): Agent => {
  const agent = new Agent();
  agent.declare(declaration(pairs));
  agent.connect();
  agent.answer();
  return agent;
};

describe('a dispute about own paths', () => {
  const takenOut = (agent: Agent): string[] => {
    agent.report(route(SENDER));
    return agent.answer();
  };
  /** Times that the path is put back while another client removes it as soon as it is there. */
  const putBack = (agent: Agent, ms: number): number => {
    const before = agent.count('own.added');
    for (const end = agent.now + ms; agent.now < end;) {
      if (takenOut(agent).length === 0) agent.pass(100);
      agent.answer();
    }
    return agent.count('own.added') - before;
  };

  test('what is taken out now and then is put back at once', () => {
    const agent = placed();
    for (let i = 0; i < 100; i++) {
      expect(takenOut(agent)).toEqual([`+${SENDER}`]);
      agent.pass(180_000);
    }
    expect({ disputed: disputed(agent.content, agent.now), ownDisputed: agent.count('own.disputed') }).toEqual({
      disputed: false,
      ownDisputed: 0,
    });
  });

  test('where each undoes what the other does, the pauses grow: the network does not hear of a change a millisecond', () => {
    const agent = placed();
    expect(putBack(agent, 60_000)).toBeLessThan(20);
    expect(putBack(agent, 600_000)).toBeLessThanOrEqual(20);
    expect({
      disputed: disputed(agent.content, agent.now),
      logged: agent.logged.some((message) => message.includes('another client')),
    }).toEqual({ disputed: true, logged: true });
  });

  test('it is over when nothing has been changed for a while', () => {
    const agent = placed();
    putBack(agent, 60_000);
    agent.pass(200_000);
    agent.answer();
    expect(disputed(agent.content, agent.now)).toBe(false);
    expect(takenOut(agent)).toEqual([`+${SENDER}`]);
  });

  test('a stop does not wait for the end of a pause', () => {
    const agent = placed({ [SENDER]: '192.0.2.1', '10.2.0.0/16': '192.0.2.1' });
    putBack(agent, 60_000);
    agent.event({ type: 'stop' });
    agent.settle();
    expect({ answer: agent.answer(), stopped: agent.stopped }).toEqual({ answer: ['-10.2.0.0/16'], stopped: true });
  });
});

describe('a path that another client of the same gobgpd replaces', () => {
  const CHANGES: Readonly<Record<string, (own: OwnPath) => GobgpPath>> = {
    'without attribute 39': ({ nextHop }) => ({
      ...path('::1'),
      neighbor: undefined,
      identifier: OWN_IDENTIFIER,
      nextHop,
    }),
    'another proxy': (own) => ({ ...ownAsReported(own), nhc: nhc('192.0.2.1', pnc('192.0.2.9')) }),
    'another next hop': (own) => ({ ...ownAsReported(own), nextHop: address('192.0.2.9') }),
    'flags that make attribute 39 worth nothing': (own) => ({ ...ownAsReported(own), badNhcFlags: 0 }),
  };
  const overwrite = (agent: Agent, by: (own: OwnPath) => GobgpPath): void =>
    agent.report(route(SENDER, by(agent.gobgpd.get(SENDER)!)));

  test.each(Object.entries(CHANGES))('%s: it is noticed at once, counted, and put back', (_, by) => {
    const agent = placed({ [SENDER]: '192.0.2.1', '10.2.0.0/16': '192.0.2.1' });
    overwrite(agent, by);
    expect(sessionOf(agent)).toMatchObject({ originated: 1, wanted: 2 });
    expect({
      answer: agent.answer(),
      ownOverwritten: agent.count('own.overwritten'),
      logged: agent.logged.some((text) => text.includes('replaced')),
    }).toEqual({ answer: [`+${SENDER}`], ownOverwritten: 1, logged: true });
    expect({ originated: sessionOf(agent).originated, disputed: disputed(agent.content, agent.now) }).toEqual({
      originated: 2,
      disputed: false,
    });
  });

  test('two that replace each other’s path all the time: a dispute, and the pauses grow', () => {
    const agent = placed();
    const another = CHANGES['another proxy']!;
    const before = agent.count('own.added');
    for (const end = agent.now + 600_000; agent.now < end;) {
      overwrite(agent, another);
      if (agent.answer().length === 0) agent.pass(100);
    }
    expect(agent.count('own.added') - before).toBeLessThan(40);
    expect(disputed(agent.content, agent.now)).toBe(true);
  });

  test('news of what was there before a change of ours is no such thing', () => {
    const agent = placed();
    const before = agent.gobgpd.get(SENDER)!;
    agent.echoes = false;
    agent.declare(declaration({ [SENDER]: '192.0.2.3' }));
    agent.answer();
    agent.report(route(SENDER, ownAsReported(before)));
    expect({ changes: agent.changes, ownOverwritten: agent.count('own.overwritten') }).toEqual({
      changes: undefined,
      ownOverwritten: 0,
    });
    agent.report(route(SENDER, ownAsReported(agent.gobgpd.get(SENDER)!)));
    expect({ ownOverwritten: agent.count('own.overwritten'), originated: sessionOf(agent).originated }).toEqual({
      ownOverwritten: 0,
      originated: 1,
    });
  });

  test('one that is replaced before gobgpd has reported it is found by asking', () => {
    const agent = new Agent();
    agent.echoes = false;
    agent.declare(declaration({ [SENDER]: '192.0.2.1' }));
    agent.connect();
    agent.answer();
    const ours = agent.gobgpd.get(SENDER)!;
    agent.gobgpd.set(SENDER, { ...ours, nhc: nhc('192.0.2.1', pnc('192.0.2.9')) });
    agent.pass(5000);
    agent.lookUp();
    expect({
      answer: agent.answer(),
      ownOverwritten: agent.count('own.overwritten'),
      ownDropped: agent.count('own.dropped'),
    }).toEqual({ answer: [`+${SENDER}`], ownOverwritten: 1, ownDropped: 0 });
  });
});

test('what an earlier run left is not taken out while a declaration that wants it is still being looked at', () => {
  const pairs = Object.fromEntries(
    Array.from({ length: 5000 }, (_, n) => [`10.${n >> 8}.${n & 255}.0/24`, '192.0.2.1']),
  );
  const before = placed(pairs);
  const agent = new Agent();
  agent.event({ type: 'connected', about: { api: 'v3', as: 65001, routerId: '192.0.2.1' } });
  agent.event({ type: 'routes', routes: [...before.gobgpd].map(([text, own]) => route(text, ownAsReported(own))) });
  agent.event({ type: 'declare', origination: declaration(pairs) });
  agent.event({ type: 'listed' });
  agent.settle();
  agent.answer();
  expect({ ownWithdrawn: agent.count('own.withdrawn'), ownAdded: agent.count('own.added') }).toEqual({
    ownWithdrawn: 0,
    ownAdded: 5000,
  });
});

describe('own paths as they are shown', () => {
  const rows = (agent: Agent) =>
    shown(agent.content, { now: agent.now, toWall: 0 }).map(({ prefix, nextHop, proxy, since }) => [
      prefix,
      nextHop,
      proxy,
      Date.parse(since),
    ]);

  test('since this run has put them in, also when the connection was lost meanwhile', () => {
    const agent = placed();
    const at = agent.now;
    agent.pass(60_000);
    agent.declare(declaration({ [SENDER]: '192.0.2.1', '10.2.0.0/16': '192.0.2.1' }));
    agent.answer();
    agent.lose();
    agent.pass(60_000);
    agent.connect();
    expect(rows(agent)).toEqual([
      [SENDER, '192.0.2.1', '192.0.2.1', at],
      ['10.2.0.0/16', '192.0.2.1', '192.0.2.1', at + 60_000],
    ]);
  });

  test('what an earlier run left is what gobgpd reports of it', () => {
    const agent = new Agent();
    for (const [text, own] of placed().gobgpd) agent.gobgpd.set(text, own);
    agent.connect();
    expect(rows(agent)).toEqual([[SENDER, '192.0.2.1', '192.0.2.1', agent.now]]);
  });
});
