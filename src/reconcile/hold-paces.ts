// Departure times in the place of classes (bpf/lib/hold/edt.h): how fast what is held departs, by minor number of the
// class that it would have. A change is one of a map, and is in force with the next packet. What has a departure time
// keeps it.
//
// How long packets may wait is bounded. Where a change makes that bound earlier, what waits already would be beyond it,
// and the next packets be dropped. Then waiting counts from behind what waits. A change is one of what the map has: the
// source's program may have changed that.
import type { BpfMap } from '../kernel/bpf/map.ts';
import {
  HOLD_LONGEST_WAIT_NS,
  HOLD_MAPS,
  type HoldPace,
  decodeHoldPace,
  encodeHoldPace,
  holdSlot,
} from '../kernel/dataplane/holds.ts';
import type { ClassCounters, ClassRate } from '../kernel/netlink/htb.ts';
import { LONGEST_PAUSE_US } from '../model/notification.ts';
import type { HoldTable } from './hold-table.ts';

const LONGEST_WAIT_NS = BigInt(HOLD_LONGEST_WAIT_NS);
/** A pause, what waits behind it, and a long frame at the least rate. */
const LONGEST_AHEAD_NS = BigInt(LONGEST_PAUSE_US) * 1000n + 2n * LONGEST_WAIT_NS;
/** Ends of one pause that are told twice differ by less. */
const SAME_NS = 10_000n;
const NS_A_SECOND = 1_000_000_000n;

export interface PaceClass extends Pick<ClassRate, 'rate'> {
  /** Bytes that may wait; packets beyond are dropped. */
  readonly limit: number;
  /** Bytes per second: a program makes the rate no less by itself. */
  readonly least?: bigint | undefined;
}

interface Paced {
  readonly wanted: PaceClass;
  readonly earliestNs: bigint;
  readonly sinceNs: bigint;
  /** Between two frames; 0: it is not stopped. */
  readonly silenceNs: bigint;
}

interface HoldPacesDependencies {
  readonly table: Pick<HoldTable, 'recordOf'>;
  /** CLOCK_MONOTONIC. */
  readonly monotonicNs: () => bigint;
}

export class HoldPaces {
  readonly #map: BpfMap;
  readonly #dependencies: HoldPacesDependencies;
  readonly #paced = new Map<number, Paced>();

  /** Over the maps of an open hold.bpf.o. @throws KernelError */
  constructor(object: { map(name: string): BpfMap }, dependencies: HoldPacesDependencies) {
    this.#map = object.map(HOLD_MAPS.paces);
    this.#dependencies = dependencies;
  }

  /** Before a flow is given to it, or again. No pause is left. @throws KernelError, RangeError (rate of zero) */
  set(minor: number, wanted: PaceClass): void {
    this.#write(minor, { wanted, earliestNs: 0n, sinceNs: 0n, silenceNs: 0n });
  }

  /** Before a flow is given to it of which packets wait: the last departs then. @throws KernelError */
  follow(minor: number, lastNs: bigint): void {
    const pace = this.#paced.get(minor);
    if (pace && lastNs > pace.sinceNs) this.#write(minor, { ...pace, sinceNs: this.#bounded(lastNs) });
  }

  /** A pause goes on; what was stopped is no longer. @throws KernelError, RangeError (rate of zero) */
  changeRate(minor: number, { rate }: Pick<ClassRate, 'rate'>): void {
    const before = this.#paced.get(minor);
    if (!before) return;
    const earliestNs = before.silenceNs > 0n ? 0n : before.earliestNs;
    this.#write(minor, { ...before, wanted: { ...before.wanted, rate }, earliestNs, silenceNs: 0n });
  }

  /** From now on; replaces an earlier pause. @throws KernelError, RangeError (not 1 to 65,535 µs) */
  pause(minor: number, microseconds: number): void {
    const before = this.#paced.get(minor);
    if (before) this.#write(minor, { ...before, ...this.#until(microseconds) });
  }

