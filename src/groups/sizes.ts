// What a packet of a group becomes on its way to the edges, in octets.
import type { IpAddress } from '../model/address.ts';
import type { GroupMember } from '../model/group.ts';
import { type GroupMembers, receiversByEdge } from './membership.ts';

/** RMC §7.2: the Length field has 8 bits. */
export const MOST_RECEIVERS_OF_TLV = 11;
const TLV_FIXED = 24;
const TLV_RECEIVER = 20;
/** PadN behind an odd number of receivers. */
const TLV_PADDING = 4;

const OUTER_HEADER = 40;
/** Fixed part, and two segments. */
const SRH = 8 + 2 * 16;
const TREE_TLV = 24;
const SRH_LIMIT = 2048;

/** The MTUs of RoCEv2 connections (IBTA volume 1, §9.7.1). */
export const ROCE_MTUS = [4096, 2048, 1024, 512, 256] as const;
/** IPv6, UDP, BTH, RETH, immediate data, ICRC. */
const ROCE_HEADERS = 40 + 8 + 12 + 16 + 4 + 4;

/** What is asked of TLVs to compute their size. */
type Sized = readonly { readonly receivers: readonly unknown[] }[];

export interface EndMtTlv {
  readonly edge: IpAddress;
  /** 1 to 11. */
  readonly receivers: readonly GroupMember[];
}

/** All receivers; several TLVs for an edge that has more than fit into one. */
export const endMtTlvs = (members: GroupMembers): EndMtTlv[] =>
  receiversByEdge(members).flatMap(({ edge, receivers }) =>
    Array.from({ length: Math.ceil(receivers.length / MOST_RECEIVERS_OF_TLV) }, (_, i) => ({
      edge,
      receivers: receivers.slice(i * MOST_RECEIVERS_OF_TLV, (i + 1) * MOST_RECEIVERS_OF_TLV),
    })),
  );

/** With their padding. */
export const tlvOctets = (tlvs: Sized): number =>
  tlvs.reduce(
    (sum, { receivers: { length } }) => sum + TLV_FIXED + TLV_RECEIVER * length + (length % 2) * TLV_PADDING,
    0,
  );

const srhOctets = (tlvs: Sized): number => SRH + TREE_TLV + tlvOctets(tlvs);

/** What the root adds to each packet. */
export const overhead = (tlvs: Sized): number => OUTER_HEADER + srhOctets(tlvs);

/** The largest packet of a connection with this MTU. */
export const rocePacket = (roceMtu: number): number => roceMtu + ROCE_HEADERS;

/** What that packet has in a tree at least: without a TLV of an edge. */
export const leastInTree = (roceMtu: number): number => rocePacket(roceMtu) + overhead([]);

/** Smaller ones fit on every IPv6 link. */
const SMALLEST_TO_NAME = 1024;

/** What a link of the core must pass for connections of each MTU, as a part of a sentence. */
export function coreMtuNeeds(): string {
  const [largest, ...others] = ROCE_MTUS.filter((mtu) => mtu >= SMALLEST_TO_NAME);
  return [`${largest} needs ${leastInTree(largest!)} octets or more`]
    .concat(others.map((mtu) => `${mtu} ${leastInTree(mtu)}`))
    .join(', ');
}

/** The largest MTU of connections whose packets fit. 0: not even the smallest one does. */
export const roceMtuWithin = (octets: number): number => ROCE_MTUS.find((mtu) => rocePacket(mtu) <= octets) ?? 0;

interface TlvLimits {
  /** Octets of all End.MT TLVs. */
  readonly tlvLimit: number;
  /** Of the core ports. */
  readonly mtu: number;
}

/**
 * The TLVs of the group's packets: those of all receivers, or none (RMC-8-f). None if they exceed a limit, or if they
 * would leave so little room that connections need a smaller MTU.
 */
export function tlvsThatFit(members: GroupMembers, { tlvLimit, mtu }: TlvLimits): readonly EndMtTlv[] {
  const tlvs = endMtTlvs(members);
  const fits =
    tlvOctets(tlvs) <= tlvLimit &&
    srhOctets(tlvs) <= SRH_LIMIT &&
    roceMtuWithin(mtu - overhead(tlvs)) === roceMtuWithin(mtu - overhead([]));
  return fits ? tlvs : [];
}
