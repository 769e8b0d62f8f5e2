// The border guard's maps (bpf/lib/guard/layout.h).
import type { IpAddress } from '../../model/address.ts';
import type { Prefix } from '../../model/prefix.ts';
import { LITTLE_ENDIAN, mappedAddress, structure, u32Key, viewOf } from './layout.ts';

/** In dist/bpf/guard.bpf.o: tc ingress and egress of a border port. */
export const GUARD_PROGRAMS = { ingress: 'guard_ingress', egress: 'guard_egress' } as const;

export const GUARD_MAPS = {
  ports: 'guard_ports',
  /** Key prefixKey, value encodeAllowed. */
  allowInbound: 'guard_allow_inbound',
  allowOutbound: 'guard_allow_outbound',
  /** SIDs of the domain and Proxy Addresses. Key guardedKey, value GUARDED_VALUE. Pinned by its first name. */
  guarded: 'guard_end_con_sids',
} as const;

/** Offsets in struct guard_port. */
export const GUARD_PORT_SIZE = 8;
const PORT = { udpPort: 0, option: 2, ioamOption: 3, icmpv6Type: 4, longHaulRoce: 5, arnUdpPort: 6 } as const;

/** What counts as a notification at a border port; an absent kind does not. */
export interface GuardPort {
  /** Destination port of Congestion Notifications to Proxy. */
  readonly udpPort: number;
  /** IPv6 destination option types of Fast CNP, without and with IOAM trace data. */
  readonly fastCnpOption?: number;
  readonly fastCnpIoamOption?: number;
  /** ICMPv6 type of Long-haul CNP. With it the RoCEv2 form, which has no code point of its own, is recognized too. */
  readonly longHaulIcmpv6Type?: number;
  /** Destination port of Adaptive Routing Notifications. */
  readonly arnUdpPort?: number;
}

/** The key is the interface index. */
export const guardPortKey = (ifindex: number): Uint8Array => u32Key(ifindex);

export const encodeGuardPort = (port: GuardPort): Uint8Array =>
  structure(GUARD_PORT_SIZE, (view, bytes) => {
    view.setUint16(PORT.udpPort, port.udpPort);
    bytes[PORT.option] = port.fastCnpOption ?? 0;
    bytes[PORT.ioamOption] = port.fastCnpIoamOption ?? 0;
    bytes[PORT.icmpv6Type] = port.longHaulIcmpv6Type ?? 0;
    view.setUint16(PORT.arnUdpPort, port.arnUdpPort ?? 0);
    bytes[PORT.longHaulRoce] = port.longHaulIcmpv6Type === undefined ? 0 : 1;
  });

export function decodeGuardPort(value: Uint8Array): GuardPort {
  const [option, ioamOption, icmpv6Type] = [value[PORT.option]!, value[PORT.ioamOption]!, value[PORT.icmpv6Type]!];
  const arnUdpPort = viewOf(value).getUint16(PORT.arnUdpPort);
  return {
    udpPort: viewOf(value).getUint16(PORT.udpPort),
    ...(option ? { fastCnpOption: option } : {}),
    ...(ioamOption ? { fastCnpIoamOption: ioamOption } : {}),
    ...(icmpv6Type ? { longHaulIcmpv6Type: icmpv6Type } : {}),
    ...(arnUdpPort ? { arnUdpPort } : {}),
  };
}

/** Value of an allowed prefix. */
export const encodeAllowed = (prefix: Prefix): Uint8Array =>
  structure(4, (view) => view.setUint32(0, prefix.address.family, LITTLE_ENDIAN));

export const guardedKey = (guarded: IpAddress): Uint8Array => mappedAddress(guarded);
export const GUARDED_VALUE = Uint8Array.of(1);
