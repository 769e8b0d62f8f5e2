// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The congested node. `egress` runs at tc egress of a monitored port: it keeps the flow table (LHCNP §5.2), reads the depth of the port's queue
// (LHCNP-5.3.1-a), marks CE above K_min (LHCNP-5.4-a) and, above K_max (LHCNP-5.4-c), hands a clone of the packet to `notice` on the loopback
// interface (notice.h), which turns it into a Congestion Notification to Proxy (PNC-3-a). `egress_age` is run by the agent now and then to
// age the flow table.
//
// It acts on RoCEv2 packets that carry data, so never on a notification. It passes every packet on, whatever it contains. It does not choose
// thresholds, shape, drop, or talk to the sender.
#include "lib/kernel.h"
#include "lib/data-packet.h"
#include "lib/flows.h"
#include "lib/notice.h"

LICENSE;

static __always_inline struct egress_port *find_port(__u32 ifindex, __u32 *slot)
{
	for (__u32 probe = 0; probe < PORT_PROBES; probe++) {
		*slot = (ifindex + probe) & (PORT_SLOTS - 1);
		struct egress_port *port = bpf_map_lookup_elem(&egress_ports, slot);
		if (port && port->ifindex == ifindex)
			return port;
	}
	return 0;
}

// LHCNP-5.3.1-a. Bytes in the port's root qdisc, as `tc -s qdisc` shows them. A single-queue root (TBF, HTB) is shared by all transmit queues.
static __always_inline int queue_depth(struct __sk_buff *skb, __u32 *depth)
{
	struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
	struct net_device *device = kernel->dev;
	if (!device)
		return -1;
	struct netdev_queue *queue = device->_tx;
	if (!queue)
		return -1;
	struct Qdisc *qdisc = queue->qdisc;
	if (!qdisc)
		return -1;
	*depth = qdisc->qstats.backlog;
	return 0;
}

static __always_inline struct flow *flow_of(const struct data_packet *packet, const struct egress_config *config, __u64 now)
{
	__u64 hash = flow_hash(&packet->key, config->flow_seed);
	__u32 index = FLOW_SET(hash), tag = FLOW_TAG(hash);
	struct flow_set *set = bpf_map_lookup_elem(&flows, &index);
	if (!set)
		return 0;
	struct flow *flow = flow_find(set, &packet->key, tag);
	if (likely(flow && (__s64)(now - flow->last_seen) <= (__s64)config->flow_ageing_ns))
		return flow;
	int made = flow_make(set, &packet->key, tag, now, config->flow_ageing_ns);
	int outcome = made >> 8;
	if (outcome != FLOW_FOUND)
		count(COUNT_EGRESS_FLOW_CREATED);
	if (outcome == FLOW_AGED)
		count(COUNT_EGRESS_FLOW_AGED);
	else if (outcome == FLOW_EVICTED)
		count(COUNT_EGRESS_FLOW_EVICTED);
	return &set->ways[made & (FLOW_WAYS - 1)];
}

static __always_inline void record_peak(__u32 slot, __u32 depth)
{
	__u64 *peak = bpf_map_lookup_elem(&egress_peaks, &slot);
	if (!peak)
		return;
	for (int attempt = 0; attempt < 4; attempt++) {
		__u64 seen = *(volatile __u64 *)peak;
		if (depth <= seen || __sync_val_compare_and_swap(peak, seen, depth) == seen)
			return;
	}
}

// RFC 3168: Not-ECT is left alone. The helper refuses a packet whose header is shared; pulling makes a private copy.
static __always_inline void mark_ce(struct __sk_buff *skb, __u8 ecn, struct egress_stats *stats)
{
	if (ecn == 0) {
		count(COUNT_EGRESS_NOT_ECT);
	} else if (ecn == 3) {
		count(COUNT_EGRESS_CE_ALREADY);
	} else if (bpf_skb_ecn_set_ce(skb) == 1 || (bpf_skb_pull_data(skb, 0) == 0 && bpf_skb_ecn_set_ce(skb) == 1)) {
		count(COUNT_EGRESS_CE_MARKED);
		stats->ce_marked++;
	} else {
		count(COUNT_EGRESS_CE_FAILED);
	}
}

