// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// SRv6 tunnels of RoCEv2 traffic at a provider edge (FCN §4.2), at its core ports. `srv6_encap` runs at tc egress,
// ahead of the detector, on what this router has just encapsulated: END.CON as outer source, ECN by RFC 6040, DSCP by
// RFC 2983 (lib/srv6/encap.h). `srv6_decap` runs at tc ingress, ahead of the kernel's seg6local: ECN out of the tunnel,
// decapsulation at END.CON and at every other local SID that decapsulates (lib/srv6/decap.h), and the ICMPv6 errors
// that come to END.CON because it is the source of tunnels.
//
// Which routes encapsulate, and which SIDs there are, is the kernel's and its routing daemon's business.
#include "kernel.h"
#include "srv6/decap.h"
#include "srv6/encap.h"

LICENSE;

SEC("tc")
int srv6_encap(struct __sk_buff *skb)
{
	return srv6_enter_tunnel(skb);
}

SEC("tc")
int srv6_decap(struct __sk_buff *skb)
{
	return srv6_leave_tunnel(skb);
}
