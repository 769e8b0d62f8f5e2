// A stop takes out what is ours, waits for gobgpd as long as it goes on taking it, and reports whether it has.
import { describe, expect, test } from 'vitest';
import { ABOUT, Agent, declaration, ownAsReported, route } from '../content.fixture.ts';

const [A, B] = ['10.1.0.0/16', '10.2.0.0/16'];
const PROXY = '192.0.2.1';
const many = (count: number) =>
  declaration(Object.fromEntries(Array.from({ length: count }, (_, n) => [`10.${n >> 8}.${n & 255}.0/24`, PROXY])));

function placed(origination = declaration({ [A]: PROXY, [B]: PROXY })): Agent {
  const agent = new Agent();
  agent.declare(origination);
  agent.connect();
  agent.answer();
  return agent;
}
function stopping(agent: Agent): Agent {
  agent.event({ type: 'stop' });
  agent.settle();
  return agent;
}
const stops = ({ effects }: Agent): unknown[] =>
  effects.flatMap((effect) => (effect.type === 'stopped' ? [effect.clean] : []));
const warnings = ({ effects }: Agent): unknown[] =>
  effects.flatMap((effect) =>
    effect.type === 'log' && effect.message.startsWith('stopped before') ? [effect.fields] : [],
  );

test('whatever is declared or configured after it is not put in any more', () => {
  const agent = stopping(placed());
  agent.declare(declaration({ [A]: PROXY, '10.3.0.0/16': PROXY }));
  agent.event({ type: 'configure', changes: { ...agent.content.config, communities: [7] } });
  agent.settle();
  expect({ answer: agent.answer(), stopped: agent.stopped, gobgpdSize: agent.gobgpd.size }).toEqual({
    answer: [`-${A}`, `-${B}`],
    stopped: true,
    gobgpdSize: 0,
  });
});

test('a declaration that is being worked on is given up', () => {
  const agent = placed();
  agent.event({ type: 'declare', origination: declaration({ [A]: PROXY, '10.3.0.0/16': PROXY }) });
  stopping(agent);
  expect({ answer: agent.answer(), stopped: agent.stopped }).toEqual({ answer: [`-${A}`, `-${B}`], stopped: true });
});

test('paths that are on their way in are waited for, and taken out', () => {
  const agent = new Agent();
  agent.declare(declaration({ [A]: PROXY }));
  agent.connect();
  stopping(agent);
  expect(agent.stopped).toBeUndefined();
  agent.answer();
  expect({ gobgpdSize: agent.gobgpd.size, stopped: agent.stopped }).toEqual({ gobgpdSize: 0, stopped: true });
});

test('with nothing of ours in gobgpd it is done at once, and reported once', () => {
  const agent = new Agent();
  agent.connect();
  stopping(agent);
  expect({ stops: stops(agent), warnings: warnings(agent) }).toEqual({ stops: [true], warnings: [] });
  agent.event({ type: 'stop' });
  agent.pass(60_000);
  expect(stops(agent)).toEqual([true]);
});

describe('a gobgpd that', () => {
  test('lists what it has is waited for: what an earlier run left is found and taken out', () => {
    const agent = new Agent();
    const before = placed();
    agent.event({ type: 'connected', about: ABOUT });
    stopping(agent);
    expect(agent.stopped).toBeUndefined();
    agent.event({
      type: 'routes',
      routes: [...before.gobgpd].map(([text, own]) => route(text, ownAsReported(own))),
    });
    agent.event({ type: 'listed' });
    agent.settle();
    expect({ answer: agent.answer(), stopped: agent.stopped }).toEqual({ answer: [`-${A}`, `-${B}`], stopped: true });
  });

  test.each(['never came', 'was lost'])('%s cannot be asked: it ends at once, and is not clean', (how) => {
    const agent = new Agent();
    if (how === 'was lost') {
      agent.connect();
      agent.lose();
    }
    agent.declare(declaration({ [A]: PROXY }));
    stopping(agent);
    expect({ stops: stops(agent), warnings: warnings(agent) }).toEqual({ stops: [false], warnings: [] });
  });

  test('is lost on the way: it ends then, and reports how many paths may be left', () => {
    const agent = stopping(placed());
    agent.lose();
    expect({ stops: stops(agent), warnings: warnings(agent) }).toEqual({ stops: [false], warnings: [] });
    const between = stopping(placed(many(2500)));
    const asked = between.changes!.withdraw.length;
    between.lose();
    expect({ stops: stops(between), warnings: warnings(between) }).toEqual({
      stops: [false],
      warnings: [{ paths: 2500 - asked }],
    });
  });

  test('is lost while it lists what it has may have all that was there before', () => {
    const agent = placed();
    agent.lose();
    agent.event({ type: 'connected', about: ABOUT });
    stopping(agent);
    agent.lose();
    expect({ stops: stops(agent), warnings: warnings(agent) }).toEqual({
      stops: [false],
      warnings: [{ paths: 2 }],
    });
  });

  test('takes a part at a time has the whole limit for each', () => {
    const agent = stopping(placed(many(2500)));
    for (let parts = 0; parts < 2; parts++) {
      agent.pass(4999);
      const changes = agent.changes!;
      agent.changes = undefined;
      agent.event({ type: 'done', changes });
    }
    agent.pass(4999);
    expect(agent.changes!.withdraw).toHaveLength(1000);
    expect(agent.stopped).toBeUndefined();
    agent.pass(1);
    expect(stops(agent)).toEqual([false]);
  });

  test('refuses has no longer for it, however often it does', () => {
    const agent = stopping(placed());
    agent.pass(3000);
    agent.answer('no');
    agent.event({ type: 'stop' });
    agent.pass(1999);
    expect(agent.stopped).toBeUndefined();
    agent.pass(1);
    expect({ stops: stops(agent), warnings: warnings(agent) }).toEqual({
      stops: [false],
      warnings: [{ paths: 2 }],
    });
  });
});
