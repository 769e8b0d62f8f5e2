// The same bytes for N receivers, by N connections and by one to their group, in the scene containerlab/rdma-multicast:
// what the source's link has to take, and how many ACKs the source gets. The receivers are real Queue Pairs in the
// scene's five hosts: a host has several addresses, and a Queue Pair for each, as a machine with several cards has.
// Bytes are those that the interface has sent, neighbor discovery included.
import { setTimeout as delay } from 'node:timers/promises';
import { type Endpoint, startEndpoint } from '../../demo/endpoints.ts';
import { EDGES, RECEIVERS, ROOT, SOURCE } from '../../demo/multicast/scene.ts';
import type { Lab } from '../../lab/lab.ts';
import { type Bench, type Figure, until } from '../support/bench.ts';
import { type MulticastLab, multicastLab, treeOf } from '../support/network/multicast-lab.ts';
import type { Row } from '../support/report.ts';

const SIZES = [2, 8, 32] as const;
const BYTES = 256_000;
const DESIGNATED = 0x1000;
/** More than a round trip on the source's link with all its connections, and on a busy machine. */
const PATIENCE = ['--window', '16', '--timeout', '4s', '--retries', '20'];

interface Receiver {
  readonly host: string;
  readonly edge: string;
  readonly address: string;
  readonly qpn: number;
}

const edgeOf = (host: string): string => Object.keys(EDGES).find((edge) => EDGES[edge]!.includes(host))!;
const proxyOf = (n: number): string => `2001:db8:aa::${(0x100 + n).toString(16)}`;
const sourceQpn = (n: number): number => 0x10000 * n;

/** N receivers, spread over the hosts; none of them is one of the scene's own group. */
const receiversOf = (n: number): Receiver[] =>
  Array.from({ length: n }, (_, i) => {
    // For two: one behind each transit router.
    const { node: host, address } = RECEIVERS[n === 2 ? i * 3 : i % RECEIVERS.length]!;
    const qpn = 0x1000 * n + i;
    return { host, edge: edgeOf(host), address: `${address.slice(0, -1)}${(0x1000 + 0x40 * n + i).toString(16)}`, qpn };
  });

/** One process a host, for all of its receivers. `peer`: of receiver i. */
function startReceivers(
  lab: Lab,
  receivers: readonly Receiver[],
  peer: { readonly address: string; readonly qpn: (i: number) => number },
): Map<string, Endpoint> {
  const started = new Map<string, Endpoint>();
  for (const host of RECEIVERS) {
    const own = receivers.flatMap((one, i) => (one.host === host.node ? [{ ...one, peerQpn: peer.qpn(i) }] : []));
    const [first, ...rest] = own;
    if (!first) continue;
    const also = rest.map(({ address, qpn, peerQpn }) => `${address}/${qpn}/${peerQpn}`);
    const argv = [
      ...['--qpn', String(first.qpn), '--from', `${peer.address}/${first.peerQpn}`, '--bytes', `${BYTES}b`],
      ...(also.length > 0 ? ['--also', also.join(',')] : []),
    ];
    started.set(host.node, startEndpoint(lab, { ...host, address: first.address }, 'receive', argv));
  }
  return started;
}

interface Run {
  readonly bytes: number;
  readonly acks: number;
  readonly ms: number;
  readonly repeated: number;
}

const sentBytes = async (lab: Lab): Promise<number> =>
  Number(await lab.mustExec(SOURCE.node, ['cat', `/sys/class/net/${SOURCE.interface}/statistics/tx_bytes`]));

/** @param to the source's peers, as its command line has them */
async function transfer(
  bench: Bench,
  lab: Lab,
  {
    n,
    to,
    receivers,
  }: { readonly n: number; readonly to: readonly string[]; readonly receivers: Map<string, Endpoint> },
): Promise<Run> {
  const running = [...receivers.values()];
  let source: Endpoint | undefined;
  try {
    await Promise.all(running.map((receiver) => receiver.waitFor('ready')));
    const before = await sentBytes(lab);
    source = startEndpoint(lab, SOURCE, 'source', [
      ...['--qpn', String(sourceQpn(n)), '--to', to.join(','), '--bytes', `${BYTES}b`, ...PATIENCE],
    ]);
    const summary = await source.waitFor('summary');
    await source.ended;
    bench.signal.throwIfAborted();
    const bytes = (await sentBytes(lab)) - before;
    const completed = (): number =>
      running.reduce((sum, { events }) => sum + events.filter(({ event }) => event === 'complete').length, 0);
    await until(`${n} receivers have all`, () => completed() === n, bench.signal);
    const flows = summary['flows'] as { acks: number; retransmitted: number; completionMs: number | null }[];
    const sum = (of: (flow: (typeof flows)[number]) => number): number => flows.reduce((all, f) => all + of(f), 0);
    if (summary['ok'] !== true) throw new Error(`not completed: ${JSON.stringify(flows)}`);
    const ms = Math.max(...flows.map((flow) => flow.completionMs ?? 0));
    return { bytes, acks: sum((flow) => flow.acks), ms, repeated: sum((flow) => flow.retransmitted) };
  } finally {
    await source?.stop();
    await Promise.all(running.map((receiver) => receiver.stop()));
  }
}

