import { expect, test } from 'vitest';
import { styleFor, writtenLine } from './log-lines.ts';

const JSON_LINE =
  '{"level":"warn","time":"2026-11-26T12:00:01.250Z","component":"isis","neighbor":"0000.0000.0001","levels":[1,2],"msg":"adjacency down"}\n';

test.each([
  [{ isTerminal: true, stream: '1:2', journalStream: '1:2' }, 'text'],
  [{ isTerminal: false, stream: '1:2', journalStream: '1:2' }, 'journal'],
  [{ isTerminal: false, stream: '1:3', journalStream: '1:2' }, 'json'],
  [{ isTerminal: false, stream: '1:2', journalStream: undefined }, 'json'],
])('%j is written as %s', (destination, style) => expect(styleFor(destination)).toBe(style));

test('a file or a pipe gets JSON as it is', () => expect(writtenLine('json', JSON_LINE, 40)).toBe(JSON_LINE));

test.each([
  [20, 7],
  [30, 6],
  [40, 4],
  [50, 3],
  [60, 3],
])('journald gets level %i as priority %i', (level, priority) =>
  expect(writtenLine('journal', JSON_LINE, level)).toBe(`<${priority}>${JSON_LINE}`),
);

test('a terminal gets text, and no control character of another router', () => {
  expect(writtenLine('text', JSON_LINE, 40)).toBe(
    '12:00:01.250 warn  isis: adjacency down  neighbor=0000.0000.0001  levels=[1,2]\n',
  );
  const line = JSON.stringify({
    time: '2026-11-26T12:00:01.250Z',
    level: 'info',
    component: 'isis',
    msg: '\u001b[2J\u009bx',
  });
  expect(writtenLine('text', `${line}\n`, 30)).toBe('12:00:01.250 info  isis: \u{fffd}[2J\u{fffd}x\n');
});
