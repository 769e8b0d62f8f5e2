// The TLVs that are nothing but addresses: interface addresses 132 (RFC 1195 §5.3.2) and 232 (RFC 5308 §3), and the
// traffic-engineering router IDs 134 (RFC 5305 §4.3) and 140 (RFC 6119 §4.1).
import { type Family, type IpAddress, addressBytes } from '../../../model/address.ts';
import { ok } from '../../../model/result.ts';
import { concat, readAddress } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import type { Ipv4InterfaceAddresses, Ipv4TeRouterId, Ipv6InterfaceAddresses, Ipv6TeRouterId } from '../types.ts';
import type { TlvCodec } from './codec.ts';

function bytesOf(address: IpAddress, family: Family): Uint8Array {
  if (address.family !== family) throw new EncodeError('bad-field', `an IPv${address.family} address in a TLV of IPv${family}`);
  return addressBytes(address);
}

function interfaceAddresses<T extends Ipv4InterfaceAddresses | Ipv6InterfaceAddresses>(type: number, name: T['kind'], family: Family): TlvCodec<T> {
  const size = family === 4 ? 4 : 16;
  return {
    type,
    name,
    decode(value) {
      if (value.length % size !== 0) return malformed('bad-length', 0, `${value.length} bytes are not whole IPv${family} addresses`);
      const addresses = Array.from({ length: value.length / size }, (_, i) => readAddress(value, i * size, family));
      return ok({ kind: name, addresses } as unknown as T);
    },
    encode: ({ addresses }) => concat(...addresses.map((a) => bytesOf(a, family))),
  };
}

function teRouterId<T extends Ipv4TeRouterId | Ipv6TeRouterId>(type: number, name: T['kind'], family: Family): TlvCodec<T> {
  return {
    type,
    name,
    decode(value) {
      if (value.length !== (family === 4 ? 4 : 16)) return malformed('bad-length', 0, `router ID of ${value.length} bytes`);
      return ok({ kind: name, address: readAddress(value, 0, family) } as unknown as T);
    },
    encode: ({ address }) => bytesOf(address, family),
  };
}

export const IPV4_INTERFACE_ADDRESSES = interfaceAddresses<Ipv4InterfaceAddresses>(132, 'ipv4-interface-addresses', 4);
export const IPV6_INTERFACE_ADDRESSES = interfaceAddresses<Ipv6InterfaceAddresses>(232, 'ipv6-interface-addresses', 6);
export const IPV4_TE_ROUTER_ID = teRouterId<Ipv4TeRouterId>(134, 'ipv4-te-router-id', 4);
export const IPV6_TE_ROUTER_ID = teRouterId<Ipv6TeRouterId>(140, 'ipv6-te-router-id', 6);
