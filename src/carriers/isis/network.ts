// The edge of the speaker: its link to FRR (frr-link.edge.ts), and a packet socket on our end. Nothing of the protocol
// is here: PDUs go in and out as bytes.
import type { IpAddress } from '../../model/address.ts';
import type { Clock } from '../../model/clock.ts';
import type { Count, Log } from '../../model/log.ts';
import { isKernelError } from '../../kernel/errors.ts';
import type { Netns } from '../../kernel/netns.ts';
import { type PacketSocket, openPacketSocket } from '../../kernel/packet-socket.ts';
import type { Poller } from '../../kernel/poller.ts';
import { ALL_ISS, ALL_L1_ISS, ALL_L2_ISS, decodeFrame, encodeFrame } from '../../packet/isis/frame.ts';
import { FrrLink, NO_IPV6, OUR_END, linkLocalOf } from '../frr-link.edge.ts';

/** Locally administered, "cnp" in the middle. */
const FRR_END_MAC = Uint8Array.of(0x02, 0x63, 0x6e, 0x70, 0x00, 0x01);
const OUR_END_MAC = Uint8Array.of(0x02, 0x63, 0x6e, 0x70, 0x00, 0x02);
/** Room for a database of thousands of LSPs that arrive in one burst. */
const RECEIVE_BUFFER = 8 << 20;

export interface IsisNetworkOptions {
  /** Name of FRR's end. */
  readonly interface: string;
  readonly mtu: number;
  /** The router's namespace; that of the process when absent. */
  readonly netns?: Netns | undefined;
}

export interface IsisNetworkModules {
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
  private readonly modules: IsisNetworkModules;
  private readonly link: FrrLink;
  private socket: PacketSocket | undefined;

  constructor(opts: IsisNetworkOptions, modules: IsisNetworkModules) {
    this.modules = modules;
    const { poller, clock, log, count } = modules;
    this.link = new FrrLink(
      { ...opts, protocol: 'IS-IS', prefix: 'isis', frrMac: FRR_END_MAC, ourMac: OUR_END_MAC, ourSysctls: NO_IPV6 },
      {
        poller,
        clock,
        log,
        count,
        open: (netns) => (this.socket = this.openSocket(netns)),
        onUp: () => modules.onUp(linkLocalOf(OUR_END_MAC)),
        onDown: (reason) => {
          this.socket = undefined;
          modules.onDown(reason);
        },
      },
    );
  }

  /** @throws KernelError (EPERM: not root), FrrLinkError when the name belongs to somebody else's interface */
  start(): Promise<void> {
    return this.link.start();
  }

  /** Lost frames are counted, not reported: IS-IS retransmits. */
  send(pdu: Uint8Array): void {
    try {
      this.socket?.send(encodeFrame(OUR_END_MAC, ALL_ISS, pdu));
    } catch (error) {
      if (!isKernelError(error)) throw error;
      this.modules.count(`isis.tx.failed.${error.code.toLowerCase()}`);
    }
  }

  /** Removes the veth and the namespace. Idempotent. */
  async stop(): Promise<void> {
    await this.link.stop();
    this.socket = undefined;
  }

  private openSocket(netns: Netns): PacketSocket {
    const multicast = [ALL_ISS, ALL_L1_ISS, ALL_L2_ISS];
    // ETH_P_ALL: beyond 1536 bytes FRR sends EtherType 0x8870, which a socket for 802.2 does not see.
    const opts = { interface: OUR_END, netns, multicast, receiveBuffer: RECEIVE_BUFFER };
    return openPacketSocket(opts, {
      poller: this.modules.poller,
      onFrame: (frame) => this.received(frame),
      onError: (error) => this.modules.count(`isis.rx.failed.${error.code.toLowerCase()}`),
    });
  }

  private received(frame: Uint8Array): void {
    const decoded = decodeFrame(frame);
    if (decoded.ok) this.modules.onPdu(decoded.value.pdu.slice());
    else if (decoded.error.code !== 'not-isis') this.modules.count(`isis.frame.${decoded.error.code}`);
  }
}
