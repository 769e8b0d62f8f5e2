// What is put into gobgpd and taken out, in what portions, and what its news make of that.
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { formatPrefix } from '../../../model/prefix.ts';
import {
  ABOUT,
  Agent,
  declaration,
  given,
  nhc,
  ownAsReported,
  path,
  pnc,
  route,
  sessionOf,
  shown,
  because,
} from '../content.fixture.ts';

const [A, B] = ['10.1.0.0/16', '10.2.0.0/16'];
const PROXY = '192.0.2.1';
const many = (count: number) =>
  declaration(Object.fromEntries(Array.from({ length: count }, (_, n) => [`10.${n >> 8}.${n & 255}.0/24`, PROXY])));
/** What another client has put into a gobgpd under our identifier. */
const replaced = (agent: Agent, proxy = '192.0.2.9') => ({
  ...ownAsReported(agent.gobgpd.get(A)!),
  nhc: nhc(PROXY, pnc(proxy)),
});
/** Not even once by nothing. */
const countedNothing = ({ effects }: Agent): boolean =>
  !effects.some((effect) => effect.type === 'count' && effect.by === 0);

describe('portions', () => {
  test('20,000 paths are put in in one go, the next while nothing waits for them', () => {
    const agent = new Agent();
    agent.declare(many(20_001));
    agent.connect();
    agent.lose();
    agent.connect();
    const first = agent.changes!;
    expect(first.add.length).toBeLessThanOrEqual(20_000);
    agent.event({ type: 'done', changes: first, failure: because('no') });
    agent.changes = undefined;
    agent.pass(5000);
    expect(agent.changes!.add).toHaveLength(20_000);
    expect(countedNothing(agent)).toBe(true);
  });

  test('1000 are taken out in one go', () => {
    const agent = new Agent();
    agent.declare(many(1001));
    agent.connect();
    agent.answer();
    agent.event({ type: 'stop' });
    agent.settle();
    agent.event({ type: 'done', changes: agent.changes!, failure: because('no') });
    agent.changes = undefined;
    agent.pass(5000);
    expect({ changes: agent.changes, ownWithdrawn: agent.count('own.withdrawn') }).toMatchObject({
      changes: { add: [], withdraw: { length: 1000 } },
      ownWithdrawn: 0,
    });
    expect(countedNothing(agent)).toBe(true);
  });
});

test('nothing is remembered of a prefix that is neither desired nor there', () => {
  const agent = given([A, B]);
  agent.declare(declaration({}));
  expect({ answer: agent.answer(), pathsSize: agent.content.own.paths.size }).toEqual({
    answer: [`-${A}`, `-${B}`],
    pathsSize: 0,
  });
  const never = new Agent();
  never.declare(declaration({ [A]: PROXY }));
  never.declare(declaration({}));
  never.connect();
  expect({ changes: never.changes, pathsSize: never.content.own.paths.size }).toEqual({
    changes: undefined,
    pathsSize: 0,
  });
});

test('what was desired for a moment only is not added', () => {
  const agent = given([A]);
  agent.declare(declaration({ [A]: PROXY, [B]: PROXY }));
  const { changes } = agent;
  agent.declare(declaration({ [A]: PROXY, '10.3.0.0/16': PROXY }));
  agent.declare(declaration({ [A]: PROXY }));
  expect(changes?.add.map(({ prefix }) => formatPrefix(prefix))).toEqual([B]);
  expect(new Set(agent.answer())).toEqual(new Set([`+${B}`, `-${B}`]));
});

