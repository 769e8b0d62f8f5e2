import { expect, test } from 'vitest';
import { LOG_COMPONENTS, type LogComponent, type LogLevel, LogLevels } from './log-levels.ts';

function example() {
  const applied = new Map<LogComponent, LogLevel>();
  return { applied, levels: new LogLevels('info', (component, level) => void applied.set(component, level)) };
}
const setIn = (levels: LogLevels): string[] =>
  levels
    .list()
    .filter(({ isSet }) => isSet)
    .map(({ component, level }) => `${component}=${level}`);

test('a component has the level of the file until it gets one of its own, which a reload keeps', () => {
  const { applied, levels } = example();
  expect(setIn(levels)).toEqual([]);
  expect(levels.change([{ component: 'isis', level: 'debug' }]).ok).toBe(true);
  expect([levels.levelOf('isis'), levels.levelOf('bgp'), applied.get('isis')]).toEqual(['debug', 'info', 'debug']);
  levels.follow('warn');
  expect([applied.get('isis'), applied.get('bgp')]).toEqual(['debug', 'warn']);
  levels.change([{ component: 'isis', level: 'file' }]);
  expect([setIn(levels), applied.get('isis')]).toEqual([[], 'warn']);
});

test('all means every component', () => {
  const { levels } = example();
  levels.change([
    { component: 'all', level: 'error' },
    { component: 'bgp', level: 'debug' },
  ]);
  expect(setIn(levels)).toHaveLength(LOG_COMPONENTS.length);
  expect(setIn(levels)).toContain('bgp=debug');
  levels.change([{ component: 'all', level: 'file' }]);
  expect(setIn(levels)).toEqual([]);
});

test.each([
  ['isiss', 'debug', /^no component isiss: there are all, bgp, /],
  ['isis', 'trace', /^no level trace: there are debug, info, warn, error, file$/],
])('%s=%s is refused, and nothing of the request is done', (component, level, error) => {
  const { levels } = example();
  expect(
    levels.change([
      { component: 'bgp', level: 'debug' },
      { component, level },
    ]),
  ).toEqual({
    ok: false,
    error: expect.stringMatching(error),
  });
  expect(setIn(levels)).toEqual([]);
});
