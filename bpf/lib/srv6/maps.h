// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the agent configures for the SRv6 programs (srv6.bpf.c). src/kernel/dataplane/srv6.ts mirrors the layouts.
#ifndef CNPD_SRV6_MAPS_H
#define CNPD_SRV6_MAPS_H

#include "wire/address.h"
#include "counters.h"

#define OUTER_DSCP_AS_WRITTEN 0xff

struct srv6_config {
	struct address default_source; // END.CON SID of tunnels that no row of srv6_tunnel_sources names
	__u8 has_default;
	__u8 has_rows;	     // srv6_tunnel_sources holds something
	__u8 compatibility;  // RFC 6040 §4.1: compatibility mode instead of normal mode
	__u8 uniform;	     // RFC 2983: uniform model instead of pipe
	__u8 outer_dscp;     // pipe: of tunnels of RoCEv2 packets, or OUTER_DSCP_AS_WRITTEN
	__u8 shared_ingress; // other programs look at what arrives at core ports: decapsulated packets are left to the
			     // kernel's routing, not redirected past them
	__u8 reserved[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct srv6_config);
} srv6_config SEC(".maps");

// This router's IPv6 addresses and END.CON SIDs: a tunnel whose outer source is one of them begins here.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, __u8);
} srv6_local_sources SEC(".maps");

// Tunnel → END.CON SID, by the innermost source.
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct port_source_key);
	__type(value, struct address);
} srv6_tunnel_sources SEC(".maps");

// Local SIDs that decapsulate, whoever made them.
struct srv6_sid {
	__u8 families; // what may be inside: SID_IPV4, SID_IPV6
	__u8 end_con;
	__u8 decapsulate; // here, if the look-up succeeds; otherwise only ECN is put right and seg6local does the rest
	__u8 own_route;	  // seg6local's action is known to be cnpd's own: End.DT6, which drops IPv4
	__u32 table;	  // for the look-up; 0: all rules and tables, as for a packet that arrives without a tunnel
};

#define SID_IPV4 1
#define SID_IPV6 2

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, struct srv6_sid);
} srv6_sids SEC(".maps");

#endif
