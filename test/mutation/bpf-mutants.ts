// The mutants of the eBPF programs: one small fault each, in code whose rules no other list checks, and the tests that
// have to notice it.
import { HOLDS } from './hold-mutants.ts';
import { MULTICAST } from './multicast-mutants.ts';

export interface BpfMutant {
  /** What is wrong with it. */
  readonly fault: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Exactly once in the file. */
  readonly search: string;
  readonly replace: string;
  /** Every one of these must fail: file, and part of the test's full name. */
  readonly fails: readonly (readonly [file: string, name: string])[];
}

const TRIGGERS = 'test/bpf/detector/triggers.test.ts';
const MULTIQUEUE = 'test/bpf/detector/multiqueue.test.ts';
const SEVERITY = 'test/bpf/detector/severity.test.ts';
const LIMITS = 'test/bpf/detector/limits.test.ts';
const CHECKSUM = 'test/bpf/builder/checksum-zero.test.ts';
const FORMATS = 'test/bpf/proxy/formats.test.ts';
const RESUME = 'test/bpf/detector/resume.test.ts';
const TUNNELS = 'test/bpf/wire/tunnels.test.ts';
const SEPARATE = 'test/bpf/proxy/tenants.test.ts';
const DATAGRAMS = 'test/bpf/wire/datagrams.test.ts';

const MONITOR: readonly BpfMutant[] = [
  {
    fault: 'the depth of a multiqueue port is that of one queue',
    file: 'bpf/lib/detector/port-depth.h',
    search: 'sum->depth += KERNEL_FIELD',
    replace: 'sum->depth = KERNEL_FIELD',
    fails: [[MULTIQUEUE, 'is the sum over them']],
  },
  {
    fault: 'a root that all queues share is counted for each',
    file: 'bpf/lib/detector/port-depth.h',
    search: '\t\tqueues = 1;',
    replace: '\t\tqueues += 0;',
    fails: [[MULTIQUEUE, 'is that of the root where the queues share one']],
  },
  {
    fault: 'a sum is used for ever',
    file: 'bpf/lib/detector/port-depth.h',
    search: 'if (last->remaining && last->tick == tick) {',
    replace: 'if (last->tick) {',
    fails: [[MULTIQUEUE, 'is summed again after as many packets']],
  },
  {
    fault: 'growth triggers at V_growth',
    file: 'bpf/lib/detector/monitor.h',
    search: 'measure->growth > port->v_growth',
    replace: 'measure->growth >= port->v_growth',
    fails: [[TRIGGERS, 'above V_growth triggers, at V_growth it does not']],
  },
  {
    fault: 'marking rate triggers at V_ecn',
    file: 'bpf/lib/detector/monitor.h',
    search: 'measure->ecn_ppm > port->v_ecn',
    replace: 'measure->ecn_ppm >= port->v_ecn',
    fails: [[TRIGGERS, 'above V_ecn triggers, at V_ecn it does not']],
  },
  {
    fault: 'no marking rate is ever stale',
    file: 'bpf/lib/detector/monitor.h',
    search: 'stale || packets == 0',
    replace: '(stale && 0) || packets == 0',
    fails: [[TRIGGERS, 'two intervals; one of longer ago counts as 0']],
  },
  {
    fault: 'a marking rate is stale after one interval',
    file: 'bpf/lib/detector/monitor.h',
    search: 'elapsed > 2 * interval',
    replace: 'elapsed > 1 * interval',
    fails: [[TRIGGERS, 'two intervals; one of longer ago counts as 0']],
  },
  {
    fault: 'a marking rate is stale after three intervals',
    file: 'bpf/lib/detector/monitor.h',
    search: 'elapsed > 2 * interval',
    replace: 'elapsed > 3 * interval',
    fails: [[TRIGGERS, 'two intervals; one of longer ago counts as 0']],
  },
  {
    fault: 'a short interval has no ticks to end in',
    file: 'bpf/lib/detector/monitor.h',
    search: '2 * interval + MEASURE_SLACK_NS',
    replace: '2 * interval',
    fails: [[TRIGGERS, 'of a short interval two ticks of the timer more']],
  },
  {
    fault: 'growth is not scaled to the interval',
    file: 'bpf/lib/detector/monitor.h',
    search: '* ((interval >> 10) | 1) / ((elapsed >> 10) | 1)',
    replace: '* 1',
    fails: [[TRIGGERS, 'where no packet at all ends an interval']],
  },
  {
    fault: 'growth of a queue that shrank',
    file: 'bpf/lib/detector/monitor.h',
    search: 'start == 0 || depth <= before',
    replace: 'start == 0',
    fails: [[TRIGGERS, 'is what the queue gained in an interval, scaled to it']],
  },
  {
    fault: 'other traffic ends no interval',
    file: 'bpf/egress.bpf.c',
    search: 'return other_traffic(skb);',
    replace: 'return skb->len ? TC_NEXT : other_traffic(skb);',
    fails: [
      [TRIGGERS, 'is seen by a RoCEv2 packet that comes rarely'],
      [TRIGGERS, 'of real traffic that has no RoCEv2 in it'],
    ],
  },
  {
    fault: 'other traffic looks at the time once for ever',
    file: 'bpf/egress.bpf.c',
    search: 'likely(measure->tick == tick)',
    replace: 'measure->tick',
    fails: [[TRIGGERS, 'is seen by a RoCEv2 packet that comes rarely']],
  },
  {
    fault: 'an empty queue ends no interval',
    file: 'bpf/egress.bpf.c',
    search: 'if (interval_over(port, measure, now))',
    replace: 'if (depth && interval_over(port, measure, now))',
    fails: [[TRIGGERS, 'from an empty queue on, which RoCEv2 found']],
  },
  {
    fault: 'congestion is forgotten after half a round-trip time',
    file: 'bpf/lib/detector/monitor.h',
    search: '> (__s64)port->rtt_ns)',
    replace: '> (__s64)(port->rtt_ns >> 1))',
    fails: [[SEVERITY, 'after 0.8 of one the reason is escalation']],
  },
  {
    fault: 'congestion is forgotten after two round-trip times',
    file: 'bpf/lib/detector/monitor.h',
    search: '> (__s64)port->rtt_ns)',
    replace: '> 2 * (__s64)port->rtt_ns)',
    fails: [[SEVERITY, 'after 1.2 of one the reason is queue-depth']],
  },
];

