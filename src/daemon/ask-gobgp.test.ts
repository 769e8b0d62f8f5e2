// What doctor makes of a gobgpd that answers some questions and not others: a gRPC server of the test's own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { create, toBinary } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { GetBgpResponseSchema, PeerEvent_Type, WatchEventResponseSchema } from '../carriers/bgp/gobgp/gen/gobgp/messages_pb.js';
import { v3 } from '../carriers/bgp/gobgp/v3.ts';
import { load } from '../intent/fixture.ts';
import { examineGobgp } from './examine-gobgp.ts';

const bytes = (message: Uint8Array): Buffer => Buffer.from(message);
const method = (name: string, responseStream: boolean) => ({ path: `/${v3.service}/${name}`, requestStream: false, responseStream, requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes });
const ABOUT = toBinary(GetBgpResponseSchema, create(GetBgpResponseSchema, { global: { asn: 65_001, routerId: '192.0.2.1' } }));
const WATCHING = toBinary(WatchEventResponseSchema, create(WatchEventResponseSchema, { event: { case: 'peer', value: { type: PeerEvent_Type.END_OF_INIT } } }));

it('a gobgpd that does not tell of its neighbours is not said to have none', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'cnpd-doctor-'));
  const server = new Server();
  server.addService(
    { GetBgp: method('GetBgp', false), WatchEvent: method('WatchEvent', true), ListPeer: method('ListPeer', true), ListPath: method('ListPath', true) },
    {
      GetBgp: (_call: unknown, answer: (error: null, value: Uint8Array) => void) => answer(null, ABOUT),
      WatchEvent: (call: { write(value: Uint8Array): void }) => call.write(WATCHING),
      ListPeer: (call: { emit(name: string, error: object): void }) => call.emit('error', { code: status.INTERNAL, details: 'not now' }),
      ListPath: (call: { end(): void }) => call.end(),
    },
  );
  const socket = join(directory, 'gobgpd.sock');
  await new Promise<void>((resolve, reject) => server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve())));
  try {
    const checks = await examineGobgp(load(`router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\nbgp: { gobgp: { target: "unix:${socket}" } }\n`));
    expect(checks).toMatchObject([{ id: 'gobgp', state: 'missing', problem: expect.stringContaining('does not tell of its neighbours') }]);
  } finally {
    server.forceShutdown();
    rmSync(directory, { recursive: true });
  }
});
