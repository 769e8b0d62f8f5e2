// Held flows in the kernel (LHCNP §5.6): the program at the egress of the ports, and an HTB there with room for them.
// Which flows are held, and how fast, comes from the source's machine (src/source/enforcement.ts) at any time, through
// the methods here.
import type { BpfObject } from '../kernel/bpf/object.ts';
import { HOLD_FIRST_MINOR, HOLD_PROGRAM, type HeldFlow, type Hold as HoldEntry } from '../kernel/dataplane/holds.ts';
import { messageOf } from '../model/error-text.ts';
import type { Problem } from '../model/problem.ts';
import type { EnforcePlan, SourcePlan } from '../plan/desired.ts';
import { attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import { type HoldClass, HoldPorts } from './hold-ports.ts';
import { HoldTable } from './hold-table.ts';

type Port = EnforcePlan['ports'][number];
interface Desired {
  readonly source?: SourcePlan;
}

/** Slots count from 1. */
const minorOf = (slot: number): number => HOLD_FIRST_MINOR + slot - 1;

export class Hold extends Feature {
  /** Called when a port is prepared, or is no longer. */
  onPorts: () => void = () => {};
  readonly #table: HoldTable;
  readonly #ports: HoldPorts;
  readonly #dependencies: FeatureDependencies;
  /** By ifindex. */
  readonly #refused = new Map<number, Problem>();
  #desired: readonly Port[] = [];
  /** What an earlier run has left at ports that are no longer desired is removed once. */
  #hasCleaned = false;
  /** One after another: a port that is prepared must not be released meanwhile. */
  #working: Promise<void> = Promise.resolve();

  constructor(object: BpfObject, dependencies: FeatureDependencies) {
    super(object, dependencies);
    this.#dependencies = dependencies;
    this.#table = new HoldTable(object);
    // An earlier run's machine is gone, and with it what it knew of its holds.
    for (const { flow } of this.#table.read()) this.#table.remove(flow);
    this.#ports = HoldPorts.open({}, { table: this.#table, onChange: () => this.onPorts() });
  }

  apply({ source }: Desired): void {
    this.#desired = source?.enforce?.ports ?? [];
    this.#follow();
  }

  /** A queue that somebody has replaced is noticed here, too. */
  override fullPass(): void {
    super.fullPass();
    this.#follow();
  }

  #follow(): void {
    this.#working = this.#working.then(() => this.#followPorts());
  }

  /** Resolves when the ports are as the last desired state has them. */
  get settled(): Promise<void> {
    return this.#working;
  }

  attachments({ source }: Desired) {
    return (source?.enforce?.ports ?? []).map((port) => attachment(HOLD_PROGRAM, port, 'egress'));
  }

  problems(): Problem[] {
    return [...this.#refused.values()];
  }

  override close(): void {
    this.#ports.close();
    super.close();
  }

  async #followPorts(): Promise<void> {
    const desired = this.#desired;
    const wanted = new Set(desired.map(({ ifindex }) => ifindex));
    for (const ifindex of this.#refused.keys()) if (!wanted.has(ifindex)) this.#refused.delete(ifindex);
    for (const ifindex of this.#ports.ports) if (!wanted.has(ifindex)) this.#release(ifindex);
    if (!this.#hasCleaned) this.#clean(wanted);
    for (const port of desired) await this.#prepare(port);
  }

  #clean(wanted: ReadonlySet<number>): void {
    this.#hasCleaned = true;
    try {
      const ports = this.#ports.releaseOthers(wanted);
      if (ports.length > 0) this.#dependencies.log.info({ ports }, 'classes of an earlier run removed');
    } catch (error) {
      this.#dependencies.count('dataplane.hold.release-failed');
      this.#dependencies.log.warn({ error: messageOf(error) }, 'cannot restore the queues of an earlier run');
    }
  }

  #release(ifindex: number): void {
    try {
      this.#ports.release(ifindex);
    } catch (error) {
      this.#dependencies.count('dataplane.hold.release-failed');
      this.#dependencies.log.warn({ ifindex, error: messageOf(error) }, 'cannot restore the queue of a port');
    }
  }

  async #prepare({ interface: name, ifindex }: Port): Promise<void> {
    try {
      await this.#ports.prepare(ifindex);
      this.#refused.delete(ifindex);
    } catch (error) {
      this.#dependencies.count('dataplane.hold.port-refused');
      this.#refused.set(ifindex, {
        code: 'source.queue-taken',
        feature: 'source',
        problem: `no flow can be held at ${name}: ${messageOf(error)}`,
        remedy:
          `make an HTB the root of ${name}, with its default class below another class, or remove its qdisc: ` +
          `\`tc qdisc del dev ${name} root\``,
      });
    }
  }

  /** Whether flows can be held at some port. */
  get isReady(): boolean {
    return this.#ports.ports.length > 0;
  }

  setClass(slot: number, wanted: HoldClass): Promise<void> {
    return this.#ports.setClass(minorOf(slot), wanted);
  }

  changeRate(slot: number, wanted: Pick<HoldClass, 'rate' | 'burst'>): Promise<void> {
    return this.#ports.changeRate(minorOf(slot), wanted);
  }

  pause(slot: number, microseconds: number): Promise<void> {
    return this.#ports.pause(minorOf(slot), microseconds);
  }

  classCounters(slot: number): ReturnType<HoldPorts['classCounters']> {
    return this.#ports.classCounters(minorOf(slot));
  }

  setHold(slot: number, flow: HeldFlow, hold: Omit<HoldEntry, 'minor'>): void {
    this.#table.set(flow, { ...hold, minor: minorOf(slot) });
  }

  removeHold(flow: HeldFlow): void {
    this.#table.remove(flow);
  }

  record(flow: HeldFlow): ReturnType<HoldTable['record']> {
    return this.#table.record(flow);
  }
}

export const hold: FeatureKind<Hold> = {
  name: 'hold',
  objectFile: 'hold.bpf.o',
  scratchMaps: [],
  desired: (state) => state.source?.enforce !== undefined,
  open: (object, dependencies) => new Hold(object, dependencies),
};
