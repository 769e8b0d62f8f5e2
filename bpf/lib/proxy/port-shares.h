// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tables that any host can fill, divided among the ports of the router. In each a port has a ring of places. A new
// entry evicts the oldest one of the same port, never one of another port. An entry knows its place, so that it is
// evicted only if the place is still its own. A connection has packets at two ports. It is charged to the one that is
// not a core port: all hosts that are not attached to this router arrive at core ports.
#ifndef CNPD_PROXY_PORT_SHARES_H
#define CNPD_PROXY_PORT_SHARES_H

#include "proxy/port-roles.h"

// Key of all these tables: two addresses and two words.
struct shared_key {
	__u64 words[5];
};

// Returns the next place in the share of `port`, and its number, from 1; null: there is none. A share has `size`
// places.
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

// Returns the port that is charged for an answer at `port` to a request at `asked`.
static __always_inline __u32 charged_port(__u32 asked, __u32 port)
{
	return port_is_core(port & ~PORT_TUNNEL) ? asked : port;
}

#endif
