// The memory of a router on which everything is on: all four carriers with what they learn, groups, flows that are held
// for hosts, metrics that are scraped, gNMI over TLS with subscribers, and a recording.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { create, toBinary } from '@bufbuild/protobuf';
import type { Netns } from '../../kernel/netns.ts';
import { openPacketSocket } from '../../kernel/packet-socket.ts';
import { EGRESS_MAPS } from '../../kernel/dataplane/egress.ts';
import { PROXY_MAPS } from '../../kernel/dataplane/proxy.ts';
import { encodeFlowKey, encodePeer, encodeStaticQueuePair, ownerKey } from '../../kernel/dataplane/queue-pairs.ts';
import { address, formatAddress } from '../../model/address.ts';
import { formatPrefix, prefix } from '../../model/prefix.ts';
import {
  Encoding,
  SubscribeRequestSchema,
  SubscriptionList_Mode,
  SubscriptionMode,
} from '../../northbound/gen/gnmi/gnmi_pb.js';
import { UNDISCLOSED } from '../../packet/long-haul/body.ts';
import { parseId } from '../../packet/ospf/router-id.ts';
import { buildLongHaulRoce } from '../../packet/roce/long-haul-cnp.ts';
import {
  Agent,
  CONGESTED_NODE,
  ISIS_LINK,
  bareNode,
  proxyFor,
  routerNamespace,
  rssMb,
} from '../support/agent/agent.ts';
import { type Bench, type Figure, dist, until } from '../support/bench.ts';
import { scrapes } from '../support/metrics/scrapes.ts';
import { BenchGobgpd, bgpPath, bgpPrefix, foreign, inMessages } from '../support/network/gobgp.ts';
import { edgeLsps, memberLsps, neighborOfEdges, proxyOf, sourceOf } from '../support/network/isis-groups.ts';
import { Neighbor } from '../support/network/isis-neighbor.ts';
import { AGENT_SYSTEM, SENDERS, senderLsps } from '../support/network/isis-network.ts';
import { OSPF_AGENT, OSPF_LINK, OSPF_VERSIONS, SenderLsas, ospfProxy } from '../support/network/ospf-network.ts';
import { OspfNeighbor, ospfSection } from '../support/network/ospf-neighbor.ts';
import { RECEIVER, SENDER } from '../support/packets/packets.ts';
import type { Row } from '../support/report.ts';

/** Senders by each OSPF and by BGP; declared senders; groups with receivers at each edge; held flows; subscribers. */
const [OSPF, BGP, DECLARED, GROUPS, EDGES, FLOWS, SUBSCRIBERS] = [2000, 2000, 1000, 100, 16, 1000, 4] as const;
const MOST_MB = 160;
const [METRICS, GNMI] = [9464, 9339];
const HOST_PORT = 't-bench-l';
const OSPFV3_LINK = 't-bench-ospf3';
const NEIGHBOR = parseId('192.0.2.1')!;
const BUSY_SECONDS = 20;
const SCRAPES = 50;
const SETTLE_MS = 20_000;

const carriers = (gobgpd: string): string =>
  `isis: { system-id: ${AGENT_SYSTEM}, area: 49.0001, level: 2, interface: ${ISIS_LINK} }\n` +
  ospfSection(2, OSPF_AGENT) +
  ospfSection(3, OSPF_AGENT, OSPFV3_LINK) +
  `bgp:\n  gobgp: { target: "unix:${gobgpd}" }\n`;

const role = (pem: (name: string) => string): string =>
  CONGESTED_NODE +
  proxyFor(Array.from({ length: DECLARED }, (_, i) => formatPrefix(prefix(`2001:db8:4000:${i.toString(16)}::/64`)))) +
  `source:
  senders: [{ prefix: 2001:db8:1::/64, action: enforce }]
  accept-from: [2001:db8:ffff::/48]
  interfaces: [${HOST_PORT}]
  rate: 100000/s
  enforce: { ports: [${HOST_PORT}], bandwidth: 10Gbit, rtt: 20ms, flows: ${FLOWS} }
metrics: { address: 127.0.0.1:${METRICS} }
northbound:
  address: 127.0.0.1
  port: ${GNMI}
  certificate: ${pem('router.pem')}
  key: ${pem('router.key')}
  client-ca: ${pem('ca.pem')}
  rights: [{ name: reader, read: [/cnpd] }]
srv6:
  core-ports: [t-bench-wan]
  replication: { sid: 2001:db8:f::1, locator: 2001:db8:f::/64 }
groups:
` +
  Array.from(
    { length: GROUPS },
    (_, g) =>
      `  - { name: g${g}, proxy-address: '${formatAddress(proxyOf(g))}', designated-qpn: 4096, ` +
      `source: { address: '${formatAddress(sourceOf(g))}', qpn: 77 } }\n`,
  ).join('');

