// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A data packet of a group: IPv6, an SRH with two segments and a tree TLV, and a RoCEv2 packet of RC inside. It is
// parsed strictly: whatever is not exactly that is dropped, by its own counter.
#ifndef CNPD_MULTICAST_PACKET_H
#define CNPD_MULTICAST_PACKET_H

#include "multicast/icrc-delta.h"
#include "multicast/maps.h"
#include "wire/walk.h"

// The SRH behind Ethernet and IPv6.
#define MULTICAST_SRH (ETH_HLEN + IPV6_HLEN)
#define SRH_NEXT_HEADER 0
#define SRH_TYPE 2
#define SRH_SEGMENTS_LEFT 3
#define SRH_LAST_ENTRY 4
#define SRH_SEGMENT_0 8
// Behind two segments: the tree TLV, then the others.
#define SRH_TREE 40
#define SRH_TLVS 64
#define TREE_LENGTH 22
#define TREE_EPOCH 4
#define TREE_MEMBERS 8
#define TREE_TREE 16

// Words of the packet inside, from its IPv6 header on.
#define AT_PORTS 10
#define AT_QPN 13
#define AT_PSN 14
#define AT_VA 15
#define WORDS_BTH 15
#define WORDS_RETH 18
#define INNER_BTH (IPV6_HLEN + UDP_HLEN)
#define INNER_MIN (INNER_BTH + BTH_SIZE + ICRC_SIZE)
#define RETH_SIZE 16

// RC: SEND 00-05, WRITE 06-0B. SEND with Invalidate names a memory key, which differs from receiver to receiver.
#define MULTICAST_OPCODES 0x0c
// First and Only of SEND and WRITE: what begins a message.
#define MULTICAST_BEGINS 0x0c71u
// WRITE First, WRITE Only: with RETH.
#define MULTICAST_HAS_RETH 0x0c40u
#define MULTICAST_OPCODE_IN(opcode, set) ((set) >> ((opcode) & 15) & 1)

// What a source's address does to ICRC and checksum when it becomes a Proxy Address.
struct multicast_source {
	struct address from, to;
	__u32 crc;
	__u32 sum;
};
#define MULTICAST_SOURCES 16

// The packet in work. Per CPU: tc programs run with bottom halves off, and copies that leave do not come back at once.
struct multicast_packet {
	__u32 words[20]; // of the packet inside as it came; WORDS_BTH, or WORDS_RETH
	__u32 icrc;	 // as it came
	__u32 inner;	 // offset of the packet inside in the frame
	__u32 length;	 // of the packet inside, octets
	__u32 group;	 // index
	__u32 parent;	 // number of the router that made this copy; 0 at the root, its own for its edge role there
	__u32 epoch;
	__u32 psn;
	__u32 end_tlvs; // offset of the end of the SRH in the frame
	__u8 opcode;
	__u8 has_reth;
	__u8 begins_message;
	__u8 has_tlv;		    // an End.MT TLV is for this edge
	__u32 traffic_class;	    // of the packet inside, as it leaves
	struct address destination; // of the packet that brought it: a SID of this router
	__u64 members, tree;	    // digests
	__u64 selected;		    // receivers of TLVs, by their place in the list
	__u32 source_crc;	    // remainder and checksum of what all receivers' changes have in common
	__u32 source_sum;
	__u32 receivers; // number of those below
	__u32 slots[MULTICAST_BRANCHES];
	__u32 length_at; // place below of what its length does to a difference of the ICRC
	// Kept from packet to packet.
	struct icrc_length lengths[ICRC_LENGTHS];
	struct multicast_source sources[MULTICAST_SOURCES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct multicast_packet);
} multicast_scratch SEC(".maps");

static __always_inline struct multicast_packet *multicast_packet_in_work(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&multicast_scratch, &zero);
}

static __always_inline int multicast_refuse(enum counter why)
{
	count(why);
	return 0;
}

static __always_inline int multicast_drop(enum counter why)
{
	count(why);
	return TC_DROP;
}

