// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How the proxy's program determines the tenant of a packet (tenant.h). A packet in a tunnel to one of this router's
// SIDs belongs to that SID's table. One in another tunnel belongs to the END.CON SID that is the tunnel's source (FCN
// §4.2.2). One outside tunnels belongs to the END.CON SID that it would get here by interface and source. For any other
// tunnel the tenant is unknown.
#ifndef CNPD_PROXY_TENANT_MAPS_H
#define CNPD_PROXY_TENANT_MAPS_H

#include "map-keys.h"
#include "proxy/layout.h"
#include "proxy/tenant.h"
#include "wire/walk.h"

// SIDs of this router, and END.CON SIDs that the domain has advertised. TENANT_UNKNOWN: several are possible.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, __u32);
} tenant_sids SEC(".maps");

// By the packet's source, as in srv6/maps.h.
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct port_source_key);
	__type(value, __u32);
} tenant_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tenant_config);
} tenant_config SEC(".maps");

static __always_inline struct tenant_config *tenant_configuration(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&tenant_config, &zero);
}

// The tenant of a tunnel without an entry.
static __always_inline __u32 tenant_otherwise(void)
{
	struct tenant_config *config = tenant_configuration();
	return config && config->known ? TENANT_UNKNOWN : TENANT_MAIN;
}

// The tenant of packets in a tunnel from this address.
static __always_inline __u32 tenant_of_source(const struct address *source)
{
	__u32 *tenant = map_find(&tenant_sids, source);
	return tenant ? *tenant : tenant_otherwise();
}

// The tenant of an arriving packet, in a tunnel whose outermost header is at `offset` or in none. A global function:
// the verifier checks it once.
__noinline __u32 tenant_of_tunnel(struct __sk_buff *skb, __u32 offset, __u32 family)
{
	struct tenant_config *config = tenant_configuration();
	struct address source, destination;
	if (!config || !config->known)
		return TENANT_MAIN;
	const __u8 *ip = walk_at(skb, offset, IPV6_HLEN);
	if (!ip || family != 6)
		return TENANT_UNKNOWN;
	address_load(&source, ip + IPV6_SOURCE, 6);
	address_load(&destination, ip + IPV6_DESTINATION, 6);
	__u32 *local = bpf_map_lookup_elem(&tenant_sids, &destination);
	if (local && !(*local & TENANT_PASSING))
		return *local;
	return tenant_of_source(&source);
}

// Flag of `family`: the packet is a notice about a packet outside tunnels. Its tenant is that of its ingress port, as
// for every packet. Notices of remote routers also arrive at "any interface": that row does not apply to them.
#define TENANT_OF_NOTICE 0x80

// Most routers have no rows: this saves their packets the call.
static __always_inline int tenants_have_rows(void)
{
	struct tenant_config *config = tenant_configuration();
	return config && config->has_rows;
}

__noinline __u32 tenant_of_port(__u32 ifindex, struct address *source, __u32 family)
{
	struct tenant_config *config = tenant_configuration();
	struct port_source_key key = { .length = PORT_SOURCE_KEY_BITS, .ifindex = ifindex, .family = family };
	if (!config || !config->has_rows || !source)
		return TENANT_MAIN;
	int is_notice = family & TENANT_OF_NOTICE;
	key.family = family &= ~TENANT_OF_NOTICE;
	if (family == 4)
		__builtin_memcpy(key.source, source->bytes + 12, 4);
	else
		__builtin_memcpy(key.source, source->bytes, 16);
	__u32 *found = bpf_map_lookup_elem(&tenant_ports, &key);
	if (!found) {
		key.ifindex = 0;
		found = bpf_map_lookup_elem(&tenant_ports, &key);
		if (is_notice && found && *found != TENANT_MAIN)
			return TENANT_UNKNOWN;
	}
	return found ? *found : TENANT_MAIN;
}

#endif