const SAID: readonly BpfMutant[] = [
  {
    fault: 'a fall by exactly the configured part is none',
    file: 'bpf/lib/detector/severity.h',
    search: 'rate * 256 <= before',
    replace: 'rate * 256 < before',
    fails: [[SEVERITY, 'a fall by exactly the configured part']],
  },
  {
    fault: 'any fall is a reduction',
    file: 'bpf/lib/detector/severity.h',
    search: 'before * (256 - c->port->deferral)',
    replace: 'before * 256',
    fails: [[SEVERITY, 'that becomes 600 is no reduction']],
  },
  {
    fault: 'a deeper queue is waited for',
    file: 'bpf/lib/detector/severity.h',
    search: 'if (fell && !worse)',
    replace: 'if (fell && (!worse || 1))',
    fails: [[SEVERITY, 'does not put off a queue that grows']],
  },
  {
    fault: 'a queue that is as deep counts as deeper',
    file: 'bpf/lib/detector/severity.h',
    search: 'c->depth > flow->deferred_depth;',
    replace: 'c->depth >= flow->deferred_depth;',
    fails: [[SEVERITY, 'while the queue does not grow is waited for again']],
  },
  {
    fault: 'a row begins above its depth',
    file: 'bpf/lib/detector/severity.h',
    search: 'depth >= port->instructions[n].from_bytes',
    replace: 'depth > port->instructions[n].from_bytes',
    fails: [[SEVERITY, 'at 125000 bytes is row 2']],
  },
  {
    fault: 'a queue at its limit is answered alike for ever',
    file: 'bpf/lib/detector/severity.h',
    search: ' || (depth >= limit && flow->notified_depth >= limit)',
    replace: ' || (limit && 0)',
    fails: [[SEVERITY, 'a queue at its limit']],
  },
  {
    fault: 'what was answered is still waited for',
    file: 'bpf/lib/detector/notify.h',
    search: '		flow->deferred_until = 0; // the deferral has ended with this notification',
    replace: '		flow->deferred_until += 0;',
    fails: [[SEVERITY, 'what was waited for and answered is over']],
  },
  {
    fault: 'the flow forgets its P_Key',
    file: 'bpf/lib/detector/notify.h',
    search: 'flow->notified_pkey = c->packet->pkey;',
    replace: 'flow->notified_pkey = 0;',
    fails: [[RESUME, 'from a run that was started after it']],
  },
  {
    fault: 'the record forgets the UDP source port',
    file: 'bpf/lib/detector/notify.h',
    search: 'record->sport = c->packet->sport;',
    replace: 'record->sport = 0;',
    fails: [[RESUME, 'from the run that saw the notification']],
  },
];