// Pulls `size` octets of the packet into linear memory, or all if there are fewer. 0: failed.
static __always_inline int multicast_pull(struct __sk_buff *skb, __u32 size)
{
	if (size > skb->len)
		size = skb->len;
	return skb->data_end - skb->data >= size || bpf_skb_pull_data(skb, size) == 0;
}

static __always_inline enum counter multicast_inner_protocol(__u8 next)
{
	if (next == IPPROTO_FRAGMENT)
		return COUNT_MC_INNER_FRAGMENT;
	if (is_extension(next))
		return COUNT_MC_INNER_EXTENSION;
	return is_walked(next) || is_opaque(next) ? COUNT_MC_INNER_NESTED : COUNT_MC_INNER_NOT_ROCE;
}

// Reads and checks the packet inside, at packet->inner. 0: dropped and counted.
static __always_inline int multicast_parse_inner(struct __sk_buff *skb, struct multicast_packet *packet, __u32 outer)
{
	__u32 inner = packet->inner;
	const __u8 *ip = (const __u8 *)packet->words, *bth = ip + INNER_BTH;
	if (bpf_skb_load_bytes(skb, inner, packet->words, 4 * WORDS_BTH) < 0)
		return multicast_refuse(COUNT_MC_INNER_LENGTH);
	if (ip[0] >> 4 != 6)
		return multicast_refuse(COUNT_MC_INNER_PROTOCOL);
	if (ip[IPV6_NEXT_HEADER] != IPPROTO_UDP)
		return multicast_refuse(multicast_inner_protocol(ip[IPV6_NEXT_HEADER]));
	if (walk_be16(ip + IPV6_HLEN + UDP_DESTINATION) != bpf_htons(ROCE_UDP_PORT))
		return multicast_refuse(COUNT_MC_INNER_NOT_ROCE);
	__u32 payload = bpf_ntohs(walk_be16(ip + IPV6_PAYLOAD_LENGTH)), length = payload + IPV6_HLEN;
	packet->opcode = bth[0];
	packet->has_reth = bth[0] < MULTICAST_OPCODES && MULTICAST_OPCODE_IN(bth[0], MULTICAST_HAS_RETH);
	packet->begins_message = bth[0] < MULTICAST_OPCODES && MULTICAST_OPCODE_IN(bth[0], MULTICAST_BEGINS);
	if (length < INNER_MIN + (packet->has_reth ? RETH_SIZE : 0) || length % 4 != 0 ||
	    bpf_ntohs(walk_be16(ip + IPV6_HLEN + UDP_LENGTH)) != payload || inner + length != skb->len ||
	    outer + MULTICAST_SRH != skb->len || skb->len > WALK_OFFSET_MASK)
		return multicast_refuse(COUNT_MC_INNER_LENGTH);
	if (bth[0] >= MULTICAST_OPCODES || (bth[1] & BTH_VERSION) != 0)
		return multicast_refuse(COUNT_MC_INNER_OPCODE);
	if (packet->has_reth &&
	    bpf_skb_load_bytes(skb, inner + 4 * WORDS_BTH, packet->words + WORDS_BTH, 4 * (WORDS_RETH - WORDS_BTH)) < 0)
		return multicast_refuse(COUNT_MC_INNER_LENGTH);
	packet->length = length;
	packet->psn = BTH_PSN(packet->words[AT_PSN]);
	return 1;
}

