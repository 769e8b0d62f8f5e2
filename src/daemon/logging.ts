// One line per message on standard error (pino): level, time, component, fields, text. Errors in `fields.error` keep
// their code. JSON, or text on a terminal (log-lines.ts).
import { fstatSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { type LogComponent, type LogLevel, LogLevels } from '../model/log-levels.ts';
import type { Log } from '../model/log.ts';
import { styleFor, writtenLine } from './log-lines.ts';

export interface Logging {
  /** A logger that adds `component` to its lines. */
  component(name: LogComponent): Log;
  readonly levels: LogLevels;
}

const STDERR = 2;

/** Pino tells a stream that asks for it the level of each line. */
function destination(): DestinationStream & { lastLevel: number } {
  const { dev, ino } = fstatSync(STDERR);
  const style = styleFor({
    isTerminal: isatty(STDERR),
    stream: `${dev}:${ino}`,
    journalStream: process.env['JOURNAL_STREAM'],
  });
  const out = pino.destination({ dest: STDERR, sync: true });
  const stream = {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write: (line: string): void => void out.write(writtenLine(style, line, stream.lastLevel)),
  };
  return stream;
}

export function createLogging(ofFile: LogLevel): Logging {
  const root = pino(
    {
      level: 'debug',
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination(),
  );
  const children = new Map<LogComponent, Logger>();
  const levels = new LogLevels(ofFile, (component, level) => {
    const child = children.get(component);
    if (child) child.level = level;
  });
  const childOf = (component: LogComponent): Logger => {
    const known = children.get(component);
    if (known) return known;
    const child = root.child({ component }, { level: levels.levelOf(component) });
    children.set(component, child);
    return child;
  };
  return {
    levels,
    component: (name) => {
      const child = childOf(name);
      return {
        debug: (fields, message) => child.debug(fields, message),
        info: (fields, message) => child.info(fields, message),
        warn: (fields, message) => child.warn(fields, message),
        error: (fields, message) => child.error(fields, message),
      };
    },
  };
}
