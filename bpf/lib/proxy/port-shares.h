// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tables that anybody can fill, divided among the ports of the router: in each a port has a ring of places, and what
// comes by it pushes out the oldest of its own, never what came by another port. An entry knows its place, so that only
// who still has it is pushed out. A connection has packets by two ports. It is charged to the one that is not the
// core's: everybody who is not attached here comes by the core.
#ifndef CNPD_PROXY_PORT_SHARES_H
#define CNPD_PROXY_PORT_SHARES_H

#include "proxy/port-roles.h"

// Keys of all these tables: two addresses and two words.
struct shared_key {
	__u64 words[5];
};

// The place that is next in the share of `port`, and its number, from 1; null: there is none. `size` places are a
// share.
static __always_inline struct shared_key *share_place(void *places, void *next, __u32 size, __u32 port, __u32 *number)
{
	port &= ~PORT_TUNNEL;
	struct port_role *role = port_role_of(port);
	__u32 share = (role ? role->share : port) % PORT_SHARES;
	__u32 *turn = bpf_map_lookup_elem(next, &share);
	if (!turn)
		return 0;
	__u32 index = share * size + __sync_fetch_and_add(turn, 1) % size;
	*number = index + 1;
	return bpf_map_lookup_elem(places, &index);
}

#define PORT_SHARED(table, size)                                                                                       \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                                      \
		__uint(max_entries, PORT_SHARES *(size));                                                              \
		__type(key, __u32);                                                                                    \
		__type(value, struct shared_key);                                                                      \
	} table##_places SEC(".maps");                                                                                 \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                                      \
		__uint(max_entries, PORT_SHARES);                                                                      \
		__type(key, __u32);                                                                                    \
		__type(value, __u32);                                                                                  \
	} table##_next SEC(".maps")

// Who is charged for what came by `port` in answer to what came by `asked`.
static __always_inline __u32 charged_port(__u32 asked, __u32 port)
{
	return port_is_core(port & ~PORT_TUNNEL) ? asked : port;
}

#endif
