// Look-ups of single prefixes in gobgpd's table, one request at a time: of those that routes.ts is not sure of, and of
// those that others ask about.
import type { Count } from '../../../model/log.ts';
import type { Prefix } from '../../../model/prefix.ts';
import type { Question, Routes } from './routes.ts';

/** Prefixes asked about at a time. */
const AT_A_TIME = 200;

export interface LookUpsDependencies {
  readonly routes: Pick<Routes, 'ask' | 'answered' | 'doubt' | 'isOpen'>;
  /** Of the connection: each gives up what waits for gobgpd. */
  readonly waits: Set<() => void>;
  readonly count: Count;
  /** Has gobgpd list these prefixes, and hands `routes` what it answers. */
  readonly list: (question: Question) => Promise<unknown>;
  /** The answers of a request are in `routes`. */
  readonly report: () => void;
  readonly failed: (error: unknown) => void;
}

export class LookUps {
  readonly #dependencies: LookUpsDependencies;
  #asking = false;
  /** Look-ups for others than routes.ts, by the keys that are open; each is notified when none is. */
  readonly #open = new Map<Set<string>, () => void>();

  constructor(dependencies: LookUpsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Resolves when these prefixes have been answered. Rejects when the connection is closed before. */
  async look(prefixes: readonly Prefix[]): Promise<void> {
    const { routes, waits } = this.#dependencies;
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => reject(new Error('the connection to gobgpd is closed'));
      waits.add(giveUp);
      this.#open.set(new Set(routes.doubt(prefixes)), () => (waits.delete(giveUp), resolve()));
      this.ask();
    });
  }

  /** Asks about the prefixes that are in doubt, unless an answer is still outstanding. */
  ask(): void {
    if (this.#asking) return;
    const { routes, count, list, report, failed } = this.#dependencies;
    const question = routes.ask(AT_A_TIME);
    if (!question) return;
    this.#asking = true;
    count('bgp.gobgp.asked', question.prefixes.length);
    list(question).then(() => {
      this.#asking = false;
      routes.answered();
      report();
      this.#notify();
    }, failed);
  }

  #notify(): void {
    for (const [keys, done] of this.#open) {
      for (const key of keys) if (!this.#dependencies.routes.isOpen(key)) keys.delete(key);
      if (keys.size > 0) continue;
      this.#open.delete(keys);
      done();
    }
  }
}
