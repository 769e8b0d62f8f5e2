// The edge of the speaker: its link to the routing daemon (router-link.edge.ts), and a packet socket on our end. It
// knows nothing of the protocol: PDUs go in and out as bytes.
import type { IpAddress } from '../../model/address.ts';
import type { Clock } from '../../model/clock.ts';
import type { Count, Log } from '../../model/log.ts';
import type { SuiteName } from '../../model/router-suite.ts';
import { isKernelError } from '../../kernel/errors.ts';
import type { Netns } from '../../kernel/netns.ts';
import { type PacketSocket, openPacketSocket } from '../../kernel/packet-socket.ts';
import type { Poller } from '../../kernel/poller.ts';
import { ALL_ISS, ALL_L1_ISS, ALL_L2_ISS, decodeFrame, encodeFrame } from '../../packet/isis/frame.ts';
import { RouterLink, NO_IPV6, OUR_END, linkLocalOf } from '../router-link.edge.ts';

/** Locally administered, "cnp" in the middle. */
const ROUTER_END_MAC = Uint8Array.of(0x02, 0x63, 0x6e, 0x70, 0x00, 0x01);
const OUR_END_MAC = Uint8Array.of(0x02, 0x63, 0x6e, 0x70, 0x00, 0x02);
/** Space for a database of thousands of LSPs that arrive in one burst. */
const RECEIVE_BUFFER = 8 << 20;

export interface IsisNetworkOptions {
  /** The routing daemon beside cnpd. */
  readonly suite?: SuiteName | undefined;
  /** Name of the router's end. */
  readonly interface: string;
  readonly mtu: number;
  /** The router's namespace; that of the process when absent. */
  readonly netns?: Netns | undefined;
}

export interface IsisNetworkDependencies {
  readonly poller: Poller;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
  /** The bytes are a copy. */
  onPdu(pdu: Uint8Array): void;
  onUp(linkLocal: IpAddress): void;
  onDown(reason: string): void;
}

export class IsisNetwork {
  private readonly dependencies: IsisNetworkDependencies;
  private readonly link: RouterLink;
  private socket: PacketSocket | undefined;

  constructor(opts: IsisNetworkOptions, dependencies: IsisNetworkDependencies) {
    this.dependencies = dependencies;
    const { poller, clock, log, count } = dependencies;
    this.link = new RouterLink(
      {
        ...opts,
        protocol: 'IS-IS',
        prefix: 'isis',
        routerMac: ROUTER_END_MAC,
        ourMac: OUR_END_MAC,
        ourSysctls: NO_IPV6,
      },
      {
        poller,
        clock,
        log,
        count,
        open: (netns) => (this.socket = this.openSocket(netns)),
        onUp: () => dependencies.onUp(linkLocalOf(OUR_END_MAC)),
        onDown: (reason) => {
          this.socket = undefined;
          dependencies.onDown(reason);
        },
      },
    );
  }

  /** @throws KernelError (EPERM: not root), RouterLinkError when the name belongs to another program's interface */
  start(): Promise<void> {
    return this.link.start();
  }

  /** Lost frames are counted but cause no error: IS-IS retransmits. */
  send(pdu: Uint8Array): void {
    try {
      this.socket?.send(encodeFrame(OUR_END_MAC, ALL_ISS, pdu));
    } catch (error) {
      if (!isKernelError(error)) throw error;
      this.dependencies.count(`isis.tx.failed.${error.code.toLowerCase()}`);
    }
  }

  /** Removes the veth and the namespace. Idempotent. */
  async stop(): Promise<void> {
    await this.link.stop();
    this.socket = undefined;
  }

  private openSocket(netns: Netns): PacketSocket {
    const multicast = [ALL_ISS, ALL_L1_ISS, ALL_L2_ISS];
    // ETH_P_ALL: above 1536 bytes FRR sends EtherType 0x8870, which a socket for 802.2 does not receive.
    const opts = { interface: OUR_END, netns, multicast, receiveBuffer: RECEIVE_BUFFER };
    return openPacketSocket(opts, {
      poller: this.dependencies.poller,
      onFrame: (frame) => this.received(frame),
      onError: (error) => this.dependencies.count(`isis.rx.failed.${error.code.toLowerCase()}`),
    });
  }

  private received(frame: Uint8Array): void {
    const decoded = decodeFrame(frame);
    if (decoded.ok) this.dependencies.onPdu(decoded.value.pdu.slice());
    else if (decoded.error.code !== 'not-isis') this.dependencies.count(`isis.frame.${decoded.error.code}`);
  }
}
