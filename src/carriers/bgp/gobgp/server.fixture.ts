// For tests: a gobgpd of API version 3 whose answers are the test's, as no real one's can be made. It is of AS 65001,
// and its table is empty unless the test says otherwise.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type UntypedServiceImplementation, type status } from '@grpc/grpc-js';
import { GetBgpResponseSchema, PeerEvent_Type, WatchEventResponseSchema } from './gen/gobgp/messages_pb.js';
import { v3 } from './v3.ts';

const bytes = (message: Uint8Array): Buffer => Buffer.from(message);
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/${v3.service}/${name}`,
  requestStream,
  responseStream,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
});
const SERVICE = {
  GetBgp: method('GetBgp', false, false),
  WatchEvent: method('WatchEvent', false, true),
  ListPeer: method('ListPeer', false, true),
  ListPath: method('ListPath', false, true),
  AddPathStream: method('AddPathStream', true, false),
};
const ABOUT = toBinary(
  GetBgpResponseSchema,
  create(GetBgpResponseSchema, { global: { asn: 65_001, routerId: '192.0.2.1' } }),
);
/** What a watch begins with. */
export const WATCHING = toBinary(
  WatchEventResponseSchema,
  create(WatchEventResponseSchema, { event: { case: 'peer', value: { type: PeerEvent_Type.END_OF_INIT } } }),
);

/** An answer of many messages. */
export interface Telling {
  write(value: Uint8Array): void;
  emit(name: string, error: object): void;
  end(): void;
}

interface Refusal {
  readonly code: status;
  readonly details: string;
}

export interface Methods {
  readonly GetBgp: (
    call: { getDeadline(): Date | number },
    answer: (error: Refusal | null, value?: Uint8Array) => void,
  ) => void;
  readonly WatchEvent: (call: Telling) => void;
  readonly ListPeer: (call: Telling) => void;
  readonly ListPath: (call: Telling) => void;
  readonly AddPathStream: (call: { resume(): void }, answer: (error: Refusal) => void) => void;
}

const SILENT: Omit<Methods, 'ListPeer'> = {
  GetBgp: (_call, answer) => answer(null, ABOUT),
  WatchEvent: (call) => call.write(WATCHING),
  ListPath: (call) => call.end(),
  AddPathStream: () => {},
};

/** @param use with the target by which it is reached; then it ends */
export async function withServer<T>(methods: Partial<Methods>, use: (target: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'cnpd-gobgpd-'));
  const target = `unix:${join(directory, 'gobgpd.sock')}`;
  const server = new Server();
  server.addService(SERVICE, { ...SILENT, ...methods } as unknown as UntypedServiceImplementation);
  try {
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(target, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve())),
    );
    return await use(target);
  } finally {
    server.forceShutdown();
    rmSync(directory, { recursive: true });
  }
}
