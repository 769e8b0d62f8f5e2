// What is held, in the maps of the programs (kernel/dataplane/holds.ts). Every change is in force with the next packet.
// The maps outlive the agent: what an earlier run has left there can be read and removed.
//
// A flow that is let go while some of its packets wait for their departure times is `behind` until these are over: what
// comes then must not overtake them. Its class is free at once.
import type { BpfMap } from '../kernel/bpf/map.ts';
import {
  HOLD_FILTER_WORDS,
  HOLD_LONGEST_DEPARTURE_NS,
  HOLD_MAPS,
  type Hold,
  type HoldRecord,
  decodeHold,
  decodeHoldRecord,
  encodeHold,
  encodeHoldFilter,
  encodeHoldRecord,
  encodeHoldState,
  holdFilterBit,
  holdSlot,
} from '../kernel/dataplane/holds.ts';
import {
  type HeldSubject,
  type HoldKind,
  KIND_OF_MODE,
  decodeHoldKey,
  encodeHoldKey,
  isHeldTraffic,
} from '../kernel/dataplane/hold-key.ts';
import { u32Key } from '../kernel/dataplane/layout.ts';

const QPNS = HOLD_FILTER_WORDS * 64;
const LONGEST_DEPARTURE_NS = BigInt(HOLD_LONGEST_DEPARTURE_NS);
/** Flows that one sweep() removes. */
const AT_ONCE = 256;

/** Whether a class is full is set by setFull() alone. */
export type NewHold = Omit<Hold, 'full' | 'responses' | 'phase'> & { readonly phase: 'held' | 'leaving' };

export interface HeldNow {
  readonly flow: HeldSubject;
  readonly hold: Hold;
}

/** What was let go while some of it waits. */
interface Behind {
  readonly flow: HeldSubject;
  /** When the last of it departs, CLOCK_MONOTONIC. */
  readonly lastNs: bigint;
  readonly responses: boolean;
}

export class HoldTable {
  /** Called when something is behind: sweep() is due. */
  onBehind: () => void = () => {};
  readonly #monotonicNs: () => bigint;
  readonly #map: (name: string) => BpfMap;
  /** By the text of the key. */
  readonly #holds = new Map<string, Hold>();
  /** Minor number of the class → text of the key. */
  readonly #owners = new Map<number, string>();
  /** Holds of each value of the low 16 bits of a Queue Pair number. */
  readonly #users = new Uint16Array(QPNS);
  readonly #counts: Record<HoldKind, number> = { flow: 0, service: 0, priority: 0, tuple: 0 };
  readonly #behind = new Map<string, Behind>();

  /** Over the maps of an open hold.bpf.o. @throws KernelError */
  constructor(object: { map(name: string): BpfMap }, monotonicNs: () => bigint = () => process.hrtime.bigint()) {
    this.#map = (name) => object.map(name);
    this.#monotonicNs = monotonicNs;
    for (const { flow, hold } of this.read()) {
      const name = textOf(encodeHoldKey(flow));
      if (hold.phase === 'behind') this.#behind.set(name, { flow, lastNs: hold.untilNs, responses: hold.responses });
      else this.#own(name, hold);
      this.#countHold(flow, 1);
    }
    for (let word = 0; word < HOLD_FILTER_WORDS; word++) this.#writeFilter(word * 64);
    this.#writeState();
  }

  /** What is behind is not held. */
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
    const hold = { ...wanted, full: isSame && before.full, responses: false };
    const value = encodeHold(hold);
    const waiting = this.#stillBehind(name, key) ?? (before && !isSame ? this.#end(flow, before) : undefined);
    const record = encodeHoldRecord({ nextNs: waiting?.lastNs ?? 0n, responses: waiting?.responses ?? false });
    if (!isSame) this.#map(HOLD_MAPS.records).update(holdSlot(hold.minor), record);
    this.#map(HOLD_MAPS.holds).update(key, value);
    if (before) this.#owners.delete(before.minor);
    this.#own(name, hold);
    if (this.#behind.delete(name) || before) return;
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

  /**
   * Returns false if it is not held. From now on its packets go straight, or behind those that wait.
   * @throws KernelError
   */
  remove(flow: HeldSubject): boolean {
    const key = encodeHoldKey(flow);
    const name = textOf(key);
    const hold = this.#holds.get(name);
    if (!hold) return !this.#behind.has(name) && this.#map(HOLD_MAPS.holds).delete(key);
    const waiting = this.#end(flow, hold);
    this.#holds.delete(name);
    this.#owners.delete(hold.minor);
    if (!waiting) return this.#delete(flow, key);
    const { lastNs: untilNs, responses } = waiting;
    this.#map(HOLD_MAPS.holds).update(key, encodeHold({ ...hold, phase: 'behind', untilNs, responses }));
    this.#behind.set(name, waiting);
    this.onBehind();
    return true;
  }

  /** When the last packet departs that waits of a flow that is not held any more; 0: none waits. */
  lastDepartureOf(flow: HeldSubject): bigint {
    const lastNs = this.#behind.get(textOf(encodeHoldKey(flow)))?.lastNs ?? 0n;
    return lastNs > this.#monotonicNs() ? lastNs : 0n;
  }

  /**
   * Forgets what was behind and is not any more, a part of it at a time.
   * @returns whether there is more, or will be
   * @throws KernelError
   */
  sweep(): boolean {
    const now = this.#monotonicNs();
    const over = [...this.#behind].filter(([, { lastNs }]) => lastNs <= now).slice(0, AT_ONCE);
    for (const [name, { flow }] of over) {
      this.#delete(flow, encodeHoldKey(flow));
      this.#behind.delete(name);
    }
    return this.#behind.size > 0;
  }

  /** As the program has it: a READ response may have come meanwhile. */
  #stillBehind(name: string, key: Uint8Array): Behind | undefined {
    const behind = this.#behind.get(name);
    const value = behind && this.#map(HOLD_MAPS.holds).lookup(key);
    const responses = (value && decodeHold(value)?.responses) ?? false;
    return behind && { ...behind, responses: behind.responses || responses };
  }

  /** Undefined: nothing of it waits for its departure time. No packet is given one any more. */
  #end(flow: HeldSubject, hold: Hold): Behind | undefined {
    const read = (): HoldRecord => decodeHoldRecord(this.#map(HOLD_MAPS.records).lookup(holdSlot(hold.minor))!);
    if (isHeldTraffic(flow) || read().nextNs === 0n) return undefined;
    this.#map(HOLD_MAPS.holds).update(encodeHoldKey(flow), encodeHold({ ...hold, untilNs: 0n }));
    const [{ nextNs, responses }, now] = [read(), this.#monotonicNs()];
    const lastNs = nextNs < now + LONGEST_DEPARTURE_NS ? nextNs : now + LONGEST_DEPARTURE_NS;
    return lastNs > now ? { flow, lastNs, responses } : undefined;
  }

  #delete(flow: HeldSubject, key: Uint8Array): boolean {
    const existed = this.#map(HOLD_MAPS.holds).delete(key);
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
