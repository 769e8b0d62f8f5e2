// What holds ask of the dataplane (reconcile/hold.ts).
import type { SourceFlow } from './hold.ts';

/**
 * The classes of held flows, by slot, at all ports, and the table of holds. Rates are bytes per second. What is asked
 * of one slot is executed in the order of the calls, also without waiting for the answers.
 */
export interface HoldDataplane<Subject = SourceFlow> {
  /** Creates or changes. @throws KernelError */
  setClass(
    slot: number,
    wanted: { readonly rate: bigint; readonly burst: number; readonly limit: number; readonly least: bigint },
  ): Promise<void>;
  /** @throws KernelError */
  changeRate(slot: number, wanted: { readonly rate: bigint; readonly burst: number }): Promise<void>;
  /** @throws KernelError */
  pause(slot: number, microseconds: number): Promise<void>;
  /** Packets since the class exists, and what is in it. @throws KernelError */
  classCounters(slot: number): Promise<{
    readonly sent: bigint;
    readonly dropped: bigint;
    readonly backlogPackets: number;
    readonly backlogBytes: number;
  }>;
  /** @throws KernelError */
  setHold(slot: number, flow: Subject, hold: ClassHold): void;
  /** @throws KernelError */
  removeHold(flow: Subject): void;
  /** Undefined: the flow is not held. @throws KernelError */
  record(flow: Subject): { readonly entered: bigint; readonly released: boolean } | undefined;

  // Of a dataplane that gives packets their departure times in advance (reconcile/hold-paces.ts).
  /** Before pause(): the silence repeats until the rate is changed. @throws KernelError */
  stop?(slot: number, microseconds: number): void;
  /** The pause is over; otherwise it ends by itself. @throws KernelError */
  resume?(slot: number): void;
  /** What a program has made of an instruction by itself is over: the class is as it was set. @throws KernelError */
  confirm?(slot: number): void;
  /** Resolves when nothing waits of what has been removed. @throws KernelError */
  departed?(): Promise<void>;
}

export interface ClassHold {
  readonly phase: 'held' | 'leaving';
  /** CLOCK_MONOTONIC. */
  readonly untilNs: bigint;
  readonly drained: bigint;
}
