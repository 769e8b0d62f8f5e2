// Obeying in place of a host (LHCNP §5.6), as a whole: p congests and notifies h1, leaf in front of h1 slows the flow
// down at its own port to p. h1 sends without any congestion control. Order and rates of packets are in test/bpf/hold.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { formatAddress } from '../../src/model/address.ts';
import type { NotificationFormat } from '../../src/model/notification.ts';
import { buildCnp, isCnp } from '../../src/packet/roce/cnp.ts';
import { atLeast, is, until } from '../support/until.ts';
import { CongestedLine, congestedNode } from './support/congested.ts';
import { LOOPBACK, base } from './support/line.ts';
import type { Row } from './support/network.ts';
import { type Flow, type Port, rocePackets } from './support/port.ts';

const SENDERS = '2001:db8:1::/64';

const p = (format: NotificationFormat): object =>
  congestedNode([{ prefix: SENDERS, supports: [format], order: [format] }], {
    'k-max': '20kB',
    rtt: '10ms',
    'per-flow-interval': '10ms',
  });
const leaf = (enforce: object = {}): object => {
  const { router } = base('leaf') as { router: object };
  return {
    router,
    source: {
      senders: [{ prefix: SENDERS, action: 'enforce' }],
      'accept-from': [`${LOOPBACK.p.ipv6}/128`],
      enforce: { ports: ['eth2'], bandwidth: '20Mbit', rtt: '20ms', ...enforce },
    },
  };
};

let line: CongestedLine;
/** What arrives at p from leaf. */
let wan: Port;
beforeAll(async () => {
  line = await CongestedLine.up();
  wan = await line.port('p:eth1', 'leaf:eth2');
  await line.p.start(p('long-haul-icmpv6'));
  await line.leaf.start(leaf());
});
afterAll(() => line?.down());
beforeEach(() => line.clear());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(line.net.logs());
  expect(await line.leaf.counter('daemon.unexpected-error')).toBe(0);
});

async function connected(): Promise<Flow> {
  const flow = line.flow();
  flow.connect();
  for (const router of [line.leaf, line.p])
    await until(
      'the Queue Pair is learned',
      () => router.get('flows'),
      (all) => all.some((row) => row['port'] === 'proxy' && row['source-qpn'] === flow.ends.senderQpn),
    );
  return flow;
}
const holdsOf = async ({ ends }: Flow): Promise<Row[]> =>
  (await line.leaf.get('holds')).filter((row) => row['receiver-qpn'] === ends.receiverQpn);
const psnsAt = (port: Port, { ends }: Flow): Set<number> =>
  new Set(rocePackets(port.packets).flatMap(({ bth }) => (bth.destQpn === ends.receiverQpn ? [bth.psn] : [])));
const cnpsAt = (port: Port, { ends }: Flow): number =>
  rocePackets(port.packets).filter((packet) => isCnp(packet) && packet.bth.destQpn === ends.senderQpn).length;
const classes = async (): Promise<string[]> =>
  (await line.leaf.exec('tc', 'class', 'show', 'dev', 'eth2')).split('\n').filter((text) => text.includes('htb'));

test('LHCNP-5.6-d, LHCNP-5.6-g: a flow is held while nodes say so, recovers by itself, and loses nothing; the host hears nothing', async () => {
  // Longer than it takes to look.
  await line.leaf.reload(leaf({ rtt: '500ms' }));
  const flow = await connected();
  const other = await connected();
  const held = await line.congest(
    'the flow is held',
    flow,
    () => holdsOf(flow),
    ([row]) => row,
  );
  expect(held).toMatchObject({
    sender: flow.ends.source.family === 6 ? expect.any(String) : '',
    'sender-qpn': flow.ends.senderQpn,
    'normal-rate': 20_000_000,
    nodes: [LOOPBACK.p.ipv6],
    format: 'long-haul-icmpv6',
  });
  expect(Number(held['rate'])).toBeLessThan(20_000_000);
  expect((await classes()).length).toBeGreaterThan(0);
  const before = await line.leaf.counter('hold.held');
  other.send(20);
  await until('the other flow is at p', () => psnsAt(wan, other).size, atLeast(20));
  // Until it is held again, if it has recovered meanwhile.
  await line.congest(
    'its packets go through its class',
    flow,
    () => line.leaf.counter('hold.held'),
    (count) => count > before,
  );
  await until(
    'it recovers, and is free',
    () => holdsOf(flow),
    (rows) => rows.length === 0,
  );
  const sent = flow.psn - 1000;
  await until('nothing is lost', () => psnsAt(wan, flow).size, is(sent));
  expect([...line.notificationsOf(flow), ...line.notificationsOf(other)]).toEqual([]);
});

test('when the agent is killed no flow stays held: after the lifetime of its hold it goes straight', async () => {
  const flow = await connected();
  await line.congest(
    'the flow is held',
    flow,
    () => holdsOf(flow),
    ([row]) => row,
  );
  await line.leaf.stop('SIGKILL');
  await line.rate('50mbit');
  const held = async (): Promise<number> => {
    wan.clear();
    flow.send(1);
    const psn = flow.psn - 1;
    await until('it is at p', () => psnsAt(wan, flow).has(psn), is(true));
    const text = await line.leaf.exec('tc', '-s', 'class', 'show', 'dev', 'eth2');
    return Number(/ Sent \d+ bytes (\d+) pkt/.exec(text)?.[1]);
  };
  let last = -1;
  await until('it goes straight', held, (sent) => {
    const same = sent === last;
    last = sent;
    return same;
  });
  await line.leaf.start(leaf());
  expect(await holdsOf(flow)).toEqual([]);
  expect(await classes()).toEqual([]);
});

