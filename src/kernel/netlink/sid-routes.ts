// cnpd's own seg6local routes, read and changed synchronously (synchronous.ts). They carry cnpd's protocol number; no
// other route is changed.
import type { IpAddress } from '../../model/address.ts';
import { isKernelError } from '../errors.ts';
import type { Netns } from '../netns.ts';
import { RTM_ROUTE } from './address.ts';
import { NLM_F } from './message.ts';
import {
  type NewSeg6LocalRoute,
  type Seg6LocalRoute,
  decodeSeg6LocalRoute,
  encodeSeg6LocalRoute,
  routeEntryOf,
  routesOfProtocol,
} from './seg6local.ts';
import { SynchronousNetlink } from './synchronous.ts';

/**
 * rtm_protocol of cnpd's routes: not one of the kernel's (below 16), of iproute2's rt_protos, or of FRR's (186 to
 * 198).
 */
export const RTPROT_CNPD = 111;

/**
 * Errors of a look-up that finds no route, or only an unusable one of the locator: unreachable, blackhole (EINVAL),
 * prohibit.
 */
const NO_SUCH_ROUTE = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EACCES']);

export type SidRoute = Omit<NewSeg6LocalRoute, 'protocol'>;

export class SidRoutes {
  private readonly netlink: SynchronousNetlink;

  private constructor(netlink: SynchronousNetlink) {
    this.netlink = netlink;
  }

  /** @throws KernelError */
  static open(opts: { netns?: Netns | undefined } = {}): SidRoutes {
    return new SidRoutes(SynchronousNetlink.open(opts));
  }

  /** The seg6local route of exactly this SID, whoever installed it. @throws KernelError */
  find(sid: IpAddress): Seg6LocalRoute | undefined {
    try {
      const answers = this.netlink.request({ operation: 'look up SID', type: RTM_ROUTE.GET, body: routeEntryOf(sid) });
      return answers
        .map(decodeSeg6LocalRoute)
        .find((route) => route !== undefined && route.length === 128 && route.sid.value === sid.value);
    } catch (error) {
      if (isKernelError(error) && NO_SUCH_ROUTE.has(error.code)) return undefined;
      throw error;
    }
  }

  /** cnpd's routes, of this run and of earlier ones. @throws KernelError */
  own(): Seg6LocalRoute[] {
    const answers = this.netlink.request(
      { operation: "list cnpd's routes", type: RTM_ROUTE.GET, body: routesOfProtocol(RTPROT_CNPD) },
      NLM_F.DUMP,
    );
    return answers.map(decodeSeg6LocalRoute).filter((route) => route?.protocol === RTPROT_CNPD) as Seg6LocalRoute[];
  }

  /**
   * @throws KernelError EEXIST (the SID has a route), ENODEV, EINVAL (the device is the loopback, or the kernel has no
   * such action)
   */
  add(route: SidRoute): void {
    const body = encodeSeg6LocalRoute({ ...route, protocol: RTPROT_CNPD });
    this.netlink.request({
      operation: 'add seg6local route',
      type: RTM_ROUTE.NEW,
      flags: NLM_F.CREATE | NLM_F.EXCL,
      body,
    });
  }

  /** Removes a route of cnpd; returns false when there was none. @throws KernelError */
  remove(route: SidRoute): boolean {
    try {
      this.netlink.request({
        operation: 'delete seg6local route',
        type: RTM_ROUTE.DEL,
        body: encodeSeg6LocalRoute({ ...route, protocol: RTPROT_CNPD }),
      });
      return true;
    } catch (error) {
      if (isKernelError(error, 'ESRCH')) return false;
      throw error;
    }
  }

  /** Idempotent. */
  close(): void {
    this.netlink.close();
  }
}
