// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The next hop of a decapsulated packet, from the kernel's FIB, with a short-lived cache. A look-up is half of the cost
// of the tunnel exit, and the packets of a flow follow each other closely. An entry expires after NEXT_HOP_NS, before
// routing protocols could change anything. When a route disappears, a flow is lost for at most that time.
//
// A flow is cached from its second packet on. The entries fill more than half of a CPU's first-level cache, so a flow
// with a single packet must not touch them. A table of one kilobyte with the owner of each place shows that there is no
// entry. The first packet is not left to the kernel's routing either. The kernel routes the packets of a batch only
// after the programs have seen all of them, so the second packet, redirected, would overtake the first.
#ifndef CNPD_SRV6_NEXT_HOP_H
#define CNPD_SRV6_NEXT_HOP_H

#include "wire/address.h"
#include "wire/walk.h"

#define NEXT_HOP_NS 10000000ULL
// Few enough to stay in a CPU's first-level cache.
#define NEXT_HOPS 256
// Packets of other flows during which a place stays reserved for the second packet of a flow. So flows that alternate
// are cached too.
#define NEXT_HOP_PATIENCE 16

// Input of a look-up: RFC 6438 hashes addresses and flow label, rules may match the DSCP.
struct next_hop_key {
	__u64 source[2], destination[2];
	__be32 flowinfo; // flow label and DSCP, without ECN
	__u32 table;
	__u32 port; // ingress interface: rules may match it too
	__u32 reserved;
};

struct next_hop {
	struct next_hop_key key;
	__u64 asked_at; // 0: never
	__u32 length;	// of the longest packet looked up: the route has an MTU
	__u32 ifindex;
	struct bpf_redir_neigh gateway;
	__u32 reserved;
};

// Index: the hash of the key. Per CPU, so each entry has one writer.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NEXT_HOPS);
	__type(key, __u32);
	__type(value, struct next_hop);
} srv6_next_hops SEC(".maps");

// The owner of a place, by eight bits of the key's hash that are not in its index. It only shows whether a look-up is
// worthwhile: srv6_next_hops has the key.
struct next_hop_place {
	__u8 holder;	// its entry is cached
	__u8 candidate; // one packet was seen
	__u8 patience;	// packets of other flows until the candidate is replaced
	__u8 reserved;
};

struct next_hop_places {
	struct next_hop_place of[NEXT_HOPS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct next_hop_places);
} srv6_next_hop_places SEC(".maps");

static __always_inline __u64 next_hop_hash(const struct next_hop_key *key)
{
	__u64 mixed = (key->source[0] ^ key->destination[0] ^ key->table) * 0x9e3779b97f4a7c15ULL;
	mixed = (mixed ^ key->source[1] ^ ((__u64)key->flowinfo << 16)) * 0x9e3779b97f4a7c15ULL;
	return (mixed ^ key->destination[1]) * 0x9e3779b97f4a7c15ULL;
}

static __always_inline int same_key(const struct next_hop_key *a, const struct next_hop_key *b)
{
	return a->source[0] == b->source[0] && a->source[1] == b->source[1] && a->destination[0] == b->destination[0] &&
	       a->destination[1] == b->destination[1] && a->flowinfo == b->flowinfo && a->table == b->table &&
	       a->port == b->port;
}

// Looks up the FIB; 0: no next hop. `fib` is complete except for the table.
static __always_inline int ask_fib(struct __sk_buff *skb, struct bpf_fib_lookup *fib, __u32 table,
				   struct next_hop *answer)
{
	__u32 flags = table ? BPF_FIB_LOOKUP_DIRECT | BPF_FIB_LOOKUP_TBID : 0;
	fib->tbid = table;
	if (fib_lookup_route(skb, fib, flags) != BPF_FIB_LKUP_RET_SUCCESS)
		return 0;
	answer->ifindex = fib->ifindex;
	answer->gateway.nh_family = fib->family;
	if (fib->family == AF_INET6)
		__builtin_memcpy(answer->gateway.ipv6_nh, fib->ipv6_dst, 16);
	else
		answer->gateway.ipv4_nh = fib->ipv4_dst;
	return 1;
}

// Returns the next hop of an IPv6 packet of `length` bytes. Null: leave it to the kernel. The entry of another flow
// stays until it expires, which saves that flow its look-ups. This one's result, in `answer`, costs no more than
// without a cache.
static __always_inline const struct next_hop *next_hop6(struct __sk_buff *skb, const __u8 *ip, __u32 length,
							__u32 table, struct next_hop *answer)
{
	struct next_hop_key key = { .flowinfo = *(const __be32 *)ip & bpf_htonl(0x0fcfffff),
				    .table = table,
				    .port = skb->ifindex };
	for (int i = 0; i < 2; i++) { // __builtin_memcpy copies byte by byte
		key.source[i] = *(const __u64 *)(ip + IPV6_SOURCE + 8 * i);
		key.destination[i] = *(const __u64 *)(ip + IPV6_DESTINATION + 8 * i);
	}
	__u64 hash = next_hop_hash(&key), now = 0;
	__u32 zero = 0, index = hash >> 56; // NEXT_HOPS
	__u8 flow = hash >> 48;
	struct next_hop_places *places = bpf_map_lookup_elem(&srv6_next_hop_places, &zero);
	if (!places)
		return 0;
	struct next_hop_place *place = &places->of[index];
	struct next_hop *entry = 0; // to cache the result in
	if (place->holder == flow || place->candidate == flow) {
		entry = bpf_map_lookup_elem(&srv6_next_hops, &index);
		if (!entry)
			return 0;
		now = bpf_ktime_get_coarse_ns();
		int is_fresh = entry->asked_at != 0 && now - entry->asked_at < NEXT_HOP_NS,
		    is_ours = same_key(&entry->key, &key);
		if (likely(is_fresh && is_ours && length <= entry->length))
			return entry;
		if (is_fresh && !is_ours)
			entry = 0;
	} else if (place->patience > 0) {
		place->patience--;
	} else {
		place->candidate = flow;
		place->patience = NEXT_HOP_PATIENCE;
	}
	struct bpf_fib_lookup fib = {
		.family = AF_INET6, .flowinfo = key.flowinfo, .tot_len = length, .ifindex = skb->ifindex
	};
	__builtin_memcpy(fib.ipv6_src, key.source, 16);
	__builtin_memcpy(fib.ipv6_dst, key.destination, 16);
	if (!ask_fib(skb, &fib, table, answer))
		return 0;
	if (entry) {
		place->holder = flow;
		place->patience = 0;
		entry->key = key;
		entry->ifindex = answer->ifindex;
		entry->gateway = answer->gateway;
		entry->length = length;
		entry->asked_at = now;
	}
	return answer;
}

// Returns the next hop of an IPv4 packet. It is not cached, for only notifications come this way.
static __always_inline const struct next_hop *next_hop4(struct __sk_buff *skb, const __u8 *ip, __u32 length,
							__u32 table, struct next_hop *answer)
{
	struct bpf_fib_lookup fib = { .family = AF_INET, .tos = ip[1], .tot_len = length, .ifindex = skb->ifindex };
	fib.ipv4_src = *(const __be32 *)(ip + IPV4_SOURCE);
	fib.ipv4_dst = *(const __be32 *)(ip + IPV4_DESTINATION);
	return ask_fib(skb, &fib, table, answer) ? answer : 0;
}

#endif
