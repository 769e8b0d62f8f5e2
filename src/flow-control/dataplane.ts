// What flow control asks of the dataplane (reconcile/flow-control.ts).
import type { FillingTraffic, HeldBytes, HeldTraffic } from '../model/flow-control.ts';
import type { HoldDataplane } from '../source/hold-dataplane.ts';

export interface FlowControlDataplane {
  /** Of the ports that hold. */
  readonly classes: HoldDataplane<HeldTraffic>;
  /**
   * Whether packets of held traffic are reported, since their class is too full. Returns false if it is not held.
   * @throws KernelError
   */
  setFull(held: HeldTraffic, full: boolean): boolean;
  /** What is in the classes of a port. @throws KernelError */
  heldBytes(ifindex: number): Promise<HeldBytes>;
  /** Bytes that have entered the classes of a port so far. @throws KernelError */
  enteredBytes(ifindex: number): bigint;
  /**
   * What the program subtracts from the queue of a port. @param enteredBefore read before `held`
   * @throws KernelError
   */
  setPortHeld(ifindex: number, held: number, enteredBefore: bigint): void;
  /** Bytes in the queue of a port, held ones included. @throws KernelError */
  queueBytes(ifindex: number): number;
  /** The next packet of this traffic that finds this queue filled is reported at once. @throws KernelError */
  forget(filling: FillingTraffic): void;
}
