import { expect, test } from 'vitest';
import { type Note, logAdjacency } from './effects.ts';

test.each([
  [true, false, false, 'warn', 'isis.adjacency.down'],
  // This router ends it: no warning.
  [true, false, true, 'info', 'isis.adjacency.down'],
  [false, true, false, 'info', 'isis.adjacency.up'],
  [false, false, false, 'info', 'isis.adjacency.changed'],
])(
  'an adjacency that was up: %s, is up: %s, stopping: %s is logged as %s %s',
  (wasUp, isUp, isStopping, level, event) => {
    const effects: Note[] = [];
    const sink = { counterPrefix: 'isis', now: 0, effects, warned: new Map<string, number>() };
    logAdjacency(sink, { wasUp, isUp, isStopping }, { neighbor: 'x' }, 'text');
    expect(effects).toEqual([{ type: 'log', level, fields: { event, neighbor: 'x' }, message: 'text' }]);
  },
);
