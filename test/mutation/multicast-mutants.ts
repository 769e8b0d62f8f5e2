// The mutants of End.MT (bpf/lib/multicast). Those of the aggregation that only the model finds are in
// test/bpf/multicast/model-mutants.test.ts.
import type { BpfMutant } from './bpf-mutants.ts';

const ANSWERS = 'test/bpf/multicast/answers.test.ts';
const EDGE = 'test/bpf/multicast/edge.test.ts';
const ENTRY = 'test/bpf/multicast/entry.test.ts';
const EPOCHS = 'test/bpf/multicast/epochs.test.ts';
const LOCAL = 'test/bpf/multicast/local-branch.test.ts';
const NAKS = 'test/bpf/multicast/naks.test.ts';
const NOTICES = 'test/bpf/multicast/notices.test.ts';
const PROXY_ADDRESS = 'test/bpf/multicast/proxy-address.test.ts';
const REPLICATE = 'test/bpf/multicast/replicate.test.ts';
const TWO_CPUS = 'test/bpf/multicast/two-cpus.test.ts';
const DETECTED = 'test/bpf/detector/formats.test.ts';
const LIVE = 'test/bpf/builder/live.test.ts';

export const MULTICAST: readonly BpfMutant[] = [
  {
    fault: 'a NAK goes up again with each minimum',
    file: 'bpf/lib/multicast/aggregate.h',
    search: 'word_replace(&record->nak, nak, nak | NAK_SENT)',
    replace: 'word_replace(&record->nak, nak, nak)',
    fails: [[ANSWERS, 'however the minimum grows, a NAK goes up once']],
  },
  {
    fault: 'a fatal NAK that was lost does not go up again',
    file: 'bpf/lib/multicast/progress.h',
    search: 'nak_is_fatal(NAK_SYNDROME(nak)) ? nak & ~NAK_SENT : 0',
    replace: '0',
    fails: [[ANSWERS, 'a fatal NAK goes up again when the source repeats a packet']],
  },
  {
    fault: 'the minimum is read before the answer is recorded',
    file: 'bpf/lib/multicast/aggregate.h',
    search: `if (!state || !record || claim_record(state, record, claim) == CLAIM_DROPPED)
		return 0;
	if (!multicast_minimum(claim, &minimum)) {`,
    replace: `if (!state || !record)
		return 0;
	int has_minimum = multicast_minimum(claim, &minimum);
	if (claim_record(state, record, claim) == CLAIM_DROPPED)
		return 0;
	if (!has_minimum) {`,
    fails: [[TWO_CPUS, 'is up to date at the end']],
  },
  {
    fault: 'a Fast CNP of anybody is believed',
    file: 'bpf/lib/multicast/notice.h',
    search: 'bpf_map_lookup_elem(&multicast_notifiers, source) && answer_came_from',
    replace: 'answer_came_from',
    fails: [[NOTICES, 'of a host is dropped and counted']],
  },
  {
    fault: 'a Fast CNP of a router elsewhere is believed',
    file: 'bpf/lib/multicast/notice.h',
    search: 'return bpf_map_lookup_elem(&multicast_notifiers, source) && answer_came_from(skb, source, proxy);',
    replace: 'return bpf_map_lookup_elem(&multicast_notifiers, source) != 0;',
    fails: [[NOTICES, 'of a router that is routed elsewhere is dropped']],
  },
  {
    fault: 'a Fast CNP counts whatever its Queue Pair',
    file: 'bpf/lib/multicast/notice.h',
    search: 'if (!branch || branch->qpn != cnp.qpn)',
    replace: 'if (!branch)',
    fails: [[NOTICES, 'about another Queue Pair is dropped']],
  },
  {
    fault: 'on the loopback interface everything is believed',
    file: 'bpf/lib/multicast/arrival.h',
    search: 'ip[IPV6_NEXT_HEADER] != IPPROTO_DSTOPTS || skb->cb[CB_WORD_TAG] != CB_TAG',
    replace: 'ip[IPV6_NEXT_HEADER] != IPPROTO_DSTOPTS',
    fails: [[NOTICES, 'a packet that no builder has made is left alone']],
  },
  {
    fault: 'a notification goes to the replication SID itself',
    file: 'bpf/lib/builder/frame.h',
    search: '__builtin_memcpy(outer + 6, end_con_for(source.halves), 16);',
    replace: '__builtin_memcpy(outer + 6, &source, 16);',
    fails: [[LIVE, 'to the END.CON SID of the router that made it']],
  },
  {
    fault: 'a replication SID is no way back',
    file: 'bpf/lib/detector/policy.h',
    search: 'map_find(&end_con_sids, end_con_for(packet->key.tunnel))',
    replace: 'map_find(&end_con_sids, (const struct address *)packet->key.tunnel)',
    fails: [[DETECTED, 'goes back through the END.CON SID of the router that made it']],
  },
  {
    fault: 'a local user may send into a tree',
    file: 'bpf/lib/multicast/arrival.h',
    search: 'if (skb->ingress_ifindex == 0)',
    replace: 'if (skb->ingress_ifindex == ~0u)',
    fails: [[ENTRY, 'is closed to local users']],
  },
  {
    fault: 'a priority tag leads around the checks',
    file: 'bpf/lib/kernel.h',
    search: 'skb->vlan_tci & VLAN_ID_MASK',
    replace: 'skb->vlan_tci != ~0u',
    fails: [[PROXY_ADDRESS, 'is no way around the checks at the root']],
  },
  {
    fault: 'a label that comes again is believed',
    file: 'bpf/lib/multicast/progress.h',
    search: '& EPOCH_MASK) >= MULTICAST_FAR)',
    replace: '& EPOCH_MASK) > EPOCH_MASK)',
    fails: [[EPOCHS, 'in an epoch with the same label does not count']],
  },
  {
    fault: "the source's address is enough at any port",
    file: 'bpf/lib/multicast/source.h',
    search: 'if (!came_from(skb, &group->source, &group->proxy, port))',
    replace: 'if (!came_from(skb, &group->source, &group->proxy, port) && port == 0)',
    fails: [[PROXY_ADDRESS, 'its address at another port is not enough']],
  },
  {
    fault: 'a source that is believed is so at every port',
    file: 'bpf/lib/belief.h',
    search: 'belief->port == port &&',
    replace: 'belief->port != 0 &&',
    fails: [[PROXY_ADDRESS, 'its address at another port is not enough']],
  },
  {
    fault: 'one source is believed for another',
    file: 'bpf/lib/belief.h',
    search: `belief->port == port &&
	       same_address(&belief->source, source)`,
    replace: 'belief->port == port',
    fails: [[PROXY_ADDRESS, 'what was believed of another source there does not count']],
  },
  {
    fault: 'any MTU is believed',
    file: 'bpf/lib/multicast/too-big.h',
    search: 'mtu >= IPV6_LEAST_MTU && mtu < length ? mtu : 0',
    replace: 'mtu >= IPV6_LEAST_MTU && length ? mtu : 0',
    fails: [[PROXY_ADDRESS, 'an MTU that lets the packet pass']],
  },
  {
    fault: 'Packet Too Big behind an edge counts at every port',
    file: 'bpf/lib/multicast/too-big.h',
    search: '!answer_came_from(skb, &key.address, &own->proxy)',
    replace: 'skb->ifindex == 0',
    fails: [[PROXY_ADDRESS, 'at a port to which the receiver is not routed']],
  },
  {
    fault: 'packets come from any router',
    file: 'bpf/lib/multicast/replicate.h',
    search: 'if (list->parent != packet->parent)',
    replace: 'if (list->parent == 0xffffffff)',
    fails: [[REPLICATE, 'from a router that is not the parent']],
  },
  {
    fault: 'the edge role answers past the branching role of its own router',
    file: 'bpf/lib/multicast/replicate.h',
    search: `	packet->parent = multicast_own_number(group);
	if (packet->parent == 0)
		return multicast_drop(COUNT_MC_ROUTER_UNKNOWN);
`,
    replace: '',
    fails: [
      [LOCAL, 'the source has no ACK before the child has confirmed'],
      [LOCAL, 'the parent has one answer, for child and receivers together'],
    ],
  },
  {
    fault: 'a time that is ahead is a long silence',
    file: 'bpf/lib/multicast/progress.h',
    search: '__s64 silent = (__s64)(now - word_read(&state->data_ns));',
    replace: '__u64 silent = now - word_read(&state->data_ns) - 1;',
    fails: [[EPOCHS, 'a late packet of an older epoch is refused']],
  },
  {
    fault: 'a list with the number of the one before is taken for it',
    file: 'bpf/lib/multicast/progress.h',
    search: 'multicast_note_list(index, CURRENT_LIST(next), CURRENT_LIST(current), epoch);',
    replace: `if (CURRENT_LIST(current) != CURRENT_LIST(next))
		multicast_note_list(index, CURRENT_LIST(next), CURRENT_LIST(current), epoch);`,
    fails: [
      [EPOCHS, 'a receiver that is new joins with the begin of a message'],
      [EPOCHS, 'nothing is confirmed before the new receiver has confirmed'],
    ],
  },
  {
    fault: 'a NAK that precedes the one that goes up counts as sent',
    file: 'bpf/lib/multicast/aggregate.h',
    search: 'nak_rank(NAK_SYNDROME(nak)) <= rank',
    replace: 'nak_rank(NAK_SYNDROME(nak)) <= rank + 256',
    fails: [[NAKS, 'that came after the minimum was read does not count as sent']],
  },
  {
    fault: 'the Designated QPN of a list is that of its first packet',
    file: 'bpf/lib/multicast/rewrite.h',
    search: '	__u32 qpn = packet->words[AT_QPN] & bpf_htonl(0xffffff);',
    replace: '	__u32 qpn = bpf_htonl(0x123456);',
    fails: [[EDGE, 'another Designated QPN with the same receivers']],
  },
];
