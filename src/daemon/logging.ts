// One JSON line per message on standard error (pino): level, time, component, fields, text. Errors in `fields.error`
// keep their code.
import { pino, stdTimeFunctions } from 'pino';
import type { Log } from '../model/log.ts';

export interface Logging {
  /** A logger that adds `component` to its lines. */
  component(name: string): Log;
  setLevel(level: string): void;
}

export function createLogging(level: string): Logging {
  const root = pino(
    { level, base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    pino.destination({ dest: 2, sync: true }),
  );
  const children: { level: string }[] = [];
  return {
    component: (name) => {
      const child = root.child({ component: name });
      children.push(child);
      return {
        debug: (fields, message) => child.debug(fields, message),
        info: (fields, message) => child.info(fields, message),
        warn: (fields, message) => child.warn(fields, message),
        error: (fields, message) => child.error(fields, message),
      };
    },
    setLevel: (next) => {
      root.level = next;
      for (const child of children) child.level = next;
    },
  };
}