/** The hosts have the addresses, and the routers know the group. */
async function declare(bench: Bench, { lab, agents }: MulticastLab, n: number): Promise<readonly Receiver[]> {
  const receivers = receiversOf(n);
  for (const { host, address } of receivers)
    await lab.mustExec(host, ['ip', 'address', 'add', `${address}/64`, 'dev', 'eth1', 'nodad']);
  const group = proxyOf(n);
  const add = (node: string, role: string, address: string, qpn: number): Promise<void> =>
    agents.get(node)!.client.set({
      update: [
        { group, value: { 'designated-qpn': DESIGNATED } },
        { group, member: { role, address }, value: { qpn } },
      ],
    });
  await add(ROOT, 'source', SOURCE.address, sourceQpn(n));
  for (const { edge, address, qpn } of receivers) await add(edge, 'receiver', address, qpn);
  const known = async (): Promise<boolean> => {
    const rows = (await agents.get(ROOT)!.client.get(['cnpd', 'groups', 'members'])) as
      | { group: string; role: string; status: string }[]
      | undefined;
    return rows?.filter((row) => row.group === group && row.role === 'receiver').length === n;
  };
  await until(`${ROOT} knows ${n} receivers`, known, bench.signal, 60_000);
  await treeOf(bench, lab, ROOT, group);
  // The tree with all of them: a settle time later.
  await delay(2000, undefined, { signal: bench.signal });
  return receivers;
}

async function measured(bench: Bench, scene: MulticastLab, n: number): Promise<Row[]> {
  const { lab } = scene;
  const receivers = await declare(bench, scene, n);
  const unicast = await transfer(bench, lab, {
    n,
    to: receivers.map(({ address, qpn }) => `${address}/${qpn}`),
    receivers: startReceivers(lab, receivers, { address: SOURCE.address, qpn: (i) => sourceQpn(n) + i }),
  });
  const group = await transfer(bench, lab, {
    n,
    to: [`${proxyOf(n)}/${DESIGNATED}`],
    receivers: startReceivers(lab, receivers, { address: proxyOf(n), qpn: () => DESIGNATED }),
  });
  const figure = 'multicast-transfer';
  const times = unicast.bytes / group.bytes;
  const note =
    `completed in ${group.ms.toFixed(0)} ms, the connections in ${unicast.ms.toFixed(0)} ms; ` +
    `packets repeated: ${group.repeated} and ${unicast.repeated}`;
  return [
    {
      ...{ figure, what: `1 → ${n}: the source's link`, unit: 'kB', measured: group.bytes / 1000 },
      ...{ reference: `${n} connections`, referenceValue: unicast.bytes / 1000, ratio: times },
      ...{ target: `≥ ${(0.9 * n).toFixed(1)}× less`, met: times >= 0.9 * n, note },
    },
    {
      ...{ figure, what: `1 → ${n}: ACKs at the source`, unit: 'ACKs', measured: group.acks },
      ...{ reference: `${n} connections`, referenceValue: unicast.acks, ratio: group.acks / unicast.acks },
      ...{ target: `1/${n}`, met: group.acks * n <= unicast.acks },
    },
  ];
}

export const multicastTransfer: Figure = {
  name: 'multicast-transfer',
  title: `${BYTES / 1000} kB for ${SIZES.join(', ')} receivers, by their group and by connections`,
  async measure(bench) {
    const scene = await multicastLab(bench);
    const rows: Row[] = [];
    for (const n of SIZES) {
      rows.push(...(await measured(bench, scene, n)));
      bench.say(`${n} receivers: measured`);
    }
    return rows;
  },
};
