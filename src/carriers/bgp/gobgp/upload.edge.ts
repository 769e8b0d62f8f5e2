// Many paths through one AddPathStream: a few in each message, encoded while gobgpd works on the ones before, no faster
// than it takes them.
import { once } from 'node:events';
import { type Steps, type Work, finish, nextTurn } from '../../../model/work.ts';
import type { Calls } from './calls.edge.ts';
import type { Channel } from './channel.edge.ts';

/** A message is encoded in less than a millisecond, and costs gobgpd about as much as one path a message would. */
export const PATHS_A_MESSAGE = 100;
const BUDGET_MS = 4;
/** An upload of as many or more is done first. */
const MANY = 250;

/** To begin with, and for each item: twenty times what gobgpd takes when it has nothing else to do. */
const LEAST_MS = 30_000;
const ITEM_MS = 2;

export interface UploadsDependencies {
  readonly channel: Channel;
  readonly calls: Calls;
  readonly work: Work;
}

/** Uploads run one after another, so that of contradicting ones the last one counts. */
export class Uploads {
  readonly #dependencies: UploadsDependencies;
  #last: Promise<unknown> = Promise.resolve();
  #over = false;

  constructor(dependencies: UploadsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Nothing begins any more, and what waits is rejected. */
  close(): void {
    this.#over = true;
  }

  /** Rejects with CallError, or when the connection is closed. */
  run<T>(items: readonly T[], request: (some: readonly T[]) => Uint8Array): Promise<void> {
    if (items.length === 0) return Promise.resolve();
    const run = this.#last.then(() => this.#upload(items, request));
    this.#last = run.catch(() => {});
    return run;
  }

  async #upload<T>(items: readonly T[], request: (some: readonly T[]) => Uint8Array): Promise<void> {
    if (this.#over) throw new Error('gobgpd is not connected');
    const { channel, calls, work } = this.#dependencies;
    // gobgpd reports each of these paths too. That waits for a second, or it would take the time of gobgpd and of
    // cnpd that the paths themselves need.
    calls.uploading = items.length >= MANY;
    calls.flow();
    try {
      await finish(work, upload(channel, calls.path('AddPathStream'), items, PATHS_A_MESSAGE, request), BUDGET_MS);
    } finally {
      calls.uploading = false;
      // Not before whoever waits for this one has had a chance to begin the next.
      void nextTurn(work).then(() => this.#over || calls.flow());
    }
  }
}

/**
 * Throws CallError, the connection's or gobgpd's, which takes nothing more of a stream in which it has found a
 * fault.
 */
export function* upload<T>(
  channel: Channel,
  path: string,
  items: readonly T[],
  aMessage: number,
  encode: (some: readonly T[]) => Uint8Array,
): Steps {
  const { call, end } = channel.upload(path, LEAST_MS + ITEM_MS * items.length);
  let over = false;
  const ended = end.finally(() => (over = true));
  ended.catch(() => {});
  for (let i = 0; i < items.length && !over; i += aMessage) {
    if (call.write(encode(items.slice(i, i + aMessage)))) yield;
    else yield Promise.race([once(call, 'drain'), ended]);
  }
  if (!over) call.end();
  yield ended;
}
