// The clsact qdisc that an attachment without TCX creates (../bpf/clsact.ts). The kernel keeps it after its last filter
// is removed.
import type { Netns } from '../netns.ts';
import { NLM_F } from './message.ts';
import { SynchronousNetlink } from './synchronous.ts';
import { RTM_FILTER, RTM_QDISC, TC_H, decodeQdisc, tcHeader } from './traffic-control.ts';

const CLSACT_HANDLE = 0xffff_0000;

/**
 * Removes the clsact qdisc of an interface if it exists and has no filters. Returns whether it was removed.
 * @throws KernelError
 */
export function removeEmptyClsact(ifindex: number, netns?: Netns): boolean {
  const netlink = SynchronousNetlink.open({ netns });
  try {
    if (!hasClsact(netlink, ifindex)) return false;
    if ([TC_H.INGRESS, TC_H.EGRESS].some((parent) => hasFilters(netlink, ifindex, parent))) return false;
    netlink.request({
      operation: 'delete clsact',
      type: RTM_QDISC.DEL,
      body: tcHeader({ ifindex, handle: CLSACT_HANDLE, parent: TC_H.CLSACT }),
    });
    return true;
  } finally {
    netlink.close();
  }
}

const hasClsact = (netlink: SynchronousNetlink, ifindex: number): boolean =>
  netlink
    .request({ operation: 'list qdiscs', type: RTM_QDISC.GET, body: tcHeader({ ifindex }) }, NLM_F.DUMP)
    .map(decodeQdisc)
    .some((qdisc) => qdisc?.ifindex === ifindex && qdisc.kind === 'clsact');

const hasFilters = (netlink: SynchronousNetlink, ifindex: number, parent: number): boolean =>
  netlink.request({ operation: 'list filters', type: RTM_FILTER.GET, body: tcHeader({ ifindex, parent }) }, NLM_F.DUMP)
    .length > 0;