const TOLD: readonly BpfMutant[] = [
  {
    fault: 'a share just below the part is notified',
    file: 'bpf/lib/detector/contribution.h',
    search: '>= measure->largest_share * port->contribution',
    replace: '+ 300000 >= measure->largest_share * port->contribution',
    fails: [[TRIGGERS, 'a flow with half of the largest share is notified']],
  },
  {
    fault: 'the largest flow of the window before is forgotten',
    file: 'bpf/lib/share.h',
    search: '*largest->window + 1 == window ? *largest->now : 0',
    replace: '0',
    fails: [[TRIGGERS, 'what a flow sent in the window before counts']],
  },
  {
    fault: 'the bucket has one token less',
    file: 'bpf/lib/detector/limits.h',
    search: 'if (base - now > port->burst_ns)',
    replace: 'if (base - now + port->notice_spacing_ns > port->burst_ns)',
    fails: [[RESUME, "a Resume takes of the port's tokens"]],
  },
  {
    fault: 'a Resume does not count for its flow',
    file: 'bpf/egress.bpf.c',
    search: 'flow_take(flow, interval, now);',
    replace: '(void)interval;',
    fails: [
      [RESUME, "a Resume takes of the port's tokens, and counts for its flow"],
      [RESUME, 'a Resume counts for its flow where the port is a tenant'],
    ],
  },
  {
    fault: 'nobody remembers when a flow was notified',
    file: 'bpf/lib/detector/limits.h',
    search: 'return __sync_val_compare_and_swap(&flow->last_notice, last, now) == last;',
    replace: 'return 1;',
    fails: [[LIMITS, 'a million packets of one flow from every CPU at once: one interval for all']],
  },
  {
    fault: 'a UDP checksum of 0 stays 0',
    file: 'bpf/lib/builder/notice-to-proxy.h',
    search: 'check = 0xffff;',
    replace: 'check = 0;',
    fails: [[CHECKSUM, 'has the UDP checksum 0xffff where it computes to 0']],
  },
  {
    fault: 'a proxy reads two bits of the level',
    file: 'bpf/lib/proxy/order-notification.h',
    search: 'level >> 5 &',
    replace: 'level >> 6 &',
    fails: [[FORMATS, 'has what the table has for the level']],
  },
  {
    fault: 'without a builder the invoking packet is sent on',
    file: 'bpf/lib/proxy/order-notification.h',
    search: '{ 2, [6] = 2 }',
    replace: '{0}',
    fails: [[FORMATS, 'without a builder nothing reaches anybody']],
  },
  {
    fault: 'an extension checksum of 0 stays 0',
    file: 'bpf/lib/builder/long-haul-cnp.h',
    search: 'sum ? sum : 0xffff',
    replace: 'sum',
    fails: [[CHECKSUM, 'is 0xffff where the program computes 0']],
  },
];

