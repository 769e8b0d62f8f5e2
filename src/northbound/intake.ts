// What comes in of a call before anybody reads it: who calls is checked before the request is taken, a connection sends
// few requests at a time, and a request that does not end is given up. Of one that is not taken yet, HTTP/2 holds no
// more than the window of its connection.
import type { ServerHttp2Stream } from 'node:http2';
import { ServerInterceptingCall, ServerListenerBuilder, type ServerOptions } from '@grpc/grpc-js';
import { statusOf } from './grpc.ts';
import type { Certificate } from './rights.ts';
import { RpcError } from './rpc-error.ts';
import type { Count, Log } from '../model/log.ts';

type Interceptor = NonNullable<ServerOptions['interceptors']>[number];
type Call = Parameters<Interceptor>[1];

/** By method, such as `/gnmi.gNMI/Set`. @throws RpcError: the client may not call it */
export type CheckCaller = (method: string, certificate: Certificate) => void;

interface IntakeOptions {
  readonly check: CheckCaller;
  readonly log: Log;
  readonly count: Count;
  /** For the whole of a request. Default ten seconds. */
  readonly requestMs?: number;
}

/** Of one connection: requests that are taken at a time. */
const AT_ONCE = 2;
const REQUEST_MS = 10_000;

export function intake({ check, log, count, requestMs = REQUEST_MS }: IntakeOptions): Interceptor {
  const connections = new WeakMap<object, Turns>();
  return ({ path, requestStream }, call) => {
    const method = path.slice(path.lastIndexOf('/') + 1);
    const refuse = (error: unknown): void => call.sendStatus(statusOf(error, method, { log, count }));
    const turns = turnsOf(connections, call);
    let over = (): void => undefined;
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        try {
          check(path, call.getAuthContext().sslPeerCertificate);
        } catch (error) {
          return refuse(error);
        }
        const late = setTimeout(() => {
          refuse(new RpcError('DEADLINE_EXCEEDED', `the request was not whole after ${requestMs / 1000} s`));
        }, requestMs);
        const leave = turns.enter(() => next(metadata));
        over = () => {
          clearTimeout(late);
          leave();
        };
      })
      .withOnReceiveMessage((message, next) => {
        // The first message of a stream is the request.
        if (requestStream) over();
        next(message);
      })
      .withOnReceiveHalfClose((next) => {
        over();
        next();
      })
      .withOnCancel(() => over())
      .build();
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };
}

/** grpc-js does not say which calls are of one connection; tests hold that its stream is there. */
function turnsOf(connections: WeakMap<object, Turns>, call: Call): Turns {
  const connection = (call as { readonly stream?: ServerHttp2Stream }).stream?.session ?? connections;
  let turns = connections.get(connection);
  if (!turns) connections.set(connection, (turns = new Turns()));
  return turns;
}

/** Of the requests of one connection. */
class Turns {
  readonly #waiting = new Set<() => void>();
  #running = 0;

  /** @returns to be called when the request is whole, or given up; more than once does no harm */
  enter(begin: () => void): () => void {
    let state: 'waiting' | 'running' | 'over' = 'waiting';
    const start = (): void => {
      state = 'running';
      this.#running++;
      begin();
    };
    if (this.#running < AT_ONCE) start();
    else this.#waiting.add(start);
    return () => {
      if (state === 'waiting') this.#waiting.delete(start);
      if (state === 'running') this.#leave();
      state = 'over';
    };
  }

  #leave(): void {
    this.#running--;
    const [next] = this.#waiting;
    if (!next) return;
    this.#waiting.delete(next);
    next();
  }
}
