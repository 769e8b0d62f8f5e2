// What is held, in the maps of the programs (kernel/dataplane/holds.ts). Every change is in force with the next packet.
// The maps outlive the agent: what an earlier run has left there can be read and removed.
import type { BpfMap } from '../kernel/bpf/map.ts';
import {
  HOLD_FILTER_WORDS,
  HOLD_MAPS,
  HOLD_RECORD_SIZE,
  type HeldSubject,
  type Hold,
  type HoldKind,
  type HoldRecord,
  KIND_OF_MODE,
  decodeHold,
  decodeHoldKey,
  decodeHoldRecord,
  encodeHold,
  encodeHoldFilter,
  encodeHoldKey,
  encodeHoldState,
  holdFilterBit,
  holdSlot,
  isHeldTraffic,
} from '../kernel/dataplane/holds.ts';
import { u32Key } from '../kernel/dataplane/layout.ts';

const QPNS = HOLD_FILTER_WORDS * 64;
const NO_RECORD = new Uint8Array(HOLD_RECORD_SIZE);

/** Whether a class is full is set by setFull() alone. */
export type NewHold = Omit<Hold, 'full'>;

export interface HeldNow {
  readonly flow: HeldSubject;
  readonly hold: Hold;
}

export class HoldTable {
  readonly #map: (name: string) => BpfMap;
  /** By the text of the key. */
  readonly #holds = new Map<string, Hold>();
  /** Minor number of the class → text of the key. */
  readonly #owners = new Map<number, string>();
  /** Holds of each value of the low 16 bits of a Queue Pair number. */
  readonly #users = new Uint16Array(QPNS);
  readonly #counts: Record<HoldKind, number> = { flow: 0, service: 0, priority: 0, tuple: 0 };

  /** Over the maps of an open hold.bpf.o. @throws KernelError */
  constructor(object: { map(name: string): BpfMap }) {
    this.#map = (name) => object.map(name);
    for (const { flow, hold } of this.read()) {
      this.#own(textOf(encodeHoldKey(flow)), hold);
      this.#countHold(flow, 1);
    }
    for (let word = 0; word < HOLD_FILTER_WORDS; word++) this.#writeFilter(word * 64);
    this.#writeState();
  }

  get size(): number {
    return this.#holds.size;
  }

  /** Every hold in the kernel, also those of an earlier run. @throws KernelError */
  read(): HeldNow[] {
    return [...this.#map(HOLD_MAPS.holds).entries()].flatMap(([key, value]) => {
      const [flow, hold] = [decodeHoldKey(key), decodeHold(value)];
      return flow && hold ? [{ flow, hold }] : [];
    });
  }

  /**
   * Holds a flow or traffic, or changes its hold. What the program has counted of it stays, unless the class is another
   * one.
   * @throws RangeError (no class of a hold, or that of another), KernelError
   */
  set(flow: HeldSubject, wanted: NewHold): void {
    const key = encodeHoldKey(flow);
    const name = textOf(key);
    const owner = this.#owners.get(wanted.minor);
    if (owner !== undefined && owner !== name)
      throw new RangeError(`class 0x${wanted.minor.toString(16)} is that of another flow`);
    const before = this.#holds.get(name);
    const isSame = before?.minor === wanted.minor;
    const hold = { ...wanted, full: isSame && before.full };
    const value = encodeHold(hold);
    if (!isSame) this.#map(HOLD_MAPS.records).update(holdSlot(hold.minor), NO_RECORD);
    this.#map(HOLD_MAPS.holds).update(key, value);
    if (before) this.#owners.delete(before.minor);
    this.#own(name, hold);
    if (before) return;
    this.#countHold(flow, 1);
    this.#writeCounts(flow);
  }

  /**
   * From now on, packets that enter the class are reported, or are not any more. Returns false if it is not held.
   * @throws KernelError
   */
  setFull(flow: HeldSubject, full: boolean): boolean {
    const key = encodeHoldKey(flow);
    const name = textOf(key);
    const before = this.#holds.get(name);
    if (!before) return false;
    if (before.full === full) return true;
    const hold = { ...before, full };
    this.#map(HOLD_MAPS.holds).update(key, encodeHold(hold));
    this.#holds.set(name, hold);
    return true;
  }

  /** Returns false if it is not held. From now on its packets go straight. @throws KernelError */
  remove(flow: HeldSubject): boolean {
    const key = encodeHoldKey(flow);
    const name = textOf(key);
    const existed = this.#map(HOLD_MAPS.holds).delete(key);
    const hold = this.#holds.get(name);
    if (!hold) return existed;
    this.#holds.delete(name);
    this.#owners.delete(hold.minor);
    this.#countHold(flow, -1);
    this.#writeCounts(flow);
    return existed;
  }

  /** What the program has counted. Undefined if it is not held. @throws KernelError */
  record(flow: HeldSubject): HoldRecord | undefined {
    const hold = this.#holds.get(textOf(encodeHoldKey(flow)));
    const value = hold && this.#map(HOLD_MAPS.records).lookup(holdSlot(hold.minor));
    return value && decodeHoldRecord(value);
  }

  /** What the program has counted of what has the class. Undefined: nothing has it. @throws KernelError */
  recordOf(minor: number): HoldRecord | undefined {
    const value = this.#owners.has(minor) ? this.#map(HOLD_MAPS.records).lookup(holdSlot(minor)) : undefined;
    return value && decodeHoldRecord(value);
  }

  #own(name: string, hold: Hold): void {
    this.#holds.set(name, hold);
    this.#owners.set(hold.minor, name);
  }

  #countHold(flow: HeldSubject, by: 1 | -1): void {
    this.#counts[isHeldTraffic(flow) ? KIND_OF_MODE[flow.traffic.mode] : 'flow'] += by;
    if (!isHeldTraffic(flow)) this.#users[flow.receiverQpn % QPNS]! += by;
  }

  #writeCounts(flow: HeldSubject): void {
    if (!isHeldTraffic(flow)) this.#writeFilter(flow.receiverQpn);
    this.#writeState();
  }

  #writeFilter(qpn: number): void {
    const { word } = holdFilterBit(qpn);
    let bits = 0n;
    for (let i = 0; i < 64; i++) if (this.#users[64 * word + i]! > 0) bits |= holdFilterBit(i).bit;
    this.#map(HOLD_MAPS.filter).update(u32Key(word), encodeHoldFilter(bits));
  }

  #writeState(): void {
    this.#map(HOLD_MAPS.state).update(u32Key(0), encodeHoldState(this.#counts));
  }
}

const textOf = (key: Uint8Array): string => Buffer.from(key).toString('latin1');
