// The classes of one purpose by slot, and what they hold: what its machine asks of the dataplane.
import { type HeldSubject, type HoldPurpose, minorOf } from '../kernel/dataplane/holds.ts';
import type { ClassCounters } from '../kernel/netlink/htb.ts';
import type { HoldClass, HoldPorts } from './hold-ports.ts';
import type { HoldTable, NewHold } from './hold-table.ts';

/** Slots count from 1. Rates are bytes per second. */
export class HoldClasses<Subject extends HeldSubject> {
  readonly #purpose: HoldPurpose;
  readonly #ports: HoldPorts;
  readonly #table: HoldTable;

  constructor(purpose: HoldPurpose, dependencies: { readonly ports: HoldPorts; readonly table: HoldTable }) {
    this.#purpose = purpose;
    this.#ports = dependencies.ports;
    this.#table = dependencies.table;
  }

  /** @throws KernelError */
  setClass(slot: number, wanted: HoldClass): Promise<void> {
    return this.#ports.setClass(this.#minor(slot), wanted);
  }

  /** @throws KernelError */
  changeRate(slot: number, wanted: Pick<HoldClass, 'rate' | 'burst'>): Promise<void> {
    return this.#ports.changeRate(this.#minor(slot), wanted);
  }

  /** @throws KernelError, RangeError (not 1 to 65,535 µs) */
  pause(slot: number, microseconds: number): Promise<void> {
    return this.#ports.pause(this.#minor(slot), microseconds);
  }

  /** Summed over the ports of the purpose. @throws KernelError */
  classCounters(slot: number): Promise<ClassCounters> {
    return this.#ports.classCounters(this.#minor(slot));
  }

  /** @throws KernelError, RangeError (the class is another's) */
  setHold(slot: number, flow: Subject, hold: Omit<NewHold, 'minor'>): void {
    this.#table.set(flow, { ...hold, minor: this.#minor(slot) });
  }

  /** @throws KernelError */
  removeHold(flow: Subject): void {
    this.#table.remove(flow);
  }

  /** Undefined: it is not held. @throws KernelError */
  record(flow: Subject): ReturnType<HoldTable['record']> {
    return this.#table.record(flow);
  }

  #minor(slot: number): number {
    return minorOf(this.#purpose, slot);
  }
}
