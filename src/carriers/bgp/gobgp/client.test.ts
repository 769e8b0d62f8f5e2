// The client at a gobgpd that refuses paths: a gRPC server of the test's own. Real ones are in test/e2e/gobgp-client.test.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { systemClock } from '../../../model/clock.ts';
import { silentLog } from '../../../model/log.ts';
import { prefix } from '../../../model/prefix.ts';
import { createGobgpClient } from './client.edge.ts';
import { GetBgpResponseSchema, PeerEvent_Type, WatchEventResponseSchema } from './gen/gobgp/messages_pb.js';
import { v3 } from './v3.ts';

const bytes = (message: Uint8Array): Buffer => Buffer.from(message);
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({ path: `/${v3.service}/${name}`, requestStream, responseStream, requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes });
const ABOUT = toBinary(GetBgpResponseSchema, create(GetBgpResponseSchema, { global: { asn: 65_001, routerId: '192.0.2.1' } }));
const WATCHING = toBinary(WatchEventResponseSchema, create(WatchEventResponseSchema, { event: { case: 'peer', value: { type: PeerEvent_Type.END_OF_INIT } } }));
type Answer = (error: { code: status; details: string }) => void;

test('why gobgpd does not take a path is said as why it cannot be used: what it answers, or that it does not', async () => {
  const refusals = [{ code: status.INVALID_ARGUMENT, details: 'no room' }, { code: status.DEADLINE_EXCEEDED, details: 'Deadline exceeded' }];
  const directory = mkdtempSync(join(tmpdir(), 'cnpd-client-'));
  const server = new Server();
  server.addService(
    { GetBgp: method('GetBgp', false, false), WatchEvent: method('WatchEvent', false, true), ListPath: method('ListPath', false, true), AddPathStream: method('AddPathStream', true, false) },
    {
      GetBgp: (_: unknown, answer: (error: null, value: Uint8Array) => void) => answer(null, ABOUT),
      WatchEvent: (call: { write(value: Uint8Array): void }) => call.write(WATCHING),
      ListPath: (call: { end(): void }) => call.end(),
      AddPathStream: (call: { resume(): void }, answer: Answer) => (call.resume(), answer(refusals.shift()!)),
    },
  );
  const target = `unix:${join(directory, 'gobgpd.sock')}`;
  await new Promise<void>((resolve, reject) => server.bindAsync(target, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve())));
  let listed = (): void => {};
  const ready = new Promise<void>((resolve) => (listed = resolve));
  const listener = { connected: () => {}, routes: () => {}, listed: () => listed(), lost: () => {} };
  const client = createGobgpClient({ target, learn: 'best', maxMessageBytes: 1 << 20 }, { listener, clock: systemClock, log: silentLog, count: () => {} });
  try {
    client.start();
    await ready;
    const path = { prefix: prefix('10.0.0.0/8'), nextHop: address('192.0.2.1'), nhc: Uint8Array.of(1), communities: [], largeCommunities: [] };
    await expect(client.add([path])).rejects.toThrow(/^no room$/);
    await expect(client.withdraw([path.prefix])).rejects.toThrow(/^gobgpd accepts the connection and does not answer/);
  } finally {
    await client.close();
    server.forceShutdown();
    rmSync(directory, { recursive: true });
  }
});
