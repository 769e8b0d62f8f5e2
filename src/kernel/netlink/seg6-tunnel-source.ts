// The kernel's source address for SRv6 tunnels (`ip sr tunsrc`), from generic netlink's family SEG6
// (include/uapi/linux/{genetlink,seg6_genl}.h).
import { type IpAddress, addressFromBytes } from '../../model/address.ts';
import { isKernelError } from '../errors.ts';
import type { Netns } from '../netns.ts';
import { attribute, concat, decodeAttributes, text, viewOf } from './message.ts';
import { NETLINK } from './socket.ts';
import { SynchronousNetlink } from './synchronous.ts';

/** The family that resolves the others; its number is fixed. */
const CONTROLLER = { type: 16, version: 1, getFamily: 3, attributes: { familyId: 1, familyName: 2 } } as const;
const SEG6 = { name: 'SEG6', version: 1, getTunnelSource: 4, attributes: { destination: 1 } } as const;
const GENL_HEADER = 4;
const ANY = 0n;

/**
 * Undefined: none is set, and the kernel uses an address of the egress interface; or it has no SRv6.
 * @throws KernelError
 */
export function readTunnelSource(opts: { netns?: Netns } = {}): IpAddress | undefined {
  const netlink = SynchronousNetlink.open({ ...opts, protocol: NETLINK.GENERIC });
  try {
    const type = familyNumber(netlink);
    const body =
      type === undefined
        ? undefined
        : ask(
            netlink,
            'read the source of SRv6 tunnels',
            type,
            Uint8Array.of(SEG6.getTunnelSource, SEG6.version, 0, 0),
          );
    const value = body?.get(SEG6.attributes.destination);
    const source = value?.length === 16 ? addressFromBytes(value) : undefined;
    return source?.value === ANY ? undefined : source;
  } finally {
    netlink.close();
  }
}

function familyNumber(netlink: SynchronousNetlink): number | undefined {
  const { type, getFamily, version, attributes } = CONTROLLER;
  const header = Uint8Array.of(getFamily, version, 0, 0);
  try {
    const id = ask(
      netlink,
      'find the netlink family SEG6',
      type,
      concat([header, attribute(attributes.familyName, text(SEG6.name))]),
    )?.get(attributes.familyId);
    return id && id.length >= 2 ? viewOf(id).getUint16(0, true) : undefined;
  } catch (error) {
    if (isKernelError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function ask(
  netlink: SynchronousNetlink,
  operation: string,
  type: number,
  body: Uint8Array,
): ReturnType<typeof decodeAttributes> | undefined {
  const [answer] = netlink.request({ operation, type, body });
  return answer && decodeAttributes(answer.body, GENL_HEADER);
}
