// What works through the proxy beside a real RoCE stack: Queue Pairs are learned as the stack has them, CNPs reach it
// whole, and a host that does not know Fast CNP says so.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { Poller } from '../../src/kernel/poller.ts';
import { type Lab, labUp } from '../../src/lab/lab.ts';
import { decodeParameterProblem, PARAMETER_PROBLEM, PROBLEM } from '../../src/packet/icmpv6/parameter-problem.ts';
import { parseIcmpv6 } from '../../src/packet/icmpv6/message.ts';
import { OPCODE } from '../../src/packet/roce/opcodes.ts';
import { ownLabName } from '../e2e/support/network.ts';
import { Port, rocePackets } from '../e2e/support/port.ts';
import { until } from '../support/until.ts';
import type { Guest } from '../guests/guest.ts';
import { prepareRoceImage, startRoceGuest } from './guest.ts';
import { Connection, type Transferred } from './verbs.ts';

const REPOSITORY = new URL('../..', import.meta.url).pathname;
const FOLDER = join(REPOSITORY, 'out', 'softroce');
const [H1, H2] = ['2001:db8:1::2', '2001:db8:2::2'];

const CNPCTL = '/opt/cnpd/dist/cnpctl.js';
const SCENE = join(REPOSITORY, 'containerlab', 'proxy');

let lab: Lab;
let poller: Poller;
let h1: Guest, h2: Guest;
const errors: unknown[] = [];

type Row = Readonly<Record<string, unknown>>;

const show = async (node: string, what: string): Promise<Row[]> =>
  JSON.parse(await lab.mustExec(node, [CNPCTL, 'show', what, '-o', 'json'])) as Row[];
const counter = async (node: string, name: string): Promise<number> =>
  Number((await show(node, 'counters')).find((row) => row['name'] === name)?.['value'] ?? 0);

beforeAll(async () => {
  const image = prepareRoceImage(FOLDER);
  lab = await labUp(join(SCENE, 'proxy.clab.yml'), { name: await ownLabName('softroce-proxy') });
  poller = Poller.open({ onError: (error) => errors.push(error) });
  // Slower than a guest, so that its packets queue up there.
  await lab.mustExec('p1', 'tc qdisc change dev eth2 root tbf rate 8mbit burst 20000 limit 2000000'.split(' '));
  const start = (node: string, address: string, gateway: string): Promise<Guest> =>
    startRoceGuest({ lab, image, folder: FOLDER, node, addresses: [`${address}/64`], gateway });
  [h1, h2] = await Promise.all([start('h1', H1, '2001:db8:1::1'), start('h2', H2, '2001:db8:2::1')]);
  await h1.run(`until ping -c 1 -W 2 ${H2}; do :; done`);
}, 540_000);

afterAll(async () => {
  await Promise.all([h1?.stop(), h2?.stop()]);
  poller?.close();
  await lab?.down();
  if (lab) rmSync(configuration(), { force: true });
});

const learned = async (sender: string, receiver: string): Promise<Row[]> =>
  (await show('leaf1', 'flows')).filter(
    (row) => row['port'] === 'proxy' && row['source'] === sender && row['destination'] === receiver,
  );

const configuration = (): string => join(FOLDER, `${lab.name}.yaml`);
/** p1 with a queue that the window of one Queue Pair of rdma_rxe exceeds: 128 packets. */
async function congestible(notifications?: object): Promise<void> {
  const document = parseDocument(readFileSync(join(SCENE, 'p1', 'cnpd.yaml'), 'utf8'));
  document.set('ports', document.createNode([{ interface: 'eth2', 'k-min': '10kB', 'k-max': '20kB' }]));
  if (notifications) document.set('notifications', document.createNode(notifications));
  writeFileSync(configuration(), document.toString());
  await lab.cover('p1', configuration(), '/etc/cnpd/cnpd.yaml');
  await lab.mustExec('p1', [CNPCTL, 'reload']);
}

interface Seen {
  readonly sent: Transferred;
  readonly received: Transferred;
  /** Packets that reach h1, and those that it sends. */
  readonly toHost: readonly Uint8Array[];
  readonly fromHost: readonly Uint8Array[];
  readonly sourceQpn: number;
  readonly receiverQpn: number;
}

