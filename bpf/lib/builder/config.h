// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How notices to a sender itself are built: one entry, written by the agent.
#ifndef CNPD_BUILDER_CONFIG_H
#define CNPD_BUILDER_CONFIG_H

#include "builder/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct notice_config);
} notice_config SEC(".maps");

#endif
