// The way out to one client: messages are made of leaves, and written while the client takes them.
import type { Steps } from '../../model/work.ts';
import { wait } from '../../model/work.ts';
import type { Encoding, Path } from '../gen/gnmi/gnmi_pb.js';
import type { SchemaNode } from '../schema.ts';
import { Notifications } from './encode.ts';
import type { LeafValue, Place } from './places.ts';

/** A stream that takes encoded messages. */
export interface Sink {
  /** @returns whether it takes more right now */
  write(message: Buffer): boolean;
  /** Resolves when it takes more, or will never again. */
  drained(): Promise<void>;
}

/** SubscribeResponse with sync_response. */
const SYNC = Buffer.from([0x18, 1]);

export class Outlet {
  readonly #sink: Sink;
  readonly #messages: Notifications;
  #blocked: Promise<void> | undefined;
  /** How long it has waited for the client in all, milliseconds. */
  blockedMs = 0;

  constructor(sink: Sink, encoding: Encoding, prefix: Path | undefined) {
    this.#sink = sink;
    this.#messages = new Notifications(encoding, prefix);
  }

  /** From now on, nanoseconds since the Unix epoch. What has another time becomes another message. */
  at(timestamp: bigint): void {
    this.flush();
    this.#messages.at(timestamp);
  }

  update(place: Place, leaf: SchemaNode, value: LeafValue, duplicates = 0): void {
    this.#messages.update(place, leaf, value, duplicates);
    if (this.#messages.isFull) this.flush();
  }

  delete(place: Place, leaf?: SchemaNode): void {
    this.#messages.delete(place, leaf);
    if (this.#messages.isFull) this.flush();
  }

  deletePath(path: Path): void {
    this.#messages.deletePath(path);
  }

  flush(): void {
    if (!this.#messages.isEmpty) this.#write(this.#messages.take());
  }

  sync(): void {
    this.flush();
    this.#write(SYNC);
  }

  #write(message: Buffer): void {
    if (this.#sink.write(message) || this.#blocked) return;
    const since = performance.now();
    this.#blocked = this.#sink.drained().then(() => void (this.blockedMs += performance.now() - since));
  }

  get isBlocked(): boolean {
    return this.#blocked !== undefined;
  }

  /** What to wait for before more is written. */
  pause(): Promise<void> | undefined {
    const blocked = this.#blocked;
    this.#blocked = undefined;
    return blocked;
  }

  *settle(): Steps {
    const blocked = this.pause();
    if (blocked) yield* wait(blocked);
    else yield;
  }
}
