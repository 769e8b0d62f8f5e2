// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The kernel as cnpd's programs see it: the UAPI that they use, and the few fields of kernel structures that they read.
// The fields are relocated at load time (CO-RE), so an object runs on any kernel whose BTF has them. There is
// deliberately no vmlinux.h: this file lists all that is used. <linux/bpf.h> does not do either. Debian 12 has that of
// Linux 6.1, which lacks newer definitions that cnpd needs (BPF_F_ADJ_ROOM_DECAP_L3_IPV4 of 6.3). And clang does not
// find it for the target bpf without the headers of one architecture. test/bpf/objects/kernel-numbers.test.ts compares
// this file with the kernel's own BTF.
#ifndef CNPD_KERNEL_H
#define CNPD_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_core_read.h>

// --- UAPI: linux/bpf.h ---

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
};

#define BPF_F_NO_PREALLOC (1U << 0)
#define BPF_F_RDONLY_PROG (1U << 7)
#define BPF_F_INGRESS (1ULL << 0)
#define BPF_F_RECOMPUTE_CSUM (1ULL << 0)
#define BPF_F_INVALIDATE_HASH (1ULL << 1)
#define BPF_F_ADJ_ROOM_DECAP_L3_IPV4 (1ULL << 7)

// Verdicts of a tc program; the same numbers under TCX and under a clsact filter with direct-action. NEXT lets the next
// program of the hook run.
enum {
	TC_NEXT = -1,
	TC_PASS = 0,
	TC_DROP = 2,
	TC_REDIRECT = 7,
};

// skb->pkt_type
#define PACKET_HOST 0
#define PACKET_OTHERHOST 3
#define PACKET_LOOPBACK 5

// The loopback device is the first one of every network namespace.
#define LOOPBACK_IFINDEX 1
#define BPF_ADJ_ROOM_MAC 1 // enum bpf_adj_room_mode: right behind the Ethernet header

struct bpf_spin_lock {
	__u32 val;
};

struct bpf_timer {
	__u64 opaque[2];
} __attribute__((aligned(8)));

// The context of a tc program. Offsets are UAPI, so all fields are listed.
struct __sk_buff {
	__u32 len;
	__u32 pkt_type;
	__u32 mark;
	__u32 queue_mapping;
	__u32 protocol;
	__u32 vlan_present;
	__u32 vlan_tci;
	__u32 vlan_proto;
	__u32 priority;
	__u32 ingress_ifindex;
	__u32 ifindex;
	__u32 tc_index;
	__u32 cb[5];
	__u32 hash;
	__u32 tc_classid;
	__u32 data;
	__u32 data_end;
	__u32 napi_id;
	__u32 family;
	__u32 remote_ip4;
	__u32 local_ip4;
	__u32 remote_ip6[4];
	__u32 local_ip6[4];
	__u32 remote_port;
	__u32 local_port;
	__u32 data_meta;
	__u64 flow_keys __attribute__((aligned(8)));
	__u64 tstamp;
	__u32 wire_len;
	__u32 gso_segs;
	__u64 sk __attribute__((aligned(8)));
	__u32 gso_size;
	__u8 tstamp_type;
	__u32 : 24;
	__u64 hwtstamp;
};

#define AF_INET 2
#define AF_INET6 10

// bpf_fib_lookup(): argument and results.
struct bpf_fib_lookup {
	__u8 family;
	__u8 l4_protocol;
	__be16 sport;
	__be16 dport;
	union {
		__u16 tot_len;
		__u16 mtu_result; // of BPF_FIB_LKUP_RET_FRAG_NEEDED
	};
	__u32 ifindex;
	union {
		__u8 tos;
		__be32 flowinfo;
		__u32 rt_metric;
	};
	union {
		__be32 ipv4_src;
		__u32 ipv6_src[4];
	};
	union {
		__be32 ipv4_dst;
		__u32 ipv6_dst[4];
	};
	union {
		struct {
			__be16 h_vlan_proto;
			__be16 h_vlan_TCI;
		};
		__u32 tbid; // with BPF_FIB_LOOKUP_TBID
	};
	__u8 smac[6];
	__u8 dmac[6];
};
#define BPF_FIB_LOOKUP_DIRECT (1U << 0)
#define BPF_FIB_LOOKUP_SKIP_NEIGH (1U << 2)
#define BPF_FIB_LOOKUP_TBID (1U << 3)
#define BPF_FIB_LKUP_RET_SUCCESS 0
#define BPF_FIB_LKUP_RET_BLACKHOLE 1
#define BPF_FIB_LKUP_RET_UNREACHABLE 2
#define BPF_FIB_LKUP_RET_PROHIBIT 3
#define BPF_FIB_LKUP_RET_NOT_FWDED 4
#define BPF_FIB_LKUP_RET_UNSUPP_LWT 6
#define BPF_FIB_LKUP_RET_NO_NEIGH 7
#define BPF_FIB_LKUP_RET_FRAG_NEEDED 8

