// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The source (LHCNP §5.6, FCNP §4) in front of the senders: at the tc ingress of its ports and of the loopback
// interface (for notifications that this router itself has built). It takes Fast CNPs and Long-haul CNPs for declared
// senders, checks whether to believe them (source/admit.h), and lets them pass, turns them into standard CNPs, or hands
// them to the agent, as the prefix says (source/act.h). What is not believed, or not understood, is
// counted and dropped in silence: no error answers it (LHCNP-5.6-j, LHCNP-8-b).
//
// A notification has nothing between its IP header and what identifies it. Behind other extension headers, or in a
// fragment, it could reach a host that obeys without having been checked: such packets are dropped. All other packets
// pass untouched, also those in tunnels, and tagged ones: they are seen again behind the tag.
#include "kernel.h"

#define WALK_VISIT(skb, h, protocol, offset) source_visit(skb, h, protocol, offset)
struct __sk_buff;
struct headers;
static __always_inline void source_visit(struct __sk_buff *skb, struct headers *h, __u8 protocol, __u32 offset);

#include "source/act.h"

LICENSE;

#define ICMPV6_FIRST_INFORMATIONAL 128
#define VISITED_FAST_CNP 1

enum kind { KIND_OTHER, KIND_FAST_CNP, KIND_ICMPV6, KIND_CNP6, KIND_CNP4, KIND_HIDDEN };

// Whether an option of the Destination Options header at `offset` is a Fast CNP's. A global function: the verifier
// checks it once, not once a round of the walk.
__noinline int source_has_option(struct __sk_buff *skb, __u32 offset)
{
	struct source_config *config = source_configuration();
	const __u8 *header = walk_at(skb, offset, 2);
	if (!config || !header)
		return 0;
	__u32 end = offset + (header[1] + 1) * 8;
	volatile __u32 at = offset + 2;
	for (int i = 0; i < SOURCE_OPTIONS; i++) {
		if (at >= end)
			return 0;
		const __u8 *option = walk_at(skb, at, 2);
		if (!option)
			return 0;
		if (option[0] == config->fast_cnp_option || option[0] == config->fast_cnp_ioam_option)
			return VISITED_FAST_CNP;
		at = (at + (option[0] == OPTION_PAD1 ? 1 : 2 + option[1])) & WALK_OFFSET_MASK;
	}
	return VISITED_FAST_CNP; // more options than hosts accept (RFC 8504 §5.3)
}

static __always_inline void source_visit(struct __sk_buff *skb, struct headers *h, __u8 protocol, __u32 offset)
{
	if (protocol == IPPROTO_IPV6)
		h->visited = 0;
	else if (protocol == IPPROTO_DSTOPTS)
		h->visited |= source_has_option(skb, offset);
}

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct headers);
} source_headers SEC(".maps");

// Whether a packet with other extension headers, or a fragment, is a notification in hiding. A first fragment that ends
// within the header chain, or before the fields that decide, is taken for one (RFC 7112 §5).
__noinline int source_is_hidden(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct source_config *config = source_configuration();
	struct headers *h = bpf_map_lookup_elem(&source_headers, &zero);
	if (!config || !h)
		return 0;
	enum walk_result result = walk_headers(skb, h);
	if (result == WALK_TOO_DEEP || (result == WALK_TRUNCATED && h->fragmented))
		return 1;
	if (result != WALK_TRANSPORT || h->inner != h->outer || h->shims)
		return 0;
	if (h->protocol == IPPROTO_ICMPV6) {
		const __u8 *icmp = walk_at(skb, h->transport, 1);
		return !icmp || icmp[0] == config->long_haul_type;
	}
	if (h->protocol != IPPROTO_UDP || h->dport != bpf_htons(ROCE_UDP_PORT))
		return 0;
	const struct bth *bth = (const struct bth *)walk_at(skb, h->transport + UDP_HLEN, BTH_SIZE);
	if (!bth)
		return h->fragmented;
	return bth->opcode == ROCE_OPCODE_CNP &&
	       ((h->visited & VISITED_FAST_CNP) || (bpf_ntohl(bth->qpn) & BTH_EXTENSION_PRESENT));
}

