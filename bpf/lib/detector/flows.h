// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The congested node's flow table: what a notification is addressed by (LHCNP-5.2-a, LHCNP-5.2-f), exactly one entry
// for each (source, destination, destination QP) (LHCNP-5.2-b), counted on every packet (LHCNP-5.2-c). BTH carries no
// source QP, so the key has none but that of datagrams (docs/explanation/decisions.md). Flows in different tunnels are
// different flows, whatever is inside. An entry that no packet has used for the ageing time counts as absent
// (LHCNP-5.2-d) and is removed by the agent's sweep (LHCNP-5.2-e).
//
// A set-associative table in an array map, because an array's look-up is inlined: an LRU hash costs every packet 28 ns
// more (54 against 26 for the whole program, measured with BPF_PROG_TEST_RUN). Finding is lock-free: a way's tag is
// written last and compared first. Making an entry takes the set's lock and looks again under it, so two CPUs never
// make two entries for one flow. A full set gives up its least recently seen entry; the set then remembers when that
// flow, or any evicted before it, was last notified, and new entries of the set inherit it: eviction delays a notice
// and never advances one. Counting into an entry while it is being evicted may credit its successor with a packet.
#ifndef CNPD_DETECTOR_FLOWS_H
#define CNPD_DETECTOR_FLOWS_H

#include "detector/maps.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FLOW_SETS);
	__type(key, __u32);
	__type(value, struct flow_set);
} flows SEC(".maps");

// Three independent chains: multiplications that depend on each other are most of a hash's cost.
static __always_inline __u64 flow_hash(const struct flow_key *key, __u64 seed)
{
	__u64 from = (key->source[0] ^ seed) * 0x9e3779b97f4a7c15ULL;
	__u64 to = (key->destination[0] + seed) * 0x94d049bb133111ebULL;
	__u64 h = ((__u64)key->context << 32 ^ key->qpn) * 0xd6e8feb86659fd93ULL;
	from = (from ^ (from >> 32) ^ key->source[1]) * 0xbf58476d1ce4e5b9ULL;
	to = (to ^ (to >> 32) ^ key->destination[1]) * 0x9e3779b97f4a7c15ULL;
	h ^= (from ^ (from >> 32)) + (to ^ (to >> 29));
	if (unlikely(key->tunnel[1] | key->tunnel[0] | key->source_qpn)) {
		__u64 through = (key->tunnel[0] ^ seed) * 0x94d049bb133111ebULL;
		through = (through ^ (through >> 32) ^ key->tunnel[1] ^ (__u64)key->source_qpn << 24) *
			  0xbf58476d1ce4e5b9ULL;
		h += through ^ (through >> 31);
	}
	h *= 0xbf58476d1ce4e5b9ULL;
	return h ^ (h >> 32);
}

#define FLOW_SET(hash) ((__u32)(hash) & (FLOW_SETS - 1))
#define FLOW_TAG(hash) ((__u32)((hash) >> 32) | 1)

typedef __u64 __attribute__((may_alias)) wide;

static __always_inline int flow_is(const struct flow *flow, const struct flow_key *key, __u32 tag)
{
	// Two numbers at once of the entry; those of the key may have been written just now, and are read as they were
	// written.
	return *(const wide *)&flow->context == (key->context | (__u64)tag << 32) &&
	       *(const wide *)&flow->qpn == (key->qpn | (__u64)key->source_qpn << 32) &&
	       flow->source[1] == key->source[1] && flow->destination[1] == key->destination[1] &&
	       flow->source[0] == key->source[0] && flow->destination[0] == key->destination[0] &&
	       flow->tunnel[1] == key->tunnel[1] && flow->tunnel[0] == key->tunnel[0];
}

static __always_inline struct flow *flow_find(struct flow_set *set, const struct flow_key *key, __u32 tag)
{
#pragma clang loop unroll(full)
	for (int way = 0; way < FLOW_WAYS; way++) {
		struct flow *flow = &set->ways[way];
		if (flow_is(flow, key, tag))
			return flow;
	}
	return 0;
}

enum flow_outcome { FLOW_FOUND, FLOW_CREATED, FLOW_AGED, FLOW_EVICTED };

// Empties an entry so that a reader without the lock never matches a half-written one. The time of the last
// notice stays: a CPU that found the entry a moment ago may be comparing with it, and 0 would let it send. Caller holds
// the lock.
static __always_inline void flow_clear(struct flow *flow)
{
	__sync_lock_test_and_set(&flow->tag, 0);
	__builtin_memset(&flow->packets, 0,
			 __builtin_offsetof(struct flow, last_notice) - __builtin_offsetof(struct flow, packets));
	__builtin_memset(&flow->notices, 0, sizeof(*flow) - __builtin_offsetof(struct flow, notices));
}

