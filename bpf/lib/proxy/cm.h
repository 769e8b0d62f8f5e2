// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Learns a connection from its set-up (PNC-1-c; InfiniBand vol. 1 §12.6). A REQ names the Queue Pair and the starting
// PSN of one side, the REP that answers it those of the other. Communication IDs relate the messages. DREQ, DREP and
// REJ end the connection. SIDR, LAP and MRA contain no Queue Pairs. These packets decide which sender is slowed down,
// so they are checked to the ICRC, and against the reverse path (port-roles.h). A connection belongs to the two hosts
// that exchange the messages: nothing is learned if a GID of the message or of its path names an address other than the
// packet's own.
#ifndef CNPD_PROXY_CM_H
#define CNPD_PROXY_CM_H

#include "wire/icrc.h"
#include "proxy/cm-connections.h"

#define ROCE_OPCODE_UD_SEND 0x64
#define CM_QPN 1
#define CM_QKEY 0x80010000u
#define MAD_CM_SEND bpf_htonl(0x01070203u) // base version 1, class 7, class version 2, method Send

enum { CM_REQ = 0x10, CM_REJ = 0x12, CM_REP = 0x13, CM_RTU = 0x14, CM_DREQ = 0x15, CM_DREP = 0x16, CM_LAP = 0x19 };

// Offsets in words from the UDP header: BTH 2, DETH 5, MAD 7, message 13.
enum { CM_UDP = 0, CM_BTH = 2, CM_DETH = 5, CM_MAD = 7, CM_MAD_ATTRIBUTE = 11, CM_BODY = 13 };
// GIDs in the body, in words: of a REQ's primary path, and of the alternate path that a LAP requests. REP and APR have
// none.
enum { CM_REQ_LOCAL_GID = 14, CM_REQ_REMOTE_GID = 18, CM_LAP_LOCAL_GID = 6, CM_LAP_REMOTE_GID = 10 };
#define CM_UDP_WORDS 72 // the datagram: 8 + 12 + 8 + 256 + 4 bytes

// Upper 24 bits of a word in network order.
#define WORD24(word) (bpf_ntohl(word) >> 8)

static __always_inline int cm_qpn_possible(__u32 qpn)
{
	return qpn >= FIRST_DATA_QPN && qpn < 0xffffff;
}

// Whether a GID is this address (IPv4 as ::ffff:a.b.c.d in both) or empty: some stacks leave it empty where there is no
// subnet manager.
static __always_inline int cm_gid_is(const __u32 *gid, const struct address *a)
{
	if (!(gid[0] | gid[1] | gid[2] | gid[3]))
		return 1;
	return gid[0] == a->words[0] && gid[1] == a->words[1] && gid[2] == a->words[2] && gid[3] == a->words[3];
}

// Whether the GIDs at these words of the body are the sender's own and its peer's.
static __always_inline int cm_gids_are_own(struct qp_flow *path, const __u32 *local, const __u32 *remote)
{
	return cm_gid_is(local, &path->sender) && cm_gid_is(remote, &path->receiver);
}

// The tenant of a REQ. A REP does not identify the sender of its REQ, so another tenant that knows the communication ID
// must not be taken for it.
static __always_inline __u32 cm_tenant(struct cm_key *key, __u32 tenant, __u64 now)
{
	struct proxy_config *config = proxy_configuration();
	struct cm_side *known = bpf_map_lookup_elem(&cm_connections, key);
	if (!known || !config || known->tenant == tenant || is_later(now, known->at, config->handshake_ns))
		return tenant;
	return TENANT_UNKNOWN;
}

static __always_inline void cm_request(struct qp_flow *path, const __u32 *body, __u64 now, __u32 port)
{
	struct cm_key key = {
		.local = path->sender, .remote = path->receiver, .comm_id = body[0], .space = tenant_space(path->tenant)
	};
	struct cm_side side = { .qpn = WORD24(body[8]),
				.psn = WORD24(body[11]),
				.tenant = cm_tenant(&key, path->tenant, now),
				.at = now,
				.port = port };
	count(COUNT_CM_REQUEST);
	if (!cm_qpn_possible(side.qpn)) {
		count(COUNT_CM_MALFORMED);
		return;
	}
	if (!cm_gids_are_own(path, body + CM_REQ_LOCAL_GID, body + CM_REQ_REMOTE_GID)) {
		count(COUNT_CM_OTHER_HOST);
		return;
	}
	cm_remember(&key, &side, port);
}

