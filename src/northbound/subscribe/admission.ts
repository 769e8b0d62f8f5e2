// How many Subscribe calls there may be, so that no client takes all of them from the others: whoever reaches the port
// over TCP has a share, and leaves some to the unix sockets. Who calls there is unknown.
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { certificateOf } from '../grpc.ts';
import { RpcError } from '../rpc-error.ts';

export interface AdmissionOptions {
  /** Streams at a time, of all sockets. Default 128. */
  readonly maxStreams?: number;
  /** Of one client over TCP. Default 16. */
  readonly maxOfClient?: number;
  /** Of `maxStreams`, for the unix sockets only. Default 32. */
  readonly reserved?: number;
}

type Caller = Pick<ServerDuplexStream<unknown, unknown>, 'getPeer' | 'getAuthContext'>;

/** What grpc-js says of a peer without an address. */
const NO_ADDRESS = 'unknown';

/** The names in the certificate, or the address. Undefined: on a unix socket. */
export function clientOf(call: Caller): string | undefined {
  const certificate = certificateOf(call);
  if (certificate) return JSON.stringify([certificate.subject, certificate.subjectaltname]);
  const peer = call.getPeer();
  // Without the port.
  return peer === NO_ADDRESS ? undefined : peer.replace(/:\d+$/, '');
}

export class Admission {
  readonly #max: number;
  readonly #maxOfClient: number;
  readonly #maxOfTcp: number;
  /** Over TCP, by client. */
  readonly #byClient = new Map<string, number>();
  #streams = 0;
  #ofTcp = 0;

  constructor({ maxStreams = 128, maxOfClient = 16, reserved = 32 }: AdmissionOptions) {
    this.#max = maxStreams;
    this.#maxOfClient = maxOfClient;
    this.#maxOfTcp = maxStreams - reserved;
  }

  /**
   * @param client see `clientOf`
   * @returns called once, when the stream is over
   * @throws RpcError RESOURCE_EXHAUSTED
   */
  enter(client: string | undefined): () => void {
    if (this.#streams >= this.#max) throw full(`there are ${this.#max} subscriptions already: try again later`);
    if (client !== undefined) this.#enterTcp(client);
    this.#streams++;
    return () => {
      this.#streams--;
      if (client !== undefined) this.#leaveTcp(client);
    };
  }

  #enterTcp(client: string): void {
    const own = this.#byClient.get(client) ?? 0;
    if (own >= this.#maxOfClient)
      throw full(`this client has ${own} subscriptions already: end one, or have several paths in one call`);
    if (this.#ofTcp >= this.#maxOfTcp)
      throw full(`there are ${this.#maxOfTcp} subscriptions over TCP already: try again later`);
    this.#byClient.set(client, own + 1);
    this.#ofTcp++;
  }

  #leaveTcp(client: string): void {
    const own = this.#byClient.get(client)! - 1;
    if (own > 0) this.#byClient.set(client, own);
    else this.#byClient.delete(client);
    this.#ofTcp--;
  }
}

const full = (why: string): RpcError => new RpcError('RESOURCE_EXHAUSTED', why);
