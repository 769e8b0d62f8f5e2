// How doctor reports a gobgpd that answers some requests and not others: a gRPC server in the test.
import { status } from '@grpc/grpc-js';
import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { ListPeerResponseSchema } from '../../carriers/bgp/gobgp/gen/gobgp/messages_pb.js';
import { type Methods, WATCHING, withServer } from '../../carriers/bgp/gobgp/server.fixture.ts';
import { load } from '../../intent/files.fixture.ts';
import type { Check } from '../../model/problem.ts';
import { examineGobgp } from './check.ts';

/** gobgpd's number of the state. */
const ESTABLISHED = 6;

/** @returns what doctor finds, and the methods that were called */
async function examined(
  methods: Partial<Methods>,
): Promise<{ readonly checks: readonly Check[]; readonly called: readonly string[] }> {
  const called: string[] = [];
  const checks = await withServer(
    {
      WatchEvent: (call) => (called.push('WatchEvent'), call.write(WATCHING)),
      ListPath: (call) => (called.push('ListPath'), call.end()),
      ...methods,
    },
    (target) =>
      examineGobgp(
        load(`router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\nbgp: { gobgp: { target: "${target}" } }\n`),
      ),
  );
  return { checks, called };
}

test('a gobgpd that does not report its neighbors does not count as one without neighbors', async () => {
  const { checks } = await examined({
    ListPeer: (call) => call.emit('error', { code: status.INTERNAL, details: 'not now' }),
  });
  expect(checks).toMatchObject([
    { id: 'gobgp', state: 'missing', problem: expect.stringContaining('does not report its neighbors: not now') },
  ]);
});

test('doctor asks for its identity and neighbors only, never for a table', async () => {
  const peer = toBinary(
    ListPeerResponseSchema,
    create(ListPeerResponseSchema, {
      peer: { conf: { neighborAddress: '192.0.2.9', peerAsn: 65_001 }, state: { sessionState: ESTABLISHED } },
    }),
  );
  const { checks, called } = await examined({
    ListPeer: (call) => {
      call.write(peer);
      // Time for whoever goes on to the table.
      setImmediate(() => call.end());
    },
  });
  expect(checks.map(({ id, state }) => [id, state])).toEqual([
    ['gobgp', 'ok'],
    ['gobgp.neighbors', 'ok'],
  ]);
  expect(called).toEqual([]);
});

test('a gobgpd that hangs delays doctor by two seconds, not by ten', async () => {
  let left = Infinity;
  const { checks } = await examined({ GetBgp: (call) => void (left = Number(call.getDeadline()) - Date.now()) });
  expect(checks).toMatchObject([
    {
      id: 'gobgp',
      state: 'missing',
      problem: expect.stringContaining('does not answer'),
      remedy: expect.stringContaining('restart gobgpd'),
    },
  ]);
  // However slow the machine is, what is left of the deadline does not grow.
  expect(left).toBeLessThanOrEqual(2000);
});
