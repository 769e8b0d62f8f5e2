// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// SRv6 tunnels of RoCEv2 traffic at the core ports of a provider edge (FCN §4.2). `srv6_encap` runs at tc egress, ahead
// of the detector, on packets that this router has just encapsulated. It sets END.CON as the outer source, ECN by RFC
// 6040, and DSCP by RFC 2983 (lib/srv6/encap.h). `srv6_decap` runs at tc ingress, ahead of the kernel's seg6local. It
// copies ECN out of the tunnel and decapsulates at END.CON and at every other local SID that decapsulates
// (lib/srv6/decap.h). It consumes the ICMPv6 errors that END.CON receives as the source of tunnels.
//
// The kernel and its routing daemon decide which routes encapsulate and which SIDs exist.
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