async function transfer(): Promise<Seen> {
  // A port hears what arrives at it.
  const host = await Port.open(lab, 'h1:eth1', 'leaf1:eth1', { poller, errors });
  const leaf = await Port.open(lab, 'leaf1:eth1', 'h1:eth1', { poller, errors });
  try {
    // ECT(0): of other packets a router makes no CNPs.
    const queue = { psn: 1000, messages: 400, size: 4096, operation: 'send', trafficClass: 2 } as const;
    const source = await Connection.open(h1, 'source', { ...queue, address: H1 });
    const receiver = await Connection.open(h2, 'receiver', { ...queue, address: H2, skip: 3 });
    await receiver.connect({ address: H1, qpn: source.opened.qpn, psn: queue.psn });
    await source.connect({ address: H2, qpn: receiver.opened.qpn, psn: queue.psn });
    source.start();
    const [sent, received] = await Promise.all([source.done(), receiver.done()]);
    expect(sent).toMatchObject({ errors: [], messages: queue.messages, sha256: received.sha256 });
    return {
      sent,
      received,
      toHost: host.packets,
      fromHost: leaf.packets,
      sourceQpn: source.opened.qpn,
      receiverQpn: receiver.opened.qpn,
    };
  } finally {
    host.close();
    leaf.close();
  }
}

test('a connection without connection manager: learned from traffic; CNPs of a congested port reach the stack whole', async () => {
  await congestible();
  const { toHost, sourceQpn, receiverQpn } = await transfer();
  const row = (await learned(H1, H2)).find(({ 'destination-qpn': qpn }) => qpn === receiverQpn);
  expect(row).toMatchObject({ 'source-qpn': sourceQpn });
  const cnps = rocePackets(toHost).filter(({ bth }) => bth.opcode === OPCODE.cnp);
  expect(cnps.length).toBeGreaterThan(0);
  expect(cnps.filter(({ icrcValid }) => !icrcValid)).toEqual([]);
  expect(new Set(cnps.map(({ bth }) => bth.destQpn))).toEqual(new Set([sourceQpn]));
  expect(errors).toEqual([]);
});

/** The Parameter Problems among packets. */
const problems = (packets: readonly Uint8Array[]): { readonly code: number; readonly pointer: number }[] =>
  packets.flatMap((packet) => {
    const message = packet[0]! >> 4 === 6 && packet[6] === 58 ? parseIcmpv6(packet) : undefined;
    if (!message?.ok || message.value.type !== PARAMETER_PROBLEM) return [];
    const problem = decodeParameterProblem(packet.subarray(40));
    return problem.ok ? [problem.value] : [];
  });

test("FCNP-4-j: the guest's kernel refuses a Fast CNP by Parameter Problem; from then on the proxy is told, and the transfer is whole", async () => {
  const counts = (): Promise<number[]> =>
    Promise.all(['notice.built.fast-cnp', 'congestion.parameter-problem.believed'].map((name) => counter('p1', name)));
  const [fastCnps, believed] = await counts();
  await congestible({ senders: [{ prefix: '2001:db8:1::/64', supports: 'unknown', order: ['fast-cnp', 'proxy'] }] });
  const { fromHost, receiverQpn } = await transfer();
  expect(problems(fromHost)[0]).toMatchObject({ code: PROBLEM.unrecognizedOption, pointer: 42 });
  const [fastCnpsNow, believedNow] = await counts();
  expect(fastCnpsNow, 'Fast CNPs').toBeGreaterThan(fastCnps!);
  expect(believedNow, 'Parameter Problems').toBeGreaterThan(believed!);
  // The list is short: what was sent first may have left it.
  const latest = (await show('p1', 'notifications')).find((row) => row['destination-qpn'] === receiverQpn);
  expect(latest).toMatchObject({ format: 'proxy' });
});

test('the Queue Pairs of a connection that the connection manager sets up are learned as the stack has them', async () => {
  const server = h2.begin('timeout 120 rping -s -a :: -C 150 -S 64');
  // Until the server listens the stack refuses the connection.
  const client = h1.begin(`
for attempt in $(seq 20); do
  timeout 100 rping -c -a ${H2} -C 150 -S 64 & client=$!
  while kill -0 $client 2>/dev/null; do rdma resource show qp link rxe0/1 | grep 'type RC.*state RTS'; sleep 0.2; done
  wait $client && exit; sleep 1
done
exit 1`);
  const [, source, destination] = await until(
    'a connection',
    () => /lqpn (\d+) rqpn (\d+) type RC/.exec(h1.outputSoFar()) ?? undefined,
    150_000,
  );
  expect(source).not.toBe(destination);
  // While it lasts: when the connection manager takes it down, it is forgotten.
  await until(
    `the flow from ${source} to ${destination}`,
    async () => (await learned(H1, H2)).map((row) => [row['source-qpn'], row['destination-qpn']]),
    (pairs) => pairs.some((pair) => isDeepStrictEqual(pair, [Number(source), Number(destination)])),
    60_000,
  );
  const { output, status } = await client(200_000);
  expect({ status, output }).toMatchObject({ status: 0 });
  expect(await server()).toMatchObject({ status: 0 });
});
