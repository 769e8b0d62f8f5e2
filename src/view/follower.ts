// One node's cnpd, followed over its gNMI socket: connects, subscribes, and tries again when that ends.
import { type Followed, type Stream, openStream } from '../northbound/subscribe-client.ts';
import type { Connection } from './node-view.ts';
import { Rows } from './rows.ts';

/** A queue is drawn ten times a second: the shortest interval that cnpd serves. */
const SAMPLE_MS = 100;
const FOLLOWED: readonly Followed[] = [
  { names: ['cnpd', 'status', 'health'] },
  { names: ['cnpd', 'status', 'version'] },
  { names: ['cnpd', 'status', 'problems'] },
  { names: ['cnpd', 'ports'], sampleMs: SAMPLE_MS },
  { names: ['cnpd', 'flows'], sampleMs: SAMPLE_MS },
  { names: ['cnpd', 'notifications'] },
  { names: ['cnpd', 'senders'] },
  { names: ['cnpd', 'proxies'] },
  { names: ['cnpd', 'sources'] },
  { names: ['cnpd', 'sids'] },
  { names: ['cnpd', 'groups', 'group'] },
  { names: ['cnpd', 'groups', 'tree'] },
];

const RETRY_MS = { first: 500, longest: 5000 } as const;

interface Dependencies {
  /** Path of the socket as this process sees it; a string with the reason in `why`: there is none. */
  readonly socket: () => { readonly path: string } | { readonly why: string };
  /** Something may look different now. */
  readonly onChange: () => void;
  /** All that there was has come; what comes now is news. */
  readonly onBegin: () => void;
}

export class Follower {
  readonly rows = new Rows();
  connection: Connection = { state: 'connecting', reason: '' };
  readonly #dependencies: Dependencies;
  #stream: Stream | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retryMs: number = RETRY_MS.first;
  #closed = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    if (this.#closed) return;
    const found = this.#dependencies.socket();
    if ('why' in found) return this.#ended(found.why);
    this.#stream = openStream(found.path, FOLLOWED, {
      onChange: (deleted, updated) => {
        for (const path of deleted) this.rows.delete(path);
        for (const [path, value] of updated) this.rows.update(path, value);
        this.#dependencies.onChange();
      },
      onSync: () => {
        this.#retryMs = RETRY_MS.first;
        this.connection = { state: 'up', reason: '' };
        this.#dependencies.onBegin();
        this.#dependencies.onChange();
      },
      onEnd: (reason) => this.#ended(reason),
    });
  }

  #ended(reason: string): void {
    this.#stream = undefined;
    this.rows.clear();
    this.connection = { state: 'down', reason };
    this.#dependencies.onChange();
    this.#timer = setTimeout(() => this.start(), this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MS.longest);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#stream?.close();
  }
}
