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

/** Between two looks, where they are not written over each other. A view has blank lines of its own. */
const SEPARATOR = '---\n';

/**
 * On a terminal a look takes the place of the one before. Otherwise a line separates them; in JSON each is a line.
 * @returns the exit code of the last look
 */
export async function watch(
  context: Context,
  { interval }: WatchOptions,
  look: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { terminal, options } = context;
  if (terminal) context.out(ERASE_ALL);
  let isFirst = true;
  for (;;) {
    let text = '';
    const write = (more: string): void => void (text += more);
    const err = terminal ? write : context.err;
    const code = await look({ ...context, out: write, err, oneLine: !terminal }).catch((error: unknown) =>
      // cnpd may come back.
      explainFailure({ err }, error),
    );
    if (terminal) context.out(`${HOME}${text}${ERASE_BELOW}`);
    else if (text !== '') {
      context.out(isFirst || options.output === 'json' ? text : `${SEPARATOR}${text}`);
      isFirst = false;
    }
    if (!(await context.pause(interval * 1000))) return code;
  }
}
