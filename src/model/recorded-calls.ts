// Machines that are objects: each call of a method that changes one is an event. A function among the arguments is
// recorded by what it returns (a finding).
import type { Tape } from './recording.ts';

export interface Call {
  readonly type: string;
  readonly args: readonly unknown[];
}

type Method = (...args: unknown[]) => unknown;

/** The same machine; with a tape, calls of these methods are recorded. @param now the machine's clock */
export function recordCalls<M extends object>(
  machine: M,
  methods: readonly (keyof M & string)[],
  tape: Tape | undefined,
  now: () => number,
): M {
  if (!tape) return machine;
  for (const type of methods) {
    const method = machine[type] as Method;
    const recorded: Method = (...args) => {
      tape.event(now(), { type, args } satisfies Call);
      return method.apply(
        machine,
        args.map((value) => findingFunctions(value, tape)),
      );
    };
    Object.defineProperty(machine, type, { value: recorded });
  }
  return machine;
}

/** Options for a machine that is recorded. */
export const findingFunctions = <T>(options: T, tape: Tape | undefined): T =>
  tape
    ? (withFunctions(
        options,
        (call) =>
          (...args) =>
            tape.find(() => call(...args)),
      ) as T)
    : options;

/** The same value, with each function replaced. */
function withFunctions(value: unknown, replace: (call: Method) => Method): unknown {
  if (typeof value === 'function') return replace(value as Method);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, withFunctions(of, replace)]));
}