  /** Until the rate is changed, one frame after each silence. @throws KernelError, RangeError (not 1 to 65,535 µs) */
  stop(minor: number, microseconds: number): void {
    const before = this.#paced.get(minor);
    const silenceNs = BigInt(Math.ceil(microseconds)) * 1000n;
    if (before) this.#write(minor, { ...before, ...this.#until(microseconds), silenceNs });
  }

  /** What comes from now on need not wait for the end of the pause. @throws KernelError */
  resume(minor: number): void {
    const before = this.#paced.get(minor);
    if (before && before.silenceNs === 0n) this.#write(minor, { ...before, earliestNs: 0n });
  }

  /** What the source's program has changed by itself becomes what it is here. @throws KernelError */
  confirm(minor: number): void {
    const pace = this.#paced.get(minor);
    if (pace) this.#write(minor, pace);
  }

  /**
   * Packets that have departed, and one that has not, if any has not: which of them have, the kernel does not say.
   * Nothing while no hold has the class.
   * @throws KernelError
   */
  counters(minor: number): ClassCounters {
    const { table, monotonicNs } = this.#dependencies;
    // In this order: a packet that comes between is not counted, but its departure time is.
    const stamped = table.recordOf(minor)?.stamped ?? 0n;
    const waits = stamped > 0n && (table.recordOf(minor)?.nextNs ?? 0n) > monotonicNs() ? 1 : 0;
    return { sent: stamped - BigInt(waits), sentBytes: 0n, dropped: 0n, backlogPackets: waits, backlogBytes: 0 };
  }

  #bounded(timeNs: bigint): bigint {
    const longestNs = this.#dependencies.monotonicNs() + LONGEST_AHEAD_NS;
    return timeNs < longestNs ? timeNs : longestNs;
  }

  #until(microseconds: number): Pick<Paced, 'earliestNs' | 'sinceNs'> {
    if (!(microseconds >= 1 && microseconds <= LONGEST_PAUSE_US))
      throw new RangeError(`a pause lasts 1 to ${LONGEST_PAUSE_US} µs, not ${microseconds}`);
    const endNs = this.#dependencies.monotonicNs() + BigInt(Math.ceil(microseconds)) * 1000n;
    return { earliestNs: endNs, sinceNs: endNs };
  }

  #write(minor: number, paced: Paced): void {
    const [pace, before] = [paceOf(paced), decodeHoldPace(this.#map.lookup(holdSlot(minor))!)];
    const lastNs = this.#isEarlier(pace, before) ? this.#bounded(this.#lastOf(minor)) : 0n;
    const sinceNs = lastNs > pace.sinceNs ? lastNs : pace.sinceNs;
    this.#map.update(holdSlot(minor), encodeHoldPace({ ...pace, sinceNs }));
    this.#paced.set(minor, { ...paced, sinceNs });
  }

  /** Whether less may wait. */
  #isEarlier(pace: HoldPace, before: HoldPace): boolean {
    const isShorter = pace.sinceNs + SAME_NS < before.sinceNs && before.sinceNs > this.#dependencies.monotonicNs();
    return isShorter || pace.aheadNs < before.aheadNs || pace.frameNs < before.frameNs;
  }

  /** When the last packet departs, and another one may. */
  #lastOf(minor: number): bigint {
    return this.#dependencies.table.recordOf(minor)?.nextNs ?? 0n;
  }
}

const paceOf = ({ wanted: { rate, limit, least }, earliestNs, sinceNs, silenceNs }: Paced): HoldPace => ({
  ...{ rate, least: least ?? rate, earliestNs, sinceNs, frameNs: silenceNs },
  aheadNs: rate > 0n && silenceNs === 0n ? shorter((BigInt(limit) * NS_A_SECOND) / rate) : LONGEST_WAIT_NS,
});

const shorter = (waitNs: bigint): bigint => (waitNs < LONGEST_WAIT_NS ? waitNs : LONGEST_WAIT_NS);
