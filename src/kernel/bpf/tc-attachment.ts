// A program on an interface's ingress or egress, whichever mechanism holds it there: tcx.ts or clsact.ts.
import type { Netns } from '../netns.ts';
import type { BpfProgram } from './program.ts';

export type Direction = 'ingress' | 'egress';

export interface TcxOptions {
  readonly program: BpfProgram;
  readonly ifindex: number;
  readonly direction: Direction;
  /** Where the link is, or will be, pinned. Its last component also names the attachment where there is no TCX. */
  readonly pinPath?: string | undefined;
  /** Namespace of the interface. */
  readonly netns?: Netns | undefined;
  /** Ahead of the programs that are already attached; default behind them. An adopted link keeps its position. */
  readonly first?: boolean | undefined;
  /** Default: TCX, and clsact where the kernel has no TCX. */
  readonly mechanism?: 'tcx' | 'clsact' | undefined;
}

export interface TcxLink {
  readonly mechanism: 'tcx' | 'clsact';
  /** Whether it existed before: the program was swapped without a gap. */
  readonly adopted: boolean;
  /** Swaps the program; every packet sees the old one or the new one. */
  update(program: BpfProgram): void;
  /** Detaches the program from the interface and removes the pin. Idempotent. */
  detach(): void;
  /**
   * Whether it is (still) on this interface. False where the mechanism cannot determine that: the program is then
   * attached again, which leaves no gap there.
   */
  hangsAt(ifindex: number, direction: Direction): boolean;
  /** Pins it again where it was pinned. @throws KernelError */
  pin(): void;
  /** Closes the descriptor; a pinned link stays attached, another one is detached by the kernel. Idempotent. */
  close(): void;
}
