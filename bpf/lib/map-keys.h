// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Keys of maps in the memory of a caller, which a global function knows only as memory. Before Linux 6.2 the verifier
// takes such memory for no key. There a copy serves, in a map: the stack has no room for it.
#ifndef CNPD_MAP_KEYS_H
#define CNPD_MAP_KEYS_H

#include "kernel.h"

#define TAKES_MEMORY_AS_KEY (LINUX_KERNEL_VERSION >= 0x060200)

struct map_key_copy {
	__u64 words[8];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct map_key_copy);
} map_key_copies SEC(".maps");

static __always_inline struct map_key_copy *map_key_copy(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&map_key_copies, &zero);
}

// `direct`, or `with_copy`, in which `copy_` is the key; `failed` where there is no copy.
#define MAP_KEY(key, failed, direct, with_copy)                                                                        \
	({                                                                                                             \
		typeof(direct) result_ = failed;                                                                       \
		if (TAKES_MEMORY_AS_KEY) {                                                                             \
			result_ = direct;                                                                              \
		} else {                                                                                               \
			_Static_assert(sizeof(*(key)) <= sizeof(struct map_key_copy),                                  \
				       "a key is larger than its copy");                                               \
			struct map_key_copy *copy_ = map_key_copy();                                                   \
			if (copy_) {                                                                                   \
				__builtin_memcpy(copy_, key, sizeof(*(key)));                                          \
				result_ = with_copy;                                                                   \
			}                                                                                              \
		}                                                                                                      \
		result_;                                                                                               \
	})

// As the helpers of the kernel. A value may lie anywhere but in a caller's memory.
#define map_find(map, key) MAP_KEY(key, 0, bpf_map_lookup_elem(map, key), bpf_map_lookup_elem(map, copy_))
#define map_set(map, key, value, flags)                                                                                \
	MAP_KEY(key, -1, bpf_map_update_elem(map, key, value, flags), bpf_map_update_elem(map, copy_, value, flags))
#define map_remove(map, key) MAP_KEY(key, -1, bpf_map_delete_elem(map, key), bpf_map_delete_elem(map, copy_))

#endif
