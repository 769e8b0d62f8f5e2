// Paths as they are shown, while gobgpd reports changes.
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { Agent, END_CON, declaration, given, nhc, ownAsReported, path, pnc, route, shown } from './content.fixture.ts';
import { pathStates } from './show.ts';

const [A, B, C] = ['10.1.0.0/16', '10.2.0.0/16', '10.3.0.0/16'];
const flagged = (med = 0) => path('192.0.2.2', { med, nhc: nhc('192.0.2.2', pnc('192.0.2.2')) });
const moment = (agent: Agent) => ({ now: agent.now, toWall: 0 });
/** What is shown when this happens after the first prefix. */
function interrupted(agent: Agent, what: () => void): string[] {
  const shownPrefixes: string[] = [];
  let steps = 0;
  for (const rows of pathStates(agent.content, moment(agent))) {
    shownPrefixes.push(...rows.map((row) => row.prefix));
    if (++steps === 1) what();
  }
  return shownPrefixes.sort();
}

test('a path that goes and comes back meanwhile is shown once', () => {
  const agent = new Agent();
  agent.connect(...[A, B, C].map((text) => route(text, flagged())));
  expect(interrupted(agent, () => agent.report(route(A), route(A, flagged())))).toEqual([A, B, C]);
});

test('one without the attribute is not shown, and is when it has it meanwhile', () => {
  const agent = new Agent();
  agent.connect(route(A, path('192.0.2.2')), ...[B, C].map((text) => route(text, flagged())));
  expect(interrupted(agent, () => agent.report(route(A), route(A, flagged())))).toEqual([A, B, C]);
});

test('an own path that goes and comes back meanwhile is shown once; one that only comes, too', () => {
  const anew = (agent: Agent) => () => {
    agent.declare(declaration({ [B]: '192.0.2.1' }));
    agent.answer();
    agent.declare(declaration({ [A]: '192.0.2.1', [B]: '192.0.2.1' }));
    agent.answer();
  };
  const agent = given([A, B]);
  expect(interrupted(agent, anew(agent))).toEqual([A, B]);
  const held = given([B]);
  held.declare(declaration({ [A]: '192.0.2.1', [B]: '192.0.2.1' }));
  expect(interrupted(held, () => held.answer())).toEqual([A, B]);
});

test('an own path is the best unless another’s is; its SIDs are shown', () => {
  const agent = new Agent();
  const sid = { sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: END_CON };
  // Whatever its behavior: other cnpds show those of END.CON alone.
  agent.declare(declaration({}, { sids: [{ ...sid, behavior: END_CON + 1 }] }));
  agent.connect();
  agent.answer();
  const rows = () => shown(agent.content, moment(agent)).map((row) => [row.prefix, row.peer, row.best, row.sids]);
  const [four, six] = ['192.0.2.1/32', '2001:db8::1/128'];
  expect(rows()).toEqual([
    [four, 'local', true, ['2001:db8:c::1']],
    [six, 'local', true, ['2001:db8:c::1']],
  ]);
  agent.report(route(four, flagged(), { ...ownAsReported(agent.gobgpd.get(four)!), best: false }));
  expect(rows()).toEqual([
    [four, 'local', false, ['2001:db8:c::1']],
    [six, 'local', true, ['2001:db8:c::1']],
    [four, '2001:db8::ffff', true, []],
  ]);
});

test('of a gobgpd that has lost its table of a family what it had of an earlier run is no loss', () => {
  const agent = new Agent();
  agent.event({ type: 'connected', about: { api: 'v3', as: 65001, routerId: '192.0.2.1' } });
  agent.report(route(A, ownAsReported(given([A]).gobgpd.get(A)!)));
  agent.event({ type: 'listed', without: [6] });
  agent.settle();
  expect(shown(agent.content, moment(agent)).map((row) => row.prefix)).toEqual([A]);
});
