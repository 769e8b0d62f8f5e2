// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How fast what is held departs, which the source's program changes too (source/obey.h): the objects share it by its
// pin.
#ifndef CNPD_HOLD_PACES_H
#define CNPD_HOLD_PACES_H

#include "hold/layout.h"
#include "kernel.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HOLD_SLOTS);
	__type(key, __u32);
	__type(value, struct hold_pace);
} hold_paces SEC(".maps");

#endif