describe('what gobgpd has when it lists it', () => {
  test('of ours as it was is left alone and there since then; what another client replaced meanwhile is put in again', () => {
    const agent = given([A, B]);
    const at = agent.now;
    agent.lose();
    agent.pass(60_000);
    agent.event({ type: 'connected', about: ABOUT });
    agent.report(route(A, replaced(agent)), route(B, ownAsReported(agent.gobgpd.get(B)!)));
    agent.event({ type: 'listed' });
    expect(sessionOf(agent).originated).toBe(2);
    expect(
      shown(agent.content, { now: agent.now, toWall: 0 }).map((row) => [row.prefix, row.proxy, Date.parse(row.since)]),
    ).toEqual([
      [A, '192.0.2.9', agent.now],
      [B, PROXY, at],
    ]);
    agent.settle();
    expect({
      answer: agent.answer(),
      ownOverwritten: agent.count('own.overwritten'),
      rounds: agent.content.own.dispute.rounds,
    }).toEqual({ answer: [`+${A}`], ownOverwritten: 0, rounds: 0 });
  });

  test('with flags that make attribute 39 worth nothing is not ours as it was', () => {
    const agent = given([A]);
    agent.lose();
    const own = ownAsReported(agent.gobgpd.get(A)!);
    agent.gobgpd.delete(A);
    agent.connect(route(A, { ...own, badNhcFlags: 0 }));
    expect(sessionOf(agent).originated).toBe(0);
    expect(agent.answer()).toEqual([`+${A}`]);
  });

  test('is not complete when it is lost on the way: what it did not come to may be there', () => {
    const agent = given([A, B]);
    agent.lose();
    agent.event({ type: 'connected', about: ABOUT });
    agent.event({ type: 'routes', routes: [route(A, ownAsReported(agent.gobgpd.get(A)!))] });
    agent.lose();
    agent.declare(declaration({}));
    agent.connect();
    expect({ answer: agent.answer(), gobgpdSize: agent.gobgpd.size }).toEqual({
      answer: [`-${A}`, `-${B}`],
      gobgpdSize: 0,
    });
  });
});

