// The source's role as a whole (LHCNP §5.6, FCNP §4): p congests and notifies h1 itself, leaf in front of h1 takes the
// notification. What becomes of it is read on h1's wire. leaf has learned the connections from the traffic that it
// forwards.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { NotificationFormat } from '../../src/model/notification.ts';
import type { SourceAction } from '../../src/model/source.ts';
import { until } from '../support/until.ts';
import { CongestedLine, congestedNode } from './support/congested.ts';
import { H1, LOOPBACK, base } from './support/line.ts';
import { type Row } from './support/network.ts';
import { type Flow, rocePackets } from './support/port.ts';

const SENDERS = '2001:db8:1::/64';
const FORMATS = ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'] as const;

/** p notifies in this format, again and again. */
const p = (format: NotificationFormat): object =>
  congestedNode([{ prefix: SENDERS, supports: [format], order: [format] }], {
    'k-max': '20kB',
    rtt: '10ms',
    'per-flow-interval': '10ms',
  });
const leaf = (action: SourceAction | 'off', fields: object = {}): object => {
  const { router } = base('leaf') as { router: object };
  const source = { senders: [{ prefix: SENDERS, action: action === 'off' ? 'pass' : action }] };
  return {
    router,
    source: { enabled: action !== 'off', ...source, 'accept-from': [`${LOOPBACK.p.ipv6}/128`], ...fields },
  };
};

let line: CongestedLine;
beforeAll(async () => {
  line = await CongestedLine.up();
  await line.p.start(p('fast-cnp'));
  await line.leaf.start(leaf('convert'));
});
afterAll(() => line?.down());
beforeEach(() => line.clear());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(line.net.logs());
  expect(await line.leaf.counter('daemon.unexpected-error')).toBe(0);
});

/** A connection that those know who need to. */
async function connected(format: NotificationFormat = 'long-haul-icmpv6'): Promise<Flow> {
  const flow = line.flow();
  flow.connect();
  // p needs the sender's Queue Pair for a Long-haul CNP.
  for (const router of format === 'fast-cnp' ? [line.leaf] : [line.leaf, line.p])
    await until(
      'the Queue Pair is learned',
      () => router.get('flows'),
      (all) => all.some((row) => row['port'] === 'proxy' && row['source-qpn'] === flow.ends.senderQpn),
    );
  return flow;
}
const cnpsOf = ({ ends }: Flow): number[] =>
  rocePackets(line.h1.packets).flatMap(({ bth, icrcValid }) =>
    bth.opcode === 0x81 && (bth.reserved & 0x20) === 0 && icrcValid && bth.destQpn === ends.senderQpn
      ? [bth.destQpn]
      : [],
  );
const rowsOf = async ({ ends }: Flow): Promise<Row[]> =>
  (await line.leaf.get('received')).filter((row) => row['sender-qpn'] === ends.senderQpn);
/** The latest for this flow that slows it down. The agent reads it after the packet is on h1's wire. */
const received = (flow: Flow): Promise<Row> =>
  until(
    'the agent has read of it',
    () => rowsOf(flow),
    (rows) => rows.find((row) => row['action'] !== 'resume'),
  );

test.each(FORMATS)(
  'LHCNP-5.6-a, LHCNP-5.6-d, FCNP-4-n: convert: of %s the host hears as a standard CNP only',
  async (format) => {
    await line.reload(p(format));
    await line.reload(leaf('convert'), line.leaf);
    const flow = await connected(format);
    await line.congest(
      'a CNP at h1',
      flow,
      () => cnpsOf(flow).length,
      (n) => n > 2,
    );
    expect(line.notificationsOf(flow)).toEqual([]);
    expect(await received(flow)).toMatchObject({
      port: 'eth2',
      node: LOOPBACK.p.ipv6,
      format,
      sender: H1.v6,
      'receiver-qpn': flow.ends.receiverQpn,
      result: 'converted',
      ...(format !== 'fast-cnp' && { action: expect.stringMatching(/^(rate-reduce|pause)$/) as string }),
    });
    const row = await until(
      'the prefix has its count',
      () => line.leaf.get('sources'),
      ([only]) => Number(only?.['notifications']) > 2 && only,
    );
    expect(row).toMatchObject({ prefix: SENDERS, action: 'convert', 'last-node': LOOPBACK.p.ipv6 });
  },
);

test('pass: the host hears what the node has sent, once leaf believes it', async () => {
  await line.reload(p('long-haul-icmpv6'));
  await line.reload(leaf('pass'), line.leaf);
  const flow = await connected();
  await line.congest(
    'a Long-haul CNP at h1',
    flow,
    () => line.notificationsOf(flow).length,
    (n) => n > 0,
  );
  expect(cnpsOf(flow)).toEqual([]);
  expect(await received(flow)).toMatchObject({ result: 'passed' });
});

test('LHCNP-5.6-b, LHCNP-9-a, FCNP-5-c: of a node outside accept-from the host hears nothing, and doctor can see why', async () => {
  await line.reload(p('long-haul-icmpv6'));
  await line.reload(leaf('pass', { 'accept-from': ['2001:db8:ffff:77::/64'] }), line.leaf);
  const flow = await connected();
  const before = await line.leaf.counter('source.not-allowed');
  await line.congest(
    'it is refused',
    flow,
    () => line.leaf.counter('source.not-allowed'),
    (n) => n > before + 2,
  );
  expect([...line.notificationsOf(flow), ...cnpsOf(flow)]).toEqual([]);
  expect(await rowsOf(flow)).toEqual([]);
});

test('FCNP-5-f: enabled: off is off: the host gets everything as without cnpd, and nothing is attached', async () => {
  await line.reload(p('long-haul-icmpv6'));
  await line.reload(leaf('off'), line.leaf);
  const flow = line.flow();
  flow.connect();
  await line.congest(
    'a Long-haul CNP at h1',
    flow,
    () => line.notificationsOf(flow).length,
    (n) => n > 0,
  );
  expect(await line.leaf.get('sources')).toEqual([]);
});

test('a killed agent leaves the program at work, and the next one takes over', async () => {
  await line.reload(p('long-haul-roce'));
  await line.reload(leaf('convert'), line.leaf);
  const flow = await connected();
  await line.leaf.stop('SIGKILL');
  await line.congest(
    'a CNP at h1',
    flow,
    () => cnpsOf(flow).length,
    (n) => n > 0,
  );
  await line.leaf.start(leaf('convert'));
  line.clear();
  await line.congest(
    'another one',
    flow,
    () => cnpsOf(flow).length,
    (n) => n > 0,
  );
  expect(line.notificationsOf(flow)).toEqual([]);
});
