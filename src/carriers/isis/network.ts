// The edge of the speaker: a veth pair whose one end FRR runs IS-IS on, and whose other end lives in a network namespace without a name that ends
// with the process. cnpd creates it, opens a packet socket on its own end, creates it again when somebody deletes it, and removes it at the end.
// Nothing of the protocol is here: PDUs go in and out as bytes.
import { writeFileSync } from 'node:fs';
import { type IpAddress, addressFromBytes } from '../../model/address.ts';
import type { Clock } from '../../model/clock.ts';
import type { Count, Log } from '../../model/log.ts';
import { isKernelError } from '../../kernel/errors.ts';
import { Netns } from '../../kernel/netns.ts';
import { type KernelChange, openMonitor } from '../../kernel/netlink/monitor.ts';
import { Rtnetlink } from '../../kernel/netlink/rtnetlink.ts';
import { type PacketSocket, openPacketSocket } from '../../kernel/packet-socket.ts';
import type { Poller } from '../../kernel/poller.ts';
import { ALL_ISS, ALL_L1_ISS, ALL_L2_ISS, decodeFrame, encodeFrame } from '../../packet/isis/frame.ts';

/** Locally administered, "cnp" in the middle: by FRR's end a veth that a killed cnpd left is told from somebody else's interface. */
const FRR_END_MAC = Uint8Array.of(0x02, 0x63, 0x6e, 0x70, 0x00, 0x01);
const OUR_END_MAC = Uint8Array.of(0x02, 0x63, 0x6e, 0x70, 0x00, 0x02);
const OUR_END = 'speaker';
/** Room for a database of thousands of LSPs that arrive in one burst. */
const RECEIVE_BUFFER = 8 << 20;
const RETRY_MS = [100, 500, 2000, 10_000] as const;

/** On FRR's end: a link-local address, at once, and nothing else of IPv6 autoconfiguration. */
const FRR_END_SYSCTLS = { disable_ipv6: '0', addr_gen_mode: '0', accept_ra: '0', autoconf: '0', accept_dad: '0', dad_transmits: '0', router_solicitations: '0' };
const OUR_END_SYSCTLS = { disable_ipv6: '1' };

export class IsisNetworkError extends Error {
  override readonly name = 'IsisNetworkError';
  readonly code: 'interface-exists';
  constructor(code: 'interface-exists', message: string) {
    super(message);
    this.code = code;
  }
}

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

/** What exists while the link does. */
interface Plumbing {
  readonly netns: Netns;
  readonly socket: PacketSocket;
  readonly frrIfindex: number;
}

export class IsisNetwork {
  private readonly opts: IsisNetworkOptions;
  private readonly modules: IsisNetworkModules;
  private rtnetlink: Rtnetlink | undefined;
  private monitor: { close(): void } | undefined;
  private plumbing: Plumbing | undefined;
  private cancelRetry: () => void = () => {};
  private building: Promise<void> | undefined;
  private closed = false;

  constructor(opts: IsisNetworkOptions, modules: IsisNetworkModules) {
    this.opts = opts;
    this.modules = modules;
  }

