// Reconciles which programs run at which hook of which interface. A link is pinned under a name made of program,
// interface and direction, so that it outlives the agent and the next run adopts it: the program is swapped in place
// and no packet passes unseen.
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
  /** Pins the link again if its pin is gone and it still hangs there. Whether that is so. Throws KernelError. */
  restorePin(wanted: Attachment): boolean;
}

export interface HookKernel {
  /** Attaches or adopts, and makes the hook run this run's program. Throws KernelError. */
  attach(wanted: Attachment, pin: string): Hook;
  /** Whether the pinned link still hangs on that interface. */
  attached(wanted: Attachment, pin: string): boolean;
  /** Names of the links pinned by this or an earlier run. */
  pins(): string[];
  /** Detaches and unpins a link that this run did not open. */
  remove(pin: string): void;
}

/**
 * A pin's name has no `/`, and a BPF file system refuses dots; an interface's name has no `:`. Different attachments
 * have different pins.
 */
export const pinName = (id: string): string => id.replaceAll('%', '%25').replaceAll('.', '%2e').replaceAll('/', ':');

export function attachmentOperations(kernel: HookKernel): Operations<Attachment> & { close(): void } {
  const hooks = new Map<string, Hook>();
  return {
    kind: 'attachment',
    update: (wanted) => {
      // With its descriptor a link that has lost its pin would go, and packets would pass unseen until there is another
      // one.
      if (hooks.get(wanted.id)?.restorePin(wanted)) return;
      hooks.get(wanted.id)?.close();
      hooks.delete(wanted.id);
      hooks.set(wanted.id, kernel.attach(wanted, pinName(wanted.id)));
    },
    delete: (id) => {
      const hook = hooks.get(id);
      hooks.delete(id);
      if (hook) hook.detach();
      else if (kernel.pins().includes(pinName(id))) kernel.remove(pinName(id));
    },
    *prune(wanted) {
      for (const pin of kernel.pins()) {
        const stray = !new Set([...wanted.keys()].map(pinName)).has(pin);
        if (stray) kernel.remove(pin);
        yield stray;
      }
    },
    verify: (wanted) => hooks.has(wanted.id) && kernel.attached(wanted, pinName(wanted.id)),
    close: () => {
      for (const hook of hooks.values()) hook.close();
      hooks.clear();
    },
  };
}