// RMC §6.2 S01-S03: the segment that is next is the Proxy Address, which the packet inside has as its destination.
static __always_inline int multicast_parse_srh(struct __sk_buff *skb, struct multicast_packet *packet,
					       const struct multicast_config *config)
{
	const __u8 *srh = walk_at(skb, MULTICAST_SRH, 8);
	if (!srh || srh[SRH_TYPE] != ROUTING_TYPE_SRH)
		return multicast_refuse(COUNT_MC_NO_SRH);
	if (srh[SRH_SEGMENTS_LEFT] == 0)
		return multicast_refuse(COUNT_MC_NO_SEGMENTS);
	__u32 size = (srh[1] + 1) * 8;
	if (srh[SRH_LAST_ENTRY] != 1 || srh[SRH_SEGMENTS_LEFT] != 1 || size < SRH_TREE)
		return multicast_refuse(COUNT_MC_SRH_MALFORMED);
	if (srh[SRH_NEXT_HEADER] != IPPROTO_IPV6)
		return multicast_refuse(COUNT_MC_INNER_PROTOCOL);
	packet->inner = packet->end_tlvs = MULTICAST_SRH + size;
	if (size < SRH_TLVS)
		return multicast_refuse(COUNT_MC_SRH_TREE);
	srh = walk_at(skb, MULTICAST_SRH, SRH_TLVS);
	if (!srh)
		return multicast_refuse(COUNT_MC_INNER_LENGTH);
	const __u8 *tree = srh + SRH_TREE;
	if (tree[0] != config->tree_tlv || tree[1] != TREE_LENGTH)
		return multicast_refuse(COUNT_MC_SRH_TREE);
	packet->epoch = bpf_ntohl(*(const __be32 *)(tree + TREE_EPOCH)) & EPOCH_MASK;
	packet->members = *(const __u64 *)(tree + TREE_MEMBERS);
	packet->tree = *(const __u64 *)(tree + TREE_TREE);
	return 1;
}

// Whether the segment list ends with the destination of the packet inside, which is a Proxy Address.
static __always_inline int multicast_parse_group(struct __sk_buff *skb, struct multicast_packet *packet)
{
	const __u8 *srh = walk_at(skb, MULTICAST_SRH, SRH_TLVS);
	struct address proxy;
	if (!srh)
		return multicast_refuse(COUNT_MC_FAILED); // cannot happen: it was there before
	address_load(&proxy, (const __u8 *)packet->words + IPV6_DESTINATION, 6);
	const __u64 *segment = (const __u64 *)(srh + SRH_SEGMENT_0);
	if (segment[0] != proxy.halves[0] || segment[1] != proxy.halves[1])
		return multicast_refuse(COUNT_MC_SRH_SEGMENT);
	const struct multicast_destination *found = bpf_map_lookup_elem(&multicast_destinations, &proxy);
	if (!found || found->kind != MULTICAST_PROXY)
		return multicast_refuse(COUNT_MC_GROUP_UNKNOWN);
	packet->group = found->group;
	const struct multicast_group *group = multicast_group_at(found->group);
	if (!group)
		return multicast_refuse(COUNT_MC_GROUP_UNKNOWN);
	if (BTH_QPN(packet->words[AT_QPN]) != group->designated_qpn)
		return multicast_refuse(COUNT_MC_INNER_QPN);
	return 1;
}

// Parses a packet with a routing header to one of this router's SIDs. 1: multicast_packet_in_work() is filled in, the
// headers up to the RETH are in linear memory. 0: dropped and counted. A global function: verified once.
__noinline int multicast_parse(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_config *config = bpf_map_lookup_elem(&multicast_config, &zero);
	if (!packet || !config)
		return 0;
	// A rewritten PSN would be that of the first of several packets only.
	if (skb->gso_size)
		return multicast_refuse(COUNT_MC_SEGMENTED);
	if (checksum_is_partial(skb))
		return multicast_refuse(COUNT_MC_CHECKSUM_PARTIAL);
	if (!multicast_pull(skb, MULTICAST_SRH + SRH_TLVS))
		return multicast_refuse(COUNT_MC_FAILED);
	const __u8 *outer = walk_at(skb, ETH_HLEN, IPV6_HLEN);
	if (!outer)
		return multicast_refuse(COUNT_MC_INNER_LENGTH);
	__u32 length = bpf_ntohs(walk_be16(outer + IPV6_PAYLOAD_LENGTH));
	address_load(&packet->destination, outer + IPV6_DESTINATION, 6);
	packet->has_tlv = 0;
	packet->selected = 0;
	return multicast_parse_srh(skb, packet, config) && multicast_parse_inner(skb, packet, length) &&
	       multicast_parse_group(skb, packet);
}

#endif
