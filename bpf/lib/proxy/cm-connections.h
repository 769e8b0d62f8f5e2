// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The table of connections that are being set up, or that CM messages have set up (cm.h): what each side has sent, by
// its addresses and communication ID. Each port of the router has a share of it (port-shares.h).
#ifndef CNPD_PROXY_CM_CONNECTIONS_H
#define CNPD_PROXY_CM_CONNECTIONS_H

#include "proxy/queue-pairs.h"

// One side's view of a connection: both addresses, and its communication ID.
struct cm_key {
	struct address local;
	struct address remote;
	__be32 comm_id;
	__u32 space; // tenant_space()
};

struct cm_side {
	__u32 qpn;
	__u32 peer_qpn; // 0 until the REP
	__u32 psn;
	__u32 tenant; // in which its packets are seen; TENANT_UNKNOWN: several have sent this REQ
	__u64 at;
	__u32 peer_tenant; // of the other side's packets, with peer_qpn
	__u32 port;	   // at which the REQ arrived
	__u32 place;	   // index in the share of the charged port, from 1
	__u32 reserved;
};

#define CM_SHARE 1024
PORT_SHARED(cm_connection, CM_SHARE);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PORT_SHARES *CM_SHARE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct cm_key);
	__type(value, struct cm_side);
} cm_connections SEC(".maps");

// `side` may lie in a caller's memory, where Linux 6.1 takes no value from.
static __always_inline int cm_store(struct cm_key *key, struct cm_side *side)
{
	struct cm_side copy = *side;

	return map_set(&cm_connections, key, &copy, BPF_ANY);
}

// Stores what one side has sent, in the share of the charged port. Evicts the previous entry of that place.
__noinline int cm_remember(struct cm_key *key, struct cm_side *side, __u32 port)
{
	struct queue_pair_memory *memory = queue_pair_memory();
	if (!key || !side || !memory)
		return -1;
	struct cm_side *known = map_find(&cm_connections, key);
	if (known) {
		side->place = known->place;
		return cm_store(key, side);
	}
	__u32 number = 0;
	struct shared_key *place = share_place(&cm_connection_places, &cm_connection_next, CM_SHARE, port, &number);
	if (!place)
		return -1;
	memory->displaced = *place;
	*place = *(struct shared_key *)key;
	known = bpf_map_lookup_elem(&cm_connections, &memory->displaced);
	if (known && known->place == number) {
		if (known->peer_qpn == 0)
			count(COUNT_CM_DISPLACED);
		bpf_map_delete_elem(&cm_connections, &memory->displaced);
	}
	side->place = number;
	return cm_store(key, side);
}

#endif
