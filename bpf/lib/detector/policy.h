// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Chooses the notification format for a sender: the first possible one of its policy. The reason that excludes a format
// is counted. A flow inside a tunnel is notified through the node that began the tunnel (END.CON, FCN §4.2.2). That
// node's address must be advertised as END.CON by the domain, because the sender of a packet can write any outer
// source. Notices go directly to a proxy (PNC-1-b). A format is also excluded if this router has no route for the
// notification: otherwise its sender would be recorded as notified.
#ifndef CNPD_DETECTOR_POLICY_H
#define CNPD_DETECTOR_POLICY_H

#include "detector/congestion.h"
#include "builder/notice.h"
#include "builder/route-check.h"
#include "proxy/queue-pair-lookup.h"

static __always_inline int refuse(enum counter why)
{
	count(why);
	return 0;
}

static __always_inline int route_possible(struct __sk_buff *skb, const struct address *to)
{
	struct address destination = *to;
	return notice_has_route(skb, &destination) || refuse(COUNT_EGRESS_NO_ROUTE);
}

static __always_inline int proxy_possible(struct __sk_buff *skb, const struct egress_config *config,
					  struct egress_stats *stats, const struct address *sender)
{
	struct sender_proxy *proxy = notice_proxy(sender);
	if (!proxy) {
		stats->no_proxy++;
		return refuse(COUNT_EGRESS_NO_PROXY);
	}
	if (!(proxy->proxy_family == 6 ? config->has_source6 : config->has_source4))
		return refuse(COUNT_EGRESS_NO_SOURCE);
	return route_possible(skb, &proxy->proxy);
}

// FCNP-3-d, LHCNP-4-a: Fast CNP and the ICMPv6 form are for IPv6 flows only.
static __always_inline int family_possible(const struct data_packet *packet, const struct egress_config *config,
					   __u32 format)
{
	__u32 family = address_family(packet->key.source);
	if (family == 4 && format != FORMAT_LONG_HAUL_ROCE)
		return refuse(COUNT_EGRESS_NOT_IPV6);
	int has_source = family == 6 ? config->has_source6 : config->has_source4;
	if (packet->tunnel_family && !config->has_source6)
		has_source = 0; // for the tunnel to END.CON
	return has_source || refuse(COUNT_EGRESS_NO_SOURCE);
}

// A VPN's sender is reached only through its END.CON: here an address inside a label stack, GRE or VXLAN may belong to
// another host.
static __always_inline int tenant_possible(const struct data_packet *packet)
{
	return !packet->shims || refuse(COUNT_EGRESS_TENANT);
}

// Guards against spoofing: the outer source must be an advertised END.CON SID, or a replication SID beside one.
static __always_inline int tunnel_possible(const struct data_packet *packet)
{
	if (packet->tunnel_family == 0)
		return 1;
	if (packet->tunnel_family == 6 && map_find(&end_con_sids, end_con_for(packet->key.tunnel)))
		return 1;
	return refuse(COUNT_EGRESS_NO_END_CON);
}

static __always_inline int understood(const struct address *sender, __u32 format)
{
	struct sender_capability *capability = map_find(&sender_capabilities, sender);
	return !capability || !(capability->lacks >> format & 1) || refuse(COUNT_EGRESS_LACKING);
}

// Returns the sender's Queue Pair; 0: unknown. A datagram names it itself (DETH). It is not believed if it names that
// of a connection.
static __always_inline __u32 sender_qpn(const struct data_packet *packet)
{
	const struct flow_key *key = &packet->key;
	__u32 *tenant = packet->tunnel_family ? map_find(&end_con_sids, end_con_for(key->tunnel)) : 0;
	if (packet->tunnel_family && (!tenant || *tenant == TENANT_UNKNOWN))
		return refuse(COUNT_EGRESS_TENANT);
	struct qp_flow flow = {
		.sender.halves = { key->source[0], key->source[1] },
		.receiver.halves = { key->destination[0], key->destination[1] },
		.receiver_qpn = FLOW_QPN(key->qpn),
		.tenant = tenant ? *tenant : TENANT_MAIN,
	};
	if (!(key->qpn & FLOW_DATAGRAM))
		return source_qpn_of(&flow);
	if (key->source_qpn < FIRST_DATA_QPN)
		return 0;
	return queue_pair_is_connected(&flow, key->source_qpn) ? refuse(COUNT_EGRESS_DATAGRAM) : key->source_qpn;
}

// Returns 0: not possible. Otherwise the sender's Queue Pair if the format needs it, else 1. A global function: the
// verifier checks it once, and follows what comes after it once, not once for each place and format of a policy.
__noinline int format_possible(struct __sk_buff *skb, const struct data_packet *packet, const struct egress_port *port,
			       struct egress_stats *stats, __u32 format)
{
	struct egress_config *config = egress_configuration();
	if (!packet || !port || !stats || !config)
		return 0;
	const struct flow_key *key = &packet->key;
	struct address to = { .halves = { key->source[0], key->source[1] } };
	__u32 qpn = 1;
	if (port->tenant && !packet->tunnel_family)
		return refuse(COUNT_EGRESS_TENANT);
	if (format == FORMAT_PROXY)
		return proxy_possible(skb, config, stats, &to);
	if (!tenant_possible(packet) || !family_possible(packet, config, format) || !tunnel_possible(packet) ||
	    !understood(&to, format))
		return 0;
	if (is_long_haul(format)) {
		qpn = sender_qpn(packet);
		if (!qpn)
			return refuse(COUNT_EGRESS_QP_UNKNOWN);
	}
	if (packet->tunnel_family)
		to = *end_con_for(key->tunnel);
	return route_possible(skb, &to) ? qpn : 0;
}

// By the sender's longest prefix alone. Carriers speak for the main table: a sender inside a tunnel may be a VPN's,
// with an address that belongs to another host there.
static __always_inline int advertised(const struct data_packet *packet, const struct prefix_key *sender, __u32 format)
{
	if (packet->tunnel_family)
		return refuse(COUNT_EGRESS_TENANT);
	struct sender_proxy *learned = learned_about(sender);
	return (learned && learned->supports >> format & 1) || refuse(COUNT_EGRESS_NOT_ADVERTISED);
}

// Sets the format; FORMAT_NONE: the sender is not notified.
static __always_inline void choose_format(struct __sk_buff *skb, struct congestion *c)
{
	const __u64 *sender = c->packet->key.source;
	struct prefix_key key = { .length = 128, .address.halves = { sender[0], sender[1] } };
	struct sender_policy *policy = bpf_map_lookup_elem(&sender_policies, &key);
	c->format = FORMAT_NONE;
	if (!policy || policy->prefix_family != address_family(sender)) {
		count(COUNT_EGRESS_NO_POLICY);
		return;
	}
	c->mark_ce = policy->mark_ce_with_fast_cnp;
	for (int i = 0; i < 4; i++) {
		__u32 format = policy->order[i];
		if (format == FORMAT_NONE || format >= FORMATS)
			break;
		if (policy->only_advertised && format != FORMAT_PROXY && !advertised(c->packet, &key, format))
			continue;
		int possible = format_possible(skb, c->packet, c->port, c->stats, format);
		if (possible) {
			c->format = format;
			c->source_qpn = is_long_haul(format) ? possible : 0;
			return;
		}
	}
	count(COUNT_EGRESS_NO_FORMAT);
}

#endif
