// The thin layer between the generated messages (@bufbuild/protobuf) and the transport (@grpc/grpc-js): typed unary
// methods and nothing else.
import { type DescMessage, type DescMethodUnary, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { type handleUnaryCall, type MethodDefinition, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import { clip } from './paths.ts';
import { RpcError } from './rpc-error.ts';

/** What a handler may answer with: a message, or the bytes of one that was encoded piece by piece. */
type Answer<O extends DescMessage> = MessageShape<O> | Buffer;

const bytes = (message: Uint8Array): Buffer => Buffer.from(message.buffer, message.byteOffset, message.byteLength);

/** The method as grpc-js wants it. */
export function unary<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
): MethodDefinition<MessageShape<I>, Answer<O>> {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (message) => bytes(toBinary(method.input, message)),
    requestDeserialize: (encoded) => fromBinary(method.input, encoded),
    responseSerialize: (answer) => (Buffer.isBuffer(answer) ? answer : bytes(toBinary(method.output, answer))),
    responseDeserialize: (encoded) => fromBinary(method.output, encoded),
  };
}

/** Whether the client no longer waits for the answer. */
export type Cancelled = () => boolean;

/**
 * A handler that returns a promise. RpcError becomes its status; anything else becomes INTERNAL and is logged. Counts
 * `northbound.call.<method>` and `northbound.refused.<code>`.
 */
export function handle<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  run: (request: MessageShape<I>, cancelled: Cancelled) => Promise<Answer<O>>,
  { log, count }: { log: Log; count: Count },
): handleUnaryCall<MessageShape<I>, Answer<O>> {
  return (call: ServerUnaryCall<MessageShape<I>, Answer<O>>, reply) => {
    count(`northbound.call.${method.name.toLowerCase()}`);
    run(call.request, () => call.cancelled).then(
      (answer) => reply(null, answer),
      (error: unknown) => {
        const known = error instanceof RpcError;
        const code = known ? error.code : 'INTERNAL';
        if (code === 'INTERNAL') log.error({ method: method.name, error }, 'a northbound call failed');
        count(`northbound.refused.${code.toLowerCase().replaceAll('_', '-')}`);
        reply({
          code: known ? error.status : status.INTERNAL,
          details: clip(messageOf(error), 1000),
        });
      },
    );
  };
}