struct bpf_redir_neigh {
	__u32 nh_family;
	union {
		__be32 ipv4_nh;
		__u32 ipv6_nh[4];
	};
};

// --- Fields of kernel structures ---

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct gnet_stats_queue {
	__u32 backlog; // bytes
};

struct Qdisc {
	struct gnet_stats_queue qstats;
};

struct netdev_queue {
	struct Qdisc *qdisc;
};

struct net_device {
	struct netdev_queue *_tx;
	struct Qdisc *qdisc; // the root
	unsigned int real_num_tx_queues;
};

struct sk_buff {
	struct net_device *dev;
	__u8 ip_summed : 2;
};

#pragma clang attribute pop

#define CHECKSUM_PARTIAL 3

// Linux 6.2 or newer casts the context of a tc program to the packet that it stands for. Its fields, and what they
// point to, are then read as memory that the verifier knows. On older kernels the context's own address serves, and
// each field is copied by a helper, for which the agent needs CAP_PERFMON. The verifier drops the branch that is not
// taken.
extern void *bpf_cast_to_kern_ctx(void *) __ksym __weak;
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;
extern int LINUX_KERNEL_VERSION __kconfig;
#define CASTS_CONTEXT (LINUX_KERNEL_VERSION >= 0x060200)

static __always_inline struct sk_buff *kernel_packet(struct __sk_buff *skb)
{
	return CASTS_CONTEXT ? bpf_cast_to_kern_ctx(skb) : (struct sk_buff *)skb;
}

// A field of kernel_packet(), or of a structure that such a field points to. 0 where a copy fails.
#define KERNEL_FIELD(from, field)                                                                                      \
	({                                                                                                             \
		typeof((from)->field) value_ = 0;                                                                      \
		if (CASTS_CONTEXT)                                                                                     \
			value_ = (from)->field;                                                                        \
		else                                                                                                   \
			bpf_core_read(&value_, sizeof(value_), &(from)->field);                                        \
		value_;                                                                                                \
	})

// A structure of the kernel at a computed address, such as that of an array's element, for KERNEL_FIELD().
#define KERNEL_STRUCT(address, type)                                                                                   \
	((type *)(CASTS_CONTEXT ? bpf_rdonly_cast((const void *)(address), bpf_core_type_id_kernel(type))              \
				: (void *)(address)))

// Looks up a route without its neighbor, which whoever sends the packet resolves. Before Linux 6.3 the look-up asks for
// the neighbor too; that there is none yet is then an answer like any other.
static __always_inline long fib_lookup_route(struct __sk_buff *skb, struct bpf_fib_lookup *route, __u32 flags)
{
	if (LINUX_KERNEL_VERSION >= 0x060300)
		return bpf_fib_lookup(skb, route, sizeof(*route), flags | BPF_FIB_LOOKUP_SKIP_NEIGH);
	long result = bpf_fib_lookup(skb, route, sizeof(*route), flags);
	return result == BPF_FIB_LKUP_RET_NO_NEIGH ? BPF_FIB_LKUP_RET_SUCCESS : result;
}

// Whether a packet's checksum is still to be completed: one that this machine, or a guest of it, has made.
static __always_inline int checksum_is_partial(struct __sk_buff *skb)
{
	struct sk_buff *packet = kernel_packet(skb);

	return (CASTS_CONTEXT ? BPF_CORE_READ_BITFIELD(packet, ip_summed)
			      : BPF_CORE_READ_BITFIELD_PROBED(packet, ip_summed)) == CHECKSUM_PARTIAL;
}

// --- Names ---

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

// What was read from memory before is read again. At the beginning of a loop: each round then reads alike, and ends
// with a jump, without which Linux 6.1 refuses the loop.
#define reread() asm volatile("" ::: "memory")

// Hides the origin of a value, so that clang neither merges bounds checks nor turns arithmetic into branches.
#define opaque(value) asm volatile("" : "+r"(value))

#define VLAN_ID_MASK 0x0fff

// Whether the packet belongs to a VLAN's interface on top of the one that sees it, because it has a tag beside it. VLAN
// 0 is no VLAN: such a tag carries a priority only, and the kernel takes the packet for one of this interface.
static __always_inline int is_of_vlan(const struct __sk_buff *skb)
{
	return unlikely(skb->vlan_present) && skb->vlan_tci & VLAN_ID_MASK;
}

#define LICENSE char _license[] SEC("license") = "Dual BSD/GPL"

#endif
