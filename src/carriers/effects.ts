// What every machine of a carrier asks for beside its packets and reports: counters, lines in the log, and randomness
// that a recorded run repeats.

import type { Count, Log } from '../model/log.ts';

/** As long as this a reason that keeps coming back is counted without another line in the log. */
const WARN_INTERVAL_MS = 60_000;

export type Note =
  | { readonly type: 'count'; readonly name: string; readonly by: number }
  | {
      readonly type: 'log';
      readonly level: 'debug' | 'info' | 'warn';
      readonly fields: object;
      readonly message: string;
    };

/** Where a machine collects its effects. Its states are that, so that they can be handed over as they are. */
export interface Sink {
  /** In front of the names of all its counters: `isis`. */
  readonly counterPrefix: string;
  /** Milliseconds, of the event that is being handled. */
  readonly now: number;
  readonly effects: { push(note: Note): unknown };
  /** When a warning was logged last, by counter. */
  readonly warned: Map<string, number>;
}

/** @param name without the carrier's prefix */
export function count({ counterPrefix, effects }: Sink, name: string, by = 1): void {
  effects.push({ type: 'count', name: `${counterPrefix}.${name}`, by });
}

export function log({ effects }: Sink, level: 'debug' | 'info' | 'warn', fields: object, message: string): void {
  effects.push({ type: 'log', level, fields, message });
}

/** Counts always, warns at most once a minute for each name: bad input must not become a flood of log lines. */
export function warnLimited(s: Sink, name: string, fields: object, message: string, by = 1): void {
  count(s, name, by);
  const last = s.warned.get(name);
  if (last !== undefined && s.now - last < WARN_INTERVAL_MS) return;
  s.warned.set(name, s.now);
  log(s, 'warn', { counter: `${s.counterPrefix}.${name}`, ...fields }, message);
}

/** Carries a note out. @param fields in every line of the log */
export function takeNote(
  note: Note,
  { count: add, log: lines }: { readonly count: Count; readonly log: Log },
  fields: object,
): void {
  if (note.type === 'count') add(note.name, note.by);
  else lines[note.level]({ ...fields, ...note.fields }, note.message);
}

/** Uniform in [0, 1): a 32-bit linear congruential generator is enough to spread timers. */
export function random(s: { random: number }): number {
  s.random = (Math.imul(s.random, 1664525) + 1013904223) >>> 0;
  return s.random / 2 ** 32;
}

/** Up to a quarter earlier, as ISO/IEC 10589 §10.1 asks of periodic timers. */
export const jittered = (s: { random: number }, ms: number): number => ms * (1 - random(s) / 4);
