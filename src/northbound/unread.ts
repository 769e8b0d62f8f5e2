// How many bytes of answers gRPC holds for clients that have not taken them yet, over all listeners. Without a bound
// clients that ask and do not read would take all memory.
import type { ServerHttp2Stream } from 'node:http2';
import type { Count } from '../model/log.ts';
import { RpcError } from './rpc-error.ts';

const MAX_UNREAD_BYTES = 256 * 1024 * 1024;

export class UnreadAnswers {
  readonly #count: Count;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor({ count }: { readonly count: Count }, maxBytes = MAX_UNREAD_BYTES) {
    this.#count = count;
    this.#maxBytes = maxBytes;
  }

  /** Counts an answer until its stream is closed. @throws RpcError RESOURCE_EXHAUSTED */
  hold(bytes: number, stream: Pick<ServerHttp2Stream, 'destroyed' | 'once'>): void {
    // Nothing is kept for it, and it has closed already.
    if (stream.destroyed) return;
    if (this.#bytes + bytes > this.#maxBytes) {
      this.#count('northbound.unread');
      const [most, held] = [this.#maxBytes, this.#bytes].map((each) => Math.floor(each / 1024));
      throw new RpcError(
        'RESOURCE_EXHAUSTED',
        `clients have left ${held} KiB of answers unread, of at most ${most} KiB: try again later`,
      );
    }
    this.#bytes += bytes;
    stream.once('close', () => (this.#bytes -= bytes));
  }
}
