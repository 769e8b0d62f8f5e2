// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Sizes of the Congestion Notification to Proxy message (PNC §4, decisions D1-D4), for who builds it
// (builder/notice-to-proxy.h) and who receives it (proxy/receive-notice.h).
#ifndef CNPD_WIRE_NOTICE_TO_PROXY_H
#define CNPD_WIRE_NOTICE_TO_PROXY_H

// Decision D4: the whole IP packet, when it is built. The draft says "the UDP packet", so what arrives is taken when
// UDP header and payload fit.
#define NOTICE_MAX_IPV4 576
#define NOTICE_MAX_IPV6 1280
#define TUPLE_SIZE_IPV4 14 // addresses, protocol, ports, level octet
#define TUPLE_SIZE_IPV6 38

#endif
