// Runs a program to its end and collects its output. The lab drives ip(8), nsenter(1) and unshare(1): their commands
// are what an operator would type.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { LabError } from './error.ts';

const PIPE_GRACE_MS = 50;

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly signal?: AbortSignal;
  /** In a session of its own, so that Ctrl-C at a terminal does not reach it or its children. */
  readonly detached?: boolean;
}

/**
 * @returns the exit code (128 + signal number when a signal ended it). Rejects only when the program cannot be started
 * or `signal` aborts.
 */
export function run(argv: readonly string[], opts: RunOptions = {}): Promise<RunResult> {
  return new Promise((done, failed) => {
    const child = spawn(argv[0]!, argv.slice(1), {
      stdio: [opts.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...opts.env },
      ...(opts.cwd !== undefined && { cwd: opts.cwd }),
      ...(opts.signal && { signal: opts.signal }),
      detached: opts.detached ?? false,
    });
    let stdout = '';
    let stderr = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', failed);
    child.on('exit', (code, signal) => {
      const finish = (): void => done({ code: code ?? 128 + (signal ? constants.signals[signal] : 0), stdout, stderr });
      // A command such as `sh -c 'daemon &'` ends while its child still holds the pipes: its own output is read by
      // then, and the rest is not ours. A busy event loop can learn of the exit before it has read the pipes, and runs
      // its timers first: hence one turn more.
      const destroy = (): void => {
        child.stdout!.destroy();
        child.stderr!.destroy();
      };
      const letGo = setTimeout(() => setImmediate(destroy), PIPE_GRACE_MS);
      child.on('close', () => {
        clearTimeout(letGo);
        finish();
      });
    });
    if (opts.input !== undefined) child.stdin!.on('error', () => {}).end(opts.input);
  });
}

/** As run, for programs that must succeed. @throws LabError `command-failed` with the program's output */
export async function mustRun(argv: readonly string[], opts: RunOptions = {}, what = argv.join(' ')): Promise<string> {
  const result = await run(argv, opts);
  if (result.code === 0) return result.stdout;
  const output = (result.stderr.trim() || result.stdout.trim() || 'no output').split('\n').slice(-8).join('\n  ');
  throw new LabError('command-failed', `${what} failed with status ${result.code}:\n  ${output}`);
}
