// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The contents of the maps of the SRv6 programs; src/kernel/dataplane/srv6.ts has the same. No maps.
#ifndef CNPD_SRV6_LAYOUT_H
#define CNPD_SRV6_LAYOUT_H

#include "wire/address.h"

#define OUTER_DSCP_AS_WRITTEN 0xff

struct srv6_config {
	struct address default_source; // END.CON SID of tunnels without a row in srv6_tunnel_sources
	__u8 has_default;
	__u8 has_rows;	     // srv6_tunnel_sources is not empty
	__u8 compatibility;  // RFC 6040 §4.1: compatibility mode instead of normal mode
	__u8 uniform;	     // RFC 2983: uniform model instead of pipe
	__u8 outer_dscp;     // in the pipe model, of tunnels of RoCEv2 packets, or OUTER_DSCP_AS_WRITTEN
	__u8 shared_ingress; // other programs see packets at core ports: decapsulated ones go to the kernel's routing,
			     // not past the programs
	__u8 reserved[2];
};

// Local SIDs that decapsulate, whoever configured them.
struct srv6_sid {
	__u8 families; // of the inner packets: SID_IPV4, SID_IPV6
	__u8 end_con;
	__u8 decapsulate; // here, if the look-up succeeds; otherwise only ECN is corrected, and seg6local does the rest
	__u8 own_route;	  // cnpd's own route has set the action of seg6local: End.DT6, which drops IPv4
	__u32 table;	  // for the look-up; 0: all rules and tables, as for a packet outside tunnels
};

#define SID_IPV4 1
#define SID_IPV6 2

#endif
