// Taking notifications for hosts: what the source's program costs other packets, and how long it is from a Long-haul
// CNP in that program to the flow's class at its new rate. The agent is in between: ring, machine, netlink.
import { type BpfObject, openBpfObject } from '../../kernel/bpf/object.ts';
import { SOURCE_PROGRAM } from '../../kernel/dataplane/source.ts';
import { Netns } from '../../kernel/netns.ts';
import { Rtnetlink } from '../../kernel/netlink/rtnetlink.ts';
import { systemClock } from '../../model/clock.ts';
import { silentLog } from '../../model/log.ts';
import { eventLoopWork } from '../../model/work.ts';
import { LOOPBACK } from '../../reconcile/attachments.ts';
import { hold } from '../../reconcile/hold.ts';
import { source } from '../../reconcile/source.ts';
import { Enforcement } from '../../source/enforcement.ts';
import type { HoldDataplane } from '../../source/hold-dataplane.ts';
import { defaultHoldOptions } from '../../source/hold.ts';
import { addedCost, contextAt, percentileRow } from '../support/added-cost.ts';
import { type Bench, type Figure, bpfObject } from '../support/bench.ts';
import { BUILT_HERE, FLOWS, configureSource, instruction } from '../support/source-program.ts';
import { dataIpv4, dataIpv6, ethernet } from '../support/packets/packets.ts';
import type { Row } from '../support/report.ts';

const REPEAT = 20_000;
const ROUNDS = 31;
const LINE = 10e9;
const TARGET_NS = 15;
const TARGET_MS = 2;

function packetRow(object: BpfObject, empty: BpfObject, what: string, packet: Uint8Array): Promise<Row> {
  const ctx = contextAt(LOOPBACK.ifindex);
  const run = (from: BpfObject, name: string): number =>
    from.program(name).testRun({ data: ethernet(packet), ctx, repeat: REPEAT }).durationNs;
  return addedCost({ figure: sourceInstructions.name, what: `${what}: added`, targetNs: TARGET_NS }, ROUNDS, {
    empty: () => run(empty, 'empty'),
    program: () => run(object, SOURCE_PROGRAM),
  });
}

/** The dataplane, with the time of the latest change. */
function timed(dataplane: HoldDataplane): HoldDataplane & { changed: () => Promise<number> } {
  let waiting: ((at: number) => void) | undefined;
  const noted = <T>(result: T): T => (waiting?.(performance.now()), result);
  return {
    setClass: (...args) => dataplane.setClass(...args),
    changeRate: async (...args) => noted(await dataplane.changeRate(...args)),
    pause: (...args) => dataplane.pause(...args),
    classCounters: (slot) => dataplane.classCounters(slot),
    setHold: (...args) => noted(dataplane.setHold(...args)),
    removeHold: (flow) => dataplane.removeHold(flow),
    record: (flow) => dataplane.record(flow),
    changed: () => new Promise((resolve) => void (waiting = resolve)),
  };
}

async function latencyRows(object: BpfObject, bench: Bench): Promise<Row[]> {
  const netns = Netns.create();
  bench.finally(() => netns.close());
  const rtnetlink = Rtnetlink.open({ netns }, bench);
  bench.finally(() => rtnetlink.close());
  await rtnetlink.createVeth({ name: 't-bench-a', peer: { name: 't-bench-b' } });
  const { ifindex } = (await rtnetlink.link('t-bench-a'))!;
  const dependencies = { clock: systemClock, work: eventLoopWork(), log: silentLog, count: () => {} };
  const held = netns.run(() => hold.open(openBpfObject(bpfObject('hold')), dependencies));
  bench.finally(() => held.close());
  const enforce = { ports: [{ id: 'a', interface: 't-bench-a', ifindex }], queueing: 'htb', buffer: 4_000_000 };
  held.apply({ source: { enforce } as never });
  await held.settled;
  const dataplane = timed(held.classes);
  const feature = source.open(object, dependencies);
  const options = { ...defaultHoldOptions(LINE), rttMs: 5000, duplicateWithinMs: 0 };
  const enforcement = new Enforcement(
    { options, buffer: 4_000_000 },
    {
      ...{ ...dependencies, dataplane, monotonicNs: () => process.hrtime.bigint() },
      isReady: () => held.isReady,
      onHolding: (holding) => feature.setHolding(holding),
    },
  );
  bench.finally(() => enforcement.stop());
  const reader = feature.onNotification((taken) => enforcement.onNotification(taken), bench);
  bench.finally(() => reader.close());

  const times = async (parameter: number): Promise<number[]> => {
    const found: number[] = [];
    for (let n = 1; n <= FLOWS; n++) {
      bench.signal.throwIfAborted();
      const packet = instruction(n, { action: 'rate-reduce', parameter });
      const changed = dataplane.changed();
      const start = performance.now();
      object.program(SOURCE_PROGRAM).testRun({ data: packet, ctx: BUILT_HERE, netns });
      found.push((await changed) - start);
    }
    return found;
  };
  const row = (what: string, found: number[]): Row =>
    percentileRow({ figure: sourceInstructions.name, what }, found, { ms: TARGET_MS, text: `p99 ≤ ${TARGET_MS} ms` });
  return [
    row(`Long-haul CNP → the flow in a class of its own, ${FLOWS} flows`, await times(10)),
    row(`Long-haul CNP → the class at its new rate, ${FLOWS} flows held`, await times(20)),
  ];
}

export const sourceInstructions: Figure = {
  name: 'source-instructions',
  title: 'from an instruction to the new rate, and what other packets pay',
  async measure(bench) {
    const object = openBpfObject(bpfObject('source'));
    bench.finally(() => object.close());
    const empty = openBpfObject(bpfObject('empty'));
    bench.finally(() => empty.close());
    configureSource(object);
    return [
      await packetRow(object, empty, 'RoCEv2 data over IPv6', dataIpv6(0x123456)),
      await packetRow(object, empty, 'RoCEv2 data over IPv4', dataIpv4(0x123456)),
      ...(await latencyRows(object, bench)),
    ];
  },
};