// The port's limit (PNC-6-b, LHCNP-9-f). Takes one token, or not. `now` may be older than what another CPU has written.
static __always_inline int bucket_take(__u64 *bucket, const struct egress_port *port, __u64 now)
{
	for (int attempt = 0; attempt < 8; attempt++) {
		__u64 arrival = *(volatile __u64 *)bucket;
		__u64 base = arrival > now ? arrival : now;
		if (base - now > port->burst_ns)
			return 0;
		if (__sync_val_compare_and_swap(bucket, arrival, base + port->notice_spacing_ns) == arrival)
			return 1;
	}
	return 0;
}

// The flow's limit (PNC-6-b, LHCNP-5.5-g): of several CPUs one wins.
static __always_inline int flow_take(struct flow *flow, __u64 interval, __u64 now)
{
	__u64 last = *(volatile __u64 *)&flow->last_notice;
	if (last != 0 && (__s64)(now - last) < (__s64)interval)
		return 0;
	return __sync_val_compare_and_swap(&flow->last_notice, last, now) == last;
}

// PNC-4-f: level n from level_bytes[n] upwards.
static __always_inline __u32 congestion_level(const struct egress_port *port, __u32 depth)
{
	__u32 level = 0;
#pragma clang loop unroll(full)
	for (__u32 n = 1; n < CONGESTION_LEVELS; n++)
		if (depth >= port->level_bytes[n])
			level = n;
	return level;
}

// Whether this trigger may become a notice: the flow's interval, then the proxy, then the port's bucket, so that no token is spent on a packet
// that cannot be notified about. A sender without a proxy is looked up once an interval.
static __noinline int admit(const struct flow_key *key, struct flow *flow, struct egress_port *port, struct egress_stats *stats, __u64 *bucket)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 last = *(volatile __u64 *)&flow->last_notice;
	if (last != 0 && (__s64)(now - last) < (__s64)port->flow_interval_ns) {
		count(COUNT_EGRESS_SUPPRESSED_FLOW);
		stats->suppressed_flow++;
		return 0;
	}
	__u64 arrival = *(volatile __u64 *)bucket;
	if (arrival > now && arrival - now > port->burst_ns) {
		count(COUNT_EGRESS_SUPPRESSED_PORT);
		stats->suppressed_port++;
		return 0;
	}
	struct address source = {.halves = {key->source[0], key->source[1]}};
	struct sender_proxy *proxy = notice_proxy(&source);
	struct egress_config *config = notice_config();
	int addressed = proxy && config && (proxy->proxy_family == 6 ? config->has_source6 : config->has_source4);
	if (!flow_take(flow, port->flow_interval_ns, now)) {
		count(COUNT_EGRESS_SUPPRESSED_FLOW);
		stats->suppressed_flow++;
		return 0;
	}
	if (!addressed) {
		count(proxy ? COUNT_EGRESS_NO_SOURCE : COUNT_EGRESS_NO_PROXY);
		if (!proxy)
			stats->no_proxy++;
		return 0;
	}
	if (!bucket_take(bucket, port, now)) {
		count(COUNT_EGRESS_SUPPRESSED_PORT);
		stats->suppressed_port++;
		return 0;
	}
	return 1;
}

