// The mutants of holds and of precise flow control (bpf/hold.bpf.c, bpf/lib/hold, bpf/lib/flow-control).
import type { BpfMutant } from './bpf-mutants.ts';

const HOLD = 'test/bpf/hold/hold.test.ts';
const TRAFFIC = 'test/bpf/flow-control/held-traffic.test.ts';
const CONTRIBUTION = 'test/bpf/flow-control/contribution.test.ts';
const DETECTION = 'test/bpf/flow-control/detection.test.ts';

const CLASSES: readonly BpfMutant[] = [
  {
    fault: 'a hold outlives its agent',
    file: 'bpf/lib/hold/class.h',
    search: 'if (*now >= hold->until_ns) {',
    replace: 'if (!hold->until_ns) {',
    fails: [
      [HOLD, 'a hold that is not renewed is ignored'],
      [TRAFFIC, 'expires when no agent renews it'],
    ],
  },
  {
    fault: 'a flow leaves with packets in its class',
    file: 'bpf/lib/hold/class.h',
    search: 'if ((record->classed && record->entered != hold->drained)',
    replace: 'if ((record->classed && record->entered > hold->drained + 1)',
    fails: [
      [HOLD, 'goes on into its class until that is empty'],
      [TRAFFIC, 'goes on into the class until that is empty'],
    ],
  },
  {
    fault: 'a flow that has left enters its class again',
    file: 'bpf/lib/hold/class.h',
    search: 'record->released = 1;',
    replace: 'record->released = 0;',
    fails: [[HOLD, 'goes on into its class until that is empty']],
  },
  {
    fault: 'a flow that has left cannot be held again',
    file: 'bpf/lib/hold/class.h',
    search: `		record->released = 0;
		return 0;`,
    replace: `		return record->released;`,
    fails: [[HOLD, 'a flow that is held again after it has left']],
  },
  {
    fault: 'a packet of several segments enters as one',
    file: 'bpf/lib/hold/class.h',
    search: 'skb->gso_segs ? skb->gso_segs : 1',
    replace: '1',
    fails: [[HOLD, 'counts the segments']],
  },
  {
    fault: 'the class is that of another HTB',
    file: 'bpf/lib/hold/class.h',
    search: '(root & 0xffff0000) | hold->minor',
    replace: '(root & 0xffff0000 & 0x10000) | hold->minor',
    fails: [[HOLD, 'a flow that is held again after it has left']],
  },
  {
    fault: 'a phase of another version is taken for leaving',
    file: 'bpf/lib/hold/class.h',
    search: '(hold->phase != HOLD_HELD && hold->phase != HOLD_LEAVING)',
    replace: 'hold->phase == 0',
    fails: [[HOLD, 'or that another version has written']],
  },
  {
    fault: 'packets are looked at while nothing is held',
    file: 'bpf/hold.bpf.c',
    search: 'if (!state || likely(!state->holds[HOLD_FLOW]))',
    replace: 'if (!state)',
    fails: [[HOLD, 'no packet is looked at']],
  },
  {
    fault: 'the inner packet may be longer than its tunnel',
    file: 'bpf/lib/hold/packet.h',
    search: 'if (length + taken > available)',
    replace: 'if (length > available + taken)',
    fails: [[HOLD, 'that ends behind its tunnel goes straight']],
  },
];

const FLOW_CONTROL: readonly BpfMutant[] = [
  {
    fault: 'many small flows make that of another interface the largest',
    file: 'bpf/lib/flow-control/contribution.h',
    search: 'return by_way && by_traffic;',
    replace: 'return (by_way || egress) && by_traffic;',
    fails: [[CONTRIBUTION, 'who divides traffic into many small flows']],
  },
  {
    fault: 'all traffic of an interface is asked for',
    file: 'bpf/lib/flow-control/contribution.h',
    search: 'return by_way && by_traffic;',
    replace: 'return by_way && (by_traffic || egress);',
    fails: [
      [CONTRIBUTION, 'less than half of the largest share is too little'],
      [CONTRIBUTION, 'of each interface that brings at least half'],
    ],
  },
  {
    fault: 'traffic is compared with whole interfaces',
    file: 'bpf/lib/flow-control/contribution.h',
    search: 'share_of_key(&flow_control_largest, &way, &none)',
    replace: 'share_of_key(&flow_control_largest, &any, &none)',
    fails: [[CONTRIBUTION, 'of each interface that brings at least half']],
  },
  {
    fault: 'only the largest is asked for',
    file: 'bpf/lib/flow-control/contribution.h',
    search: 'largest->share / 2',
    replace: 'largest->share',
    fails: [[CONTRIBUTION, 'of each interface that brings at least half']],
  },
  {
    fault: 'a share begins when the queue is full',
    file: 'bpf/hold.bpf.c',
    search: 'return *depth > port->above / 2;',
    replace: 'return *depth > port->above;',
    fails: [[CONTRIBUTION, 'less than half of the largest share is too little']],
  },
  {
    fault: 'what is held counts as the queue',
    file: 'bpf/hold.bpf.c',
    search: '*depth = total > held ? total - held : 0;',
    replace: '*depth = held ? total : total;',
    fails: [[TRAFFIC, 'held bytes are subtracted, down to nothing']],
  },
  {
    fault: 'what has entered since the agent looked is not held',
    file: 'bpf/hold.bpf.c',
    search: '*(volatile const __u64 *)entered - port->entered',
    replace: '*(volatile const __u64 *)entered - *entered',
    fails: [[TRAFFIC, 'what has entered since the agent looked counts as held']],
  },
  {
    fault: 'a class that is full is not reported',
    file: 'bpf/lib/flow-control/held-traffic.h',
    search: 'return hold->full ? HELD_IN_FULL_CLASS : HELD_IN_CLASS;',
    replace: 'return HELD_IN_CLASS;',
    fails: [[TRAFFIC, 'has packets reported that enter it']],
  },
  {
    fault: 'a priority that is held stops what keeps the link',
    file: 'bpf/lib/flow-control/held-traffic.h',
    search: 'outermost->protocol == IPPROTO_ICMPV6 || outermost->protocol == IPPROTO_OSPF',
    replace: 'outermost->protocol == IPPROTO_ICMPV6',
    fails: [[TRAFFIC, 'OSPF']],
  },
  {
    fault: 'a flow that arrives from another station has arrived as before',
    file: 'bpf/lib/flow-control/arrival.h',
    search: ' && same_mac(a->source_mac, b->source_mac)',
    replace: '',
    fails: [[DETECTION, 'not with each of its packets']],
  },
  {
    fault: 'how a flow arrives is learned with each of its packets',
    file: 'bpf/lib/flow-control/arrival.h',
    search: 'if (before && same_arrival(before, &now)) {',
    replace: 'if (before && same_arrival(before, &now) && !now.ifindex) {',
    fails: [[DETECTION, 'not with each of its packets']],
  },
];

export const HOLDS: readonly BpfMutant[] = [...CLASSES, ...FLOW_CONTROL];
