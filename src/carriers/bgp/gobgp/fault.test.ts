// Which cause a failure is put under where it happens: the remedy that the operator is shown goes by it.
import { create, toBinary } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { manualClock } from '../../../model/clock.ts';
import type { GobgpFault } from '../../../model/gobgp-fault.ts';
import { silentLog } from '../../../model/log.ts';
import { eventLoopWork } from '../../../model/work.ts';
import { createGobgpClient } from './client.edge.ts';
import { GetBgpResponseSchema } from './gen/gobgp/messages_pb.js';
import type { GobgpClient, GobgpOptions } from './gobgp.ts';
import { type Methods, WATCHING, withServer } from './server.fixture.ts';

const clock = manualClock();
const NOT_STARTED = toBinary(GetBgpResponseSchema, create(GetBgpResponseSchema, { global: {} }));

/** Why the first attempt to use this gobgpd fails. */
async function firstFault(methods: Partial<Methods>, options: Partial<GobgpOptions> = {}): Promise<GobgpFault> {
  return withServer(methods, async (target) => {
    let client: GobgpClient | undefined;
    const fault = await new Promise<GobgpFault>((resolve) => {
      client = createGobgpClient(
        { target, learn: 'best', maxMessageBytes: 1 << 20, ...options },
        {
          listener: { connected: () => {}, routes: () => {}, listed: () => {}, lost: resolve },
          ...{ clock, work: eventLoopWork(), log: silentLog, count: () => {} },
        },
      );
      client.start();
    });
    await client!.close();
    return fault;
  });
}

test.each<[what: string, code: GobgpFault['code'], reason: RegExp, methods: Partial<Methods>]>([
  [
    'BGP that is not started',
    'not-started',
    /no \[global\.config\]/,
    { GetBgp: (_call, answer) => answer(null, NOT_STARTED) },
  ],
  [
    'another gRPC server',
    'unknown-api',
    /^the server is not a gobgpd/,
    { GetBgp: (_call, answer) => answer({ code: status.UNIMPLEMENTED, details: 'x' }) },
  ],
  [
    'a watch that does not begin',
    'no-answer',
    /does not begin to report changes within 10 s/,
    { WatchEvent: () => clock.advance(10_000) },
  ],
  [
    'a list that stops in the middle',
    'no-answer',
    /stopped in the middle of an answer to ListPath/,
    { WatchEvent: (call) => call.write(WATCHING), ListPath: () => clock.advance(60_000) },
  ],
])('%s: %s', async (_what, code, reason, methods) =>
  expect(await firstFault(methods)).toEqual({ code, reason: expect.stringMatching(reason) as string }),
);

test('a file of TLS that cannot be read: tls-file', async () =>
  expect(await firstFault({}, { tls: { ca: '/nonexistent/ca.pem' } })).toEqual({
    code: 'tls-file',
    reason: expect.stringMatching(/^the file for tls ca cannot be read: ENOENT/) as string,
  }));
