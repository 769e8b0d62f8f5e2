// A gobgpd that is there and does not take paths, and how the session is shown.
import { expect, test } from 'vitest';
import { Agent, declaration, because, sessionOf as session } from '../content.fixture.ts';

const connected = (): Agent => {
  const agent = new Agent();
  agent.declare(declaration({ '10.1.0.0/16': '192.0.2.1', '10.2.0.0/16': '192.0.2.1' }));
  agent.connect();
  return agent;
};

test('paths that gobgpd has refused are not there, while they wait to be tried again and on their way; its answer is shown until it accepts them', () => {
  const agent = connected();
  expect(session(agent)).toMatchObject({ state: 'ready', originated: 0, wanted: 2 });
  expect(session(agent)).not.toHaveProperty('refusal');
  agent.answer('table is full');
  const refused = {
    state: 'ready',
    originated: 0,
    wanted: 2,
    refusal: 'table is full',
    reason: expect.stringContaining('table is full'),
  };
  expect(session(agent)).toMatchObject(refused);
  expect(agent.effects).toContainEqual(
    expect.objectContaining({ type: 'log', fields: { counter: 'bgp.own.refused', reason: 'table is full' } }),
  );
  agent.pass(5000);
  expect(agent.changes).toBeDefined();
  expect(session(agent)).toMatchObject(refused);
  agent.answer();
  expect(session(agent)).toMatchObject({ originated: 2, wanted: 2, reason: 'connected' });
  expect(session(agent)).not.toHaveProperty('refusal');
});

test('what was refused is forgotten with the connection', () => {
  const agent = connected();
  agent.answer('table is full');
  agent.lose();
  expect(session(agent)).not.toHaveProperty('refusal');
});

test('a connection that is lost while paths are on their way is no refusal', () => {
  const agent = connected();
  agent.lose();
  agent.answer('connection lost');
  expect(session(agent)).not.toHaveProperty('refusal');
});

test('an attempt that has begun is not shown as one that will', () => {
  const agent = connected();
  agent.event({ type: 'lost', fault: because('gone'), retryAt: agent.now + 1500 });
  expect(session(agent)).toMatchObject({ state: 'waiting', reason: 'gone; tries again in 2 s' });
  agent.pass(1500);
  expect(session(agent)).toMatchObject({ state: 'connecting', reason: 'gone; tries again now' });
});
