// The TLVs that are nothing but addresses: interface addresses 132 (RFC 1195 §5.3.2) and 232 (RFC 5308 §3), and the
// traffic-engineering router IDs 134 (RFC 5305 §4.3) and 140 (RFC 6119 §4.1).
import { type Family, type IpAddress, addressBytes } from '../../../model/address.ts';
import { ok } from '../../../model/result.ts';
import { concat, readAddress } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import type { InterfaceAddresses, TeRouterId } from './types.ts';
import type { TlvCodec } from './codec.ts';

function bytesOf(address: IpAddress, family: Family): Uint8Array {
  if (address.family !== family)
    throw new EncodeError('bad-field', `an IPv${address.family} address in a TLV of IPv${family}`);
  return addressBytes(address);
}

const size = (family: Family): number => (family === 4 ? 4 : 16);

function interfaceAddresses(
  type: number,
  name: InterfaceAddresses['kind'],
  family: Family,
): TlvCodec<InterfaceAddresses> {
  return {
    type,
    name,
    decode(value) {
      if (value.length % size(family) !== 0)
        return malformed('bad-length', 0, `${value.length} bytes are not whole IPv${family} addresses`);
      const addresses = Array.from({ length: value.length / size(family) }, (_, i) =>
        readAddress(value, i * size(family), family),
      );
      return ok({ kind: name, addresses });
    },
    encode: ({ addresses }) => concat(...addresses.map((a) => bytesOf(a, family))),
  };
}

function teRouterId(type: number, name: TeRouterId['kind'], family: Family): TlvCodec<TeRouterId> {
  return {
    type,
    name,
    decode(value) {
      if (value.length !== size(family)) return malformed('bad-length', 0, `router ID of ${value.length} bytes`);
      return ok({ kind: name, address: readAddress(value, 0, family) });
    },
    encode: ({ address }) => bytesOf(address, family),
  };
}

export const IPV4_INTERFACE_ADDRESSES = interfaceAddresses(132, 'ipv4-interface-addresses', 4);
export const IPV6_INTERFACE_ADDRESSES = interfaceAddresses(232, 'ipv6-interface-addresses', 6);
export const IPV4_TE_ROUTER_ID = teRouterId(134, 'ipv4-te-router-id', 4);
export const IPV6_TE_ROUTER_ID = teRouterId(140, 'ipv6-te-router-id', 6);
