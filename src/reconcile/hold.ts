// What is held in the kernel: single flows (LHCNP §5.6), and what a neighbor has asked to pause (FCN §4.1). The
// programs at the ports, and an HTB there with room for classes, or for single flows an fq. What is held, and how fast,
// comes from the machines of both at any time, through `classes` and `flowControl`.
import type { BpfMap } from '../kernel/bpf/map.ts';
import type { BpfObject } from '../kernel/bpf/object.ts';
import {
  FLOW_CONTROL_CONFIG_SIZE,
  FLOW_CONTROL_KEY,
  FLOW_CONTROL_MAPS,
  FLOW_CONTROL_PROGRAMS,
  FLOW_CONTROL_SCRATCH_MAPS,
  type FlowControlConfig,
  encodeFlowControlConfig,
  flowControlBucketOf,
} from '../kernel/dataplane/flow-control.ts';
import { HOLD_PROGRAM } from '../kernel/dataplane/holds.ts';
import type { HeldFlow } from '../kernel/dataplane/hold-key.ts';
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import type { Problem } from '../model/problem.ts';
import type { SourcePlan } from '../plan/source-plan.ts';
import type { FlowControlPlan } from '../plan/flow-control-plan.ts';
import { type Attachment, attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import { FlowControl } from './flow-control.ts';
import { type HeldPort, HeldPorts } from './held-ports.ts';
import { HoldClasses } from './hold-classes.ts';
import { HoldEdtPorts } from './hold-edt-ports.ts';
import { HoldPaces } from './hold-paces.ts';
import { HoldPortTable } from './hold-port-table.ts';
import { HoldPorts } from './hold-ports.ts';
import { HoldTable } from './hold-table.ts';
import type { Reconciler } from './reconciler.ts';

interface Configuration extends FlowControlConfig {
  readonly id: 'flow-control';
}
interface Desired {
  readonly source?: SourcePlan;
  readonly flowControl?: FlowControlPlan;
}

export class Hold extends Feature {
  /** Called when a port is prepared, or is no longer. */
  onPorts: () => void = () => {};
  /** Of single flows, slots 1 … ENFORCE_SLOTS. */
  readonly classes: HoldClasses<HeldFlow>;
  readonly flowControl: FlowControl;
  readonly #ports: HoldPorts;
  readonly #edt: HoldEdtPorts;
  readonly #portTable: HoldPortTable;
  readonly #configuration: Reconciler<Configuration>;
  readonly #held: HeldPorts;
  readonly #table: HoldTable;
  readonly #clock: Clock;
  readonly #sweeping: Deadline;

  constructor(object: BpfObject, dependencies: FeatureDependencies) {
    super(object, dependencies);
    const table = new HoldTable(object);
    this.#table = table;
    this.#clock = dependencies.clock;
    this.#sweeping = new Deadline(dependencies.clock, () => this.#sweep());
    // An earlier run's machines are gone, and with them what they knew of their holds. Before its ports are forgotten:
    // what comes now follows what waits.
    for (const { flow } of table.read()) table.remove(flow);
    const portTable = new HoldPortTable(object);
    const onChange = (): void => this.onPorts();
    const ports = HoldPorts.open({}, { table: portTable, onChange });
    this.#ports = ports;
    this.#portTable = portTable;
    const paces = new HoldPaces(object, { table, monotonicNs: () => process.hrtime.bigint() });
    this.classes = new HoldClasses('enforce', { ports, table, paces });
    const opened: { close(): void }[] = [ports];
    try {
      const onTake = (ifindex: number): void => void (ports.purposeAt(ifindex) && ports.release(ifindex));
      this.#edt = HoldEdtPorts.open({}, { table: portTable, onChange, onTake });
      opened.push(this.#edt);
      this.flowControl = FlowControl.open(object, {}, { ports, table, portTable, count: dependencies.count });
    } catch (error) {
      for (const one of opened) one.close();
      throw error;
    }
    this.#held = new HeldPorts({
      ...{ ports, edt: this.#edt, earlierEdt: portTable.earlierEdt, onChange },
      ...{ count: dependencies.count, log: dependencies.log },
      queueBytes: (ifindex) => this.flowControl.queueBytes(ifindex),
      onGone: () => this.onKept(),
    });
    table.onBehind = () => this.#sweeping.by(this.#clock.now() + SWEEP_MS);
    table.onBehind();
    this.#configuration = this.configuration({
      kind: 'flow-control',
      map: object.map(FLOW_CONTROL_MAPS.config),
      value: configurationValue(object.map(FLOW_CONTROL_MAPS.bucket)),
      off: new Uint8Array(FLOW_CONTROL_CONFIG_SIZE),
    });
  }

  apply({ source, flowControl }: Desired): void {
    this.#configuration.replace(flowControl ? [configurationOf(flowControl)] : []);
    this.#portTable.setWatched(new Map((flowControl?.watch ?? []).map(({ ifindex, above }) => [ifindex, above])));
    this.#held.follow(portsOf(source, flowControl));
  }

  /** A queue that somebody has replaced is noticed here, too. */
  override fullPass(): void {
    super.fullPass();
    this.#held.follow();
  }

  /** Resolves when the ports are as the last desired state has them. */
  get settled(): Promise<void> {
    return this.#held.settled;
  }

  attachments(desired: Desired) {
    return holdAttachments(desired);
  }

  /** The program stays where packets wait that others must not overtake. */
  override kept({ source, flowControl }: Desired) {
    return this.#held.kept(portsOf(source, flowControl)).map((port) => attachment(HOLD_PROGRAM, port, 'egress'));
  }

  problems(): Problem[] {
    return this.#held.problems();
  }

  override close(): void {
    this.#sweeping.cancel();
    this.#table.onBehind = () => {};
    this.#held.close();
    this.flowControl.close();
    this.#ports.close();
    this.#edt.close();
    super.close();
  }

  #sweep(): void {
    if (this.#table.sweep()) this.#sweeping.by(this.#clock.now() + SWEEP_MS);
  }

  /** Whether single flows can be held at some port. */
  get isReady(): boolean {
    return this.#held.isReady;
  }
}