// Which notification the packet claims to be, by its first bytes.
static __always_inline enum kind kind_of(struct __sk_buff *skb, const struct source_config *config)
{
	const __u8 *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	const __u8 *ip = data + ETH_HLEN;
	if (ip + IPV4_HLEN + UDP_HLEN + BTH_SIZE > end)
		return KIND_OTHER;
	__be16 type = walk_be16(data + 12);
	if (type == bpf_htons(ETH_P_IP)) {
		if (ip[IPV4_PROTOCOL] != IPPROTO_UDP || ip[0] != 0x45 ||
		    (walk_be16(ip + IPV4_FRAGMENT) & bpf_htons(0x3fff)))
			return ip[IPV4_PROTOCOL] == IPPROTO_UDP ? KIND_HIDDEN : KIND_OTHER;
		return walk_be16(ip + IPV4_HLEN + UDP_DESTINATION) == bpf_htons(ROCE_UDP_PORT) &&
				       ip[IPV4_HLEN + UDP_HLEN] == ROCE_OPCODE_CNP
			       ? KIND_CNP4
			       : KIND_OTHER;
	}
	if (type != bpf_htons(ETH_P_IPV6) || ip + IPV6_HLEN + 8 > end)
		return KIND_OTHER;
	__u8 next = ip[IPV6_NEXT_HEADER];
	if (next == IPPROTO_UDP)
		return walk_be16(ip + IPV6_HLEN + UDP_DESTINATION) == bpf_htons(ROCE_UDP_PORT) &&
				       ip + IPV6_HLEN + UDP_HLEN + BTH_SIZE <= end &&
				       ip[IPV6_HLEN + UDP_HLEN] == ROCE_OPCODE_CNP
			       ? KIND_CNP6
			       : KIND_OTHER;
	if (next == IPPROTO_ICMPV6)
		return ip[IPV6_HLEN] == config->long_haul_type ? KIND_ICMPV6 : KIND_OTHER;
	if (next == IPPROTO_DSTOPTS && ip[IPV6_HLEN] == IPPROTO_UDP)
		return KIND_FAST_CNP; // if it has the option
	return is_extension(next) ? KIND_HIDDEN : KIND_OTHER;
}

// A Long-haul CNP has the E bit; a standard CNP counts only where the agent acts for the sender. `at`: of the BTH.
static __always_inline int is_taken_cnp(struct __sk_buff *skb, __u32 at, __u32 action)
{
	const struct bth *bth = (const struct bth *)walk_at(skb, at, BTH_SIZE);
	return bth && ((bpf_ntohl(bth->qpn) & BTH_EXTENSION_PRESENT) || action == SOURCE_ENFORCE);
}

static __always_inline int is_taken(struct __sk_buff *skb, enum kind kind, __u32 action)
{
	if (kind == KIND_CNP6)
		return is_taken_cnp(skb, ETH_HLEN + IPV6_HLEN + UDP_HLEN, action);
	if (kind == KIND_CNP4)
		return is_taken_cnp(skb, ETH_HLEN + IPV4_HLEN + UDP_HLEN, action);
	if (kind == KIND_FAST_CNP)
		return source_has_option(skb, ETH_HLEN + IPV6_HLEN);
	return kind != KIND_HIDDEN || source_is_hidden(skb);
}

// Copies the packet, from its IP header on, into scratch memory, with zeros up to a word behind it.
static __always_inline int source_load(struct __sk_buff *skb, struct source_scratch *scratch, struct told *told)
{
	__u8 lead[6];
	if (bpf_skb_load_bytes(skb, ETH_HLEN, lead, sizeof(lead)) < 0)
		return COUNT_SOURCE_MALFORMED;
	__u32 length = told->family == 6 ? IPV6_HLEN + (lead[4] << 8 | lead[5]) : lead[2] << 8 | lead[3];
	if (length > SOURCE_PACKET_MAX)
		return COUNT_SOURCE_TOO_LONG;
	opaque(length);
	if (length < IPV4_HLEN + UDP_HLEN || length > SOURCE_PACKET_MAX || ETH_HLEN + length > skb->len)
		return COUNT_SOURCE_MALFORMED;
	if (bpf_skb_load_bytes(skb, ETH_HLEN, scratch->bytes, length) < 0)
		return COUNT_SOURCE_FAILED;
	__builtin_memset(scratch->bytes + length, 0, 8);
	told->length = length;
	if (told->family == 4 && csum_fold(csum_add_bytes(scratch->words, IPV4_HLEN, 0)))
		return COUNT_SOURCE_BAD_SUM;
	address_load(&told->node, scratch->bytes + address_source_at(told->family), told->family);
	return SOURCE_GOOD;
}

