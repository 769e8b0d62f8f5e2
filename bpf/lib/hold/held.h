// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The holds themselves, which the source's program reads too (source/holding.h): the objects share them by their pins.
#ifndef CNPD_HOLD_HELD_H
#define CNPD_HOLD_HELD_H

#include "hold/layout.h"
#include "kernel.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HOLD_SLOTS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct hold_key);
	__type(value, struct hold);
} holds SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HOLD_SLOTS);
	__type(key, __u32);
	__type(value, struct hold_record);
} hold_records SEC(".maps");

#endif
