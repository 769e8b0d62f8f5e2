// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Whether this router has a route for a notification, looked up as for a packet of the loopback interface, from where
// it will be routed. Checked before the sender would be recorded as notified, because nothing comes back from a packet
// that the kernel drops for lack of a route. A path that ends at another router is not visible.
#ifndef CNPD_BUILDER_ROUTE_CHECK_H
#define CNPD_BUILDER_ROUTE_CHECK_H

#include "detector/maps.h"
#include "builder/frame.h"

static __always_inline int is_own(const struct address *destination)
{
	return map_find(&own_addresses, destination) != 0;
}

// The stack has no room for a look-up.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_fib_lookup);
} notice_routes SEC(".maps");

// A look-up as for a notice of this router. Null: there is no memory.
static __always_inline struct bpf_fib_lookup *notice_route(__u8 family)
{
	__u32 zero = 0;
	struct bpf_fib_lookup *route = bpf_map_lookup_elem(&notice_routes, &zero);
	if (!route)
		return 0;
	__builtin_memset(route, 0, sizeof(*route));
	route->family = family;
	route->ifindex = LOOPBACK_IFINDEX;
	return route;
}

// IPv6 notices are routed by the kernel, so all that it has a way for is good: also a tunnel, which the look-up only
// says is one.
static __always_inline int has_route6(struct __sk_buff *skb, const struct egress_config *config,
				      const struct address *destination)
{
	struct bpf_fib_lookup *route = notice_route(AF_INET6);
	if (!route)
		return 0;
	route->flowinfo = bpf_htonl(NOTICE_TRAFFIC_CLASS << 20);
	__builtin_memcpy(route->ipv6_src, config->source6, 16);
	__builtin_memcpy(route->ipv6_dst, destination->bytes, 16);
	long result = fib_lookup_route(skb, route, 0);
	if (result == BPF_FIB_LKUP_RET_NOT_FWDED)
		return is_own(destination);
	return result != BPF_FIB_LKUP_RET_BLACKHOLE && result != BPF_FIB_LKUP_RET_UNREACHABLE &&
	       result != BPF_FIB_LKUP_RET_PROHIBIT;
}

// IPv4 notices are sent by the program (notice.h), which can use no other answer.
static __always_inline int has_route4(struct __sk_buff *skb, const struct egress_config *config,
				      const struct address *destination)
{
	struct bpf_fib_lookup *route = notice_route(AF_INET);
	if (!route)
		return 0;
	route->l4_protocol = IPPROTO_UDP;
	route->tos = NOTICE_TRAFFIC_CLASS;
	__builtin_memcpy(&route->ipv4_src, config->source4, 4);
	route->ipv4_dst = destination->words[3];
	long result = fib_lookup_route(skb, route, 0);
	return result == BPF_FIB_LKUP_RET_SUCCESS || (result == BPF_FIB_LKUP_RET_NOT_FWDED && is_own(destination));
}

// A global function: the verifier checks it once, not once per format of a policy.
__noinline int notice_has_route(struct __sk_buff *skb, struct address *destination)
{
	struct egress_config *config = egress_configuration();
	if (!config || !destination)
		return 0;
	return address_family(destination->halves) == 6 ? has_route6(skb, config, destination)
							: has_route4(skb, config, destination);
}

#endif
