// Programs that a test runs to their end.
import { spawnSync } from 'node:child_process';

export interface Result {
  readonly status: number | null;
  readonly stdout: string;
  /** Standard output and standard error. */
  readonly output: string;
}

export function tryRun(command: string, ...args: string[]): Result {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 << 20 });
  return {
    status,
    stdout: (stdout ?? '').trim(),
    output: `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`.trim(),
  };
}

/** @returns standard output. @throws Error unless it ends with 0 */
export function run(command: string, ...args: string[]): string {
  const { status, stdout, output } = tryRun(command, ...args);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: status ${status}: ${output}`);
  return stdout;
}
