// The classes of one purpose by slot, and what they hold: what its machine asks of the dataplane.
import { type HoldPurpose, minorOf } from '../kernel/dataplane/holds.ts';
import type { HeldSubject } from '../kernel/dataplane/hold-key.ts';
import type { ClassCounters } from '../kernel/netlink/htb.ts';
import { type HoldClass, type HoldPorts, sum } from './hold-ports.ts';
import type { HoldPaces, PaceClass } from './hold-paces.ts';
import type { HoldTable, NewHold } from './hold-table.ts';

interface HoldClassesDependencies {
  readonly ports: HoldPorts;
  readonly table: HoldTable;
  /** For ports whose fq keeps departure times: what these classes are there. */
  readonly paces?: HoldPaces;
}

const LOOK_MS = 5;

/** Slots count from 1. Rates are bytes per second. */
export class HoldClasses<Subject extends HeldSubject> {
  readonly #purpose: HoldPurpose;
  readonly #ports: HoldPorts;
  readonly #table: HoldTable;
  readonly #paces: HoldPaces | undefined;

  constructor(purpose: HoldPurpose, { ports, table, paces }: HoldClassesDependencies) {
    this.#purpose = purpose;
    this.#ports = ports;
    this.#table = table;
    this.#paces = paces;
  }

  /** @throws KernelError */
  async setClass(slot: number, wanted: HoldClass & PaceClass): Promise<void> {
    this.#paces?.set(this.#minor(slot), wanted);
    await this.#ports.setClass(this.#minor(slot), wanted);
  }

  /** @throws KernelError */
  async changeRate(slot: number, wanted: Pick<HoldClass, 'rate' | 'burst'>): Promise<void> {
    this.#paces?.changeRate(this.#minor(slot), wanted);
    await this.#ports.changeRate(this.#minor(slot), wanted);
  }

  /** @throws KernelError, RangeError (not 1 to 65,535 µs) */
  async pause(slot: number, microseconds: number): Promise<void> {
    this.#paces?.pause(this.#minor(slot), microseconds);
    await this.#ports.pause(this.#minor(slot), microseconds);
  }

  /** @throws KernelError, RangeError (not 1 to 65,535 µs) */
  stop(slot: number, microseconds: number): void {
    this.#paces?.stop(this.#minor(slot), microseconds);
  }

  /** An HTB lets a silence end by itself. @throws KernelError */
  resume(slot: number): void {
    this.#paces?.resume(this.#minor(slot));
  }

  /** @throws KernelError */
  confirm(slot: number): void {
    this.#paces?.confirm(this.#minor(slot));
  }

  /** @throws KernelError */
  async departed(): Promise<void> {
    while (this.#table.sweep()) await new Promise((resolve) => void setTimeout(resolve, LOOK_MS));
  }

  /** Summed over the ports of the purpose. @throws KernelError */
  async classCounters(slot: number): Promise<ClassCounters> {
    const classes = await this.#ports.classCounters(this.#minor(slot));
    return this.#paces ? sum(classes, this.#paces.counters(this.#minor(slot))) : classes;
  }

  /** @throws KernelError, RangeError (the class is another's) */
  setHold(slot: number, flow: Subject, hold: Omit<NewHold, 'minor'>): void {
    const lastNs = this.#paces ? this.#table.lastDepartureOf(flow) : 0n;
    if (lastNs > 0n) this.#paces?.follow(this.#minor(slot), lastNs);
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