// Takes over an entry for a flow; `notice` is when it, or its predecessor in the set, was last notified. Notifications
// that another CPU has sent meanwhile for the entry's flow count as well. Caller holds the lock.
static __always_inline void flow_write(struct flow_set *set, struct flow *flow, const struct flow_key *key, __u32 tag,
				       __u64 now, __u64 notice)
{
	flow_clear(flow);
	flow->source[0] = key->source[0];
	flow->source[1] = key->source[1];
	flow->destination[0] = key->destination[0];
	flow->destination[1] = key->destination[1];
	flow->tunnel[0] = key->tunnel[0];
	flow->tunnel[1] = key->tunnel[1];
	flow->qpn = key->qpn;
	flow->source_qpn = key->source_qpn;
	flow->context = key->context;
	flow->first_seen = now;
	flow->last_seen = now;
	__u64 late = __sync_lock_test_and_set(&flow->last_notice, notice);
	if (late > notice) {
		flow->last_notice = late;
		if (late > set->evicted_notice)
			set->evicted_notice = late;
	}
	__sync_lock_test_and_set(&flow->tag, tag);
}

// Finds or makes the entry under the set's lock. The way is returned by number, 0 to FLOW_WAYS - 1, the outcome in bits
// 8 and up.
static __noinline int flow_make(struct flow_set *set, const struct flow_key *key, __u32 tag, __u64 now, __u64 ageing)
{
	struct flow_key k = *key;
	int chosen = 0, outcome = FLOW_EVICTED;
	__u64 oldest = ~0ULL;

	bpf_spin_lock(&set->lock);
	__u64 inherited = set->evicted_notice;
#pragma clang loop unroll(full)
	for (int way = 0; way < FLOW_WAYS; way++) {
		struct flow *flow = &set->ways[way];
		__u64 seen = flow->tag ? flow->last_seen : 0;
		if (flow_is(flow, &k, tag)) {
			chosen = way;
			outcome = FLOW_FOUND;
			oldest = 0;
		} else if (outcome != FLOW_FOUND && seen < oldest) {
			chosen = way;
			oldest = seen;
		}
	}
	struct flow *flow = &set->ways[chosen & (FLOW_WAYS - 1)];
	// Another CPU may have seen the flow at the next tick already: a difference below 0 is no age.
	__s64 age = now - flow->last_seen;
	if (outcome == FLOW_FOUND && age <= (__s64)ageing)
		goto unlock;
	if (outcome == FLOW_FOUND) {
		inherited = flow->last_notice; // the same flow come back: a new entry, the same limit
		outcome = FLOW_AGED;
	} else if (flow->tag == 0) {
		outcome = FLOW_CREATED;
	} else {
		outcome = age > (__s64)ageing ? FLOW_AGED : FLOW_EVICTED;
		if (flow->last_notice > inherited)
			inherited = flow->last_notice;
		set->evicted_notice = inherited;
	}
	flow_write(set, flow, &k, tag, now, inherited);
unlock:
	bpf_spin_unlock(&set->lock);
	return (chosen & (FLOW_WAYS - 1)) | outcome << 8;
}

// LHCNP-5.2-c. Any CPU may count into an entry at any time.
static __always_inline void flow_count(struct flow *flow, __u32 length, __u32 psn, __u32 ifindex, __u64 now)
{
	__sync_fetch_and_add(&flow->packets, 1);
	__sync_fetch_and_add(&flow->bytes, length);
	flow->last_seen = now;
	flow->last_psn = psn;
	flow->ifindex = ifindex;
}

// Frees the entries of one set that are older than the ageing time; returns how many.
static __always_inline int flow_age_set(struct flow_set *set, __u64 now, __u64 ageing)
{
	int freed = 0;
	bpf_spin_lock(&set->lock);
#pragma clang loop unroll(full)
	for (int way = 0; way < FLOW_WAYS; way++) {
		struct flow *flow = &set->ways[way];
		__u64 seen = flow->last_seen;
		if (flow->tag == 0 || seen >= now || now - seen <= ageing)
			continue;
		if (flow->last_notice > set->evicted_notice)
			set->evicted_notice = flow->last_notice;
		flow_clear(flow);
		freed++;
	}
	bpf_spin_unlock(&set->lock);
	return freed;
}

#endif
