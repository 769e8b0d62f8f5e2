// The veth pair through which packets of groups enter their trees at a root (decision "Groups"). Packets of sources go
// out at the inner end and come in at the outer end; encapsulated ones go out at the outer end, where a program
// replicates them. Without ARP the kernel sends to the device's own MAC address, so both ends have the same one. No
// link-local addresses, so that nothing else is sent there but MLD.
import { KernelError, isKernelError } from '../errors.ts';
import { TREE_DEVICE, TREE_DEVICE_PEER } from '../../model/tree-device.ts';
import type { Netns } from '../netns.ts';
import { RTM_LINK, decodeLink, encodeVeth, linkByName, linkFilter } from './link.ts';
import { NLM_F, attribute, concat, decodeAttributes, nested, readText, struct, text } from './message.ts';
import { SynchronousNetlink } from './synchronous.ts';

/** The kernel's largest. Routes limit packets, each with the MTU of its group. */
const MTU = 65_535;
/** Locally administered; seen by no other machine. */
const MAC = Uint8Array.of(0x02, 0x63, 0x6e, 0x70, 0x64, 0x01);
/** Marks the pair as cnpd's. */
const ALIAS = 'cnpd: into the trees of groups';
const IFLA = { IFALIAS: 20, AF_SPEC: 26 } as const;
const IFLA_INET6_ADDR_GEN_MODE = 8;
const ADDR_GEN_MODE_NONE = 1;
const AF_INET6 = 10;
const IFF = { UP: 0x1, NOARP: 0x80 } as const;
const HEADER = 16;

export interface TreeDevice {
  /** Interface indexes. */
  readonly outer: number;
  readonly inner: number;
}

interface End {
  readonly ifindex: number;
  readonly peerIfindex: number | undefined;
  readonly isOwn: boolean;
  readonly isReady: boolean;
}

export class TreeDevices {
  readonly #netlink: SynchronousNetlink;

  private constructor(netlink: SynchronousNetlink) {
    this.#netlink = netlink;
  }

  /** @throws KernelError */
  static open(opts: { netns?: Netns | undefined } = {}): TreeDevices {
    return new TreeDevices(SynchronousNetlink.open(opts));
  }

  /** The pair, if it is there as it must be. @throws KernelError */
  find(): TreeDevice | undefined {
    const [outer, inner] = [this.#end(TREE_DEVICE), this.#end(TREE_DEVICE_PEER)];
    if (!outer?.isReady || !inner?.isReady || outer.peerIfindex !== inner.ifindex) return undefined;
    return { outer: outer.ifindex, inner: inner.ifindex };
  }

  /**
   * Adopts the pair of an earlier run, or makes one.
   * @throws KernelError, also if another program's interface has the name
   */
  ensure(): TreeDevice {
    const there = this.find();
    if (there) return there;
    for (const name of [TREE_DEVICE, TREE_DEVICE_PEER]) {
      const end = this.#end(name);
      if (end && !end.isOwn) throw new Error(`the interface ${name} is not cnpd's: remove it or give it another name`);
    }
    this.remove();
    const flags = NLM_F.CREATE | NLM_F.EXCL;
    const body = encodeVeth({ name: TREE_DEVICE, mtu: MTU, mac: MAC }, { name: TREE_DEVICE_PEER, mtu: MTU, mac: MAC });
    this.#netlink.request({ operation: `create veth ${TREE_DEVICE}`, type: RTM_LINK.NEW, flags, body });
    for (const name of [TREE_DEVICE, TREE_DEVICE_PEER]) this.#setUp(name);
    const made = this.find();
    if (!made) throw new Error(`${TREE_DEVICE} was changed while it was made`);
    return made;
  }

  /** Returns false when there is none. Another program's interface stays. @throws KernelError */
  remove(): boolean {
    const name = [TREE_DEVICE, TREE_DEVICE_PEER].find((end) => this.#end(end)?.isOwn);
    if (!name) return false;
    this.#netlink.request({ operation: `delete interface ${name}`, type: RTM_LINK.DEL, body: linkByName(name) });
    return true;
  }

  #setUp(name: string): void {
    const { ifindex } = this.#end(name)!;
    const set = (flags: number, ...attributes: readonly Uint8Array[]): void => {
      const header = struct(HEADER, (view) => {
        view.setInt32(4, ifindex, true);
        view.setUint32(8, flags, true);
        view.setUint32(12, flags, true);
      });
      const body = concat([header, ...attributes]);
      this.#netlink.request({ operation: `set interface ${name}`, type: RTM_LINK.NEW, body });
    };
    const mode = attribute(IFLA_INET6_ADDR_GEN_MODE, Uint8Array.of(ADDR_GEN_MODE_NONE));
    // First, because the kernel makes a link-local address when the interface comes up.
    set(0, attribute(IFLA.IFALIAS, text(ALIAS)), nested(IFLA.AF_SPEC, nested(AF_INET6, mode)));
    set(IFF.NOARP | IFF.UP);
  }

  #end(name: string): End | undefined {
    try {
      const operation = `interface ${name}`;
      const [answer] = this.#netlink.request({ operation, type: RTM_LINK.GET, body: linkFilter(name) });
      const link = answer && decodeLink(answer);
      if (!link) throw new KernelError(operation, 2, 'the kernel answered without an interface');
      const alias = readText(decodeAttributes(answer.body, HEADER).get(IFLA.IFALIAS));
      const isOwn = link.kind === 'veth' && (alias === ALIAS || this.#isHalfMade(link.mac, alias));
      const isReady = isOwn && alias === ALIAS && link.up && link.mtu === MTU && Buffer.compare(link.mac, MAC) === 0;
      return { ifindex: link.ifindex, peerIfindex: link.peerIfindex, isOwn, isReady };
    } catch (error) {
      if (isKernelError(error, 'ENODEV')) return undefined;
      throw error;
    }
  }

  /** The process ended between creation and the alias. */
  #isHalfMade(mac: Uint8Array, alias: string | undefined): boolean {
    return alias === undefined && Buffer.compare(mac, MAC) === 0;
  }

  /** Idempotent. */
  close(): void {
    this.#netlink.close();
  }
}
