// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A tunnel that ends here. Its content is trusted according to the tunnel's source (proxy/port-roles.h). But the tunnel
// exit (srv6/decap.h) removes the outer header before the proxy's program, behind it on the same hook, sees the packet.
// So it leaves the outer source in the control block; marks are left to routing. The first word holds a tag, the four
// behind it the source. The tag of notifications (CB_TAG, builder/order.h) uses the same word: no packet has both.
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

// Whether the program in front has decapsulated the packet; if so, `source` is set to the tunnel's source.
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
