// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reverse-path check of packets that teach or remove Queue Pairs, and of notices (PNC §6). A packet is believed only if
// the route back to its source leads out of the port at which it arrived. The kernel's FIB names one of several next
// hops, and paths through a core are asymmetric. So a source behind a next hop is also believed at every other core
// port, but an on-link source only at its own. The agent determines the core ports (src/kernel/core-ports.ts): those
// with a route through a gateway, and never a border port.
//
// The check runs when something would be learned or removed, not for each packet, and once a second for a source of
// notices. Routing tables: those that rules choose for a packet of this port, VRFs included.
#ifndef CNPD_PROXY_PORT_ROLES_H
#define CNPD_PROXY_PORT_ROLES_H

#include "belief.h"
#include "counters.h"
#include "proxy/layout.h"
#include "proxy/maps.h"
#include "proxy/tenant-maps.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); // ifindex
	__type(value, struct port_role);
} port_roles SEC(".maps");

// Ports at which a source behind a next hop was not believed. The agent then checks whether they are core ports. Value:
// how often.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} doubted_ports SEC(".maps");

// Flag in a port number: the packet was inside a tunnel, and the source is the tunnel's.
#define PORT_TUNNEL 0x80000000u

static __always_inline struct port_role *port_role_of(__u32 port)
{
	return bpf_map_lookup_elem(&port_roles, &port);
}

static __always_inline __u32 port_link(__u32 port)
{
	struct port_role *role = port_role_of(port);
	return role ? role->link : port;
}

static __always_inline int port_is_core(__u32 port)
{
	struct port_role *role = port_role_of(port);
	return role && role->is_core;
}

static __always_inline void port_doubted(__u32 port)
{
	__u64 one = 1, *times = bpf_map_lookup_elem(&doubted_ports, &port);
	if (times)
		__sync_fetch_and_add(times, 1);
	else
		bpf_map_update_elem(&doubted_ports, &port, &one, BPF_ANY);
}

enum way_back { WAY_NONE, WAY_ON_LINK, WAY_GATEWAY };

// How this router would send to `to`. `out`: by which port; 0 where the FIB does not name it (into a tunnel).
static __always_inline enum way_back way_back(struct __sk_buff *skb, const struct address *to,
					      const struct address *from, __u32 port, __u32 *out)
{
	// With a length of its own the look-up does not check whether the packet at hand fits the MTU of the reverse
	// path.
	struct bpf_fib_lookup fib = { .ifindex = port, .l4_protocol = 17, .tot_len = 1 };
	int is_ipv4 = address_family(to->halves) == 4;
	if (is_ipv4) {
		fib.family = AF_INET;
		fib.ipv4_src = from->words[3];
		fib.ipv4_dst = to->words[3];
	} else {
		fib.family = AF_INET6;
		__builtin_memcpy(fib.ipv6_src, from->words, 16);
		__builtin_memcpy(fib.ipv6_dst, to->words, 16);
	}
	long result = fib_lookup_route(skb, &fib, 0);
	*out = 0;
	if (result == BPF_FIB_LKUP_RET_UNSUPP_LWT)
		return WAY_GATEWAY;
	if (result != BPF_FIB_LKUP_RET_SUCCESS && result != BPF_FIB_LKUP_RET_FRAG_NEEDED)
		return WAY_NONE;
	*out = fib.ifindex;
	if (is_ipv4)
		return fib.family == AF_INET && fib.ipv4_dst == to->words[3] ? WAY_ON_LINK : WAY_GATEWAY;
	__u32 differs = (fib.ipv6_dst[0] ^ to->words[0]) | (fib.ipv6_dst[1] ^ to->words[1]) |
			(fib.ipv6_dst[2] ^ to->words[2]) | (fib.ipv6_dst[3] ^ to->words[3]);
	return differs ? WAY_GATEWAY : WAY_ON_LINK;
}

// Whether a packet from `source`, for `receiver`, at `port` may be believed. Not called for the loopback interface:
// nothing is learned there, and a notice is believed for its tag (receive-notice.h).
__noinline int is_believed(struct __sk_buff *skb, const struct address *source, const struct address *receiver,
			   __u32 port)
{
	struct proxy_config *config = proxy_configuration();
	__u32 out, is_tunnel = port & PORT_TUNNEL;
	port &= ~PORT_TUNNEL;
	if (!source || !receiver || !config)
		return 0;
	if (!config->reverse_path_check)
		return 1;
	enum way_back way = way_back(skb, source, receiver, port, &out);
	// An on-link host may wrap anything in a tunnel; routers that begin tunnels are behind a next hop.
	if (way == WAY_NONE || (is_tunnel && way == WAY_ON_LINK))
		return 0;
	if (out == port || (out && port_link(out) == port_link(port)))
		return 1;
	if (way != WAY_GATEWAY)
		return 0;
	if (port_is_core(port) && (!out || port_is_core(out)))
		return 1;
	port_doubted(port);
	if (out)
		port_doubted(out);
	return 0;
}

// Whether the content of a tunnel from `source` may be evidence. Any host behind the core may wrap packets of others,
// and source filters at the first router see only the outer source. So only routers that the operator or the domain has
// named are believed: those whose notices are accepted, and END.CON SIDs (FCN §4.2.2). The check runs for every packet,
// for a flow's packets may come in several tunnels. A tunnel in a tunnel is not believed: its router did not check what
// it wrapped.
__noinline int is_tunnel_known(const struct address *source, __u32 headers)
{
	struct proxy_config *config = proxy_configuration();
	if (!source || !config)
		return 0;
	if (!config->reverse_path_check)
		return 1;
	return headers == 2 && (proxy_match(&proxy_sources, source) || map_find(&tenant_sids, source));
}

// Sources of notices, by the hash of the address. A look-up in the FIB is half of the cost of a notice.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, BELIEFS);
	__type(key, __u32);
	__type(value, struct belief);
} beliefs SEC(".maps");

static __always_inline int is_believed_lately(struct __sk_buff *skb, const struct address *source,
					      const struct address *receiver, __u32 port)
{
	__u64 now = bpf_ktime_get_coarse_ns();
	__u32 index = ((source->halves[0] ^ source->halves[1]) * 0x9e3779b97f4a7c15ULL) >> 58; // BELIEFS
	struct belief *belief = bpf_map_lookup_elem(&beliefs, &index);
	if (!belief)
		return 0;
	if (belief_holds(belief, source, port, now))
		return 1;
	if (!is_believed(skb, source, receiver, port))
		return 0;
	belief_note(belief, source, port, now);
	return 1;
}

#endif