// The REP comes from the other side: its remote communication ID is that of the REQ.
static __always_inline void cm_reply(struct qp_flow *path, const __u32 *body, __u64 now, __u32 port)
{
	__u32 space = tenant_space(path->tenant);
	struct cm_key asked = { .local = path->receiver, .remote = path->sender, .comm_id = body[1], .space = space };
	struct cm_key answer = { .local = path->sender, .remote = path->receiver, .comm_id = body[0], .space = space };
	__u32 qpn = WORD24(body[3]), psn = WORD24(body[5]);
	struct proxy_config *config = proxy_configuration();
	count(COUNT_CM_REPLY);
	struct cm_side *request = bpf_map_lookup_elem(&cm_connections, &asked);
	if (!request || !config || request->tenant == TENANT_UNKNOWN ||
	    is_later(now, request->at, config->handshake_ns)) {
		count(COUNT_CM_UNMATCHED);
		return;
	}
	if (!cm_qpn_possible(qpn)) {
		count(COUNT_CM_MALFORMED);
		return;
	}
	request->peer_qpn = qpn;
	request->peer_tenant = path->tenant;
	struct cm_side side = {
		.qpn = qpn,
		.peer_qpn = request->qpn,
		.psn = psn,
		.tenant = path->tenant,
		.peer_tenant = request->tenant,
		.at = now,
		.port = request->port,
	};
	struct qp_flow flow = {
		.sender = path->sender, .receiver = path->receiver, .receiver_qpn = side.peer_qpn, .tenant = side.tenant
	};
	__u32 request_psn = request->psn;
	port = charged_port(request->port, port);
	cm_remember(&answer, &side, port);
	if (queue_pairs_connect(&flow, side.peer_tenant, qpn, psn, request_psn, QP_FROM_CM, port) == 0)
		count(COUNT_QP_LEARNED_CM);
}

// Forgets a connection by one side's view of it. If the message names `peer_qpn`, that must match.
static __always_inline void cm_forget(struct cm_key *key, __u32 tenant, __u32 peer_qpn)
{
	struct qp_flow flow = { .sender = key->local, .receiver = key->remote, .tenant = tenant };
	struct cm_side *side = bpf_map_lookup_elem(&cm_connections, key);
	if (side) {
		// The connection of another tenant.
		if (side->tenant != tenant)
			return;
		flow.receiver_qpn = side->peer_qpn;
		if (peer_qpn && peer_qpn != side->peer_qpn)
			return;
		bpf_map_delete_elem(&cm_connections, key);
	} else if (peer_qpn) {
		// Learned from traffic, or the exchange has expired.
		flow.receiver_qpn = peer_qpn;
	} else {
		return;
	}
	if (queue_pair_remove(&flow))
		count(COUNT_QP_DISCONNECTED);
}

static __always_inline void cm_end(struct qp_flow *path, const __u32 *body, __u32 attribute)
{
	__u32 space = tenant_space(path->tenant);
	struct cm_key local = { .local = path->sender, .remote = path->receiver, .comm_id = body[0], .space = space };
	struct cm_key remote = { .local = path->receiver, .remote = path->sender, .comm_id = body[1], .space = space };
	struct cm_side *other = bpf_map_lookup_elem(&cm_connections, &remote);
	// The other side's packets belong to the tenant of its REQ or REP. The side that ends the connection answered
	// to that tenant.
	int is_peer =
		other && (other->peer_qpn == 0 ? other->tenant != TENANT_UNKNOWN : other->peer_tenant == path->tenant);
	if (attribute == CM_REJ) {
		__u32 tenant = other ? other->tenant : 0;
		count(COUNT_CM_REJECT);
		cm_forget(&local, path->tenant, 0);
		if (is_peer)
			cm_forget(&remote, tenant, 0);
		return;
	}
	count(COUNT_CM_DISCONNECT);
	cm_forget(&local, path->tenant, attribute == CM_DREQ ? WORD24(body[2]) : 0);
	// The other side's view must be forgotten too: the Queue Pairs may be reused at once.
	if (is_peer)
		bpf_map_delete_elem(&cm_connections, &remote);
}