const SHIMS = 'bpf/lib/wire/walk-shims.h';
const LABELED: readonly BpfMutant[] = [
  {
    fault: 'the bottom of the stack is another bit',
    file: SHIMS,
    search: 'if (entry & MPLS_BOTTOM)',
    replace: 'if (entry & 0x200)',
    fails: [[TUNNELS, 'in two labels is its innermost flow']],
  },
  {
    fault: 'a stack has at most 15 labels',
    file: 'bpf/lib/wire/walk-ip.h',
    search: '#define MPLS_LABELS 16',
    replace: '#define MPLS_LABELS 15',
    fails: [[TUNNELS, 'in sixteen labels, multicast is its innermost flow']],
  },
  {
    fault: 'labels are no part of the flow',
    file: SHIMS,
    search: 'walk_shim(h, TUNNEL_MPLS, mix);',
    replace: 'walk_shim(h, TUNNEL_MPLS, 0);',
    fails: [[TUNNELS, 'that differ in labels, GRE key or VXLAN network alone']],
  },
  {
    fault: 'below labels CE is marked',
    file: SHIMS,
    search: 'kind == TUNNEL_MPLS && !h->outer ? SHIM_OUTER_MPLS : 0',
    replace: '0',
    fails: [[TUNNELS, 'behind labels nothing is marked']],
  },
  {
    fault: 'IPv4 behind labels has any length',
    file: SHIMS,
    search: 'bpf_ntohs(walk_be16(ip + IPV4_LENGTH)) > available ||',
    replace: '',
    fails: [[TUNNELS, 'IPv4 that is longer than what it is in is passed']],
  },
  {
    fault: 'IPv4 behind labels has any checksum',
    file: SHIMS,
    search: 'return sum == 0xffff ? IPPROTO_IPIP : 0;',
    replace: 'return sum ? IPPROTO_IPIP : 0;',
    fails: [[TUNNELS, 'IPv4 with a wrong checksum is passed']],
  },
  {
    fault: 'IPv6 behind labels has any length',
    file: SHIMS,
    search: '+ IPV6_HLEN <= available &&',
    replace: '&&',
    fails: [
      [TUNNELS, 'IPv6 that is longer than what it is in is passed'],
      [TUNNELS, 'lengths have to hold all the same'],
    ],
  },
  {
    fault: 'what a notice cut off is missing behind labels',
    file: SHIMS,
    search: 'if (end == WALK_NO_END)',
    replace: 'if (end)',
    fails: [
      [TUNNELS, 'in MPLS in IP, whole or cut behind its BTH'],
      [TUNNELS, 'in GRE with MPLS inside, whole or cut behind its BTH'],
    ],
  },
];
const WRAPPED: readonly BpfMutant[] = [
  {
    fault: 'GRE has no checksum',
    file: SHIMS,
    search: 'if (flags & GRE_CHECKSUM)',
    replace: 'if (flags & 0)',
    fails: [[TUNNELS, 'in GRE with checksum, key and sequence number is its']],
  },
  {
    fault: 'a GRE key takes no room',
    file: SHIMS,
    search: '		key = *(const __u32 *)at;\n		size += 4;',
    replace: '		key = *(const __u32 *)at;',
    fails: [[TUNNELS, 'in GRE with checksum, key and sequence number is its']],
  },
  {
    fault: 'a GRE key is no part of the flow',
    file: SHIMS,
    search: 'walk_shim(h, TUNNEL_GRE, key);',
    replace: 'walk_shim(h, TUNNEL_GRE, key & 0);',
    fails: [[TUNNELS, 'that differ in labels, GRE key or VXLAN network alone']],
  },
  {
    fault: 'GRE has no sequence number',
    file: SHIMS,
    search: 'if (flags & GRE_SEQUENCE)',
    replace: 'if (flags & 0)',
    fails: [[TUNNELS, 'in GRE with checksum, key and sequence number is its']],
  },
  {
    fault: 'GRE of any version is looked into',
    file: SHIMS,
    search: 'if (flags & GRE_UNKNOWN || *next == 0)',
    replace: 'if (*next == 0)',
    fails: [[TUNNELS, 'gre: GRE with a source route is passed']],
  },
  {
    fault: 'VXLAN needs no network',
    file: SHIMS,
    search: 'if (!(vxlan[0] & VXLAN_HAS_VNI))',
    replace: 'if (vxlan[0] & 1)',
    fails: [[TUNNELS, 'VXLAN without a network is passed']],
  },
  {
    fault: 'a VXLAN network is no part of the flow',
    file: SHIMS,
    search: '*(const __u32 *)(vxlan + 4)',
    replace: '0',
    fails: [[TUNNELS, 'that differ in labels, GRE key or VXLAN network alone']],
  },
  {
    fault: 'tunnels over UDP are of one kind',
    file: SHIMS,
    search: 'h->tunnel = tunnel_of_port(dport);',
    replace: 'h->tunnel = TUNNEL_OTHER;',
    fails: [
      [TUNNELS, 'geneve: Geneve is passed'],
      [TUNNELS, 'esp: ESP in UDP is passed'],
    ],
  },
  {
    fault: 'a port counts tunnels of one kind',
    file: 'bpf/lib/detector/data-packet.h',
    search: 'opaque_packets->packets[kind & 7]++;',
    replace: 'opaque_packets->packets[TUNNEL_MPLS]++;',
    fails: [
      [TUNNELS, 'gre: ERSPAN is passed'],
      [TUNNELS, 'other: L2TPv3 is passed'],
    ],
  },
  {
    fault: 'a port of tunnels is taken for any other',
    file: 'bpf/lib/detector/data-packet.h',
    search: 'UPPER_BIT(L2TP_UDP_PORT) | ',
    replace: '',
    fails: [[TUNNELS, 'other: L2TPv2 is passed']],
  },
];
const TENANTS: readonly BpfMutant[] = [
  {
    fault: 'a Resume knows no tenant',
    file: 'bpf/egress.bpf.c',
    search: 'claim.key.context ^= port->tenant;',
    replace: 'claim.key.context ^= 0;',
    fails: [[RESUME, 'counts for its flow where the port is a tenant']],
  },
  {
    fault: 'a CNP of a tenant goes by the main table',
    file: 'bpf/lib/proxy/receive-notice.h',
    search: 'if (notice_is_tunneled(&notice) && !(notice.flow.tenant & TENANT_PASSING))',
    replace: 'if (sender_qpn == 0)',
    fails: [[SEPARATE, 'never goes by the main table']],
  },
  {
    fault: 'a CNP of a tenant elsewhere goes without its tunnel',
    file: 'bpf/lib/proxy/receive-notice.h',
    search: 'int wrapped = notice_is_tunneled(notice) && notice->flow.tenant & TENANT_PASSING;',
    replace: 'int wrapped = notice_is_tunneled(notice) && sender_qpn == 0;',
    fails: [[SEPARATE, 'never goes by the main table']],
  },
  {
    fault: 'a row for any interface speaks for notices',
    file: 'bpf/lib/proxy/tenant-maps.h',
    search: 'if (is_notice && found && *found != TENANT_MAIN)',
    replace: 'if (is_notice && !found)',
    fails: [[SEPARATE, 'outside tunnels is of the port that it comes by']],
  },
  {
    fault: 'datagrams have the whole burst',
    file: 'bpf/lib/proxy/admit-notice.h',
    search: 'config->burst_ns / 2',
    replace: 'config->burst_ns',
    fails: [[DATAGRAMS, 'leave half of the node']],
  },
];

export const BPF_MUTANTS: readonly BpfMutant[] = [
  ...[MONITOR, SAID, TOLD, LABELED, WRAPPED, TENANTS, HOLDS, MULTICAST].flat(),
];
