// A link between the routing daemon and a speaker of cnpd: a veth pair. One end is in the router's namespace, where the
// daemon runs its protocol on it. The other end is in an unnamed network namespace that ends with the process. cnpd
// creates the link, creates it again when another program deletes the router's end, and removes it when it stops. The
// link knows no protocol: a carrier opens its socket on our end once the link exists.
import { writeFileSync } from 'node:fs';
import { type IpAddress, addressFromBytes } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import type { Count, Log } from '../model/log.ts';
import { DEFAULT_SUITE, SUITE_TITLES, type SuiteName } from '../model/router-suite.ts';
import { isKernelError } from '../kernel/errors.ts';
import { Netns } from '../kernel/netns.ts';
import { type KernelChange, openMonitor } from '../kernel/netlink/monitor.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import type { Poller } from '../kernel/poller.ts';

/** Name of our end, in the unnamed namespace. */
export const OUR_END = 'speaker';
const RETRY_MS = [100, 500, 2000, 10_000] as const;
/**
 * Pauses after which the addresses of the router's end are announced again. zebra (8.4.4) reads interfaces and
 * addresses from two sockets in two threads. It drops an address that it reads before the interface; its daemons would
 * never learn that the link has one.
 */
const ANNOUNCE_MS = [500, 2000, 10_000, 60_000] as const;

/** A link-local address, available at once; no other IPv6 autoconfiguration. */
export const LINK_LOCAL_ONLY = {
  disable_ipv6: '0',
  addr_gen_mode: '0',
  accept_ra: '0',
  autoconf: '0',
  accept_dad: '0',
  dad_transmits: '0',
  router_solicitations: '0',
};
export const NO_IPV6 = { disable_ipv6: '1' };

class RouterLinkError extends Error {
  override readonly name = 'RouterLinkError';
  readonly code: 'interface-exists';
  constructor(code: 'interface-exists', message: string) {
    super(message);
    this.code = code;
  }
}

/** An IPv4 address for each end of the link. */
export interface LinkAddresses {
  readonly router: IpAddress;
  readonly own: IpAddress;
  /** Prefix length. */
  readonly length: number;
}

interface RouterLinkOptions {
  /** The routing daemon, for log lines; absent: DEFAULT_SUITE. */
  readonly suite?: SuiteName | undefined;
  /** Name of the protocol in log lines and errors, e.g. `IS-IS`. */
  readonly protocol: string;
  /** Prefix of counters, e.g. `isis`. The option that names the interface is `PREFIX.interface`. */
  readonly prefix: string;
  /** Name of the router's end. */
  readonly interface: string;
  readonly mtu: number;
  /** Distinguishes a veth left by a killed cnpd from another program's interface. */
  readonly routerMac: Uint8Array;
  readonly ourMac: Uint8Array;
  /** net.ipv6.conf of our end; that of the router's end is LINK_LOCAL_ONLY. */
  readonly ourSysctls: Readonly<Record<string, string>>;
  readonly addresses?: LinkAddresses | undefined;
  /** The router's namespace; that of the process when absent. */
  readonly netns?: Netns | undefined;
}

interface RouterLinkDependencies {
  readonly poller: Poller;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
  /** Opens a socket on our end. @throws the error that prevents the link from being built */
  open(netns: Netns): { close(): void };
  /** The link exists; called after `open`. */
  onUp(): void;
  /** The link is gone; the socket from `open` is closed. */
  onDown(reason: string): void;
}

/** Exists while the link does. */
interface Plumbing {
  readonly netns: Netns;
  readonly socket: { close(): void };
  readonly routerIfindex: number;
}

export class RouterLink {
  private readonly opts: RouterLinkOptions;
  private readonly dependencies: RouterLinkDependencies;
  private rtnetlink: Rtnetlink | undefined;
  private monitor: { close(): void } | undefined;
  private plumbing: Plumbing | undefined;
  private cancelRetry: () => void = () => {};
  private cancelAnnouncement: () => void = () => {};
  private building: Promise<void> | undefined;
  private closed = false;

