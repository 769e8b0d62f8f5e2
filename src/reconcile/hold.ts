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
import { HOLD_PROGRAM, type HeldFlow, type HoldPurpose } from '../kernel/dataplane/holds.ts';
import { isKernelError } from '../kernel/errors.ts';
import { messageOf } from '../model/error-text.ts';
import type { Problem } from '../model/problem.ts';
import type { Queueing } from '../model/queueing.ts';
import type { EnforcePlan, SourcePlan } from '../plan/desired.ts';
import type { FlowControlPlan } from '../plan/flow-control-plan.ts';
import { attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import { FlowControl } from './flow-control.ts';
import { HoldClasses } from './hold-classes.ts';
import { HoldEdtPorts } from './hold-edt-ports.ts';
import { HoldPaces } from './hold-paces.ts';
import { HoldPortTable } from './hold-port-table.ts';
import { HoldPorts } from './hold-ports.ts';
import { HoldTable } from './hold-table.ts';
import type { Reconciler } from './reconciler.ts';

interface Port {
  readonly interface: string;
  readonly ifindex: number;
  readonly purpose: HoldPurpose;
  /** Of ports that hold single flows: what holds them, and the bytes that each may have waiting. */
  readonly enforce?: Pick<EnforcePlan, 'queueing' | 'buffer'> | undefined;
}
interface Configuration extends FlowControlConfig {
  readonly id: 'flow-control';
}
interface Desired {
  readonly source?: SourcePlan;
  readonly flowControl?: FlowControlPlan;
}

/** A port that is no longer to hold anything keeps its queue until that is empty, or for so long. */
const LONGEST_EMPTYING_MS = 3000;
const LOOK_MS = 10;

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
  readonly #dependencies: FeatureDependencies;
  /** Of the ports that were desired, by ifindex. */
  readonly #names = new Map<number, string>();
  /** By ifindex. */
  readonly #refused = new Map<number, Problem>();
  #desired: readonly Port[] = [];
  #closed = false;
  /** What an earlier run has left at ports that are no longer desired is removed once. */
  #hasCleaned = false;
  /** One after another: a port that is prepared must not be released meanwhile. */
  #working: Promise<void> = Promise.resolve();

  constructor(object: BpfObject, dependencies: FeatureDependencies) {
    super(object, dependencies);
    this.#dependencies = dependencies;
    const table = new HoldTable(object);
    // An earlier run's machines are gone, and with them what they knew of their holds.
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
    this.#desired = portsOf(source, flowControl);
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

  attachments({ source, flowControl }: Desired) {
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

  problems(): Problem[] {
    return [...this.#refused.values()];
  }

  /** What is held has been told to leave: it would be lost with the queue. A port that has vanished has no queue. */
  async #emptied(ifindex: number): Promise<void> {
    const end = Date.now() + LONGEST_EMPTYING_MS;
    try {
      while (!this.#closed && Date.now() < end && this.flowControl.queueBytes(ifindex) > 0)
        await new Promise((resolve) => void setTimeout(resolve, LOOK_MS));
    } catch (error) {
      if (!isKernelError(error, 'ENODEV')) throw error;
    }
  }

  override close(): void {
    this.#closed = true;
    this.flowControl.close();
    this.#ports.close();
    this.#edt.close();
    super.close();
  }

  async #followPorts(): Promise<void> {
    const desired = this.#desired;
    const wanted = new Set(desired.map(({ ifindex }) => ifindex));
    for (const ifindex of this.#refused.keys()) if (!wanted.has(ifindex)) this.#refused.delete(ifindex);
    for (const ifindex of [...this.#ports.ports, ...this.#edt.ports])
      if (!wanted.has(ifindex)) await this.#release(ifindex);
    if (!this.#hasCleaned) this.#clean(wanted);
    for (const port of desired) await this.#prepare(port);
  }

  #clean(wanted: ReadonlySet<number>): void {
    this.#hasCleaned = true;
    try {
      const ports = [...this.#ports.releaseOthers(wanted), ...this.#edt.releaseOthers(wanted)];
      if (ports.length > 0) this.#dependencies.log.info({ ports }, 'queues of an earlier run removed');
    } catch (error) {
      this.#dependencies.count('dataplane.hold.release-failed');
      this.#dependencies.log.warn({ error: messageOf(error) }, 'cannot restore the queues of an earlier run');
    }
  }

  async #release(ifindex: number): Promise<void> {
    const port = this.#names.get(ifindex);
    this.#names.delete(ifindex);
    try {
      await this.#emptied(ifindex);
      this.#ports.release(ifindex);
      this.#edt.release(ifindex);
    } catch (error) {
      this.#dependencies.count('dataplane.hold.release-failed');
      this.#dependencies.log.warn({ port, error: messageOf(error) }, 'cannot restore the queue of a port');
    }
  }

  async #prepare({ interface: name, ifindex, purpose, enforce }: Port): Promise<void> {
    this.#names.set(ifindex, name);
    try {
      const { queueing, buffer } = enforce ?? { queueing: 'htb', buffer: 0 };
      if (!this.#edt.prepare(ifindex, queueing, buffer)) await this.#ports.prepare(ifindex, purpose);
      this.#refused.delete(ifindex);
    } catch (error) {
      this.#dependencies.count('dataplane.hold.port-refused');
      this.#refused.set(ifindex, {
        ...REFUSED[purpose],
        problem: `nothing can be held at ${name}: ${messageOf(error)}`,
        remedy: remedyFor(name, enforce?.queueing, error),
      });
    }
  }

  /** Whether single flows can be held at some port. */
  get isReady(): boolean {
    return (
      this.#edt.ports.length > 0 || this.#ports.ports.some((ifindex) => this.#ports.purposeAt(ifindex) === 'enforce')
    );
  }
}

const REFUSED: Readonly<Record<HoldPurpose, Pick<Problem, 'code' | 'feature'>>> = {
  enforce: { code: 'source.queue-taken', feature: 'source' },
  'flow-control': { code: 'flow-control.queue-taken', feature: 'flow-control' },
};

function remedyFor(name: string, queueing: Queueing | undefined, error: unknown): string {
  if (queueing === 'fq' && isKernelError(error, 'ENOENT'))
    return 'modprobe sch_fq, or boot a kernel with CONFIG_NET_SCH_FQ; or set `queueing: auto` under source.enforce';
  const htb = `an HTB the root of ${name}, with its default class below another class`;
  const wanted = { auto: `an fq, or ${htb}`, fq: `an fq the root of ${name}`, htb }[queueing ?? 'htb'];
  return `make ${wanted}, or remove its qdisc: \`tc qdisc del dev ${name} root\``;
}

/** A port that is to serve both holds single flows: the intent refuses such a file. */
function portsOf(source: SourcePlan | undefined, flowControl: FlowControlPlan | undefined): Port[] {
  const ports = new Map<number, Port>();
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

export const hold: FeatureKind<Hold> = {
  name: 'hold',
  objectFile: 'hold.bpf.o',
  scratchMaps: FLOW_CONTROL_SCRATCH_MAPS,
  desired: (state) => state.source?.enforce !== undefined || state.flowControl !== undefined,
  open: (object, dependencies) => new Hold(object, dependencies),
};
