// Packets in tunnels to a provider edge, and what its customers get of them.
import { expect } from 'vitest';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { ipv4ChecksumValid } from '../../../src/packet/ip/ipv4.ts';
import { ipv6, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { data } from './packets.ts';
import { type ProviderEdge, REMOTE, TRANSIT, trafficClass } from './srv6-scene.ts';
import { until } from '../../support/until.ts';

/** Congestion fields. */
export const N = 0,
  E1 = 1,
  E0 = 2,
  CE = 3;

/** End.DT6 of the main table that another program configured. */
export const FOREIGN = { endCon: false, families: [6], table: 254 } as const;

/**
 * Behind the first port, in the main table; behind the second one, in the other table. Sources are beyond the tunnel.
 */
export const CUSTOMER = {
  6: { source: address('2001:db8:7::7'), destination: address('2001:db8:1::10') },
  4: { source: address('10.7.0.7'), destination: address('10.1.0.10') },
} as const;
export const OTHER_CUSTOMER = {
  6: { ...CUSTOMER[6], destination: address('2001:db8:3::10') },
  4: { ...CUSTOMER[4], destination: address('10.3.0.10') },
} as const;

/** The traffic class of an IPv6 packet, set. */
export function withClass(packet: Uint8Array, tc: number): Uint8Array {
  const out = packet.slice();
  out[0] = 0x60 | (tc >> 4);
  out[1] = (out[1]! & 15) | ((tc & 15) << 4);
  return out;
}

const protocolOf = (packet: Uint8Array): number => (packet[0]! >> 4 === 6 ? 41 : 4);
/** A tunnel to `sid`, with an SRH whose segments are used up or without one. */
export const tunnel = (sid: IpAddress, tc: number, inner: Uint8Array, hasSrh: boolean): Uint8Array =>
  withClass(
    hasSrh
      ? ipv6([REMOTE, sid], 43, srh(protocolOf(inner), 0, [sid, TRANSIT], inner))
      : ipv6([REMOTE, sid], protocolOf(inner), inner),
    tc,
  );

const isRoce = (f: Uint8Array): boolean => (f[12] === 0x08 || f[12] === 0x86) && parseRocePacket(f.subarray(14)).ok;
/** RoCEv2 packets that a customer got. */
export const deliveredBy = (pe: ProviderEdge, to: 'h1' | 'h2'): Uint8Array[] =>
  pe.captured[to].filter(isRoce).map((f) => f.subarray(14));

/** Sends what may be dropped, then a packet that is not, and waits for that one: what was to come has come. */
export async function exchangeWith(
  pe: ProviderEdge,
  packets: readonly Uint8Array[],
  to: 'h1' | 'h2' = 'h1',
  family: 4 | 6 = 6,
): Promise<Uint8Array[]> {
  const before = deliveredBy(pe, to).length;
  for (const packet of packets) pe.arrive('p', packet);
  pe.arrive(
    'p',
    data({
      source: CUSTOMER[6].source,
      destination: to === 'h1' ? CUSTOMER[6].destination : OTHER_CUSTOMER[6].destination,
      qpn: 0xfff0 + family,
    }),
  );
  const isLast = (p: Uint8Array): boolean => bthQpn(p) === 0xfff0 + family;
  await until(
    'the last packet',
    () => deliveredBy(pe, to),
    (all) => all.some(isLast),
    30_000,
  );
  const found = deliveredBy(pe, to)
    .slice(before)
    .filter((p) => !isLast(p));
  pe.captured[to].length = 0;
  return found;
}

export function bthQpn(packet: Uint8Array): number {
  const parsed = parseRocePacket(packet);
  if (!parsed.ok) throw new Error(parsed.error.detail);
  expect(parsed.value.icrcValid).toBe(true);
  return parsed.value.bth.destQpn;
}

/** The packet as a router passes it on: one hop less, and the congestion field that is expected. */
export function expected(packet: Uint8Array, ecn: number): Uint8Array {
  const out = packet.slice();
  if (out[0]! >> 4 === 6) {
    out[7]!--;
    return withClass(out, (trafficClass(out) & 0xfc) | ecn);
  }
  out[8]!--;
  out[1] = (out[1]! & 0xfc) | ecn;
  out.fill(0, 10, 12);
  return out;
}
export const withoutChecksum = (packet: Uint8Array): Uint8Array => {
  if (packet[0]! >> 4 === 6) return packet;
  expect(ipv4ChecksumValid(packet, 0, 20)).toBe(true);
  const out = packet.slice();
  out.fill(0, 10, 12);
  return out;
};
