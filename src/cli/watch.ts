// `cnpctl show … --watch`: the same view again and again, until it is interrupted or nobody reads it any more.
import { type Context, explainFailure } from './context.ts';
import type { ExitCode } from './exit.ts';

export interface WatchOptions {
  readonly watch?: boolean;
  /** Seconds from the end of one look to the next. */
  readonly interval: number;
}

/** To the upper left, and the rest of the screen empty: nothing flickers as it would if all were erased first. */
const HOME = '\u001b[H';
const ERASE_BELOW = '\u001b[J';
const ERASE_ALL = '\u001b[2J';

/** @returns the exit code of the last look */
export async function watch(
  context: Context,
  { interval }: WatchOptions,
  look: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (context.terminal) context.out(ERASE_ALL);
  for (;;) {
    let text = '';
    const write = (more: string): void => void (text += more);
    const code = await look({ ...context, out: write, err: write }).catch((error: unknown) =>
      // cnpd may come back.
      explainFailure({ err: write }, error),
    );
    context.out(context.terminal ? `${HOME}${text}${ERASE_BELOW}` : text);
    if (!(await context.pause(interval * 1000))) return code;
  }
}
