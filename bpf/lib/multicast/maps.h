// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The maps of End.MT (multicast.bpf.c). layout.h has their contents. The agent writes all but states and records.
#ifndef CNPD_MULTICAST_MAPS_H
#define CNPD_MULTICAST_MAPS_H

#include "counters.h"
#include "multicast/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct multicast_config);
} multicast_config SEC(".maps");

// This router's SIDs and the Proxy Addresses of groups.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * MULTICAST_GROUPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, struct multicast_destination);
} multicast_destinations SEC(".maps");

// Ports by interface index. A port without a row is no core port.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct multicast_port);
} multicast_ports SEC(".maps");

// Routers whose data and answers are accepted: replication or End.MT SID → number of the SID, from 1 on. This router's
// own SIDs are among them.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MULTICAST_ROUTERS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, __u32);
} multicast_routers SEC(".maps");

// The inverse, for answers to a parent. Index 0 is no router.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MULTICAST_ROUTERS);
	__type(key, __u32);
	__type(value, struct address);
} multicast_router_sids SEC(".maps");

// Routers whose Fast CNPs about copies are believed: the addresses that they advertise. The value means nothing.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MULTICAST_ROUTERS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, __u32);
} multicast_notifiers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MULTICAST_GROUPS);
	__type(key, __u32);
	__type(value, struct multicast_group);
} multicast_groups SEC(".maps");

// Index: MULTICAST_STATE.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * MULTICAST_GROUPS);
	__type(key, __u32);
	__type(value, struct multicast_state);
} multicast_states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MULTICAST_LISTS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct multicast_list_key);
	__type(value, __u32);
} multicast_list_ids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MULTICAST_LISTS);
	__type(key, __u32);
	__type(value, struct multicast_list);
} multicast_lists SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MULTICAST_SLOTS);
	__type(key, __u32);
	__type(value, struct multicast_branch);
} multicast_branches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MULTICAST_SLOTS);
	__type(key, __u32);
	__type(value, struct multicast_record);
} multicast_records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MULTICAST_SLOTS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct multicast_member_key);
	__type(value, __u32);
} multicast_members SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MULTICAST_TOO_BIG);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct multicast_too_big);
} multicast_too_big SEC(".maps");

static __always_inline struct multicast_group *multicast_group_at(__u32 index)
{
	return bpf_map_lookup_elem(&multicast_groups, &index);
}

static __always_inline struct multicast_state *multicast_state_at(__u32 index)
{
	return bpf_map_lookup_elem(&multicast_states, &index);
}

static __always_inline struct multicast_list *multicast_list_at(__u32 index)
{
	return bpf_map_lookup_elem(&multicast_lists, &index);
}

static __always_inline struct multicast_branch *multicast_branch_at(__u32 slot)
{
	return bpf_map_lookup_elem(&multicast_branches, &slot);
}

static __always_inline struct multicast_record *multicast_record_at(__u32 slot)
{
	return bpf_map_lookup_elem(&multicast_records, &slot);
}

// Number of the router with this SID. 0: unknown.
static __always_inline __u32 multicast_router_of(const void *sid)
{
	const __u32 *found = bpf_map_lookup_elem(&multicast_routers, sid);
	return found ? *found : 0;
}

// Number of this router itself: the parent of its edge role when its branching role hands it a packet. So the edge's
// answers go to the local branch of the tree list (aggregate.h), and not past it. 0: unknown.
static __always_inline __u32 multicast_own_number(const struct multicast_group *group)
{
	return multicast_router_of(&group->replication);
}

// Whether other routers are behind the port.
static __always_inline int multicast_is_core(__u32 ifindex)
{
	const struct multicast_port *port = bpf_map_lookup_elem(&multicast_ports, &ifindex);
	return port && port->is_core;
}

#endif