  constructor(opts: RouterLinkOptions, dependencies: RouterLinkDependencies) {
    this.opts = opts;
    this.dependencies = dependencies;
  }

  /** @throws KernelError (EPERM: not root), RouterLinkError when the name belongs to another program's interface */
  async start(): Promise<void> {
    const { poller } = this.dependencies;
    const { netns } = this.opts;
    try {
      this.rtnetlink = Rtnetlink.open({ netns }, { poller });
      this.monitor = openMonitor(
        { netns },
        {
          poller,
          onChange: (change) => this.changed(change),
          onResync: () => void this.verify(),
          onError: (error) =>
            this.dependencies.log.warn({ interface: this.opts.interface, err: error }, 'link monitor failed'),
        },
      );
      this.building = this.build();
      await this.building;
    } catch (error) {
      await this.stop();
      throw error;
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
    const { interface: name, mtu, netns: router, routerMac, ourMac, ourSysctls, addresses, protocol } = this.opts;
    const rtnetlink = this.rtnetlink!;
    await this.removeStale();
    const netns = Netns.create();
    try {
      const peer = { name: OUR_END, mtu, mac: ourMac, netns };
      await this.createVeth({ name, mtu, mac: routerMac, peer });
      this.setSysctls(router, name, LINK_LOCAL_ONLY);
      this.setSysctls(netns, OUR_END, ourSysctls);
      await this.configurePeer(netns);
      if (addresses) await rtnetlink.addAddress(name, addresses.router, addresses.length);
      await rtnetlink.setLink(name, { up: true });
      const link = await rtnetlink.link(name);
      const socket = this.dependencies.open(netns);
      this.plumbing = { netns, socket, routerIfindex: link?.ifindex ?? 0 };
    } catch (error) {
      netns.close();
      await rtnetlink.deleteLink(name).catch(ignoreMissing);
      throw error;
    }
    if (this.closed) return;
    this.dependencies.log.info(
      { interface: name, mtu },
      `${protocol} link to ${SUITE_TITLES[this.opts.suite ?? DEFAULT_SUITE]} created`,
    );
    this.dependencies.onUp();
    this.announceLater(0);
  }

  /**
   * With the interface index that it had before, if that is free. To Holo, an interface that comes back under another
   * one stays down until Holo is restarted.
   */
  private async createVeth(veth: Parameters<Rtnetlink['createVeth']>[0]): Promise<void> {
    const ifindex = ifindexOf(this.opts.routerMac);
    try {
      await this.rtnetlink!.createVeth({ ...veth, ifindex });
    } catch (error) {
      if (!isKernelError(error, 'EBUSY') && !isKernelError(error, 'EEXIST')) throw error;
      await this.rtnetlink!.createVeth(veth);
      this.dependencies.log.warn({ interface: veth.name, ifindex }, 'another interface has the index of this link');
    }
  }

  private announceLater(n: number): void {
    const pause = ANNOUNCE_MS[n];
    if (pause === undefined) return;
    this.cancelAnnouncement = this.dependencies.clock.after(pause, () => {
      this.announceLater(n + 1);
      this.announce().catch((error: unknown) =>
        this.dependencies.log.debug({ interface: this.opts.interface, err: error }, 'addresses not announced again'),
      );
    });
  }

  private async announce(): Promise<void> {
    const { interface: name } = this.opts;
    const rtnetlink = this.rtnetlink!;
    for (const { ifindex, address, length } of await rtnetlink.addresses()) {
      if (ifindex === this.plumbing?.routerIfindex) await rtnetlink.addAddress(name, address, length, { again: true });
    }
  }

  private async configurePeer(netns: Netns): Promise<void> {
    const { addresses } = this.opts;
    const inside = Rtnetlink.open({ netns }, { poller: this.dependencies.poller });
    try {
      await inside.setLink(OUR_END, { up: true });
      if (addresses) await inside.addAddress(OUR_END, addresses.own, addresses.length);
    } finally {
      inside.close();
    }
  }

  /** The kernel removes a veth of a killed process with its namespace, but not at once. */
  private async removeStale(): Promise<void> {
    const { interface: name, routerMac, protocol, prefix } = this.opts;
    const link = await this.rtnetlink!.link(name);
    if (!link) return;
    if (link.kind !== 'veth' || Buffer.compare(link.mac, routerMac) !== 0) {
      throw new RouterLinkError(
        'interface-exists',
        `interface ${name} exists and is not cnpd's: remove it, or choose another name for ${prefix}.interface`,
      );
    }
    this.dependencies.log.info({ interface: name }, `removing the ${protocol} link left by an earlier run`);
    await this.rtnetlink!.deleteLink(name).catch(ignoreMissing);
  }

  /** With a read-only /proc/sys the only cost is a second of duplicate address detection. */
  private setSysctls(netns: Netns | undefined, name: string, values: Readonly<Record<string, string>>): void {
    const write = (): void => {
      for (const [key, value] of Object.entries(values)) {
        try {
          writeFileSync(`/proc/sys/net/ipv6/conf/${name}/${key}`, value);
        } catch (error) {
          this.dependencies.log.debug({ interface: name, sysctl: key, err: error }, 'sysctl not set');
        }
      }
    };
    if (netns) netns.run(write);
    else write();
  }

  private changed(change: KernelChange): void {
    if (change.kind !== 'link' || !change.removed || change.link.ifindex !== this.plumbing?.routerIfindex) return;
    // The link before this one had the same index.
    void this.verify();
  }

  /** Does the interface still exist? */
  private async verify(): Promise<void> {
    const expected = this.plumbing?.routerIfindex;
    const link = await this.rtnetlink?.link(this.opts.interface).catch(() => undefined);
    if (expected !== undefined && link?.ifindex !== expected && this.plumbing?.routerIfindex === expected) {
      this.lost(`interface ${this.opts.interface} was deleted`);
    }
  }

  private lost(reason: string): void {
    this.dependencies.count(`${this.opts.prefix}.interface.vanished`);
    this.dependencies.log.warn({ interface: this.opts.interface }, `${reason}: creating it again`);
    this.tearDown();
    this.dependencies.onDown(reason);
    this.rebuild(0);
  }

  private rebuild(attempt: number): void {
    if (this.closed) return;
    this.cancelRetry = this.dependencies.clock.after(
      attempt === 0 ? 0 : RETRY_MS[Math.min(attempt, RETRY_MS.length) - 1]!,
      () => {
        this.building = this.build().catch((error: unknown) => {
          this.dependencies.count(`${this.opts.prefix}.interface.create-failed`);
          this.dependencies.log.warn(
            { interface: this.opts.interface, err: error },
            `${this.opts.protocol} link could not be created: retrying`,
          );
          this.rebuild(attempt + 1);
        });
      },
    );
  }

  /** @returns whether there was a link */
  private tearDown(): boolean {
    if (!this.plumbing) return false;
    this.cancelAnnouncement();
    this.plumbing.socket.close();
    this.plumbing.netns.close();
    this.plumbing = undefined;
    return true;
  }
}

function ignoreMissing(error: unknown): void {
  if (!isKernelError(error, 'ENODEV')) throw error;
}

/** The same each time, and far above those that the kernel hands out: the last four bytes of the address. */
export const ifindexOf = (mac: Uint8Array): number => Buffer.from(mac).readUInt32BE(2);

/** fe80::/64 with the modified EUI-64 of a MAC (RFC 4291 App. A). */
export function linkLocalOf(mac: Uint8Array): IpAddress {
  const bytes = new Uint8Array(16);
  bytes.set([0xfe, 0x80]);
  bytes.set([mac[0]! ^ 2, mac[1]!, mac[2]!, 0xff, 0xfe, mac[3]!, mac[4]!, mac[5]!], 8);
  return addressFromBytes(bytes);
}
