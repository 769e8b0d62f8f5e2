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
	return bpf_map_lookup_elem(&own_addresses, destination) != 0;
}

// IPv6 notices are routed by the kernel, so all that it has a way for is good: also a tunnel, which the look-up only
// says is one.
static __always_inline int has_route6(struct __sk_buff *skb, const struct egress_config *config,
				      const struct address *destination)
{
	struct bpf_fib_lookup route = { .family = AF_INET6,
					.ifindex = LOOPBACK_IFINDEX,
					.flowinfo = bpf_htonl(NOTICE_TRAFFIC_CLASS << 20) };
	__builtin_memcpy(route.ipv6_src, config->source6, 16);
	__builtin_memcpy(route.ipv6_dst, destination->bytes, 16);
	long result = bpf_fib_lookup(skb, &route, sizeof(route), BPF_FIB_LOOKUP_SKIP_NEIGH);
	if (result == BPF_FIB_LKUP_RET_NOT_FWDED)
		return is_own(destination);
	return result != BPF_FIB_LKUP_RET_BLACKHOLE && result != BPF_FIB_LKUP_RET_UNREACHABLE &&
	       result != BPF_FIB_LKUP_RET_PROHIBIT;
}

// IPv4 notices are sent by the program (notice.h), which can use no other answer.
static __always_inline int has_route4(struct __sk_buff *skb, const struct egress_config *config,
				      const struct address *destination)
{
	struct bpf_fib_lookup route = {
		.family = AF_INET, .l4_protocol = IPPROTO_UDP, .ifindex = LOOPBACK_IFINDEX, .tos = NOTICE_TRAFFIC_CLASS
	};
	__builtin_memcpy(&route.ipv4_src, config->source4, 4);
	route.ipv4_dst = destination->words[3];
	long result = bpf_fib_lookup(skb, &route, sizeof(route), BPF_FIB_LOOKUP_SKIP_NEIGH);
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