  /** @throws KernelError (EPERM: not root), IsisNetworkError when the name belongs to somebody else's interface */
  async start(): Promise<void> {
    const { poller } = this.modules;
    const { netns } = this.opts;
    try {
      this.rtnetlink = Rtnetlink.open({ netns }, { poller });
      this.monitor = openMonitor(
        { netns },
        {
          poller,
          onChange: (change) => this.changed(change),
          onResync: () => void this.verify(),
          onError: (error) => this.modules.log.warn({ interface: this.opts.interface, err: error }, 'link monitor failed'),
        },
      );
      this.building = this.build();
      await this.building;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Lost frames are counted, not reported: IS-IS retransmits. */
  send(pdu: Uint8Array): void {
    try {
      this.plumbing?.socket.send(encodeFrame(OUR_END_MAC, ALL_ISS, pdu));
    } catch (error) {
      if (!isKernelError(error)) throw error;
      this.modules.count(`isis.tx.failed.${error.code.toLowerCase()}`);
    }
  }

  /** Removes the veth and the namespace. Idempotent. */
  async stop(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.cancelRetry();
    await this.building?.catch(() => {});
    this.monitor?.close();
    const existed = this.tearDown();
    if (existed) await this.rtnetlink?.deleteLink(this.opts.interface).catch(ignoreMissing);
    this.rtnetlink?.close();
  }

  private async build(): Promise<void> {
    const { interface: name, mtu, netns: router } = this.opts;
    const rtnetlink = this.rtnetlink!;
    await this.removeStale();
    const netns = Netns.create();
    try {
      const peer = { name: OUR_END, mtu, mac: OUR_END_MAC, netns };
      await rtnetlink.createVeth({ name, mtu, mac: FRR_END_MAC, peer });
      this.setSysctls(router, name, FRR_END_SYSCTLS);
      this.setSysctls(netns, OUR_END, OUR_END_SYSCTLS);
      await this.setPeerUp(netns);
      await rtnetlink.setLink(name, { up: true });
      const link = await rtnetlink.link(name);
      const socket = this.openSocket(netns);
      this.plumbing = { netns, socket, frrIfindex: link?.ifindex ?? 0 };
    } catch (error) {
      netns.close();
      await rtnetlink.deleteLink(name).catch(ignoreMissing);
      throw error;
    }
    if (this.closed) return;
    this.modules.log.info({ interface: name, mtu }, 'IS-IS link to FRR created');
    this.modules.onUp(linkLocalOf(OUR_END_MAC));
  }

  private async setPeerUp(netns: Netns): Promise<void> {
    const inside = Rtnetlink.open({ netns }, { poller: this.modules.poller });
    try {
      await inside.setLink(OUR_END, { up: true });
    } finally {
      inside.close();
    }
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

  /** A veth that a killed process left goes with its namespace, but not at once. */
  private async removeStale(): Promise<void> {
    const { interface: name } = this.opts;
    const link = await this.rtnetlink!.link(name);
    if (!link) return;
    if (link.kind !== 'veth' || Buffer.compare(link.mac, FRR_END_MAC) !== 0) {
      throw new IsisNetworkError('interface-exists', `interface ${name} exists and is not cnpd's: remove it, or choose another name for isis.interface`);
    }
    this.modules.log.info({ interface: name }, 'removing the IS-IS link that an earlier run left');
    await this.rtnetlink!.deleteLink(name).catch(ignoreMissing);
  }

  /** A read-only /proc/sys costs a second of duplicate address detection, nothing more. */
  private setSysctls(netns: Netns | undefined, name: string, values: Readonly<Record<string, string>>): void {
    const write = (): void => {
      for (const [key, value] of Object.entries(values)) {
        try {
          writeFileSync(`/proc/sys/net/ipv6/conf/${name}/${key}`, value);
        } catch (error) {
          this.modules.log.debug({ interface: name, sysctl: key, err: error }, 'sysctl not set');
        }
      }
    };
    if (netns) netns.run(write);
    else write();
  }

  private changed(change: KernelChange): void {
    if (change.kind !== 'link' || !change.removed || change.link.ifindex !== this.plumbing?.frrIfindex) return;
    this.lost(`interface ${this.opts.interface} was deleted`);
  }

  /** After lost announcements: is the interface still there? */
  private async verify(): Promise<void> {
    const expected = this.plumbing?.frrIfindex;
    const link = await this.rtnetlink?.link(this.opts.interface).catch(() => undefined);
    if (expected !== undefined && link?.ifindex !== expected && this.plumbing?.frrIfindex === expected) {
      this.lost(`interface ${this.opts.interface} was deleted`);
    }
  }

  private lost(reason: string): void {
    this.modules.count('isis.interface.vanished');
    this.modules.log.warn({ interface: this.opts.interface }, `${reason}: creating it again`);
    this.tearDown();
    this.modules.onDown(reason);
    this.rebuild(0);
  }

  private rebuild(attempt: number): void {
    if (this.closed) return;
    this.cancelRetry = this.modules.clock.after(attempt === 0 ? 0 : RETRY_MS[Math.min(attempt, RETRY_MS.length) - 1]!, () => {
      this.building = this.build().catch((error: unknown) => {
        this.modules.count('isis.interface.create-failed');
        this.modules.log.warn({ interface: this.opts.interface, err: error }, 'IS-IS link could not be created; trying again');
        this.rebuild(attempt + 1);
      });
    });
  }

  /** @returns whether there was something */
  private tearDown(): boolean {
    if (!this.plumbing) return false;
    this.plumbing.socket.close();
    this.plumbing.netns.close();
    this.plumbing = undefined;
    return true;
  }
}

function ignoreMissing(error: unknown): void {
  if (!isKernelError(error, 'ENODEV')) throw error;
}

/** fe80::/64 with the modified EUI-64 of a MAC (RFC 4291 App. A). */
function linkLocalOf(mac: Uint8Array): IpAddress {
  const bytes = new Uint8Array(16);
  bytes.set([0xfe, 0x80]);
  bytes.set([mac[0]! ^ 2, mac[1]!, mac[2]!, 0xff, 0xfe, mac[3]!, mac[4]!, mac[5]!], 8);
  return addressFromBytes(bytes);
}
