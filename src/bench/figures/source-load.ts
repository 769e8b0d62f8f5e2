// Half a minute of 10,000 notifications a second, as packets on a wire, for hosts that the agent acts for. Every one is
// accounted for, from the wire to the machine; the event loop and the memory of the agent are watched meanwhile.
import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { PROXY_MAPS } from '../../kernel/dataplane/proxy.ts';
import { encodeFlowKey, encodePeer, encodeStaticQueuePair, ownerKey } from '../../kernel/dataplane/queue-pairs.ts';
import { type PacketSocket, openPacketSocket } from '../../kernel/packet-socket.ts';
import { address } from '../../model/address.ts';
import { UNDISCLOSED } from '../../packet/long-haul/body.ts';
import { buildLongHaulRoce } from '../../packet/roce/long-haul-cnp.ts';
import { Agent, cpuMs, routerNamespace, rssMb } from '../support/agent/agent.ts';
import { longestTurn, waitQuantile, watched } from '../support/agent/loop-report.ts';
import { type Bench, type Figure, until } from '../support/bench.ts';
import { RECEIVER, SENDER } from '../support/packets/packets.ts';
import type { Row } from '../support/report.ts';

const [FLOWS, PER_SECOND, SECONDS] = [2000, 10_000, 30];
const NODE = address('2001:db8:ffff::2');
const WAN = 't-bench-l';
const ROLE = `source:
  senders: [{ prefix: 2001:db8:1::/64, action: enforce }]
  accept-from: [2001:db8:ffff::/48]
  interfaces: [${WAN}]
  rate: 100000/s
  enforce: { ports: [${WAN}], bandwidth: 10Gbit, rtt: 20ms, flows: ${FLOWS / 2} }
`;
/** Half of the flows can be held, so both ways are used: obeyed, and left to the host. */
const frameOf = (mac: Uint8Array, n: number, parameter: number): Uint8Array =>
  Uint8Array.of(
    ...[...mac, 2, 0, 0, 0, 0, 9, 0x86, 0xdd],
    ...buildLongHaulRoce({
      ...{ source: NODE, destination: SENDER, sourcePort: 0xc000, objectClass: 247 },
      cnp: { level: 180, action: 'rate-reduce', parameter, sourceQpn: 0x1000 + n, metric: UNDISCLOSED, objects: [] },
    }),
  );

async function up(bench: Bench): Promise<{ agent: Agent; socket: PacketSocket; mac: Uint8Array }> {
  const netns = await routerNamespace(bench);
  const ip = (line: string): void => void netns.run(() => execFileSync('ip', line.split(' ')));
  ip(`link add ${WAN} address 02:00:00:00:00:01 type veth peer name ${WAN}2`);
  for (const name of [WAN, `${WAN}2`]) ip(`link set ${name} up`);
  ip(`addr add 2001:db8:f::1/64 dev ${WAN} nodad`);
  ip(`-6 route add 2001:db8:ffff::/48 dev ${WAN}`);
  ip(`-6 route add 2001:db8:2::/64 dev ${WAN}`);
  const agent = Agent.spawn(bench, { netns, role: ROLE, carrier: '', watchLoop: true });
  await agent.running(bench);
  const pairs = agent.pinnedMap(PROXY_MAPS.staticQueuePairs);
  const peers = agent.pinnedMap(PROXY_MAPS.connectedQueuePairs);
  bench.finally(() => (pairs.close(), peers.close()));
  for (let n = 0; n < FLOWS; n++) {
    const pair = { sender: SENDER, receiver: RECEIVER, senderQpn: 0x1000 + n, receiverQpn: 0x20_0000 + n };
    const known = encodeStaticQueuePair({ senderQpn: pair.senderQpn, now: process.hrtime.bigint() });
    pairs.update(encodeFlowKey(pair), known);
    peers.update(ownerKey({ ...pair, tenant: 0 }), encodePeer(pair));
  }
  const socket = openPacketSocket(
    { interface: `${WAN}2`, netns },
    { poller: bench.poller, onFrame: () => {}, onError: () => {} },
  );
  bench.finally(() => socket.close());
  return { agent, socket, mac: Uint8Array.of(2, 0, 0, 0, 0, 1) };
}

async function countersOf(agent: Agent): Promise<(name: string) => number> {
  const rows = (await agent.client.get(['cnpd', 'counters'])) as readonly { name: string; value: unknown }[];
  const values = new Map(rows.map(({ name, value }) => [name, Number(value)]));
  return (name) => values.get(name) ?? 0;
}

