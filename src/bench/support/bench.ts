// What every figure is given: how to say what goes on, and where to put what must be undone. Undoing happens in reverse
// order, whatever went wrong.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Poller } from '../../kernel/poller.ts';
import type { Row } from './report.ts';

export interface Bench {
  readonly signal: AbortSignal;
  readonly poller: Poller;
  /** Removed at the end. */
  readonly directory: string;
  say(text: string): void;
  /** Undoes something at the end of the figure. */
  finally(undo: () => void | Promise<void>): void;
}

export interface Figure {
  /** For --only. */
  readonly name: string;
  readonly title: string;
  measure(bench: Bench): Promise<Row[]>;
}

/** Runs one figure and undoes what it did. @throws what the figure threw, or what could not be undone */
export async function runFigure(
  figure: Figure,
  dependencies: { readonly signal: AbortSignal; say(text: string): void },
): Promise<Row[]> {
  const undone: (() => void | Promise<void>)[] = [];
  const directory = mkdtempSync(join(tmpdir(), 't-bench-'));
  const failures: unknown[] = [];
  const poller = Poller.open({ onError: (error) => failures.push(error) });
  let rows: Row[] = [];
  try {
    rows = await figure.measure({ ...dependencies, poller, directory, finally: (undo) => void undone.unshift(undo) });
  } catch (error) {
    failures.push(error);
  }
  for (const undo of undone) {
    try {
      await undo();
    } catch (error) {
      failures.push(error);
    }
  }
  poller.close();
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    failures.push(error); // behind what has left it so
  }
  if (failures.length > 0) throw failures[0];
  return rows;
}

/** Waits until `condition` holds. @throws Error naming what was waited for */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  signal: AbortSignal,
  limitMs = 20_000,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    signal.throwIfAborted();
    if (performance.now() > end) throw new Error(`after ${limitMs / 1000} s still not: ${what}`);
    await new Promise((done) => setTimeout(done, 5));
  }
}

/** dist/, where the bundles and dist/bpf are, whether this runs as a bundle's entry or its chunk. */
export const dist = (): string =>
  import.meta.dirname.endsWith('chunk')
    ? join(import.meta.dirname, '..')
    : import.meta.dirname.endsWith('support')
      ? join(import.meta.dirname, '../../../dist')
      : import.meta.dirname;
export const bpfObject = (name: string): string => join(dist(), 'bpf', `${name}.bpf.o`);