/** `ca.pem`, and `NAME.pem` with `NAME.key` of the router and of the reader, in the bench's directory. */
function certificates({ directory }: Bench): (file: string) => string {
  const at = (file: string): string => join(directory, file);
  const openssl = (...words: string[]): void => void execFileSync('openssl', words, { stdio: 'ignore' });
  const key = (name: string): string[] => ['-newkey', 'rsa:2048', '-nodes', '-keyout', at(`${name}.key`)];
  openssl('req', '-x509', ...key('ca'), '-subj', '/CN=ca', '-days', '1', '-out', at('ca.pem'));
  for (const name of ['router', 'reader']) {
    openssl('req', ...key(name), '-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:router', '-out', at('csr'));
    const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-copy_extensions', 'copy'];
    openssl('x509', '-req', '-in', at('csr'), ...signed, '-days', '1', '-out', at(`${name}.pem`));
  }
  return at;
}

function subscribers(bench: Bench, netns: Netns, pem: string): void {
  const list = create(SubscribeRequestSchema, {
    request: {
      case: 'subscribe',
      value: {
        mode: SubscriptionList_Mode.STREAM,
        encoding: Encoding.PROTO,
        subscription: [{ mode: SubscriptionMode.ON_CHANGE, path: { elem: [{ name: 'cnpd' }] } }],
      },
    },
  });
  const text = Buffer.from(toBinary(SubscribeRequestSchema, list)).toString('base64');
  const argv = [join(dist(), 'subscriber.js'), `127.0.0.1:${GNMI}`, text, '0', pem];
  for (let i = 0; i < SUBSCRIBERS; i++) {
    const child = netns.run(() => spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] }));
    bench.finally(() => void child.kill('SIGKILL'));
  }
}

/** What the carriers learn from their neighbors. */
async function teach(bench: Bench, netns: Netns, gobgpd: BenchGobgpd): Promise<void> {
  const isis = new Neighbor();
  await isis.join(bench, netns, ISIS_LINK);
  isis.flood([
    neighborOfEdges(EDGES, 1),
    ...senderLsps(1, address('2001:db8:ffff::10')),
    ...Array.from({ length: EDGES }, (_, edge) => edgeLsps(edge, 1)).flat(),
    ...Array.from({ length: EDGES }, (_, edge) => memberLsps(edge, GROUPS, { version: 1, sequence: 1 })).flat(),
  ]);
  for (const [version, link] of [
    [2, OSPF_LINK],
    [3, OSPFV3_LINK],
  ] as const) {
    const neighbor = new OspfNeighbor(OSPF_VERSIONS[version], NEIGHBOR, link);
    await neighbor.attach(bench, netns);
    await neighbor.join(bench, netns, new SenderLsas(version, NEIGHBOR, OSPF).version(0, ospfProxy(version, 0)));
  }
  const paths = Array.from({ length: BGP }, (_, i) => bgpPath(bgpPrefix(20_000 + i), address('2001:db8:ffff::11')));
  await gobgpd.upload(inMessages(paths, foreign));
}

/** A port by which flows leave that are held, and its neighbor's end. */
function hostPort(netns: Netns): void {
  const ip = (line: string): void => void netns.run(() => execFileSync('ip', line.split(' ')));
  ip(`link add ${HOST_PORT} address 02:00:00:00:00:01 type veth peer name ${HOST_PORT}2`);
  for (const name of [HOST_PORT, `${HOST_PORT}2`]) ip(`link set ${name} up`);
  ip(`addr add 2001:db8:f::9/64 dev ${HOST_PORT} nodad`);
  for (const to of ['2001:db8:ffff::/48', '2001:db8:2::/64']) ip(`-6 route add ${to} dev ${HOST_PORT}`);
}

