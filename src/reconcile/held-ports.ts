// Follows which ports are to hold traffic: prepares their queues, and restores those of the others. Packets that wait
// at a port must neither be lost with its queue, nor be overtaken. So a port lets go before its queue is removed, and
// the program of single flows stays until nothing waits any more.
import { HOLD_LONGEST_DEPARTURE_NS, type HoldPurpose } from '../kernel/dataplane/holds.ts';
import { isKernelError } from '../kernel/errors.ts';
import { NO_FQ_REMEDY } from '../kernel/netlink/fq.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import type { Queueing } from '../model/queueing.ts';
import type { EnforcePlan } from '../plan/source-plan.ts';
import { type HoldEdtPorts, UnfitFq } from './hold-edt-ports.ts';
import type { HoldPorts } from './hold-ports.ts';

export interface HeldPort {
  readonly interface: string;
  readonly ifindex: number;
  readonly purpose: HoldPurpose;
  /** Of ports that hold single flows: what holds them, and the bytes that each may have waiting. */
  readonly enforce?: Pick<EnforcePlan, 'queueing' | 'buffer'> | undefined;
}

interface HeldPortsDependencies {
  readonly ports: HoldPorts;
  readonly edt: HoldEdtPorts;
  /** Ports at which packets of an earlier run may wait for their departure times. */
  readonly earlierEdt: readonly number[];
  /** Bytes in the queue of a port. @throws KernelError ENODEV, ENOENT (it has none) */
  readonly queueBytes: (ifindex: number) => number;
  readonly count: Count;
  readonly log: Log;
  /** A port is prepared, or is no longer. */
  readonly onChange: () => void;
  /** kept() has become less. */
  readonly onGone: () => void;
}

/** A port that is no longer to hold anything keeps its queue until that is empty, or for so long. */
const LONGEST_EMPTYING_MS = 3000;
const LOOK_MS = 10;
const LONGEST_DEPARTURE_MS = HOLD_LONGEST_DEPARTURE_NS / 1e6;

export class HeldPorts {
  readonly #dependencies: HeldPortsDependencies;
  /** Of the ports that were desired, by ifindex. */
  readonly #names = new Map<number, string>();
  /** By ifindex. */
  readonly #refused = new Map<number, Problem>();
  /** Ports that let go of single flows. */
  readonly #leaving = new Set<number>();
  /** Ports to be restored, also once that has failed. */
  readonly #unreleased = new Set<number>();
  /** Ports whose queue is about to be another. */
  readonly #changing = new Set<number>();
  #desired: readonly HeldPort[] = [];
  #closed = false;
  /** What an earlier run has left at ports that are no longer desired is removed once, of each kind. */
  readonly #toClean = new Set(['classes', 'fq'] as const);
  /** One after another: a port that is prepared must not be released meanwhile. */
  #working: Promise<void> = Promise.resolve();

  constructor(dependencies: HeldPortsDependencies) {
    this.#dependencies = dependencies;
    for (const ifindex of dependencies.earlierEdt) {
      const name = dependencies.edt.nameOf(ifindex);
      if (isUnknown(name)) continue;
      this.#names.set(ifindex, name);
      this.#leaving.add(ifindex);
    }
  }

  /** @param desired absent: as before; a queue that somebody has replaced is noticed */
  follow(desired = this.#desired): void {
    for (const { ifindex } of this.kept(desired)) this.#leaving.add(ifindex);
    this.#desired = desired;
    this.#working = this.#working.then(() => this.#tryToFollow());
  }

