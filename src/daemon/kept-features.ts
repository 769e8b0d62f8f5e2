// What the probe has found in this kernel, kept in the run directory for the next start of the same cnpd. So a restart
// loads no program and makes no interface in order to find it again. Only what is there is kept: what is missing is
// tried at each start, since its remedy may have been carried out. The file counts for one boot of one kernel, and for
// the probe's programs by their digest. A file that says anything else is not believed.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { release, version } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import { readBounded } from './read-bounded.ts';
import { VERSION } from './version.ts';

const NAME = 'kernel-features.json';
/** As left in the run directory: for uninstall. */
export const FEATURE_FILES = [NAME, `${NAME}.new`];

const MAX_BYTES = 16 * 1024;
const MODE = 0o600;
/** Of a feature's name. */
const WORD = /^[a-z0-9-]{1,32}$/;

/** What has to be the same for the answers to be the same. */
export interface Kernel {
  readonly boot: string;
  readonly kernel: string;
  readonly cnpd: string;
  readonly programs: string;
}

/** @param programs path of the probe's object @throws the system's error */
export const kernelNow = (programs: string): Kernel => ({
  boot: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
  kernel: `${release()} ${version()}`,
  cnpd: VERSION,
  programs: createHash('sha256').update(readFileSync(programs)).digest('hex'),
});

interface Dependencies {
  /** @throws the system's error: nothing is known then, and nothing kept */
  readonly kernel: () => Kernel;
  readonly count: Count;
  readonly log: Log;
}

export class KeptFeatures {
  readonly #path: string;
  readonly #dependencies: Dependencies;
  /** As the file has it. */
  #text: string | undefined;

  constructor(runDir: string, dependencies: Dependencies) {
    this.#path = join(runDir, NAME);
    this.#dependencies = dependencies;
  }

  /** Names of features that an earlier start has found. */
  known(): ReadonlySet<string> {
    return (
      this.#attempt('cannot be read', () => {
        this.#text = readBounded(this.#path, MAX_BYTES);
        return this.#text === undefined ? undefined : parse(this.#text, this.#dependencies.kernel());
      }) ?? new Set<string>()
    );
  }

  /** Replaces what is kept. Nothing: the next start tries everything. */
  keep(found: readonly string[]): void {
    this.#attempt('cannot be written', () => {
      if (found.length === 0) return rmSync(this.#path, { force: true });
      const text = `${JSON.stringify({ ...this.#dependencies.kernel(), found: found.toSorted() })}\n`;
      if (text === this.#text) return;
      const fresh = `${this.#path}.new`;
      rmSync(fresh, { force: true });
      writeFileSync(fresh, text, { mode: MODE, flag: 'wx' });
      renameSync(fresh, this.#path);
      this.#text = text;
    });
  }

  #attempt<T>(failed: string, run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      const { count, log } = this.#dependencies;
      count('kernel.features-not-kept');
      log.warn({ error: messageOf(error), file: this.#path }, `what the kernel can do ${failed}: it is tried again`);
      return undefined;
    }
  }
}

/** Nothing of another kernel. @throws Error when this is no such file */
function parse(text: string, now: Kernel): ReadonlySet<string> {
  const { found, ...kernel } = Object(JSON.parse(text)) as Partial<Kernel> & { readonly found?: unknown };
  if (!Array.isArray(found) || !found.every((name) => typeof name === 'string' && WORD.test(name)))
    throw new Error('it has no list of features');
  const isSame = (Object.keys(now) as (keyof Kernel)[]).every((key) => kernel[key] === now[key]);
  return new Set(isSame ? (found as string[]) : []);
}
