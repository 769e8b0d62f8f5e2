// The client at a gobgpd whose answers come as no real one's can be made to: a gRPC server of the test's own. Real ones
// are in test/e2e/gobgp-client.test.ts.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import type { GobgpFault } from '../../../model/gobgp-fault.ts';
import { address } from '../../../model/address.ts';
import { systemClock } from '../../../model/clock.ts';
import { eventLoopWork } from '../../../model/work.ts';
import { silentLog } from '../../../model/log.ts';
import { formatPrefix, prefix } from '../../../model/prefix.ts';
import { createGobgpClient } from './client.edge.ts';
import { WatchEventResponseSchema } from './gen/gobgp/messages_pb.js';
import { AddPathStreamRequestSchema } from './gen/gobgp/v3_pb.js';
import type { GobgpClient, GobgpRoute, OwnPath } from './gobgp.ts';
import { type Methods, WATCHING, withServer } from './server.fixture.ts';
import { v3 } from './v3.ts';

const PATH: OwnPath = {
  prefix: prefix('10.0.0.0/8'),
  nextHop: address('192.0.2.1'),
  nhc: Uint8Array.of(1),
  communities: [],
  largeCommunities: [],
};
const CHANGED = toBinary(
  WatchEventResponseSchema,
  create(WatchEventResponseSchema, {
    event: { case: 'table', value: { paths: fromBinary(AddPathStreamRequestSchema, v3.addRequest([PATH])).paths } },
  }),
);

/** Its table is empty. @param events what the client reports, in order */
async function withClient(
  methods: Partial<Methods>,
  events: string[],
  use: (client: GobgpClient) => Promise<void>,
): Promise<void> {
  let listed = (): void => {};
  const ready = new Promise<void>((resolve) => (listed = resolve));
  const listener = {
    connected: () => void events.push('connected'),
    routes: (routes: readonly GobgpRoute[]) =>
      void events.push(...routes.map((route) => `route ${formatPrefix(route.prefix)}`)),
    listed: () => (events.push('listed'), listed()),
    lost: ({ reason }: GobgpFault) => void events.push(`lost: ${reason}`),
  };
  await withServer(methods, async (target) => {
    const client = createGobgpClient(
      { target, learn: 'best', maxMessageBytes: 1 << 20 },
      { listener, clock: systemClock, work: eventLoopWork(), log: silentLog, count: () => {} },
    );
    try {
      client.start();
      await ready;
      await use(client);
    } finally {
      await client.close();
    }
  });
}

test('the reason why gobgpd refuses a path is reported like a reason why it cannot be used: what it answers, or that it does not', async () => {
  const refusals = [
    { code: status.INVALID_ARGUMENT, details: 'no room' },
    { code: status.DEADLINE_EXCEEDED, details: 'Deadline exceeded' },
  ];
  await withClient(
    { AddPathStream: (call, answer) => (call.resume(), answer(refusals.shift()!)) },
    [],
    async (client) => {
      await expect(client.add([PATH])).rejects.toThrow(/^no room$/);
      await expect(client.withdraw([PATH.prefix])).rejects.toMatchObject({
        code: 'no-answer',
        message: expect.stringMatching(/^gobgpd accepts the connection but does not answer/),
      });
    },
  );
});

test('a change that arrives together with the start of the watch is reported after `connected`, not before: it does not count as lost', async () => {
  const events: string[] = [];
  await withClient(
    { WatchEvent: (call) => [WATCHING, CHANGED].forEach((message) => call.write(message)) },
    events,
    async () => {},
  );
  expect(events).toEqual(['connected', 'route 10.0.0.0/8', 'listed']);
});
