// A gRPC client and a protobuf writer and reader that know nothing of the project: HTTP/2 frames by node, everything
// else by hand from the field numbers. What passes here does not depend on the generated code or on grpc-js agreeing
// with itself.
import { connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';

function varint(value: number | bigint): Buffer {
  const out: number[] = [];
  let rest = BigInt(value);
  do {
    out.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(out);
}
/** A length-delimited field. */
export const bytesField = (field: number, ...parts: (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as Buffer)));
  return Buffer.concat([varint((field << 3) | 2), varint(body.length), body]);
};
export const varintField = (field: number, value: number): Buffer => Buffer.concat([varint(field << 3), varint(value)]);

interface RawField {
  readonly field: number;
  readonly value: bigint | Buffer;
}

/** The fields of a message in order; wire types 0 and 2 only. */
export function rawFields(message: Buffer): RawField[] {
  const fields: RawField[] = [];
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(readVarint());
    if ((tag & 7) === 0) fields.push({ field: tag >> 3, value: readVarint() });
    else if ((tag & 7) === 2) {
      const length = Number(readVarint());
      fields.push({ field: tag >> 3, value: message.subarray(at, at + length) });
      at += length;
    } else throw new Error(`wire type ${tag & 7}`);
  }
  return fields;
}
/** All values of length-delimited fields along a path of field numbers. */
export const rawAt = (message: Buffer, ...path: number[]): Buffer[] =>
  path.reduce<Buffer[]>(
    (level, field) => level.flatMap((m) => rawFields(m).flatMap((f) => (f.field === field ? [f.value as Buffer] : []))),
    [message],
  );

interface RawAnswer {
  /** grpc-status; undefined when the stream broke off without one. */
  readonly status: number | undefined;
  readonly text: string;
  readonly message: Buffer | undefined;
  /** All of them, of a call that streams. */
  readonly messages: readonly Buffer[];
}

/** The messages of a body: each has a header of five bytes, with its length at the end. */
function messagesOf(body: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at + 5 <= body.length;) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    messages.push(body.subarray(at + 5, end));
    at = end;
  }
  return messages;
}

/** @param frame the whole body; by default the message with gRPC's five-byte header */
export function rawCall(socket: string, method: string, message: Buffer, frame?: Buffer): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const session = connectHttp2('http://localhost', { createConnection: () => connect(socket) });
    const header = Buffer.alloc(5);
    header.writeUInt32BE(message.length, 1);
    const body: Buffer[] = [];
    let status: number | undefined;
    let text = '';
    const read = (headers: Record<string, unknown>): void => {
      if (headers['grpc-status'] === undefined) return;
      status = Number(headers['grpc-status']);
      const { 'grpc-message': message = '' } = headers;
      text = typeof message === 'string' ? decodeURIComponent(message) : '';
    };
    const finish = (): void => {
      session.destroy();
      const all = Buffer.concat(body);
      resolve({ status, text, message: all.length >= 5 ? all.subarray(5) : undefined, messages: messagesOf(all) });
    };
    session.on('error', finish);
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: method,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('response', read);
    stream.on('trailers', read);
    stream.on('data', (chunk: Buffer) => body.push(chunk));
    stream.on('error', () => undefined);
    stream.on('close', finish);
    stream.end(frame ?? Buffer.concat([header, message]));
  });
}
