// Which flows are held, in the program's maps (kernel/dataplane/holds.ts). Every change is in force with the next
// packet. The maps outlive the agent: what an earlier run has left there can be read and removed.
import type { BpfMap } from '../kernel/bpf/map.ts';
import {
  HOLD_FILTER_WORDS,
  HOLD_MAPS,
  HOLD_RECORD_SIZE,
  type HeldFlow,
  type Hold,
  type HoldRecord,
  decodeHold,
  decodeHoldKey,
  decodeHoldRecord,
  encodeHold,
  encodeHoldFilter,
  encodeHoldKey,
  encodeHoldPort,
  encodeHoldState,
  holdFilterBit,
  holdPortKey,
  holdSlot,
} from '../kernel/dataplane/holds.ts';
import { u32Key } from '../kernel/dataplane/layout.ts';

const QPNS = HOLD_FILTER_WORDS * 64;
const NO_RECORD = new Uint8Array(HOLD_RECORD_SIZE);

export interface HeldNow {
  readonly flow: HeldFlow;
  readonly hold: Hold;
}

export class HoldTable {
  readonly #map: (name: string) => BpfMap;
  /** Minor number of the class, by the text of the key. */
  readonly #minors = new Map<string, number>();
  /** And the other way round. */
  readonly #owners = new Map<number, string>();
  /** Holds of each value of the low 16 bits of a Queue Pair number. */
  readonly #users = new Uint16Array(QPNS);

  /** Over the maps of an open hold.bpf.o. @throws KernelError */
  constructor(object: { map(name: string): BpfMap }) {
    this.#map = (name) => object.map(name);
    for (const { flow, hold } of this.read()) {
      this.#own(textOf(encodeHoldKey(flow)), hold.minor);
      this.#users[flow.receiverQpn % QPNS]!++;
    }
    for (let word = 0; word < HOLD_FILTER_WORDS; word++) this.#writeFilter(word * 64);
    this.#writeState();
  }

  get size(): number {
    return this.#minors.size;
  }

  /** Every hold in the kernel, also those of an earlier run. @throws KernelError */
  read(): HeldNow[] {
    return [...this.#map(HOLD_MAPS.holds).entries()].flatMap(([key, value]) => {
      const [flow, hold] = [decodeHoldKey(key), decodeHold(value)];
      return flow && hold ? [{ flow, hold }] : [];
    });
  }

  /**
   * Holds a flow, or changes its hold. What the program has counted of it stays, unless the class is another one.
   * @throws RangeError (no class of a hold, or that of another flow), KernelError
   */
  set(flow: HeldFlow, hold: Hold): void {
    const key = encodeHoldKey(flow);
    const value = encodeHold(hold);
    const name = textOf(key);
    const owner = this.#owners.get(hold.minor);
    if (owner !== undefined && owner !== name)
      throw new RangeError(`class 0x${hold.minor.toString(16)} is that of another flow`);
    const before = this.#minors.get(name);
    if (before === hold.minor) return this.#map(HOLD_MAPS.holds).update(key, value);
    this.#map(HOLD_MAPS.records).update(holdSlot(hold.minor), NO_RECORD);
    this.#map(HOLD_MAPS.holds).update(key, value);
    if (before !== undefined) this.#owners.delete(before);
    else this.#users[flow.receiverQpn % QPNS]!++;
    this.#own(name, hold.minor);
    this.#writeFilter(flow.receiverQpn);
    this.#writeState();
  }

  /** Returns false if the flow is not held. From now on its packets go straight. @throws KernelError */
  remove(flow: HeldFlow): boolean {
    const key = encodeHoldKey(flow);
    const name = textOf(key);
    const existed = this.#map(HOLD_MAPS.holds).delete(key);
    const minor = this.#minors.get(name);
    if (minor === undefined) return existed;
    this.#minors.delete(name);
    this.#owners.delete(minor);
    this.#users[flow.receiverQpn % QPNS]!--;
    this.#writeFilter(flow.receiverQpn);
    this.#writeState();
    return existed;
  }

  /** What the program has counted. Undefined if the flow is not held. @throws KernelError */
  record(flow: HeldFlow): HoldRecord | undefined {
    const minor = this.#minors.get(textOf(encodeHoldKey(flow)));
    const value = minor === undefined ? undefined : this.#map(HOLD_MAPS.records).lookup(holdSlot(minor));
    return value && decodeHoldRecord(value);
  }

  /** From now on, packets of held flows at this port go into its classes. @throws KernelError E2BIG */
  setPort(ifindex: number, root: number): void {
    this.#map(HOLD_MAPS.ports).update(holdPortKey(ifindex), encodeHoldPort(root));
  }

  /** From now on, packets of held flows at this port go straight. @throws KernelError */
  removePort(ifindex: number): void {
    this.#map(HOLD_MAPS.ports).delete(holdPortKey(ifindex));
  }

  #own(name: string, minor: number): void {
    this.#minors.set(name, minor);
    this.#owners.set(minor, name);
  }

  #writeFilter(qpn: number): void {
    const { word } = holdFilterBit(qpn);
    let bits = 0n;
    for (let i = 0; i < 64; i++) if (this.#users[64 * word + i]! > 0) bits |= holdFilterBit(i).bit;
    this.#map(HOLD_MAPS.filter).update(u32Key(word), encodeHoldFilter(bits));
  }

  #writeState(): void {
    this.#map(HOLD_MAPS.state).update(u32Key(0), encodeHoldState(this.size));
  }
}

const textOf = (key: Uint8Array): string => Buffer.from(key).toString('latin1');