describe('news', () => {
  test('that what is being taken out is gone are no change of another client', () => {
    const agent = given([A, B]);
    agent.declare(declaration({ [B]: PROXY }));
    agent.report(route(A));
    expect({
      answer: agent.answer(),
      ownPutBack: agent.count('own.put-back'),
      ownAdded: agent.count('own.added'),
    }).toEqual({ answer: [`-${A}`], ownPutBack: 0, ownAdded: 2 });
    expect(countedNothing(agent)).toBe(true);
  });

  test('that what is to be taken out is gone before that: there is nothing to take out', () => {
    const agent = given([A], { echoes: false });
    agent.declare(declaration({ [A]: PROXY, [B]: PROXY }));
    agent.declare(declaration({ [B]: PROXY }));
    agent.report(route(A));
    expect({ answer: agent.answer(), pathsSize: agent.content.own.paths.size }).toEqual({
      answer: [`+${B}`],
      pathsSize: 1,
    });
  });

  test('that what gobgpd refused to change is gone: it is put back', () => {
    const agent = given([A]);
    agent.declare(declaration({ [A]: '192.0.2.3' }));
    agent.answer('no');
    agent.report(route(A));
    agent.pass(5000);
    expect({ answer: agent.answer(), ownPutBack: agent.count('own.put-back') }).toEqual({
      answer: [`+${A}`],
      ownPutBack: 1,
    });
  });

  test('that it is replaced while another change is on its way: it does not count as originated', () => {
    const agent = given([A]);
    agent.declare(declaration({ [A]: PROXY, [B]: PROXY }));
    agent.report(route(A, replaced(agent)));
    expect({ originated: sessionOf(agent).originated, ownOverwritten: agent.count('own.overwritten') }).toEqual({
      originated: 0,
      ownOverwritten: 1,
    });
    expect(agent.effects).toContainEqual(
      expect.objectContaining({ type: 'log', fields: { counter: 'bgp.own.overwritten', prefix: A } }),
    );
    expect(agent.answer()).toEqual([`+${A}`, `+${B}`]);
  });

  test('that a path of ours is there are no reason to take it out before anything is declared', () => {
    const own = ownAsReported(given([A]).gobgpd.get(A)!);
    const agent = new Agent();
    agent.connect();
    agent.report(route(A, own));
    agent.pass(600_000);
    expect(agent.changes).toBeUndefined();
    agent.declare(declaration({}));
    expect(agent.answer()).toEqual([`-${A}`]);
  });

  test('that it is there again are, and it is taken out again', () => {
    const agent = given([A, B]);
    const own = ownAsReported(agent.gobgpd.get(A)!);
    agent.declare(declaration({ [B]: PROXY }));
    agent.answer();
    agent.report(route(A, own));
    expect({ answer: agent.answer(), rounds: agent.content.own.dispute.rounds }).toEqual({
      answer: [`-${A}`],
      rounds: 1,
    });
  });

  test('that what gobgpd refused to take out is gone: then there is nothing to take out', () => {
    const agent = given([A, B]);
    agent.declare(declaration({ [B]: PROXY }));
    agent.answer('no');
    agent.report(route(A));
    agent.pass(5000);
    expect({
      changes: agent.changes,
      ownPutBack: agent.count('own.put-back'),
      pathsSize: agent.content.own.paths.size,
    }).toEqual({ changes: undefined, ownPutBack: 0, pathsSize: 1 });
  });

  test('of another client’s path for our prefix are none of ours', () => {
    const agent = given([A]);
    agent.report(route(A, ownAsReported(agent.gobgpd.get(A)!), path('192.0.2.9', { best: false })));
    agent.report(route('10.9.0.0/16', path('192.0.2.9', { neighbor: undefined })));
    expect({ changes: agent.changes, pathsSize: agent.content.own.paths.size }).toEqual({
      changes: undefined,
      pathsSize: 1,
    });
  });

  test('of ours while a change of it is refused say what is there: it is tried again all the same', () => {
    const agent = given([A]);
    agent.declare(declaration({ [A]: '192.0.2.3' }));
    agent.answer('no');
    expect(sessionOf(agent).originated).toBe(0);
    agent.report(route(A, ownAsReported(agent.gobgpd.get(A)!)));
    expect({ ownOverwritten: agent.count('own.overwritten'), originated: sessionOf(agent).originated }).toEqual({
      ownOverwritten: 0,
      originated: 0,
    });
    agent.pass(5000);
    expect(agent.answer()).toEqual([`+${A}`]);
    expect(sessionOf(agent).originated).toBe(1);
  });

  test('of a path that was replaced before gobgpd reported ours, and then reported ours, are those of ours', () => {
    const agent = given([A], { echoes: false });
    agent.report(route(A, replaced(agent)));
    agent.report(route(A, ownAsReported(agent.gobgpd.get(A)!)));
    expect({
      changes: agent.changes,
      ownOverwritten: agent.count('own.overwritten'),
      originated: sessionOf(agent).originated,
    }).toEqual({ changes: undefined, ownOverwritten: 0, originated: 1 });
    agent.pass(60_000);
    expect(agent.looks).toBeUndefined();
  });

  test('of a path that was replaced before gobgpd reported ours, and then reported none: gobgpd is asked, and does not have it', () => {
    const agent = given([A], { echoes: false });
    agent.report(route(A, replaced(agent)));
    agent.report(route(A));
    agent.gobgpd.clear();
    agent.pass(3000);
    agent.lookUp();
    expect({ ownOverwritten: agent.count('own.overwritten'), ownDropped: agent.count('own.dropped') }).toEqual({
      ownOverwritten: 0,
      ownDropped: 1,
    });
  });
});

describe('a change that gobgpd reports', () => {
  test.each<[string, () => Agent]>([
    ['of the next hop', () => given([A])],
    ['of a path that it has not reported yet', () => given([A], { echoes: false })],
  ])('%s counts when it has reported it', (_, make) => {
    const agent = make();
    agent.echoes = false;
    agent.event({ type: 'configure', changes: { ...agent.content.config, nextHop4: address('192.0.2.8') } });
    agent.settle();
    expect({ answer: agent.answer(), originated: sessionOf(agent).originated }).toEqual({
      answer: [`+${A}`],
      originated: 0,
    });
    agent.report(route(A, ownAsReported(agent.gobgpd.get(A)!)));
    expect(sessionOf(agent).originated).toBe(1);
  });
});

test('an upload of communities alone does not make a path count that gobgpd has not reported', () => {
  const agent = given([A], { echoes: false });
  agent.event({ type: 'configure', changes: { ...agent.content.config, communities: [7] } });
  agent.settle();
  expect({ answer: agent.answer(), originated: sessionOf(agent).originated }).toEqual({
    answer: [`+${A}`],
    originated: 0,
  });
  agent.pass(3000);
  expect({ lookUp: agent.lookUp(), originated: sessionOf(agent).originated }).toEqual({ lookUp: [A], originated: 1 });
});
