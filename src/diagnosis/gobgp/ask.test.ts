// What doctor makes of a gobgpd that answers some questions and not others: a gRPC server of the test's own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { create, toBinary } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import {
  GetBgpResponseSchema,
  ListPeerResponseSchema,
  PeerEvent_Type,
  WatchEventResponseSchema,
} from '../../carriers/bgp/gobgp/gen/gobgp/messages_pb.js';
import { v3 } from '../../carriers/bgp/gobgp/v3.ts';
import { load } from '../../intent/fixture.ts';
import type { Check } from '../../model/problem.ts';
import { examineGobgp } from './check.ts';

const bytes = (message: Uint8Array): Buffer => Buffer.from(message);
const method = (name: string, responseStream: boolean) => ({
  path: `/${v3.service}/${name}`,
  requestStream: false,
  responseStream,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
});
const ABOUT = toBinary(
  GetBgpResponseSchema,
  create(GetBgpResponseSchema, { global: { asn: 65_001, routerId: '192.0.2.1' } }),
);
const WATCHING = toBinary(
  WatchEventResponseSchema,
  create(WatchEventResponseSchema, { event: { case: 'peer', value: { type: PeerEvent_Type.END_OF_INIT } } }),
);

/** gobgpd's number of the state. */
const ESTABLISHED = 6;

interface Call {
  write(value: Uint8Array): void;
  emit(name: string, error: object): void;
  end(): void;
}

/** @returns what doctor finds, and the methods that were called */
async function examined(
  listPeer: (call: Call) => void,
  answers = true,
): Promise<{ readonly checks: readonly Check[]; readonly called: readonly string[] }> {
  const called: string[] = [];
  const directory = mkdtempSync(join(tmpdir(), 'cnpd-doctor-'));
  const server = new Server();
  server.addService(
    {
      GetBgp: method('GetBgp', false),
      WatchEvent: method('WatchEvent', true),
      ListPeer: method('ListPeer', true),
      ListPath: method('ListPath', true),
    },
    {
      GetBgp: (_call: unknown, answer: (error: null, value: Uint8Array) => void) => answers && answer(null, ABOUT),
      WatchEvent: (call: Call) => (called.push('WatchEvent'), call.write(WATCHING)),
      ListPeer: listPeer,
      ListPath: (call: Call) => (called.push('ListPath'), call.end()),
    },
  );
  const socket = join(directory, 'gobgpd.sock');
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  try {
    const checks = await examineGobgp(
      load(`router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\nbgp: { gobgp: { target: "unix:${socket}" } }\n`),
    );
    return { checks, called };
  } finally {
    server.forceShutdown();
    rmSync(directory, { recursive: true });
  }
}

it('a gobgpd that does not tell of its neighbours is not said to have none', async () => {
  const { checks } = await examined((call) => call.emit('error', { code: status.INTERNAL, details: 'not now' }));
  expect(checks).toMatchObject([
    { id: 'gobgp', state: 'missing', problem: expect.stringContaining('does not tell of its neighbours: not now') },
  ]);
});

it('who it is and which neighbours it has is all that it is asked: it lists no table', async () => {
  const peer = toBinary(
    ListPeerResponseSchema,
    create(ListPeerResponseSchema, {
      peer: { conf: { neighborAddress: '192.0.2.9', peerAsn: 65_001 }, state: { sessionState: ESTABLISHED } },
    }),
  );
  const { checks, called } = await examined((call) => {
    call.write(peer);
    // Time for whoever goes on to the table.
    setImmediate(() => call.end());
  });
  expect(checks.map(({ id, state }) => [id, state])).toEqual([
    ['gobgp', 'ok'],
    ['gobgp.neighbors', 'ok'],
  ]);
  expect(called).toEqual([]);
});

it('a gobgpd that hangs keeps a person waiting for two seconds, not for ten', async () => {
  const before = performance.now();
  const { checks } = await examined(() => {}, false);
  expect(checks).toMatchObject([
    {
      id: 'gobgp',
      state: 'missing',
      problem: expect.stringContaining('does not answer'),
      remedy: expect.stringContaining('restart gobgpd'),
    },
  ]);
  expect(performance.now() - before).toBeLessThan(8000);
});
