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
  /** Ahead of what is attached there already; default behind it. A link that is adopted stays where it is. */
  readonly first?: boolean | undefined;
  /** Default: TCX, and clsact where the kernel has no TCX. */
  readonly mechanism?: 'tcx' | 'clsact' | undefined;
}

export interface TcxLink {
  readonly mechanism: 'tcx' | 'clsact';
  /** Whether it was there before: the program was swapped without a gap. */
  readonly adopted: boolean;
  /** Swaps the program; every packet sees the old one or the new one. */
  update(program: BpfProgram): void;
  /** Takes the program off the interface and removes the pin. Idempotent. */
  detach(): void;
  /**
   * Whether it is (still) on this interface. False where the mechanism cannot tell: then it is attached anew, which
   * there leaves no gap.
   */
  hangsAt(ifindex: number, direction: Direction): boolean;
  /** Pins it again where it was pinned. @throws KernelError */
  pin(): void;
  /** Closes the descriptor; a pinned link stays attached, another one is detached by the kernel. Idempotent. */
  close(): void;
}
