// Holding single flows: what the program costs packets that are not held, while nothing is and while thousands are; and
// what thousands of classes cost the agent. A packet that is not held is measured against the empty program, classes
// against `tc -batch` with the same classes at another port.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BpfObject, openBpfObject } from '../../kernel/bpf/object.ts';
import { HOLD_FIRST_MINOR, HOLD_PROGRAM } from '../../kernel/dataplane/holds.ts';
import { Netns } from '../../kernel/netns.ts';
import { Rtnetlink } from '../../kernel/netlink/rtnetlink.ts';
import { LOOPBACK } from '../../reconcile/attachments.ts';
import { HoldPorts } from '../../reconcile/hold-ports.ts';
import { HoldPortTable } from '../../reconcile/hold-port-table.ts';
import { HoldTable } from '../../reconcile/hold-table.ts';
import { addedCost, contextAt, percentileRow } from '../support/added-cost.ts';
import { type Bench, type Figure, bpfObject } from '../support/bench.ts';
import { RECEIVER, SENDER, dataIpv4, dataIpv6, ethernet, insideSrv6 } from '../support/packets/packets.ts';
import type { Row } from '../support/report.ts';

const HELD = 5000;
const REPEAT = 20_000;
const ROUNDS = 51;
const CHANGES = 1000;
const TARGET_NS = 15;
const HOUR_NS = 3_600_000_000_000n;
const FIRST_QPN = 0x200000;
/** No held flow has these low bits. */
const OTHER_QPN = 0x123456;
const CLASS = { rate: 1_000_000n, burst: 10_000, limit: 1_000_000 };

const minors = Array.from({ length: HELD }, (_, n) => HOLD_FIRST_MINOR + n);

function holdAll(table: HoldTable): void {
  const untilNs = process.hrtime.bigint() + HOUR_NS;
  minors.forEach((minor, n) =>
    table.set(
      { sender: SENDER, receiver: RECEIVER, receiverQpn: FIRST_QPN + n },
      { minor, phase: 'held', untilNs, drained: 0n },
    ),
  );
}

/** What the program adds to a packet. */
function packetRow(object: BpfObject, empty: BpfObject, what: string, packet: Uint8Array): Promise<Row> {
  const frame = ethernet(packet);
  const ctx = contextAt(LOOPBACK.ifindex);
  const run = (from: BpfObject, name: string): number =>
    from.program(name).testRun({ data: frame, ctx, repeat: REPEAT }).durationNs;
  return addedCost({ figure: heldFlows.name, what: `${what}: added`, targetNs: TARGET_NS }, ROUNDS, {
    empty: () => run(empty, 'empty'),
    program: () => run(object, HOLD_PROGRAM),
  });
}

async function packetRows(object: BpfObject, table: HoldTable, bench: Bench): Promise<Row[]> {
  const empty = openBpfObject(bpfObject('empty'));
  bench.finally(() => empty.close());
  const rows = [await packetRow(object, empty, 'nothing held, RoCEv2 over IPv6', dataIpv6(OTHER_QPN))];
  holdAll(table);
  const cases: [string, Uint8Array][] = [
    ['RoCEv2 over IPv6', dataIpv6(OTHER_QPN)],
    ['RoCEv2 over IPv4', dataIpv4(OTHER_QPN)],
    ['inside SRv6, no SRH', insideSrv6(dataIpv6(OTHER_QPN), [])],
    ['inside SRv6, SRH of 2', insideSrv6(dataIpv6(OTHER_QPN), ['2001:db8:f4::1', '2001:db8:f5::1'])],
    ['RoCEv2 over IPv6, low bits of a held Queue Pair', dataIpv6(FIRST_QPN + 0x10000)],
  ];
  for (const [what, packet] of cases) {
    bench.signal.throwIfAborted();
    rows.push(await packetRow(object, empty, `${HELD} others held, ${what}`, packet));
  }
  return rows;
}

async function millis(run: () => Promise<unknown> | void): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Kilobytes that the kernel has allocated for objects like classes. */
const slab = (): number => Number(/^SUnreclaim:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]);

const tcLines = (port: string): string =>
  minors
    .flatMap((minor) => {
      const name = minor.toString(16);
      return [
        `class add dev ${port} parent 6e70: classid 6e70:${name} htb rate 8mbit burst 10kb quantum 16384`,
        `qdisc add dev ${port} parent 6e70:${name} handle ${name}: bfifo limit ${CLASS.limit}`,
      ];
    })
    .join('\n');

async function classRows(portTable: HoldPortTable, bench: Bench): Promise<Row[]> {
  const netns = Netns.create();
  bench.finally(() => netns.close());
  const rtnetlink = Rtnetlink.open({ netns }, bench);
  bench.finally(() => rtnetlink.close());
  await rtnetlink.createVeth({ name: 't-bench-a', peer: { name: 't-bench-b' } });
  const { ifindex } = (await rtnetlink.link('t-bench-a'))!;
  const ports = HoldPorts.open({ netns }, { table: portTable });
  bench.finally(() => ports.close());
  const file = join(bench.directory, 'classes');
  writeFileSync(file, `qdisc add dev t-bench-b root handle 6e70: htb default 0\n${tcLines('t-bench-b')}\n`);
  const tc = await millis(() => {
    const { status, stderr } = netns.run(() => spawnSync('tc', ['-batch', file], { encoding: 'utf8' }));
    if (status !== 0) throw new Error(`tc -batch: ${stderr}`);
  });
  await ports.prepare(ifindex);
  const before = slab();
  const own = await millis(() => ports.setClasses(minors.map((minor) => [minor, CLASS] as const)));
  const memory = (slab() - before) / HELD;
  const changes: number[] = [];
  for (let i = 0; i < CHANGES; i++)
    changes.push(await millis(() => ports.changeRate(minors[(i * 7) % HELD]!, { rate: 2_000_000n, burst: 10_000 })));
  return [
    {
      figure: heldFlows.name,
      what: `${HELD} classes with a queue each, created`,
      unit: 'ms',
      measured: own,
      reference: 'tc -batch',
      referenceValue: tc,
      ratio: own / tc,
      target: '—',
      met: null,
      note: `${memory.toFixed(1)} kB of kernel memory a class`,
    },
    percentileRow({ figure: heldFlows.name, what: `the rate of one of ${HELD} classes, changed` }, changes, {
      ms: 2,
      text: '≤ 2 ms',
    }),
  ];
}

export const heldFlows: Figure = {
  name: 'held-flows',
  title: `packets that are not held while ${HELD} flows are, and the classes of these`,
  async measure(bench) {
    const object = openBpfObject(bpfObject('hold'));
    bench.finally(() => object.close());
    const table = new HoldTable(object);
    return [...(await packetRows(object, table, bench)), ...(await classRows(new HoldPortTable(object), bench))];
  },
};
