// What senders understand is advertised by the leaf in front of them, and nobody configures it at the congested node:
// through real FRR's IS-IS, which floods the sub-TLV and does not know it.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { CongestedLine } from './support/congested.ts';
import { LOOPBACK, SYSTEM, adjacent, base } from './support/line.ts';
import type { Row } from './support/network.ts';

const SENDERS = '2001:db8:1::/64';

const leaf = (source: object): object => ({
  ...base('leaf'),
  source: { senders: [{ prefix: SENDERS, action: 'convert' }], 'accept-from': [`${LOOPBACK.p.ipv6}/128`], ...source },
});
/** Nothing here names leaf or its senders. */
const P = {
  ...base('p'),
  ports: [{ interface: 'eth2', 'k-max': '20kB', rtt: '10ms', 'per-flow-interval': '10ms' }],
  notifications: { senders: [{ prefix: '::/0', supports: 'advertised', order: ['fast-cnp', 'proxy'] }] },
};

let line: CongestedLine;
beforeAll(async () => {
  line = await CongestedLine.up();
  await Promise.all([line.p.start(P), line.leaf.start(leaf({ advertise: 'on' }))]);
  await adjacent(line.net, 'leaf', 'p');
});
afterAll(() => line?.down());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(line.net.logs());
});

/** What p has learned of the prefix from leaf. */
const learned = async (): Promise<Row | undefined> =>
  (await line.p.get('senders')).find(
    (row) => row['prefix'] === SENDERS && String(row['originator']).endsWith(SYSTEM.leaf),
  );
const formats = async (): Promise<unknown> => (await learned())?.['supports'];

test('the congested node sends the advertised format, and the leaf converts it', async () => {
  await until('p has learned it', formats, (all) => Array.isArray(all));
  expect(await learned()).toMatchObject({
    carrier: 'isis',
    pnc: false,
    supports: ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'],
    'supports-in-force': true,
  });
  const flow = line.flow();
  flow.connect();
  await until(
    'the Queue Pair is learned',
    () => line.leaf.get('flows'),
    (all) => all.some((row) => row['port'] === 'proxy' && row['source-qpn'] === flow.ends.senderQpn),
  );
  await line.congest(
    'leaf has converted a Fast CNP',
    flow,
    () => line.leaf.get('received'),
    (rows) => rows.some((row) => row['format'] === 'fast-cnp' && row['result'] === 'converted'),
  );
});

test('switched off, it is withdrawn, and the sender is sent nothing any more', async () => {
  await line.leaf.reload(leaf({}));
  await until('p has forgotten it', formats, (all) => all === undefined);
  const [sent, skipped] = await Promise.all(
    ['egress.notified.fast-cnp', 'egress.format.not-advertised'].map((name) => line.p.counter(name)),
  );
  const flow = line.flow();
  flow.connect();
  await line.congest(
    'p leaves the format out',
    flow,
    () => line.p.counter('egress.format.not-advertised'),
    (n) => n > skipped! + 2,
  );
  expect(await line.p.counter('egress.notified.fast-cnp')).toBe(sent);
});
