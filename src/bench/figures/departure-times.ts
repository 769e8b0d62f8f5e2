// Flows held by departure times: what a packet costs that gets one, what a change costs the agent, and how long it is
// from a Long-haul CNP in the source's program to a packet that departs as it says. No agent is in between. An fq is
// not needed: the packet's time is what counts.
import { join } from 'node:path';
import { mountBpffs, unmountBpffs } from '../../kernel/bpf/bpffs.ts';
import { type BpfObject, openBpfObject } from '../../kernel/bpf/object.ts';
import { HOLD_EDT, HOLD_FIRST_MINOR, HOLD_PROGRAM } from '../../kernel/dataplane/holds.ts';
import { encodeSourceHolding, SOURCE_KEY, SOURCE_MAPS, SOURCE_PROGRAM } from '../../kernel/dataplane/source.ts';
import { LOOPBACK } from '../../reconcile/attachments.ts';
import { HoldPaces } from '../../reconcile/hold-paces.ts';
import { HoldPortTable } from '../../reconcile/hold-port-table.ts';
import { HoldTable } from '../../reconcile/hold-table.ts';
import { addedCost, contextAt, percentileRow } from '../support/added-cost.ts';
import { type Bench, type Figure, bpfObject } from '../support/bench.ts';
import { BUILT_HERE, FLOWS, configureSource, instruction } from '../support/source-program.ts';
import { RECEIVER, SENDER, dataIpv6, ethernet } from '../support/packets/packets.ts';
import type { Row } from '../support/report.ts';

const REPEAT = 20_000;
const ROUNDS = 31;
const HOUR_NS = 3_600_000_000_000n;
const TARGET_MS = 0.05;
/** Of struct __sk_buff. */
const TSTAMP = 152;
const PAUSE_US = 50_000;
/** So fast that a packet waits for none before it. */
const PACE = { rate: 10_000_000_000_000n, limit: 1 << 30, least: 1n };
const CONTEXT = contextAt(LOOPBACK.ifindex);

interface Held {
  readonly hold: BpfObject;
  readonly source: BpfObject;
  readonly paces: HoldPaces;
  readonly flows: readonly { readonly minor: number; readonly frame: Uint8Array }[];
}

/** All flows that the source's program knows, each held. */
function holdAll(bench: Bench): Held {
  const pinDir = join(bench.directory, 'bpffs');
  mountBpffs(pinDir);
  bench.finally(() => unmountBpffs(pinDir));
  const [hold, source] = (['hold', 'source'] as const).map((name) => openBpfObject(bpfObject(name), { pinDir }));
  bench.finally(() => (hold!.close(), source!.close()));
  configureSource(source!);
  const untilNs = process.hrtime.bigint() + HOUR_NS;
  source!.map(SOURCE_MAPS.holding).update(SOURCE_KEY, encodeSourceHolding({ untilNs, room: true }));
  const table = new HoldTable(hold!);
  const paces = new HoldPaces(hold!, { table, monotonicNs: () => process.hrtime.bigint() });
  new HoldPortTable(hold!).setPort(LOOPBACK.ifindex, HOLD_EDT);
  const flows = Array.from({ length: FLOWS }, (_, n) => {
    const [minor, receiverQpn] = [HOLD_FIRST_MINOR + n, 0x2000 + n + 1];
    paces.set(minor, PACE);
    table.set({ sender: SENDER, receiver: RECEIVER, receiverQpn }, { minor, phase: 'held', untilNs, drained: 0n });
    return { minor, frame: ethernet(dataIpv6(receiverQpn)) };
  });
  return { hold: hold!, source: source!, paces, flows };
}

function departure(hold: BpfObject, frame: Uint8Array): bigint {
  const { ctx } = hold.program(HOLD_PROGRAM).testRun({ data: frame, ctx: CONTEXT });
  return new DataView(ctx!.buffer, ctx!.byteOffset).getBigUint64(TSTAMP, true);
}

function obeyed({ hold, source, flows }: Held): number[] {
  return flows.map(({ frame }, n) => {
    departure(hold, frame);
    const packet = instruction(n + 1, { action: 'pause', parameter: PAUSE_US });
    const [start, startNs] = [performance.now(), process.hrtime.bigint()];
    source.program(SOURCE_PROGRAM).testRun({ data: packet, ctx: BUILT_HERE });
    const at = departure(hold, frame);
    const took = performance.now() - start;
    if (at < startNs + BigInt(PAUSE_US) * 1000n) throw new Error('the packet after the Pause has not been paused');
    return took;
  });
}

function changes({ paces, flows }: Held): number[] {
  return flows.map(({ minor }) => {
    const start = performance.now();
    paces.changeRate(minor, { rate: PACE.rate + 1n });
    return performance.now() - start;
  });
}

export const departureTimes: Figure = {
  name: 'departure-times',
  title: `${FLOWS} flows held by departure times`,
  async measure(bench) {
    const held = holdAll(bench);
    const empty = openBpfObject(bpfObject('empty'));
    bench.finally(() => empty.close());
    const run = (from: BpfObject, name: string): number =>
      from.program(name).testRun({ data: held.flows[0]!.frame, ctx: CONTEXT, repeat: REPEAT }).durationNs;
    const figure = departureTimes.name;
    const target = { ms: TARGET_MS, text: `p99 ≤ ${TARGET_MS * 1000} µs` };
    const rows: Row[] = [
      await addedCost({ figure, what: 'a packet that gets a departure time: added' }, ROUNDS, {
        empty: () => run(empty, 'empty'),
        program: () => run(held.hold, HOLD_PROGRAM),
      }),
      percentileRow({ figure, what: `the rate of one of ${FLOWS} flows, changed by the agent` }, changes(held), target),
      percentileRow({ figure, what: 'Pause in the program → the next packet departs later' }, obeyed(held), target),
    ];
    return rows;
  },
};