static __always_inline void notify(struct __sk_buff *skb, const struct egress_port *port, struct flow *flow, struct egress_stats *stats, __u32 depth)
{
	__u32 mark = skb->mark, tag = skb->cb[CB_WORD_TAG], level = skb->cb[CB_WORD_LEVEL], ifindex = skb->cb[CB_WORD_IFINDEX];
	skb->mark = MARK_TRIGGER;
	skb->cb[CB_WORD_TAG] = CB_TAG;
	skb->cb[CB_WORD_LEVEL] = congestion_level(port, depth);
	skb->cb[CB_WORD_IFINDEX] = skb->ifindex;
	long error = bpf_clone_redirect(skb, LOOPBACK_IFINDEX, BPF_F_INGRESS);
	skb->mark = mark;
	skb->cb[CB_WORD_TAG] = tag;
	skb->cb[CB_WORD_LEVEL] = level;
	skb->cb[CB_WORD_IFINDEX] = ifindex;
	if (error) {
		count(COUNT_EGRESS_CLONE_FAILED);
		return;
	}
	count(COUNT_EGRESS_NOTIFIED);
	stats->notifications++;
	__sync_fetch_and_add(&flow->notices, 1);
}

SEC("tc")
int egress(struct __sk_buff *skb)
{
	struct data_packet packet;
	enum parsed parsed = parse_plain(skb, &packet);
	if (unlikely(parsed == PARSED_UNKNOWN))
		parsed = parse_walk(skb, &packet);
	if (parsed != PARSED_DATA)
		return TC_NEXT;

	__u32 slot, zero = 0, depth = 0;
	struct egress_port *port = find_port(skb->ifindex, &slot);
	struct egress_config *config = bpf_map_lookup_elem(&egress_config, &zero);
	struct egress_stats *stats = bpf_map_lookup_elem(&egress_stats, &slot);
	if (unlikely(!port || !config || !stats)) {
		count(COUNT_EGRESS_UNCONFIGURED);
		return TC_NEXT;
	}
	__u64 now = bpf_ktime_get_coarse_ns();
	__u32 length = skb->len;
	stats->packets++;
	stats->bytes += length;
	struct flow *flow = flow_of(&packet, config, now);
	if (unlikely(!flow))
		return TC_NEXT;
	flow_count(flow, length, packet.psn, skb->ifindex, now);
	if (unlikely(queue_depth(skb, &depth) < 0)) {
		count(COUNT_EGRESS_NO_QUEUE);
		return TC_NEXT;
	}
	if (depth == 0)
		return TC_NEXT;
	record_peak(slot, depth);
	if (likely(depth <= port->k_min && depth <= port->k_max))
		return TC_NEXT;
	__sync_fetch_and_add(&flow->congested_bytes, length);
	if (depth > port->k_max) {
		__u64 *bucket = bpf_map_lookup_elem(&egress_buckets, &slot);
		count(COUNT_EGRESS_TRIGGERS);
		stats->triggers++;
		if (bucket && admit(&packet.key, flow, port, stats, bucket))
			notify(skb, port, flow, stats, depth); // before marking: the notice carries the packet as it came
	}
	if (depth > port->k_min)
		mark_ce(skb, packet.ecn, stats);
	return TC_NEXT;
}

static long age_set(__u32 index, __u64 *ageing)
{
	struct flow_set *set = bpf_map_lookup_elem(&flows, &index);
	if (!set)
		return 1;
	int freed = flow_age_set(set, bpf_ktime_get_coarse_ns(), *ageing);
	for (int i = 0; i < FLOW_WAYS; i++)
		if (i < freed)
			count(COUNT_EGRESS_FLOW_AGED);
	return 0;
}

// Frees aged entries of the whole flow table. Run by the agent with BPF_PROG_TEST_RUN; never attached.
SEC("tc")
int egress_age(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct egress_config *config = bpf_map_lookup_elem(&egress_config, &zero);
	if (!config)
		return 0;
	__u64 ageing = config->flow_ageing_ns;
	bpf_loop(FLOW_SETS, age_set, &ageing, 0);
	return 0;
}

SEC("tc")
int notice(struct __sk_buff *skb)
{
	return notice_on_loopback(skb);
}
