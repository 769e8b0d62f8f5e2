// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The configuration of the proxy's program, which also learns Queue Pairs. src/kernel/dataplane/proxy.ts mirrors the
// layout.
#ifndef CNPD_PROXY_CONFIG_H
#define CNPD_PROXY_CONFIG_H

#include "wire/address.h"

// One entry. All zero: no notice is for us and nothing is learned. Address and port zero: Queue Pairs are learned, no
// notice is for us.
struct proxy_config {
	struct address address; // where notices arrive
	__be16 udp_port;	// to this port; network order
	__u8 hits; // answers that must agree before a connection is learned from traffic; 0: nothing is learned from
		   // traffic
	__u8 reverse_path_check; // 0: whatever comes by any port is believed (port-roles.h)
	__u8 reserved[4];
	__u64 flow_interval_ns;	 // least time between two CNPs for one flow
	__u64 notice_spacing_ns; // 1/rate of the node's token bucket
	__u64 burst_ns;		 // (burst - 1) × spacing
	__u64 ageing_ns;	 // a connection without packets is forgotten after this time
	__u64 recent_ns;	 // an answer counts when the PSN that it names was sent no longer ago than this
	__u64 silence_ns;	 // a connection is dropped when its requests remain unanswered for this time
	__u64 doubt_ns;		 // and not used when they are for this time, which is more than any round trip takes
	__u64 handshake_ns;	 // a REP counts when its REQ is no older than this
	struct address other_address; // here too: of the other family, or `address` again
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct proxy_config);
} proxy_config SEC(".maps");

static __always_inline struct proxy_config *proxy_configuration(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&proxy_config, &zero);
}

#endif
