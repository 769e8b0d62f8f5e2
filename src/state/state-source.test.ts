import { expect, test } from 'vitest';
import type { LearnedQueuePair } from '../kernel/dataplane/queue-pairs.ts';
import { address } from '../model/address.ts';
import { DEFAULT_CODE_POINTS } from '../model/code-points.ts';
import { prefix } from '../model/prefix.ts';
import type { SenderState } from '../model/state.ts';
import { type Steps, eventLoopWork } from '../model/work.ts';
import { type StateDependencies, stateSource } from './state-source.ts';

const pair = (senderQpn: number): LearnedQueuePair => ({
  sender: address('2001:db8:1::2'),
  receiver: address('2001:db8:2::2'),
  senderQpn,
  receiverQpn: 7,
  source: 'cm',
  tenant: 0,
  peerTenant: 0,
  startingPsn: null,
  lastPsn: null,
  learnedAt: 0n,
  lastSeen: process.hrtime.bigint(),
  cnps: 2n,
  packets: 3n,
  bytes: 4n,
  confirmed: true,
  doubtful: false,
});

test('returns all flows of a large table, while other jobs run', async () => {
  let read = 0;
  const queuePairs = function* (): Generator<LearnedQueuePair> {
    for (; read < 3; read++) {
      // Reading takes longer than a turn may.
      for (const until = performance.now() + 10; performance.now() < until;);
      yield pair(read);
    }
  };
  const source = stateSource({
    work: eventLoopWork(),
    facts: () => ({ links: [], qdiscs: [], features: [] }),
    dataplane: () => ({ proxy: { queuePairs } }),
  } as unknown as StateDependencies);
  const answer = source.flows();
  const readBefore = new Promise((resolve) => void setImmediate(() => resolve(read)));
  expect((await answer).map((f) => [f.port, f.sourceQpn, f.destinationQpn, f.learnedFrom, f.notifications])).toEqual(
    [0, 1, 2].map((qpn) => ['proxy', qpn, 7, 'cm', 2]),
  );
  expect(await readBefore).toBeLessThan(3);
});

test('returns all senders of a large table, while other jobs run', async () => {
  let made = 0;
  const rows = function* (): Steps<SenderState[]> {
    for (; made < 3; made++) {
      for (const until = performance.now() + 10; performance.now() < until;);
      yield;
    }
    return [];
  };
  const source = stateSource({ work: eventLoopWork(), table: { rows } } as unknown as StateDependencies);
  const answer = source.senders();
  const madeBefore = new Promise((resolve) => void setImmediate(() => resolve(made)));
  expect(await answer).toEqual([]);
  expect(made).toBe(3);
  expect(await madeBefore).toBeLessThan(3);
});

test('a proxy counts as advertised in a carrier if a neighbor hears it there', () => {
  const intent = {
    proxy: { address: address('192.0.2.1'), senders: [{ prefix: prefix('198.51.100.0/24'), format: 'standard-cnp' }] },
    isis: {},
    ospfv2: {},
  };
  const shown = async (isis: string, state: string, takesOpaque: boolean | null): Promise<unknown> => {
    const carriers = {
      isis: { carrier: { neighbors: () => [{ state: isis }] } },
      ospfv2: {
        carrier: {
          neighbors: () => [
            { state: 'down', takesOpaque: null },
            { state, takesOpaque },
          ],
        },
      },
    };
    return (
      await stateSource({ file: { intent }, carriers: () => carriers } as unknown as StateDependencies).proxies()
    )[0]!.advertisedIn;
  };
  return expect(
    Promise.all([
      shown('up', 'full', true),
      shown('initializing', 'full', true),
      shown('up', 'ex-start', true),
      shown('initializing', 'full', false),
      shown('initializing', 'down', null),
    ]),
  ).resolves.toEqual([['isis', 'ospfv2'], ['ospfv2'], ['isis'], [], []]);
});

test('a proxy with two addresses has a row for each, with the senders that are advertised with it', async () => {
  const senders = [
    ['198.51.100.0/24', 'standard-cnp'],
    ['2001:db8:1::/64', 'fast-cnp'],
  ].map(([text, format]) => ({ prefix: prefix(text!), format }));
  const carriers = {
    ospfv2: { carrier: { neighbors: () => [{ state: 'full', takesOpaque: true }] } },
    ospfv3: { carrier: { neighbors: () => [{ state: 'full', takesOpaque: true }] } },
  };
  const rows = (addresses: object) =>
    stateSource({
      file: { intent: { proxy: { ...addresses, senders }, ospfv2: {}, ospfv3: {} } },
      carriers: () => carriers,
    } as unknown as StateDependencies).proxies();
  expect(await rows({ address: address('2001:db8::1'), otherAddress: address('192.0.2.1') })).toEqual([
    { address: '2001:db8::1', prefixes: ['2001:db8:1::/64'], format: 'fast-cnp', advertisedIn: ['ospfv3'] },
    { address: '192.0.2.1', prefixes: ['198.51.100.0/24'], format: 'standard-cnp', advertisedIn: ['ospfv2'] },
  ]);
  expect(await rows({ address: address('192.0.2.1') })).toEqual([
    {
      address: '192.0.2.1',
      prefixes: ['198.51.100.0/24', '2001:db8:1::/64'],
      format: 'standard-cnp, fast-cnp',
      advertisedIn: ['ospfv2'],
    },
  ]);
});

test('E: all code points are shown, with their values in cnpd.yaml', async () => {
  const codePoints = { ...DEFAULT_CODE_POINTS, 'ospfv2-private-opaque-type': 200 };
  const shown = await stateSource({ file: { intent: { codePoints } } } as unknown as StateDependencies).codepoints();
  expect(shown.map(({ name }) => name).sort()).toEqual(Object.keys(DEFAULT_CODE_POINTS).sort());
  expect(shown).toContainEqual(
    expect.objectContaining({ name: 'ospfv2-private-opaque-type', value: 200, default: 240 }),
  );
  expect(shown).toContainEqual(
    expect.objectContaining({ name: 'ospfv3-private-function', value: 8184, default: 8184 }),
  );
});
