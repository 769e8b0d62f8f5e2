// Waiting in tests: for a state, never for a time.
import { inspect, isDeepStrictEqual } from 'node:util';

const DEFAULT_LIMIT_MS = 30_000;
const LONGEST_PAUSE_MS = 100;
/** After a look that takes long. */
const LONGEST_REST_MS = 1000;
const SHOWN_CHARACTERS = 3000;

type NotYet = undefined | false;

/**
 * Looks again and again until `choose` finds an answer in what was seen, or says that it will do: anything but
 * undefined and false. What `look` throws ends the wait.
 * @throws Error with `what`, and what was seen last, after `limitMs`
 */
export async function until<State, Answer>(
  what: string,
  look: () => State | Promise<State>,
  choose: (seen: State) => Answer | NotYet,
  limitMs?: number,
): Promise<Answer>;
/** Until what is looked for is there: anything but undefined and false. */
export async function until<Answer>(
  what: string,
  look: () => Answer | NotYet | Promise<Answer | NotYet>,
  limitMs?: number,
): Promise<Answer>;
export async function until<State>(
  what: string,
  look: () => State | Promise<State>,
  choose: number | ((seen: State) => unknown) = DEFAULT_LIMIT_MS,
  limitMs = typeof choose === 'number' ? choose : DEFAULT_LIMIT_MS,
): Promise<unknown> {
  const start = performance.now();
  for (;;) {
    const looked = performance.now();
    const seen = await look();
    const cost = performance.now() - looked;
    const answer = typeof choose === 'number' ? seen : choose(seen);
    if (answer !== undefined && answer !== false) return answer;
    const waited = performance.now() - start;
    if (waited > limitMs) throw new Error(`not within ${limitMs} ms: ${what}; seen last: ${shown(seen)}`);
    // Short waits are not prolonged, and in long ones the processor is left to what is waited for: more of it the
    // longer a look takes, since most looks start a program.
    const pause = Math.max(Math.min(LONGEST_PAUSE_MS, Math.max(2, waited / 20)), Math.min(LONGEST_REST_MS, 2 * cost));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

const shown = (seen: unknown): string => inspect(seen, { depth: 5, breakLength: 120 }).slice(0, SHOWN_CHARACTERS);

export const is =
  (expected: unknown) =>
  (seen: unknown): boolean =>
    isDeepStrictEqual(seen, expected);
export const atLeast =
  (least: number | bigint) =>
  (seen: number | bigint): boolean =>
    seen >= least;
export const moreThan =
  (most: number | bigint) =>
  (seen: number | bigint): boolean =>
    seen > most;
export const contains =
  <Item>(item: Item) =>
  (seen: { includes(item: Item): boolean }): boolean =>
    seen.includes(item);
export const matches =
  (pattern: RegExp) =>
  (seen: string | undefined): boolean =>
    seen !== undefined && pattern.test(seen);