static __always_inline int source_read(struct __sk_buff *skb, enum kind kind, struct told *told)
{
	if (kind == KIND_FAST_CNP)
		return source_read_fast_cnp(skb, told);
	if (kind == KIND_ICMPV6)
		return source_read_icmpv6(told);
	return kind == KIND_CNP6 ? source_read_cnp6(told) : source_read_cnp4(told);
}

// Whether this source may notify this sender at all. The cheap check comes first, then the one of the FIB.
static __always_inline int source_trusted(struct __sk_buff *skb, const struct told *told)
{
	if (told->format != FORMAT_NONE && !source_is_receiver(told) && !source_is_node(&told->node))
		return COUNT_SOURCE_NOT_ALLOWED;
	return source_bearer(skb, told);
}

// The peer's CNP: anything that is wrong with it leaves it to the host, as without cnpd.
static __noinline int source_peer_arrived(struct __sk_buff *skb, struct told *told)
{
	struct address node = told->node;
	if (source_trusted(skb, told) != SOURCE_GOOD || !source_peer(told) || !same_address(&node, &told->receiver)) {
		count(COUNT_SOURCE_PEER_UNKNOWN);
		return TC_NEXT;
	}
	int problem = source_admit(told, SOURCE_ENFORCE);
	if (problem != SOURCE_GOOD) {
		count(problem);
		return TC_NEXT;
	}
	return source_act(skb, told);
}

static __always_inline int source_refuse(int problem)
{
	if (problem >= 0 && problem < COUNTERS_MAX)
		count(problem);
	return TC_DROP;
}

// A packet for a declared sender that claims to be a notification.
static __noinline int source_arrived(struct __sk_buff *skb, enum kind kind, const struct address *sender, __u32 action)
{
	struct source_scratch *scratch = source_memory();
	struct told told = { .sender = *sender, .family = kind == KIND_CNP4 ? 4 : 6 };
	if (!scratch)
		return TC_NEXT;
	int problem = source_load(skb, scratch, &told);
	if (problem == SOURCE_GOOD)
		problem = source_read(skb, kind, &told);
	if (told.format == FORMAT_NONE && (kind == KIND_CNP6 || kind == KIND_CNP4) && problem == SOURCE_GOOD)
		return source_peer_arrived(skb, &told);
	count(COUNT_SOURCE_RECEIVED);
	if (problem == SOURCE_GOOD)
		problem = source_trusted(skb, &told);
	if (problem == SOURCE_GOOD)
		problem = source_admit(&told, action);
	return problem == SOURCE_GOOD ? source_act(skb, &told) : source_refuse(problem);
}

SEC("tc")
int source(struct __sk_buff *skb)
{
	struct source_config *config = source_configuration();
	struct address sender;
	if (unlikely(!config || !config->fast_cnp_option) || unlikely(skb->pkt_type == PACKET_LOOPBACK) ||
	    unlikely(skb->mark == MARK_TRIGGER && skb->cb[CB_WORD_TAG] == CB_TAG) || is_of_vlan(skb))
		return TC_NEXT;
	enum kind kind = kind_of(skb, config);
	if (likely(kind == KIND_OTHER))
		return TC_NEXT;
	__u32 family = skb->protocol == bpf_htons(ETH_P_IP) ? 4 : 6;
	const __u8 *destination =
		walk_at(skb, ETH_HLEN + (family == 6 ? IPV6_DESTINATION : IPV4_DESTINATION), family == 6 ? 16 : 4);
	if (!destination)
		return TC_NEXT;
	address_load(&sender, destination, family);
	struct source_prefix *prefix = source_match(&source_senders, &sender);
	if (!prefix || !is_taken(skb, kind, prefix->action))
		return TC_NEXT;
	if (kind == KIND_HIDDEN) {
		count(COUNT_SOURCE_RECEIVED);
		return source_refuse(COUNT_SOURCE_EVASIVE);
	}
	return source_arrived(skb, kind, &sender, prefix->action);
}
