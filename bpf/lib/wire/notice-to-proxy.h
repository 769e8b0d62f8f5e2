// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Sizes of the Congestion Notification to Proxy message (PNC §4, decisions D1-D4), for the builder
// (builder/notice-to-proxy.h) and the receiver (proxy/receive-notice.h).
#ifndef CNPD_WIRE_NOTICE_TO_PROXY_H
#define CNPD_WIRE_NOTICE_TO_PROXY_H

// Decision D4: a built notice is limited as a whole IP packet. The draft says "the UDP packet", so a received notice is
// accepted when UDP header and payload fit.
#define NOTICE_MAX_IPV4 576
#define NOTICE_MAX_IPV6 1280
#define TUPLE_SIZE_IPV4 14 // addresses, protocol, ports, level octet
#define TUPLE_SIZE_IPV6 38

#endif
