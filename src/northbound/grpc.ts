// The thin layer between the generated messages (@bufbuild/protobuf) and the transport (@grpc/grpc-js): typed methods
// and nothing else.
import { type ServerHttp2Stream, constants } from 'node:http2';
import type { PeerCertificate } from 'node:tls';
import { toUSVString } from 'node:util';
import {
  type DescMessage,
  type DescMethodBiDiStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { type handleUnaryCall, type MethodDefinition, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import { clip } from './paths.ts';
import { Decoding } from './decoding.ts';
import { RpcError } from './rpc-error.ts';
import type { UnreadAnswers } from './unread.ts';

/** What a handler may answer with: a message, or the bytes of one that was encoded piece by piece. */
type Answer<O extends DescMessage> = MessageShape<O> | Buffer;

const bytes = (message: Uint8Array): Buffer => Buffer.from(message.buffer, message.byteOffset, message.byteLength);

/** The method as grpc-js wants it of a client. */
export const unary = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
): MethodDefinition<MessageShape<I>, Answer<O>> => definition(method, false);

export const bidirectional = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodBiDiStreaming<I, O>,
): MethodDefinition<MessageShape<I>, Answer<O>> => definition(method, true);

/** The method as grpc-js wants it of a server: it hands over requests as they came, which are decoded in a line. */
export const served = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O> | DescMethodBiDiStreaming<I, O>,
): MethodDefinition<Buffer, Answer<O>> => ({
  ...definition(method, method.methodKind !== 'unary'),
  requestSerialize: (encoded: Buffer) => encoded,
  requestDeserialize: (encoded) => encoded,
});

function definition<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O> | DescMethodBiDiStreaming<I, O>,
  stream: boolean,
): MethodDefinition<MessageShape<I>, Answer<O>> {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: stream,
    responseStream: stream,
    requestSerialize: (message) => bytes(toBinary(method.input, message)),
    requestDeserialize: (encoded) => fromBinary(method.input, encoded),
    responseSerialize: (answer) => (Buffer.isBuffer(answer) ? answer : bytes(toBinary(method.output, answer))),
    responseDeserialize: (encoded) => fromBinary(method.output, encoded),
  };
}

/** Whether the client no longer waits for the answer. */
export type Cancelled = () => boolean;

interface Reporting {
  readonly log: Log;
  readonly count: Count;
}

interface Replying extends Reporting {
  /** Absent: the answers of this method are small. */
  readonly unread?: UnreadAnswers | undefined;
  /** See `decode`. */
  readonly mostFields?: number;
}

/** Who calls, and for how long. */
export interface Caller {
  readonly cancelled: Cancelled;
  readonly certificate: PeerCertificate | undefined;
}

/** Of all calls of this process. */
export const decoding = new Decoding();

export const certificateOf = (call: Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext'>) =>
  call.getAuthContext().sslPeerCertificate;

/**
 * RpcError becomes its status; anything else becomes INTERNAL and is logged. Counts `northbound.refused.<code>`. A text
 * that was cut within a character is mended: grpc-js throws where half of a surrogate pair is in the details.
 */
export function statusOf(error: unknown, method: string, { log, count }: Reporting): { code: number; details: string } {
  const known = error instanceof RpcError;
  const code = known ? error.code : 'INTERNAL';
  if (code === 'INTERNAL') log.error({ method, error }, 'a northbound call failed');
  count(`northbound.refused.${code.toLowerCase().replaceAll('_', '-')}`);
  return { code: known ? error.status : status.INTERNAL, details: toUSVString(clip(messageOf(error), 1000)) };
}

/** An answer that nobody reads for so long is given up. */
const UNREAD_MS = 10 * 60_000;

/**
 * A handler that returns a promise. Counts `northbound.call.<method>`, and see `statusOf`. An answer that grpc-js does
 * not take ends the call, not the daemon: `northbound.answer.failed`. Bytes count as unread until the call is over.
 */
export function handle<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  run: (request: MessageShape<I>, caller: Caller) => Promise<Answer<O>>,
  reporting: Replying,
  unreadMs = UNREAD_MS,
): handleUnaryCall<Buffer, Answer<O>> {
  return (call: ServerUnaryCall<Buffer, Answer<O>>, reply) => {
    reporting.count(`northbound.call.${method.name.toLowerCase()}`);
    const caller = { cancelled: () => call.cancelled, certificate: certificateOf(call) };
    decoding
      .decode(method.input, call.request, { most: reporting.mostFields, isOver: caller.cancelled })
      .then((request) => run(request, caller))
      .then((answer) => {
        const stream = http2StreamOf(call);
        if (stream && Buffer.isBuffer(answer)) reporting.unread?.hold(answer.length, stream);
        stream?.setTimeout(unreadMs, () => cutOff(call));
        return answer;
      })
      .then(
        (answer) => reply(null, answer),
        (error: unknown) => reply(statusOf(error, method.name, reporting)),
      )
      .catch((error: unknown) => {
        reporting.count('northbound.answer.failed');
        reporting.log.error({ method: method.name, error }, 'a northbound call could not be answered');
        cutOff(call);
      });
  };
}

/**
 * The HTTP/2 stream of a call. grpc-js does not offer it, and has no other way to end a call whose client does not
 * read; tests hold that it is there.
 */
function http2StreamOf(call: object): ServerHttp2Stream | undefined {
  type Inner = { readonly stream?: ServerHttp2Stream; readonly nextCall?: Inner };
  const { call: inner } = call as { readonly call?: Inner };
  // Behind an interceptor it is that of the next call.
  return inner?.nextCall?.stream ?? inner?.stream;
}

/** Ends the call at once, whether its client reads or not. */
export const cutOff = (call: object): void => http2StreamOf(call)?.close(constants.NGHTTP2_CANCEL);
