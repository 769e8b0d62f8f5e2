// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the maps of the SRv6 programs hold; src/kernel/dataplane/srv6.ts has the same. No maps.
#ifndef CNPD_SRV6_LAYOUT_H
#define CNPD_SRV6_LAYOUT_H

#include "wire/address.h"

#define OUTER_DSCP_AS_WRITTEN 0xff

struct srv6_config {
	struct address default_source; // END.CON SID of tunnels that no row of srv6_tunnel_sources names
	__u8 has_default;
	__u8 has_rows;	     // srv6_tunnel_sources holds something
	__u8 compatibility;  // RFC 6040 §4.1: compatibility mode instead of normal mode
	__u8 uniform;	     // RFC 2983: uniform model instead of pipe
	__u8 outer_dscp;     // pipe: of tunnels of RoCEv2 packets, or OUTER_DSCP_AS_WRITTEN
	__u8 shared_ingress; // other programs look at what arrives at core ports: decapsulated packets are left to the
			     // kernel's routing, not redirected past them
	__u8 reserved[2];
};

// Local SIDs that decapsulate, whoever made them.
struct srv6_sid {
	__u8 families; // what may be inside: SID_IPV4, SID_IPV6
	__u8 end_con;
	__u8 decapsulate; // here, if the look-up succeeds; otherwise only ECN is put right and seg6local does the rest
	__u8 own_route;	  // seg6local's action is known to be cnpd's own: End.DT6, which drops IPv4
	__u32 table;	  // for the look-up; 0: all rules and tables, as for a packet that arrives without a tunnel
};

#define SID_IPV4 1
#define SID_IPV6 2

#endif
