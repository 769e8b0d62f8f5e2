// Reconciles which programs run at which hook of which interface. A link is pinned under a name made of program,
// interface and direction, so it outlives the agent. The next run adopts the link and swaps the program in place, so no
// packet bypasses it.
import type { Operations } from './operations.ts';

/** The loopback interface has this index in every network namespace. */
export const LOOPBACK = { interface: 'lo', ifindex: 1 } as const;

export interface Attachment {
  /** Program, interface and direction: `egress@eth2/egress`. Also the name of the pin. */
  readonly id: string;
  readonly program: string;
  readonly interface: string;
  readonly ifindex: number;
  readonly direction: 'ingress' | 'egress';
  /** It must see packets before every other program of the hook. */
  readonly first: boolean;
}

export const attachment = (
  program: string,
  link: { interface: string; ifindex: number },
  direction: 'ingress' | 'egress',
  first = false,
): Attachment => ({
  first,
  id: `${program}@${link.interface}/${direction}`,
  program,
  interface: link.interface,
  ifindex: link.ifindex,
  direction,
});

/** One attached program, as the kernel component hands it out. */
export interface Hook {
  /** Removes the program from the interface, and its pin. */
  detach(): void;
  /** Releases the descriptor only; the pinned link stays. */
  close(): void;
  /**
   * Pins the link again if its pin is gone. Returns whether it did: false if the pin exists, or if the link is no
   * longer attached there. Throws KernelError.
   */
  restorePin(desired: Attachment): boolean;
}

export interface HookKernel {
  /** Attaches, or adopts the pinned link and replaces its program. Throws KernelError. */
  attach(desired: Attachment, pin: string): Hook;
  /** Whether the pinned link is still attached to that interface. */
  attached(desired: Attachment, pin: string): boolean;
  /** Names of the links pinned by this or an earlier run. */
  pins(): string[];
  /** Detaches and unpins a link that this run did not open. */
  remove(pin: string): void;
}

/**
 * A pin's name cannot contain `/`, and a BPF file system refuses dots. An interface's name cannot contain `:`, so
 * different attachments have different pins.
 */
export const pinName = (id: string): string => id.replaceAll(/[%./]/g, (one) => ESCAPES[one]!);

const ESCAPES: Readonly<Record<string, string>> = { '%': '%25', '.': '%2e', '/': ':' };
const ESCAPED: Readonly<Record<string, string>> = { '%25': '%', '%2e': '.', ':': '/' };

/** Whose pin it is; undefined: no attachment has a pin of this name. */
export function pinOwner(pin: string): string | undefined {
  const id = pin.replaceAll(/%25|%2e|:/g, (one) => ESCAPED[one]!);
  return pinName(id) === pin ? id : undefined;
}

export function attachmentOperations(kernel: HookKernel): Operations<Attachment> & { close(): void } {
  const hooks = new Map<string, Hook>();
  return {
    kind: 'attachment',
    update: (desired) => {
      // Closing the descriptor of an unpinned link would detach it. Packets would bypass the program until the next
      // attach.
      if (hooks.get(desired.id)?.restorePin(desired)) return;
      hooks.get(desired.id)?.close();
      hooks.delete(desired.id);
      hooks.set(desired.id, kernel.attach(desired, pinName(desired.id)));
    },
    delete: (id) => {
      const hook = hooks.get(id);
      hooks.delete(id);
      if (hook) hook.detach();
      else if (kernel.pins().includes(pinName(id))) kernel.remove(pinName(id));
    },
    *prune(desired) {
      for (const pin of kernel.pins()) {
        const owner = pinOwner(pin);
        const stray = owner === undefined || !desired.has(owner);
        if (stray) kernel.remove(pin);
        yield stray;
      }
    },
    verify: (desired) => hooks.has(desired.id) && kernel.attached(desired, pinName(desired.id)),
    close: () => {
      for (const hook of hooks.values()) hook.close();
      hooks.clear();
    },
  };
}
