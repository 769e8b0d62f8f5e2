// The name of an interface, for messages: people know no indexes.
import { isKernelError } from '../errors.ts';
import { RTM_LINK, decodeLink, linkByIndex } from './link.ts';
import type { SynchronousNetlink } from './synchronous.ts';

/** `eth0`; `interface 3` where the kernel does not know it any more. */
export function linkName(netlink: Pick<SynchronousNetlink, 'request'>, ifindex: number): string {
  const unknown = `interface ${ifindex}`;
  try {
    const request = { operation: `name of ${unknown}`, type: RTM_LINK.GET, body: linkByIndex(ifindex) };
    return netlink.request(request).map(decodeLink)[0]?.name ?? unknown;
  } catch (error) {
    if (isKernelError(error)) return unknown;
    throw error;
  }
}
