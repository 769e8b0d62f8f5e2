// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The configuration of the proxy's program, which also learns Queue Pairs: one entry that the agent writes.
#ifndef CNPD_PROXY_CONFIG_H
#define CNPD_PROXY_CONFIG_H

#include "proxy/layout.h"

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
