// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A tunnel that ends here. What is in it is judged by who began it (proxy/port-roles.h), and the exit of tunnels
// (srv6/decap.h) has taken the header off when the proxy's program, behind it on the same hook, sees the packet. So it
// says so in the control block, as which routing leaves marks alone: a tag in the first word, and the outer source in
// the four behind it. The tag of notifications (CB_TAG, builder/order.h) is in the same word: no packet has both.
#ifndef CNPD_WIRE_TUNNEL_ENDED_H
#define CNPD_WIRE_TUNNEL_ENDED_H

#include "wire/address.h"

#define CB_TUNNEL_ENDED 0x51d3ca7eu

static __always_inline void tunnel_end(struct __sk_buff *skb, const struct address *source)
{
	skb->cb[0] = CB_TUNNEL_ENDED;
	skb->cb[1] = source->words[0];
	skb->cb[2] = source->words[1];
	skb->cb[3] = source->words[2];
	skb->cb[4] = source->words[3];
}

// Whether the packet came in a tunnel that the program in front has ended, and then from whom.
static __always_inline int tunnel_ended(struct __sk_buff *skb, struct address *source)
{
	if (likely(skb->cb[0] != CB_TUNNEL_ENDED))
		return 0;
	source->words[0] = skb->cb[1];
	source->words[1] = skb->cb[2];
	source->words[2] = skb->cb[3];
	source->words[3] = skb->cb[4];
	return 1;
}

#endif
