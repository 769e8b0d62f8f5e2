// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// For the bench only: when the first notification leaves the congested router, whatever its format, the first marked
// packet reaches the receiver, and the first feedback of either way reaches the sender; how many control packets the
// sender gets, and how long packets come marked. CLOCK_MONOTONIC, the same in every namespace. A time is noted once,
// until the bench writes 0.
#include "kernel.h"
#include "wire/roce.h"
#include "wire/walk.h"

LICENSE;

#define NOTICE_PORT 1021
#define LONG_HAUL_TYPE 200
// Behind the ICMPv6 header and the level (LHCNP §6.1): the action's two bits.
#define ACTION_OCTET 5
#define ACTION_RESUME 3
// cnpd's notifications start with 64 and come from the congested router, or from the sender's own leaf; the receiver is
// behind four routers.
#define HOP_LIMIT_OF_RECEIVER 61

enum { AT_NOTIFICATION, AT_FEEDBACK_OF_CNPD, AT_MARKED, AT_FEEDBACK_OF_RECEIVER, EVENTS };
enum { COUNT_OF_CNPD, COUNT_OF_RECEIVER, COUNT_MARKED, COUNTS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EVENTS);
	__type(key, __u32);
	__type(value, __u64);
} seen_at SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

// Marked packets that come one behind the other, by no more than a gap that the bench sets, are an episode.
struct episode {
	__u64 gap_ns;
	__u64 last; // 0: none yet
	__u64 marked_ns;
	__u64 episodes;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct episode);
} marked SEC(".maps");

struct start {
	__u8 ip[IPV6_HLEN];
	__be16 sport, dport;
	__be16 length, checksum;
	__u8 opcode;
} __attribute__((packed));

enum kind { OTHER, NOTICE, CNP, FAST_CNP, LONG_HAUL, RESUME };

static __always_inline void note(__u32 event)
{
	__u64 *at = bpf_map_lookup_elem(&seen_at, &event);
	if (at && *at == 0)
		*at = bpf_ktime_get_ns();
}

static __always_inline void add(__u32 counter)
{
	__u64 *value = bpf_map_lookup_elem(&seen, &counter);
	if (value)
		__sync_fetch_and_add(value, 1);
}

static __always_inline enum kind kind_of(struct __sk_buff *skb, struct start *packet)
{
	if (skb->protocol != bpf_htons(ETH_P_IPV6) || bpf_skb_load_bytes(skb, ETH_HLEN, packet, sizeof(*packet)) < 0)
		return OTHER;
	const __u8 *payload = (const __u8 *)&packet->sport;
	if (packet->ip[IPV6_NEXT_HEADER] == IPPROTO_DSTOPTS)
		return payload[0] == IPPROTO_UDP ? FAST_CNP : OTHER;
	if (packet->ip[IPV6_NEXT_HEADER] == IPPROTO_ICMPV6)
		return payload[0] != LONG_HAUL_TYPE		     ? OTHER
		       : payload[ACTION_OCTET] >> 6 == ACTION_RESUME ? RESUME
								     : LONG_HAUL;
	if (packet->ip[IPV6_NEXT_HEADER] != IPPROTO_UDP)
		return OTHER;
	if (packet->dport == bpf_htons(NOTICE_PORT))
		return NOTICE;
	return packet->dport == bpf_htons(ROCE_UDP_PORT) && packet->opcode == ROCE_OPCODE_CNP ? CNP : OTHER;
}

static __always_inline int from_receiver(const struct start *packet, enum kind kind)
{
	return kind == CNP && packet->ip[IPV6_HOP_LIMIT] <= HOP_LIMIT_OF_RECEIVER;
}

SEC("tc")
int notification_left(struct __sk_buff *skb)
{
	struct start packet;
	enum kind kind = kind_of(skb, &packet);
	if (kind != OTHER && kind != RESUME && !from_receiver(&packet, kind))
		note(AT_NOTIFICATION);
	return TC_NEXT;
}

SEC("tc")
int feedback_arrived(struct __sk_buff *skb)
{
	struct start packet;
	enum kind kind = kind_of(skb, &packet);
	if (kind == OTHER)
		return TC_NEXT;
	int receiver = from_receiver(&packet, kind);
	if (kind != RESUME) // says that congestion is over
		note(receiver ? AT_FEEDBACK_OF_RECEIVER : AT_FEEDBACK_OF_CNPD);
	add(receiver ? COUNT_OF_RECEIVER : COUNT_OF_CNPD);
	return TC_NEXT;
}

SEC("tc")
int mark_arrived(struct __sk_buff *skb)
{
	struct start packet;
	__u32 zero = 0;
	if (kind_of(skb, &packet) != OTHER || packet.ip[IPV6_NEXT_HEADER] != IPPROTO_UDP ||
	    packet.dport != bpf_htons(ROCE_UDP_PORT) || (packet.ip[1] >> 4 & 3) != 3)
		return TC_NEXT;
	note(AT_MARKED);
	add(COUNT_MARKED);
	struct episode *episode = bpf_map_lookup_elem(&marked, &zero);
	if (!episode)
		return TC_NEXT;
	__u64 now = bpf_ktime_get_ns(), since = now - episode->last;
	if (episode->last == 0 || since > episode->gap_ns)
		episode->episodes++;
	else
		episode->marked_ns += since;
	episode->last = now;
	return TC_NEXT;
}