async function flood(bench: Bench, socket: PacketSocket, mac: Uint8Array, seconds: number): Promise<number> {
  const frames = [10, 20, 30].map((parameter) => Array.from({ length: FLOWS }, (_, n) => frameOf(mac, n, parameter)));
  const start = performance.now();
  let sent = 0;
  for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - start) {
    bench.signal.throwIfAborted();
    const due = Math.min(Math.floor((elapsed * PER_SECOND) / 1000), seconds * PER_SECOND);
    for (; sent < due; sent++) socket.send(frames[Math.floor(sent / FLOWS) % 3]![sent % FLOWS]!);
    await delay(2);
  }
  return sent;
}

/** What the machine has made of the records that it was given. */
const VERDICTS = ['rate-reduce', 'duplicate', 'not-enforced', 'bad-instruction'].map(
  (verdict) => `source.hold.${verdict}`,
);

export const sourceLoad: Figure = {
  name: 'source-load',
  title: `${PER_SECOND} notifications a second for ${SECONDS} seconds, for hosts that the agent acts for`,
  async measure(bench) {
    const { agent, socket, mac } = await up(bench);
    await flood(bench, socket, mac, 3); // what the first thousands cost once
    await delay(1000);
    const [before, rssBefore, cpuBefore] = [await countersOf(agent), rssMb(agent.pid), cpuMs(agent.pid)];
    let sent = 0;
    const loop = await watched(agent, async () => void (sent = await flood(bench, socket, mac, SECONDS)));
    const cpu = (cpuMs(agent.pid) - cpuBefore) / (SECONDS * 10);
    await until(
      'all flows are let go',
      async () => (((await agent.client.get(['cnpd', 'holds'])) as unknown[] | undefined) ?? []).length === 0,
      bench.signal,
      60_000,
    );
    const after = await countersOf(agent);
    const moved = (name: string): number => after(name) - before(name);
    const sum = (names: readonly string[]): number => names.reduce((total, name) => total + moved(name), 0);
    const row = (what: string, unit: string, measured: number, rest: Partial<Row>): Row => ({
      ...{ figure: 'source-load', what, unit, measured, reference: 'sent', referenceValue: sent },
      ...{ ratio: measured / sent, target: 'all', met: measured === sent },
      ...rest,
    });
    const ways = ['enforced', 'converted', 'flow-limited', 'rate-limited'].map((name) => `source.${name}`);
    const told = ways.map((name) => `${moved(name)} ${name.slice(7)}`).join(', ');
    const wait = waitQuantile(loop.gaps, 0.99);
    const ran = waitQuantile(loop.main, 0.99);
    const longest = longestTurn([loop]);
    const obeyed = sum(VERDICTS);
    return [
      row('notifications counted as received', 'packets', moved('source.received'), {}),
      row('of these, with what became of them', 'packets', sum(ways), { note: told }),
      row('enforced ones with a verdict of the machine', 'packets', obeyed, {
        ...{ reference: 'enforced', referenceValue: moved('source.enforced') },
        ratio: obeyed / moved('source.enforced'),
        met: obeyed === moved('source.enforced'),
        note: [...VERDICTS, 'source.record-lost'].map((name) => `${moved(name)} ${name.slice(7)}`).join(', '),
      }),
      row('event loop p99', 'ms', wait, {
        ...{ reference: 'target', referenceValue: 20, ratio: wait / 20, target: '< 20 ms', met: wait < 20 },
        note:
          `longest turn ${longest.wall.toFixed(1)} ms, ${longest.cpu.toFixed(1)} ms of processor time; ` +
          `${cpu.toFixed(0)} % of a processor`,
      }),
      row('event loop p99, without the wait for a processor', 'ms', ran, {
        ...{ reference: 'target', referenceValue: 20, ratio: ran / 20, target: '< 20 ms', met: ran < 20 },
        note: `processor time of the main thread; longest turn ${Math.max(...loop.main).toFixed(1)} ms`,
      }),
      row('memory afterwards', 'MB', rssMb(agent.pid), {
        ...{ reference: 'before', referenceValue: rssBefore, ratio: rssMb(agent.pid) / rssBefore },
        ...{ target: '< 1.5', met: rssMb(agent.pid) / rssBefore < 1.5 },
      }),
    ];
  },
};
