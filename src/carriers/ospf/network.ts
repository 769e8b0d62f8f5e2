// The link of one area to FRR (frr-link.edge.ts) and the runner put together: when the link is there, the speaker has a
// socket on our end; when somebody deletes it, the speaker hears so, and it is made again.
import type { IpAddress } from '../../model/address.ts';
import type { Clock } from '../../model/clock.ts';
import type { Count, Log } from '../../model/log.ts';
import type { Netns } from '../../kernel/netns.ts';
import type { Poller } from '../../kernel/poller.ts';
import type { Version } from '../../packet/ospf/numbers.ts';
import { FrrLink, LINK_LOCAL_ONLY, type LinkAddresses, NO_IPV6, OUR_END, linkLocalOf } from '../frr-link.edge.ts';
import type { OspfRunner } from './runner.edge.ts';

export interface OspfNetworkOptions {
  readonly areaId: number;
  /** Which of the router's OSPF links it is, 0-126: each has MAC addresses of its own. */
  readonly index: number;
  /** Name of FRR's end. */
  readonly interface: string;
  readonly mtu: number;
  /** OSPFv2 only, and there required. OSPFv3 uses link-local addresses. */
  readonly addresses?: LinkAddresses | undefined;
  /** The router's namespace; that of the process when absent. */
  readonly netns?: Netns | undefined;
}

export interface OspfNetworkModules {
  readonly poller: Poller;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
}

/** Locally administered, "cnp" in the middle, then version and link: IS-IS has 00. */
const mac = (version: Version, index: number, end: 1 | 2): Uint8Array =>
  Uint8Array.of(0x02, 0x63, 0x6e, 0x70, version, 2 * index + end);

export class OspfNetwork {
  private readonly link: FrrLink;

  /** @throws RangeError without addresses in OSPFv2 */
  constructor(opts: OspfNetworkOptions, runner: OspfRunner, modules: OspfNetworkModules) {
    const { areaId, index, interface: name, mtu, netns, addresses } = opts;
    const { version, name: prefix } = runner.speaker.config.version;
    if (version === 2 && !addresses) throw new RangeError('OSPFv2 needs an address on each end of the link');
    const ourMac = mac(version, index, 2);
    const address: IpAddress = version === 2 ? addresses!.own : linkLocalOf(ourMac);
    this.link = new FrrLink(
      {
        protocol: `OSPFv${version}`,
        prefix,
        interface: name,
        mtu,
        netns,
        frrMac: mac(version, index, 1),
        ourMac,
        ourSysctls: version === 2 ? NO_IPV6 : LINK_LOCAL_ONLY,
        ...(version === 2 && { addresses }),
      },
      {
        ...modules,
        open: (inside) => {
          runner.linkUp({ areaId, interface: OUR_END, netns: inside, address, peer: addresses?.router });
          // The runner closes its socket itself, when it hears that the link is gone or is stopped.
          return { close: () => {} };
        },
        onUp: () => {},
        onDown: (reason) => runner.linkDown(areaId, reason),
      },
    );
  }

  /** @throws KernelError (EPERM: not root), FrrLinkError when the name belongs to somebody else's interface */
  start(): Promise<void> {
    return this.link.start();
  }

  /** Removes the veth and the namespace. Idempotent. */
  stop(): Promise<void> {
    return this.link.stop();
  }
}