static __always_inline void cm_message(struct arrival *a, const __u32 *udp)
{
	const __u32 *body = udp + CM_BODY;
	__u32 attribute = bpf_ntohl(udp[CM_MAD_ATTRIBUTE]) >> 16;
	if (attribute == CM_REQ)
		cm_request(&a->flow, body, a->now, a->port);
	else if (attribute == CM_REP)
		cm_reply(&a->flow, body, a->now, a->port);
	else if (attribute == CM_DREQ || attribute == CM_DREP || attribute == CM_REJ)
		cm_end(&a->flow, body, attribute);
	else if (attribute == CM_RTU)
		count(COUNT_CM_READY);
	else if (attribute == CM_LAP && !cm_gids_are_own(&a->flow, body + CM_LAP_LOCAL_GID, body + CM_LAP_REMOTE_GID))
		count(COUNT_CM_OTHER_HOST);
	else
		count(COUNT_CM_OTHER);
}

static __always_inline int cm_wellformed(const __u32 *udp)
{
	return udp[CM_MAD] == MAD_CM_SEND && udp[CM_DETH] == bpf_htonl(CM_QKEY) &&
	       (bpf_ntohl(udp[CM_DETH + 1]) & 0xffffff) == CM_QPN && bpf_ntohl(udp[1]) >> 16 == CM_UDP_WORDS * 4;
}

// Whether the IP packet, by its own length, ends with the datagram.
static __always_inline int cm_fills(const __u32 *ip, __u32 family)
{
	__u32 length = family == 6 ? (bpf_ntohl(ip[1]) >> 16) + IPV6_HLEN : bpf_ntohl(ip[0]) & 0xffff;
	return length == (family == 6 ? IPV6_HLEN : IPV4_HLEN) + CM_UDP_WORDS * 4;
}

// Handles a packet for Queue Pair 1 whose IP header is at `offset` of the frame.
static __noinline int cm_packet(struct __sk_buff *skb, struct arrival *a, __u32 offset, __u32 family)
{
	if (!a)
		return 0;
	struct proxy_scratch *scratch = proxy_memory();
	if (!scratch)
		return 0;
	__u32 header = family == 6 ? IPV6_HLEN : IPV4_HLEN;
	__u32 *words = scratch->words;
	if (!are_learned(&a->flow.sender, &a->flow.receiver)) {
		count(COUNT_CM_FOREIGN);
		return 0;
	}
	if (bpf_skb_load_bytes(skb, offset, words, header + CM_UDP_WORDS * 4) < 0) {
		count(COUNT_CM_MALFORMED);
		return 0;
	}
	__u32 good;
	const __u32 *udp = words + (family == 6 ? IPV6_HLEN / 4 : IPV4_HLEN / 4);
	if (!cm_fills(words, family) || !cm_wellformed(udp)) {
		count(COUNT_CM_MALFORMED);
		return 0;
	}
	if (family == 6)
		good = icrc(words, ICRC_MASK_IPV6, IPV6_HLEN / 4 + CM_UDP_WORDS - 1) ==
		       words[IPV6_HLEN / 4 + CM_UDP_WORDS - 1];
	else
		good = icrc(words, ICRC_MASK_IPV4, IPV4_HLEN / 4 + CM_UDP_WORDS - 1) ==
		       words[IPV4_HLEN / 4 + CM_UDP_WORDS - 1];
	if (!good) {
		count(COUNT_CM_BAD_ICRC);
		return 0;
	}
	if (!is_believed(skb, &a->origin, &a->origin_destination, a->port)) {
		count(COUNT_CM_WRONG_PORT);
		return 0;
	}
	cm_message(a, udp);
	return 0;
}

#endif
