// Where a report is made: kernel, version, processors and their load.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, type } from 'node:os';
import { VERSION } from '../daemon/version.ts';
import { packageRoot } from '../lab/program.ts';
import type { Machine } from './results.ts';

export const loadNow = (): number => loadavg()[0]!;

/** The commit of the work tree, with `+` when files differ from it; undefined outside a repository. */
function commit(): string | undefined {
  try {
    const git = (...argv: string[]): string =>
      execFileSync('git', ['-C', packageRoot(), ...argv], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const changed = git('status', '--porcelain', '--untracked-files=no').trim() !== '';
    return `${git('rev-parse', '--short=12', 'HEAD').trim()}${changed ? '+' : ''}`;
  } catch {
    return undefined;
  }
}

/** @param before load before the first run */
export function machine(before: number): Machine {
  const found = commit();
  return {
    kernel: `${type()} ${release()}`,
    cnpd: found === undefined ? VERSION : `${VERSION} (commit ${found})`,
    node: process.version,
    cpus: cpus().length,
    load: [before, loadNow()],
  };
}

/** Begins to measure; the function that it returns ends it: share of the processors in use since, 0 to 1. */
export function watchCpus(): () => number {
  const total = (): { readonly idle: number; readonly all: number } => {
    const times = cpus().map((cpu) => cpu.times);
    const idle = times.reduce((sum, t) => sum + t.idle, 0);
    return { idle, all: times.reduce((sum, t) => sum + t.user + t.nice + t.sys + t.irq + t.idle, 0) };
  };
  const before = total();
  return () => {
    const after = total();
    const all = after.all - before.all;
    return all <= 0 ? 0 : 1 - (after.idle - before.idle) / all;
  };
}
