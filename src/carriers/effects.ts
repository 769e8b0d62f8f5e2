// What every machine of a carrier asks for besides its packets and reports: counters and log lines. Also randomness
// that a replayed run repeats.

import type { Count, Log } from '../model/log.ts';

/** Within this time after a warning, further warnings of the same name are counted but not logged. */
const WARN_INTERVAL_MS = 60_000;

export type Note =
  | { readonly type: 'count'; readonly name: string; readonly by: number }
  | {
      readonly type: 'log';
      readonly level: 'debug' | 'info' | 'warn';
      readonly fields: object;
      readonly message: string;
    };

/** Where a machine collects its effects. The state of every machine has this shape, so it can be passed directly. */
export interface Sink {
  /** Prefix of all its counter names: `isis`. */
  readonly counterPrefix: string;
  /** Time of the event that is being handled, in milliseconds. */
  readonly now: number;
  readonly effects: { push(note: Note): unknown };
  /** When a warning was last logged, by counter. */
  readonly warned: Map<string, number>;
}

/** @param name without the carrier's prefix */
export function count({ counterPrefix, effects }: Sink, name: string, by = 1): void {
  effects.push({ type: 'count', name: `${counterPrefix}.${name}`, by });
}

export function log({ effects }: Sink, level: 'debug' | 'info' | 'warn', fields: object, message: string): void {
  effects.push({ type: 'log', level, fields, message });
}

interface AdjacencyChange {
  readonly wasUp: boolean;
  readonly isUp: boolean;
  /** This router is ending it. */
  readonly isStopping: boolean;
}

/** The loss of an adjacency is a warning, unless this router ends it. */
export function logAdjacency(s: Sink, change: AdjacencyChange, fields: object, message: string): void {
  const { wasUp, isUp, isStopping } = change;
  const event = wasUp === isUp ? 'adjacency.changed' : isUp ? 'adjacency.up' : 'adjacency.down';
  const level = wasUp && !isUp && !isStopping ? 'warn' : 'info';
  log(s, level, { event: `${s.counterPrefix}.${event}`, ...fields }, message);
}

/** Counts always and logs at most once a minute per name, so that bad input cannot flood the log. */
export function warnLimited(s: Sink, name: string, fields: object, message: string, by = 1): void {
  count(s, name, by);
  const last = s.warned.get(name);
  if (last !== undefined && s.now - last < WARN_INTERVAL_MS) return;
  s.warned.set(name, s.now);
  log(s, 'warn', { counter: `${s.counterPrefix}.${name}`, ...fields }, message);
}

/** Executes a note. @param fields added to every log line */
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

/** Up to a quarter earlier, as ISO/IEC 10589 §10.1 requires of periodic timers. */
export const jittered = (s: { random: number }, ms: number): number => ms * (1 - random(s) / 4);