/** What is behind is looked at so often. */
const SWEEP_MS = 50;

/** A port that is to serve both holds single flows: the intent refuses such a file. */
function portsOf(source: SourcePlan | undefined, flowControl: FlowControlPlan | undefined): HeldPort[] {
  const ports = new Map<number, HeldPort>();
  for (const port of flowControl?.hold ?? []) ports.set(port.ifindex, { ...port, purpose: 'flow-control' });
  const { enforce } = source ?? {};
  for (const port of enforce?.ports ?? []) ports.set(port.ifindex, { ...port, purpose: 'enforce', enforce });
  return [...ports.values()];
}

/** Half of a pause: the neighbor is asked again before it goes on by itself. */
const configurationOf = ({ mode, pauseUs, perSecond, burst, priorities }: FlowControlPlan): Configuration => ({
  ...{ id: 'flow-control', mode, intervalNs: pauseUs * 500 },
  ...{ perSecond, burst, priorities },
});

/** @param bucket token bucket of records */
const configurationValue =
  (bucket: Pick<BpfMap, 'update'>) =>
  (configuration: Configuration, before?: Uint8Array): Uint8Array => {
    const value = encodeFlowControlConfig(configuration);
    // A bucket filled at the old rate could stay empty for a whole token interval of that rate.
    if (before && flowControlBucketOf(before) !== flowControlBucketOf(value))
      bucket.update(FLOW_CONTROL_KEY, new Uint8Array(8));
    return value;
  };

export function holdAttachments({ source, flowControl }: Desired): Attachment[] {
  const enforced = (source?.enforce?.ports ?? []).map((port) => attachment(HOLD_PROGRAM, port, 'egress'));
  if (!flowControl) return enforced;
  const { arrival, egress } = FLOW_CONTROL_PROGRAMS;
  const left = new Map([...flowControl.watch, ...flowControl.hold].map((port) => [port.ifindex, port]));
  return [
    ...enforced,
    // Before a program that takes the packet out of its tunnel and forwards it.
    ...flowControl.interfaces.map((port) => attachment(arrival, port, 'ingress', true)),
    ...[...left.values()].map((port) => attachment(egress, port, 'egress')),
  ];
}

export const hold: FeatureKind<Hold> = {
  name: 'hold',
  objectFile: 'hold.bpf.o',
  scratchMaps: FLOW_CONTROL_SCRATCH_MAPS,
  desired: (state) => state.source?.enforce !== undefined || state.flowControl !== undefined,
  open: (object, dependencies) => new Hold(object, dependencies),
};
