// What the feature needs of the kernel besides maps and programs.
import { TreeDevices } from '../../kernel/netlink/tree-device.ts';
import { TreeRoutes } from '../../kernel/netlink/tree-routes.ts';
import { type RawSocket, openRawSocket } from '../../kernel/raw-socket.ts';

export interface MulticastKernel {
  readonly routes: TreeRoutes;
  readonly devices: TreeDevices;
  /** For Packet Too Big to other routers. */
  readonly socket: RawSocket;
  close(): void;
}

/** @throws KernelError; nothing stays open then */
export function openMulticastKernel(): MulticastKernel {
  const opened: { close(): void }[] = [];
  const keep = <T extends { close(): void }>(part: T): T => (opened.push(part), part);
  const close = (): void => {
    for (const part of opened) part.close();
  };
  try {
    return {
      routes: keep(TreeRoutes.open()),
      devices: keep(TreeDevices.open()),
      socket: keep(openRawSocket({ family: 6 })),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}
