// The link of one area to the routing daemon (router-link.edge.ts), put together with the runner. When the link is up,
// the speaker gets a socket on our end. When another program deletes the link, the speaker is notified, and the link is
// created again.
import type { IpAddress } from '../../model/address.ts';
import type { Clock } from '../../model/clock.ts';
import type { Count, Log } from '../../model/log.ts';
import type { SuiteName } from '../../model/router-suite.ts';
import type { Netns } from '../../kernel/netns.ts';
import type { Poller } from '../../kernel/poller.ts';
import type { Version } from '../../packet/ospf/numbers.ts';
import { RouterLink, LINK_LOCAL_ONLY, type LinkAddresses, NO_IPV6, OUR_END, linkLocalOf } from '../router-link.edge.ts';
import type { OspfRunner } from './runner.edge.ts';

export interface OspfNetworkOptions {
  /** The routing daemon beside cnpd. */
  readonly suite?: SuiteName | undefined;
  readonly areaId: number;
  /** The number of this link among the router's OSPF links, 0-126; the MAC addresses depend on it. */
  readonly index: number;
  /** Name of the router's end. */
  readonly interface: string;
  readonly mtu: number;
  /** Required in OSPFv2. Absent in OSPFv3, which uses link-local addresses. */
  readonly addresses?: LinkAddresses | undefined;
  /** The router's namespace. Default: that of the process. */
  readonly netns?: Netns | undefined;
}

export interface OspfNetworkDependencies {
  readonly poller: Poller;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
}

/** Locally administered, "cnp" in the middle, then version and link. IS-IS has 00 in place of the version. */
const mac = (version: Version, index: number, end: 1 | 2): Uint8Array =>
  Uint8Array.of(0x02, 0x63, 0x6e, 0x70, version, 2 * index + end);

export class OspfNetwork {
  private readonly link: RouterLink;

  /** @throws RangeError without addresses in OSPFv2 */
  constructor(opts: OspfNetworkOptions, runner: OspfRunner, dependencies: OspfNetworkDependencies) {
    const { areaId, index, interface: name, mtu, netns, addresses, suite } = opts;
    const { version, name: prefix } = runner.speaker.config.version;
    if (version === 2 && !addresses) throw new RangeError('OSPFv2 needs an address on each end of the link');
    const ourMac = mac(version, index, 2);
    const address: IpAddress = version === 2 ? addresses!.own : linkLocalOf(ourMac);
    this.link = new RouterLink(
      {
        suite,
        protocol: `OSPFv${version}`,
        prefix,
        interface: name,
        mtu,
        netns,
        routerMac: mac(version, index, 1),
        ourMac,
        ourSysctls: version === 2 ? NO_IPV6 : LINK_LOCAL_ONLY,
        ...(version === 2 && { addresses }),
      },
      {
        ...dependencies,
        open: (inside) => {
          runner.linkUp({ areaId, interface: OUR_END, netns: inside, address, peer: addresses?.router });
          // The runner closes its socket itself when the link goes down or the runner is stopped.
          return { close: () => {} };
        },
        onUp: () => {},
        onDown: (reason) => runner.linkDown(areaId, reason),
      },
    );
  }

  /** @throws KernelError (EPERM: not root), RouterLinkError if the name belongs to another program's interface */
  start(): Promise<void> {
    return this.link.start();
  }

  /** Removes the veth and the namespace. Idempotent. */
  stop(): Promise<void> {
    return this.link.stop();
  }
}
