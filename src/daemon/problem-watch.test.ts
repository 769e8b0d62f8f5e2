import { expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import type { Problem, ProblemCode } from '../model/problem.ts';
import { ProblemWatch } from './problem-watch.ts';

const problem = (code: ProblemCode, text: string): Problem => ({
  code,
  feature: code.split('.')[0]!,
  problem: text,
  remedy: 'do',
});
const gone = (name: string): Problem => problem('interface.missing', `interface ${name} does not exist`);

function watch() {
  const clock = manualClock();
  const lines: string[] = [];
  const state = { problems: [] as Problem[], costMs: 0, looks: 0, fails: false };
  const errors: unknown[] = [];
  const write = (level: string) => (fields: object, message: string) => {
    const { event, code, remedy } = fields as Record<string, string>;
    lines.push([level, event, code, remedy, message].filter((part) => part !== undefined).join(' | '));
  };
  const watching = new ProblemWatch({
    problems: () => {
      state.looks++;
      clock.advance(state.costMs);
      if (state.fails) throw new Error('netlink');
      return state.problems;
    },
    clock,
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    onError: (error) => errors.push(error),
  });
  return { clock, lines, state, errors, watching };
}

test('each problem that appears or clears is one line, with its event, code and remedy', () => {
  const { clock, lines, state, watching } = watch();
  watching.look();
  state.problems = [gone('eth7'), problem('isis.no-neighbor', 'no neighbor')];
  clock.advance(5000);
  expect(lines.splice(0)).toEqual([
    'warn | problem.appeared | interface.missing | do | interface: interface eth7 does not exist',
    'warn | problem.appeared | isis.no-neighbor | do | isis: no neighbor',
  ]);
  state.problems = [gone('eth7'), gone('eth8')];
  clock.advance(1000);
  expect(lines.splice(0)).toEqual([
    'warn | problem.appeared | interface.missing | do | interface: interface eth8 does not exist',
    'info | problem.cleared | isis.no-neighbor | do | isis: no problem any more',
  ]);
  expect(watching.known).toEqual(state.problems);
  state.problems = [gone('eth8')];
  clock.advance(1000);
  expect(lines).toEqual(['info | problem.cleared | interface.missing | do | interface: no problem any more']);
});

test('a number or a time that changes in a sentence is no other problem', () => {
  const { clock, lines, state, watching } = watch();
  watching.look();
  for (const text of [
    'silent for 9 s',
    'silent for 10 s',
    'silent for 11.5 s',
    'silent for 2026-11-26T22:00:01.5Z s',
  ]) {
    state.problems = [problem('bgp.silent', text)];
    clock.advance(1000);
  }
  expect(lines).toHaveLength(1);
});

test('two alike are two', () => {
  const { clock, lines, state, watching } = watch();
  watching.look();
  state.problems = [problem('ospf.mtu', '1500'), problem('ospf.mtu', '9000')];
  clock.advance(1000);
  state.problems = [problem('ospf.mtu', '9000')];
  clock.advance(1000);
  expect(lines.map((line) => line.split(' | ')[1])).toEqual([
    'problem.appeared',
    'problem.appeared',
    'problem.cleared',
  ]);
});

test('of a flood only some lines are written, and the number of the rest', () => {
  const { clock, lines, state, watching } = watch();
  watching.look();
  state.problems = Array.from({ length: 100 }, (_, i) => gone(`eth${i}`));
  clock.advance(1000);
  expect(lines).toHaveLength(65);
  expect(lines.at(-1)).toMatch(/problem\.more/);
});

test('looks that take long are rare, and one that fails is reported and repeated', () => {
  const { clock, state, errors, watching } = watch();
  watching.look();
  clock.advance(10_000);
  expect(state.looks).toBe(11);
  Object.assign(state, { looks: 0, costMs: 100, fails: true });
  clock.advance(110_000);
  expect(state.looks).toBe(3);
  expect(errors.length).toBe(state.looks);
  watching.stop();
  const before = state.looks;
  clock.advance(60_000);
  watching.look();
  expect(state.looks).toBe(before);
});
