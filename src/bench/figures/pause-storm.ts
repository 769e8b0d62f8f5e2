// A neighbor that asks to pause a thousand different flows at once, and to let them go: what one of them costs, with
// new classes and with those that there are. The machine's part is left out: what is asked of the classes is measured.
import { openBpfObject } from '../../kernel/bpf/object.ts';
import { Netns } from '../../kernel/netns.ts';
import { Rtnetlink } from '../../kernel/netlink/rtnetlink.ts';
import { systemClock } from '../../model/clock.ts';
import type { HeldTraffic } from '../../model/flow-control.ts';
import { silentLog } from '../../model/log.ts';
import { LONGEST_PAUSE_US } from '../../model/notification.ts';
import { eventLoopWork } from '../../model/work.ts';
import { FlowControl } from '../../reconcile/flow-control.ts';
import { HoldPortTable } from '../../reconcile/hold-port-table.ts';
import { HoldPorts } from '../../reconcile/hold-ports.ts';
import { HoldTable } from '../../reconcile/hold-table.ts';
import { HeldClasses } from '../../source/held-classes.ts';
import { type Bench, type Figure, bpfObject, until } from '../support/bench.ts';
import { RECEIVER, SENDER } from '../support/packets/packets.ts';
import type { Row } from '../support/report.ts';

const FLOWS = 1000;
const LINE = 100e9;
/** So many a second take less than one processor. */
const TARGET_MS = 1;

interface Storm {
  readonly classes: HeldClasses<HeldTraffic>;
  readonly flows: readonly HeldTraffic[];
  readonly isHeld: (flow: HeldTraffic) => boolean;
  readonly left: Set<HeldTraffic>;
}

async function storm(bench: Bench): Promise<Storm> {
  const netns = Netns.create();
  bench.finally(() => netns.close());
  const rtnetlink = Rtnetlink.open({ netns }, bench);
  bench.finally(() => rtnetlink.close());
  await rtnetlink.createVeth({ name: 't-bench-a', peer: { name: 't-bench-b' } });
  const { ifindex } = (await rtnetlink.link('t-bench-a'))!;
  const object = openBpfObject(bpfObject('hold'));
  bench.finally(() => object.close());
  const [table, portTable] = [new HoldTable(object), new HoldPortTable(object)];
  const ports = HoldPorts.open({ netns }, { table: portTable });
  bench.finally(() => ports.close());
  const flowControl = FlowControl.open(object, { netns }, { ports, table, portTable, count: () => {} });
  bench.finally(() => flowControl.close());
  await ports.prepare(ifindex, 'flow-control');
  const left = new Set<HeldTraffic>();
  const classes = new HeldClasses<HeldTraffic>(
    { lineRate: LINE, minimumRate: LINE / 100, buffer: 1_000_000, silenceUs: () => LONGEST_PAUSE_US },
    {
      ...{ dataplane: flowControl.classes, clock: systemClock, work: eventLoopWork(), log: silentLog },
      monotonicNs: () => process.hrtime.bigint(),
    },
    {
      onDrained: (flow) => void left.add(flow),
      onRefused: () => bench.say('a class was refused'),
      onError: () => {},
    },
  );
  bench.finally(() => classes.stop());
  const flows = Array.from({ length: FLOWS }, (_, n): HeldTraffic => ({
    traffic: { mode: 'flow', source: SENDER, destination: RECEIVER, sourcePort: 0x8000 + n, destinationPort: 4791 },
    egress: ifindex,
  }));
  return { classes, flows, isHeld: (flow) => flowControl.classes.record(flow) !== undefined, left };
}

/** Milliseconds of the processor that one flow costs, all threads, and of the clock. */
async function cost(run: () => Promise<void>): Promise<{ readonly cpu: number; readonly wall: number }> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  await run();
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / 1000 / FLOWS, wall: (performance.now() - start) / FLOWS };
}

async function round({ classes, flows, isHeld, left }: Storm, bench: Bench) {
  const paused = await cost(async () => {
    const untilMs = systemClock.now() + 60_000;
    classes.apply(flows.map((flow, n) => ({ kind: 'hold', flow, slot: n + 1, rate: 0, untilMs })));
    await until('all are paused', () => classes.waiting === 0 && isHeld(flows.at(-1)!), bench.signal);
  });
  const released = await cost(async () => {
    classes.apply(flows.map((flow, n) => ({ kind: 'leave', flow, slot: n + 1, rate: LINE })));
    await until('all have left', () => left.size === FLOWS, bench.signal);
    classes.apply(flows.map((flow, n) => ({ kind: 'free', flow, slot: n + 1 })));
    await until('all are free', () => classes.waiting === 0 && !isHeld(flows.at(-1)!), bench.signal);
  });
  left.clear();
  return { paused, released };
}

export const pauseStorm: Figure = {
  name: 'pause-storm',
  title: `a neighbor asks to pause ${FLOWS} flows at once`,
  async measure(bench) {
    const scene = await storm(bench);
    const [first, again] = [await round(scene, bench), await round(scene, bench)];
    const row = (what: string, { cpu, wall }: Awaited<ReturnType<typeof cost>>): Row => ({
      ...{ figure: pauseStorm.name, what: `one of ${FLOWS} flows ${what}`, unit: 'ms', measured: cpu },
      ...{ reference: 'target', referenceValue: TARGET_MS, ratio: cpu / TARGET_MS, target: `< ${TARGET_MS} ms` },
      ...{ met: cpu < TARGET_MS, note: `processor time, of all threads; ${wall.toFixed(3)} ms of the clock` },
    });
    return [
      row('paused, in a new class', first.paused),
      row('paused, in a class that was there', again.paused),
      row('let go', again.released),
    ];
  },
};
