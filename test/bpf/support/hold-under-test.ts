// The program that puts held flows into classes, as the tests drive it without a network.
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { HOLD_FIRST_MINOR, HOLD_PROGRAM } from '../../../src/kernel/dataplane/holds.ts';
import type { HeldFlow } from '../../../src/kernel/dataplane/hold-key.ts';
import { HoldPortTable } from '../../../src/reconcile/hold-port-table.ts';
import { HoldTable, type NewHold } from '../../../src/reconcile/hold-table.ts';
import { object } from './congested-router.ts';
import { clearCounters, countOf } from './counters.ts';
import { DROP, H1, H2, NEXT, QPN, context } from './packets.ts';

/** The loopback device acts as the port in test runs. */
export const PORT = 1;
export const ROOT = 0x6e70_0000;
export const MINOR = HOLD_FIRST_MINOR + 0x234;
export const CLASS = ROOT | MINOR;
export const FLOW: HeldFlow = { sender: H1, receiver: H2, receiverQpn: QPN };
/** Offsets in struct __sk_buff. */
const [PRIORITY, TSTAMP, GSO_SEGMENTS] = [32, 152, 164];
const HOUR_NS = 3_600_000_000_000n;

/** A hold of the next hour. */
export const held = (opts: Partial<NewHold> = {}): NewHold => ({
  minor: MINOR,
  phase: 'held',
  untilNs: process.hrtime.bigint() + HOUR_NS,
  drained: 0n,
  ...opts,
});

export class HoldUnderTest {
  readonly object: BpfObject;
  table: HoldTable;
  readonly portTable: HoldPortTable;
  /** What waits has departed. */
  #isOver = false;

  /** @param pinDir with the pins of others: what is held is then known to them */
  constructor(pinDir?: string) {
    this.object = openBpfObject(object('hold'), { pinDir });
    this.table = new HoldTable(this.object, () => (this.#isOver ? 2n ** 62n : process.hrtime.bigint()));
    this.portTable = new HoldPortTable(this.object);
  }

  /** As it was when nothing had been held yet. */
  clear(): void {
    this.#isOver = true;
    for (const { flow } of this.table.read()) this.table.remove(flow);
    while (this.table.sweep());
    this.#isOver = false;
    this.portTable.setPort(PORT, ROOT);
    clearCounters(this.object);
  }

  /** The class that the packet goes into; 0: it goes straight. @param segments that the kernel will make of it */
  classOf(frame: Uint8Array, segments = 0): number {
    const { retval, after } = this.#run(frame, segments);
    if (retval !== NEXT) throw new Error(`the program returned ${retval}`);
    return after.getUint32(PRIORITY, true);
  }

  /** When the packet is to depart; 0: at once, or it was dropped (see the counter). */
  departureOf(frame: Uint8Array): bigint {
    const { retval, after } = this.#run(frame);
    if (retval !== NEXT && retval !== DROP) throw new Error(`the program returned ${retval}`);
    return after.getBigUint64(TSTAMP, true);
  }

  /** The packet's priority behind the program. */
  priorityOf(frame: Uint8Array, priority: number): number {
    return this.#run(frame, 0, priority).after.getUint32(PRIORITY, true);
  }

  #run(frame: Uint8Array, segments = 0, priority = 0): { readonly retval: number; readonly after: DataView } {
    const ctx = context({ ifindex: PORT });
    new DataView(ctx.buffer, ctx.byteOffset).setUint32(GSO_SEGMENTS, segments, true);
    new DataView(ctx.buffer, ctx.byteOffset).setUint32(PRIORITY, priority, true);
    const ran = this.object.program(HOLD_PROGRAM).testRun({ data: frame, ctx });
    if (Buffer.compare(ran.data, frame) !== 0) throw new Error('the program changed the packet');
    return { retval: ran.retval, after: new DataView(ran.ctx!.buffer, ran.ctx!.byteOffset) };
  }

  count(name: string): number {
    return countOf(this.object, `hold.${name}`);
  }

  close(): void {
    this.object.close();
  }
}
