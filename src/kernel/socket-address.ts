// struct sockaddr_in and sockaddr_in6 (ip(7), ipv6(7)): address and port, as bytes and back.
import { type IpAddress, addressBytes, addressFromBytes } from '../model/address.ts';
import { AF } from './ffi/libc.ts';

export interface SocketAddress {
  readonly address: IpAddress;
  /** Host order. 0: any, or none (raw sockets). */
  readonly port: number;
  /** Interface index of a link-local address: without it the kernel does not know which link is meant. */
  readonly scope?: number | undefined;
}

const PORT = 2;
/** sin6_scope_id. */
const SCOPE = 24;
/** Size of the structure and offset of the address in it. */
const LAYOUT = {
  4: { domain: AF.INET, size: 16, address: 4, length: 4 },
  6: { domain: AF.INET6, size: 28, address: 8, length: 16 },
} as const;

export const domainOf = (family: 4 | 6): number => LAYOUT[family].domain;
export const socketAddressSize = (family: 4 | 6): number => LAYOUT[family].size;

export function encodeSocketAddress({ address, port, scope }: SocketAddress): Uint8Array {
  const layout = LAYOUT[address.family];
  const bytes = new Uint8Array(layout.size);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, layout.domain, true);
  view.setUint16(PORT, port, false);
  bytes.set(addressBytes(address), layout.address);
  if (address.family === 6 && scope !== undefined) view.setUint32(SCOPE, scope, true);
  return bytes;
}

/** @param bytes a structure of this family, written by the kernel */
export function decodeSocketAddress(bytes: Uint8Array, family: 4 | 6): SocketAddress {
  const { address, length } = LAYOUT[family];
  return {
    address: addressFromBytes(bytes.subarray(address, address + length)),
    port: (bytes[PORT]! << 8) | bytes[PORT + 1]!,
  };
}