test('a receiver’s own CNP is obeyed in place of the host, and goes to the host once the agent has stopped', async () => {
  await line.leaf.reload(leaf({ rtt: '5s' }));
  const flow = await connected();
  const { source, destination, senderQpn } = flow.ends;
  const notify = (): void =>
    line.h2.send(buildCnp({ source: destination, destination: source, destQpn: senderQpn, sourcePort: 0xc001 }));
  const heard = (): number => cnpsAt(line.h1, flow);
  await until(
    'it slows the flow down',
    () => {
      notify();
      return holdsOf(flow);
    },
    (rows) => rows.length > 0,
  );
  expect(heard()).toBe(0);
  await line.leaf.stop();
  await until(
    'the host hears it',
    () => {
      notify();
      return heard();
    },
    (n) => n > 0,
  );
  await line.leaf.start(leaf());
});

test('a flow that cannot be held is its host’s: while others use all there is, and when its port loses its queue', async () => {
  await line.leaf.reload(leaf({ rtt: '5s', flows: 1 }));
  const [first, second] = [await connected(), await connected()];
  await line.congest(
    'the first flow is held',
    first,
    () => holdsOf(first),
    ([row]) => row,
  );
  await line.congest(
    'the host hears of the second one, as a standard CNP',
    second,
    () => cnpsAt(line.h1, second),
    (n) => n > 0,
  );
  expect([cnpsAt(line.h1, first), line.notificationsOf(second)]).toEqual([0, []]);
  await until(
    'status names it',
    async () => JSON.stringify(await line.leaf.get('status')),
    (text) => text.includes(`Queue Pair ${second.ends.receiverQpn}, are left to their hosts`),
  );
  await line.leaf.cnpctl('release', '--all');
  await line.congest(
    'a class is free: the second is held',
    second,
    () => holdsOf(second),
    ([row]) => row,
  );
  await line.leaf.exec('tc', 'qdisc', 'replace', 'dev', 'eth2', 'root', 'pfifo', 'limit', '1000');
  line.clear();
  await line.congest(
    'no flow can be held: the host hears again',
    second,
    () => cnpsAt(line.h1, second),
    (n) => n > 0,
  );
  await line.leaf.exec('tc', 'qdisc', 'del', 'dev', 'eth2', 'root');
  await line.leaf.reload(leaf());
});

test('cnpctl release lets a flow go at once, before it has recovered', async () => {
  await line.leaf.reload(leaf({ rtt: '5s' }));
  const flow = await connected();
  await line.congest(
    'the flow is held',
    flow,
    () => holdsOf(flow),
    ([row]) => row,
  );
  await line.rate('50mbit');
  const { source, destination, receiverQpn } = flow.ends;
  const { stdout } = await line.leaf.cnpctl(
    'release',
    formatAddress(source),
    formatAddress(destination),
    `${receiverQpn}`,
  );
  expect(stdout).toBe('1 flow let go\n');
  await until(
    'it is free',
    () => holdsOf(flow),
    (rows) => rows.length === 0,
  );
});

test('a port with somebody else’s queue is a problem with a remedy, and nobody is held there', async () => {
  await line.leaf.exec('tc', 'qdisc', 'replace', 'dev', 'eth2', 'root', 'pfifo', 'limit', '1000');
  await line.leaf.reload(leaf({ response: '40%' }));
  await until(
    'status names it',
    async () => JSON.stringify(await line.leaf.get('status')),
    (text) => text.includes('nothing can be held at eth2'),
  );
  await line.leaf.exec('tc', 'qdisc', 'del', 'dev', 'eth2', 'root');
  await until(
    'and it is gone with that queue',
    async () => JSON.stringify(await line.leaf.get('status')),
    (text) => !text.includes('nothing can be held at eth2'),
  );
});

test('without the section nothing is left at the port', async () => {
  const { router } = base('leaf') as { router: object };
  await line.leaf.reload({ router });
  await until(
    'the queue is the kernel’s own',
    () => line.leaf.exec('tc', 'qdisc', 'show', 'dev', 'eth2'),
    (text) => !text.includes('htb'),
  );
});

test('what a killed agent has left at its ports is removed by the next one, with another port or without the section', async () => {
  const { router } = base('leaf') as { router: object };
  const htbs = async (port: string): Promise<boolean> =>
    (await line.leaf.exec('tc', 'qdisc', 'show', 'dev', port)).includes('htb');
  await line.leaf.reload(leaf());
  await until('there is a queue for holds', () => htbs('eth2'), is(true));
  await line.leaf.stop('SIGKILL');
  await line.leaf.start(leaf({ ports: ['eth1'] }));
  await until('the queue of the former port is the kernel’s own', () => htbs('eth2'), is(false));
  await until('the new one has it', () => htbs('eth1'), is(true));
  await line.leaf.stop('SIGKILL');
  await line.leaf.start({ router });
  await until('nothing is left', () => htbs('eth1'), is(false));
});