  /** What fails is tried again with the next state: that must not wait for it for good. */
  async #tryToFollow(): Promise<void> {
    try {
      await this.#followPorts();
    } catch (error) {
      this.#failed('cannot follow the ports that hold traffic', error);
    }
  }

  /** Resolves when the ports are as the last desired state has them. */
  get settled(): Promise<void> {
    return this.#working;
  }

  /** Ports that hold single flows, or still may, and are not to. */
  kept(desired: readonly HeldPort[]): { readonly interface: string; readonly ifindex: number }[] {
    const enforced = desired.filter(({ purpose }) => purpose === 'enforce');
    const enforcing = new Set(enforced.map(({ ifindex }) => ifindex));
    const names = new Set(enforced.map((port) => port.interface));
    const { ports, edt } = this.#dependencies;
    // While others hold flows, a flow would go on entering its class at this port.
    const classes = enforcing.size > 0 ? [] : ports.ports.filter((ifindex) => ports.purposeAt(ifindex) === 'enforce');
    return (
      [...new Set([...edt.ports, ...classes, ...this.#leaving])]
        .filter((ifindex) => !enforcing.has(ifindex))
        .map((ifindex) => ({ ifindex, interface: this.#names.get(ifindex)! }))
        // One that has come back under another index: the program is needed where the port is now.
        .filter((port) => !names.has(port.interface))
    );
  }

  problems(): Problem[] {
    return [...this.#refused.values()];
  }

  /** Whether single flows can be held at some port, and are not about to be held otherwise. */
  get isReady(): boolean {
    const { ports, edt } = this.#dependencies;
    if (this.#changing.size > 0) return false;
    return edt.ports.length > 0 || ports.ports.some((ifindex) => ports.purposeAt(ifindex) === 'enforce');
  }

  close(): void {
    this.#closed = true;
  }

  async #followPorts(): Promise<void> {
    if (this.#closed) return;
    const desired = this.#desired;
    const { ports, edt } = this.#dependencies;
    const wanted = new Set(desired.map(({ ifindex }) => ifindex));
    for (const ifindex of this.#refused.keys()) if (!wanted.has(ifindex)) this.#refused.delete(ifindex);
    for (const ifindex of [...ports.ports, ...edt.ports, ...this.#leaving])
      if (!wanted.has(ifindex)) this.#unreleased.add(ifindex);
    for (const kind of this.#toClean) this.#clean(kind, wanted);
    await Promise.all([...this.#unreleased].filter((one) => !wanted.has(one)).map((one) => this.#release(one)));
    for (const port of desired) await this.#prepare(port);
  }

  /** Of an earlier run: what it had held with classes went straight from its end on, so that they are given up. */
  #clean(kind: 'classes' | 'fq', wanted: ReadonlySet<number>): void {
    if (this.#closed) return;
    const { ports, edt, log } = this.#dependencies;
    this.#tried('cannot restore the queues of an earlier run', () => {
      const fqs = kind === 'fq' ? edt.own(wanted) : [];
      for (const ifindex of fqs) this.#unreleased.add(ifindex);
      const names = kind === 'fq' ? fqs.map((ifindex) => edt.nameOf(ifindex)) : ports.releaseOthers(wanted);
      if (names.length > 0) log.info({ ports: names }, 'queues of an earlier run removed');
      this.#toClean.delete(kind);
    });
  }

  async #release(ifindex: number): Promise<void> {
    const { ports, edt } = this.#dependencies;
    const port = this.#names.get(ifindex) ?? edt.nameOf(ifindex);
    await this.#letGo(ifindex, port);
    // Desired again meanwhile, it may hold flows again: it is prepared next.
    if (this.#closed || this.#desired.some((one) => one.ifindex === ifindex)) return;
    const isReleased = [ports, edt].map((part) =>
      this.#tried('cannot restore the queue of a port', () => part.release(ifindex), port),
    );
    // The program is of no use any more, whatever becomes of the queue.
    if (this.#leaving.delete(ifindex)) this.#dependencies.onGone();
    if (isReleased.includes(false)) return;
    this.#unreleased.delete(ifindex);
    this.#names.delete(ifindex);
  }

  /** Until nothing waits there of what was held, or should. */
  async #letGo(ifindex: number, port: string): Promise<void> {
    const { ports, edt } = this.#dependencies;
    const hasClasses = ports.ports.includes(ifindex);
    if (edt.letGo(ifindex) || (this.#leaving.has(ifindex) && !hasClasses)) await this.#wait(LONGEST_DEPARTURE_MS);
    try {
      if (!this.#closed && (hasClasses || edt.own().includes(ifindex))) await this.#emptied(ifindex);
    } catch (error) {
      this.#failed('cannot see whether a queue is empty', error, port);
    }
  }

  /** What is held has been told to leave: it would be lost with the queue. A port that has vanished has no queue. */
  async #emptied(ifindex: number): Promise<void> {
    const end = performance.now() + LONGEST_EMPTYING_MS;
    try {
      while (!this.#closed && performance.now() < end && this.#dependencies.queueBytes(ifindex) > 0)
        await this.#wait(LOOK_MS);
    } catch (error) {
      if (!isKernelError(error, 'ENODEV') && !isKernelError(error, 'ENOENT')) throw error;
    }
  }

  async #wait(ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (!this.#closed && performance.now() < end) await new Promise((resolve) => void setTimeout(resolve, LOOK_MS));
  }

  #tried(what: string, run: () => void, port?: string): boolean {
    try {
      run();
      return true;
    } catch (error) {
      return this.#failed(what, error, port);
    }
  }

  #failed(what: string, error: unknown, port?: string): false {
    this.#dependencies.count('dataplane.hold.release-failed');
    this.#dependencies.log.warn({ ...(port && { port }), error: messageOf(error) }, what);
    return false;
  }

  async #prepare(port: HeldPort): Promise<void> {
    const { interface: name, ifindex, purpose, enforce } = port;
    if (this.#closed) return;
    this.#names.set(ifindex, name);
    try {
      await this.#hold(port);
      this.#unreleased.delete(ifindex);
      this.#leaving.delete(ifindex);
      this.#refused.delete(ifindex);
    } catch (error) {
      this.#dependencies.count('dataplane.hold.port-refused');
      this.#refused.set(ifindex, {
        ...REFUSED[purpose],
        problem: `nothing can be held at ${name}: ${messageOf(error)}`,
        remedy: error instanceof UnfitFq ? error.remedy : remedyFor(name, enforce?.queueing, error),
      });
    }
  }

  async #hold({ interface: name, ifindex, purpose, enforce }: HeldPort): Promise<void> {
    const { ports, edt } = this.#dependencies;
    const { queueing, buffer } = enforce ?? { queueing: 'htb', buffer: 0 };
    const choice = edt.choose(ifindex, queueing, buffer);
    const { removesFq, makesFq } = choice;
    const isOfFlows = purpose === 'enforce';
    const before = ports.purposeAt(ifindex);
    const losesClasses = before !== undefined && (makesFq || before !== purpose);
    if (removesFq || losesClasses || (!isOfFlows && this.#leaving.has(ifindex)))
      await this.#change(ifindex, async () => void (await this.#letGo(ifindex, name)));
    if (this.#closed) return;
    try {
      if (!edt.prepare(ifindex, buffer, choice)) await ports.prepare(ifindex, purpose);
    } finally {
      // Its flows have left, also if it cannot hold what it is to hold.
      if (!isOfFlows && this.#leaving.delete(ifindex)) this.#dependencies.onGone();
    }
  }

  /** Meanwhile no flow is held: it would be held by what is about to go. */
  async #change(ifindex: number, run: () => Promise<void>): Promise<void> {
    this.#changing.add(ifindex);
    this.#dependencies.onChange();
    try {
      await run();
    } finally {
      this.#changing.delete(ifindex);
      this.#dependencies.onChange();
    }
  }
}

/** As the kernel names no interface. */
const isUnknown = (name: string): boolean => name.includes(' ');

const REFUSED: Readonly<Record<HoldPurpose, Pick<Problem, 'code' | 'feature'>>> = {
  enforce: { code: 'source.queue-taken', feature: 'source' },
  'flow-control': { code: 'flow-control.queue-taken', feature: 'flow-control' },
};

function remedyFor(name: string, queueing: Queueing | undefined, error: unknown): string {
  if (queueing === 'fq' && isKernelError(error, 'ENOENT')) return NO_FQ_REMEDY;
  const htb = `an HTB the root of ${name}, with its default class below another class`;
  const wanted = { auto: `an fq, or ${htb}`, fq: `an fq the root of ${name}`, htb }[queueing ?? 'htb'];
  return `make ${wanted}, or remove its qdisc: \`tc qdisc del dev ${name} root\``;
}