/** Instructions for all flows, again and again, and scrapes meanwhile. @returns how many flows were held */
async function busy(bench: Bench, netns: Netns, agent: Agent): Promise<number> {
  const [pairs, peers] = [
    agent.pinnedMap(PROXY_MAPS.staticQueuePairs),
    agent.pinnedMap(PROXY_MAPS.connectedQueuePairs),
  ];
  bench.finally(() => (pairs.close(), peers.close()));
  for (let n = 0; n < FLOWS; n++) {
    const pair = { sender: SENDER, receiver: RECEIVER, senderQpn: 0x1000 + n, receiverQpn: 0x20_0000 + n };
    pairs.update(
      encodeFlowKey(pair),
      encodeStaticQueuePair({ senderQpn: pair.senderQpn, now: process.hrtime.bigint() }),
    );
    peers.update(ownerKey({ ...pair, tenant: 0 }), encodePeer(pair));
  }
  const socket = openPacketSocket(
    { interface: `${HOST_PORT}2`, netns },
    { ...bench, onFrame: () => {}, onError: () => {} },
  );
  bench.finally(() => socket.close());
  const frames = Array.from({ length: FLOWS }, (_, n) => {
    const cnp = { level: 180, action: 'rate-reduce', parameter: 30, metric: UNDISCLOSED, objects: [] } as const;
    const ends = { source: address('2001:db8:ffff::2'), destination: SENDER, sourcePort: 0xc000, objectClass: 247 };
    const payload = buildLongHaulRoce({ ...ends, cnp: { ...cnp, sourceQpn: 0x1000 + n } });
    return Uint8Array.of(...[2, 0, 0, 0, 0, 1], ...[2, 0, 0, 0, 0, 9], 0x86, 0xdd, ...payload);
  });
  const scraped = scrapes(`http://127.0.0.1:${METRICS}/metrics`, SCRAPES, netns);
  for (let second = 0; second < BUSY_SECONDS; second++) {
    for (const frame of frames) socket.send(frame);
    await delay(1000, undefined, { signal: bench.signal });
  }
  const held = await lengthOf(agent, 'holds').catch(() => Number.NaN);
  await scraped;
  return held;
}

const peakMb = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

const lengthOf = async (agent: Agent, ...path: string[]): Promise<number> =>
  (((await agent.client.get(['cnpd', ...path])) as unknown[] | undefined) ?? []).length;

export const memory: Figure = {
  name: 'memory',
  title: 'memory with everything on',
  async measure(bench) {
    const netns = await routerNamespace(bench);
    hostPort(netns);
    const gobgpd = await BenchGobgpd.spawn(bench, netns);
    const pem = certificates(bench);
    const agent = Agent.spawn(bench, { netns, role: role(pem), carrier: carriers(gobgpd.socket) });
    await agent.running(bench);
    const empty = rssMb(agent.pid);
    const record = [join(dist(), 'cnpctl.js'), '--socket', agent.socket, 'record', 'start', '--restart'];
    await promisify(execFile)(process.execPath, record);
    // Left in its run directory, it would keep what is uninstalled from being all.
    bench.finally(() => rmSync(join(agent.bpfDir, '../recordings'), { recursive: true, force: true }));
    await teach(bench, netns, gobgpd);
    const senders = agent.pinnedMap(EGRESS_MAPS.senderProxies);
    bench.finally(() => senders.close());
    let learned = 0;
    const isLearned = async (): Promise<boolean> => {
      await delay(5000, undefined, { signal: bench.signal });
      const before = learned;
      learned = [...senders.keys()].length;
      return learned > SENDERS && learned === before;
    };
    await until('all senders', isLearned, bench.signal, 120_000);
    await delay(SETTLE_MS / 2, undefined, { signal: bench.signal });
    const taught = rssMb(agent.pid);
    subscribers(bench, netns, pem('reader'));
    bench.say('learned; now subscribers, notifications and scrapes');
    const held = await busy(bench, netns, agent);
    await delay(SETTLE_MS, undefined, { signal: bench.signal });
    const [rss, peak, bare] = [rssMb(agent.pid), peakMb(agent.pid), rssMb(await bareNode(bench))];
    const row = (what: string, measured: number, note: string): Row => ({
      ...{ figure: this.name, what, unit: 'MB', measured, note },
      ...{ reference: 'Node.js that does nothing', referenceValue: bare, ratio: measured / bare },
      ...{ target: `≤ ${MOST_MB} MB`, met: measured <= MOST_MB },
    });
    const size =
      `${SENDERS} senders by IS-IS, ${OSPF} by each OSPF, ${BGP} by BGP, ${DECLARED} declared (${learned} entries); ` +
      `${GROUPS} groups with ` +
      `${EDGES} receivers; ${held} flows held; ${SUBSCRIBERS} subscribers to everything over TLS; a recording`;
    return [
      row('memory with everything on, then quiet', rss, size),
      row(
        'its peak',
        peak,
        `${empty.toFixed(0)} MB before anything was learned, ${taught.toFixed(0)} MB before the subscribers came`,
      ),
    ];
  },
};
