// Calls to a gobgpd over a channel, their answers taken as work: streams that are paused while too much waits to be
// taken, lists to their end, short questions. What comes, and what does not, shows whether gobgpd still lives
// (liveness.ts).
import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Clock } from '../../../model/clock.ts';
import type { CallError, Channel } from './channel.edge.ts';
import { GobgpError } from './fault.ts';
import { Liveness } from './liveness.ts';
import type { Intake } from './intake.ts';

/** For short answers. gobgpd does one thing at a time, and is slow to answer while it takes in a table. */
export const ANSWER_MS = 10_000;
/** Without anything coming in, of a long one: v3 gathers the whole table before it sends the first path. */
const SILENCE_MS = 60_000;
/**
 * Routes reported in one go. What the carrier makes of them takes longer than decoding them does, so that it has to
 * count for the time budget.
 */
const TELL = 100;

export interface CallsDependencies {
  readonly channel: Channel;
  readonly service: string;
  readonly intake: Intake;
  readonly clock: Clock;
  /** Something was taken. @param least routes that are worth a report */
  readonly taken: (least: number) => void;
}

export class Calls {
  readonly liveness: Liveness;
  readonly #dependencies: CallsDependencies;
  readonly #streams = new Set<ClientReadableStream<Buffer>>();
  /** Each gives up what waits for gobgpd. */
  readonly waits = new Set<() => void>();
  /** Many paths are on their way. */
  uploading = false;
  #over = false;

  constructor(dependencies: CallsDependencies) {
    this.#dependencies = dependencies;
    this.liveness = new Liveness(dependencies.clock);
  }

  /** Rejects with CallError. */
  async call(method: string, request: Uint8Array): Promise<Buffer> {
    this.liveness.asked();
    const answer = await this.#dependencies.channel.call(this.path(method), request, ANSWER_MS);
    this.liveness.heard();
    return answer;
  }

  path(method: string): string {
    return `/${this.#dependencies.service}/${method}`;
  }

  /** A stream of answers to its end, each taken in its turn; nothing that comes for too long is a failure. */
  collect(method: string, request: Uint8Array, take: (bytes: Buffer) => void): Promise<void> {
    this.liveness.asked();
    return new Promise((resolve, reject) => {
      let cancel = (): void => {};
      let ended = false;
      const stop = (): void => {
        cancel();
        ended = true;
      };
      const tooLong = (): void => {
        if (this.isBusy(SILENCE_MS)) return wait();
        stream.cancel();
        reject(new GobgpError('no-answer', `gobgpd stopped in the middle of an answer to ${method}`));
      };
      // What has come may be taken after the end, and after close(): there is nothing to wait for then.
      const wait = (): void => {
        cancel();
        if (!ended) cancel = this.#dependencies.clock.after(SILENCE_MS, tooLong);
      };
      const giveUp = (): void => (stop(), reject(new Error('the connection to gobgpd is closed')));
      const taken = (): void => (this.waits.delete(giveUp), resolve());
      this.waits.add(giveUp);
      const stream = this.stream(
        method,
        request,
        (bytes) => (wait(), take(bytes)),
        (error) => {
          stop();
          if (!error) return this.#dependencies.intake.push(taken);
          this.waits.delete(giveUp);
          reject(error);
        },
      );
      wait();
    });
  }

  stream(
    method: string,
    request: Uint8Array,
    take: (bytes: Buffer) => void,
    done: (error?: CallError) => void,
  ): ClientReadableStream<Buffer> {
    const stream = this.#dependencies.channel.stream(this.path(method), request, {
      data: (bytes) => (
        this.liveness.heard(),
        this.#dependencies.intake.push(() => (take(bytes), this.#dependencies.taken(TELL)))
      ),
      done: (error) => {
        this.#streams.delete(stream);
        if (!error) this.liveness.heard();
        if (!this.#over) done(error);
      },
    });
    this.#streams.add(stream);
    if (this.#dependencies.intake.isFull || this.uploading) stream.pause();
    return stream;
  }

  /**
   * Fetches what there is, unless so much waits to be taken, or so much is on its way to gobgpd, that it is better left
   * there.
   */
  flow(): void {
    for (const stream of this.#streams)
      if (!this.#dependencies.intake.isFull && !this.uploading) stream.resume();
      else stream.pause();
  }

  /**
   * An answer is late, and gobgpd is not dead: it sends something else, or cnpd itself has no time to listen, or has
   * not waited for that long.
   */
  isBusy(ms: number): boolean {
    return (
      this.liveness.heardWithin(ms) || this.liveness.silentMs < ms || this.#dependencies.intake.isFull || this.uploading
    );
  }

  /** Idempotent. Whoever waits gives up. */
  close(): void {
    this.#over = true;
    for (const giveUp of this.waits) giveUp();
  }
}
