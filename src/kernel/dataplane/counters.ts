// Every per-CPU counter of the eBPF programs, by its index in the pinned map `counters`. bpf/lib/counter-table.h and
// the counter-rows.h of each program hold the same table; counters.test.ts compares them. Indexes outlive an upgrade:
// rows are added, never renumbered.
import { FLOW_CONTROL_COUNTERS } from './flow-control-counters.ts';
import { HOLD_COUNTERS } from './hold-counters.ts';
import { LITTLE_ENDIAN, readU32Key, viewOf } from './layout.ts';
import { MULTICAST_COUNTERS } from './multicast-counters.ts';
import { SOURCE_COUNTERS } from './source-counters.ts';

export const COUNTERS_MAP = 'counters';

export interface CounterRow {
  readonly index: number;
  /** Dotted, as `cnpctl show counters` prints it. */
  readonly name: string;
  readonly meaning: string;
}

const row = (index: number, name: string, meaning: string): CounterRow => ({ index, name, meaning });

export const COUNTERS: readonly CounterRow[] = [
  row(0, 'egress.unconfigured', 'RoCEv2 data packets on a port without configuration'),
  row(1, 'egress.unparseable', 'packets whose header chain is truncated, too deep or malformed; passed untouched'),
  row(2, 'egress.no-queue', 'packets of a port whose root qdisc could not be read'),
  row(3, 'egress.ecn.marked', 'packets marked CE above K_min'),
  row(4, 'egress.ecn.already-ce', 'packets above K_min that carried CE already'),
  row(5, 'egress.ecn.not-ect', 'packets above K_min left alone because they are Not-ECT'),
  row(6, 'egress.ecn.failed', 'ECT packets above K_min that could not be made writable'),
  row(7, 'egress.triggers', 'data packets that met a condition for a notification'),
  row(8, 'egress.suppressed.flow', "triggers within the flow's interval"),
  row(9, 'egress.suppressed.port', "triggers refused by the port's token bucket"),
  row(10, 'egress.no-proxy', 'triggers whose sender has no proxy'),
  row(11, 'egress.no-source', 'triggers whose format needs a loopback address of a family that has none'),
  row(12, 'egress.notified', 'triggers handed to the notice builder'),
  row(13, 'egress.clone-failed', 'triggers that could not be cloned to the loopback interface'),
  row(14, 'egress.flow.created', 'flow table entries created'),
  row(15, 'egress.flow.aged', 'flow table entries removed because no packet came within the ageing time'),
  row(16, 'egress.flow.evicted', 'live flow table entries replaced because their set was full'),
  row(17, 'egress.trigger.ecn-marking-rate', 'of the triggers, those caused by V_ecn (LHCNP-5.4-d)'),
  row(18, 'egress.trigger.queue-growth', 'of the triggers, those caused by V_growth (LHCNP-5.4-e)'),
  row(19, 'egress.suppressed.contribution', 'triggers of flows whose share of the queue is too small'),
  row(20, 'egress.suppressed.deferral', "triggers while another node's notification was seen to work"),
  row(21, 'egress.no-policy', 'triggers whose sender no policy covers'),
  row(22, 'egress.no-format', "triggers for which no format of the sender's policy was possible"),
  row(23, 'egress.format.lacking', 'formats skipped because the sender does not understand them'),
  row(24, 'egress.format.not-ipv6', 'formats skipped because they need an IPv6 flow'),
  row(25, 'egress.format.qp-unknown', "formats skipped because the sender's Queue Pair is not known"),
  row(26, 'egress.format.no-end-con', "formats skipped because the tunnel's source is no END.CON SID of this domain"),
  row(27, 'egress.escalated', "notifications stricter than the queue's depth alone asks for (LHCNP-5.7-e)"),
  row(28, 'egress.ecn.exempt', 'packets above K_min not marked because their sender gets Fast CNPs'),
  row(29, 'egress.notified.proxy', 'notifications handed to the builder for a proxy'),
  row(30, 'egress.notified.fast-cnp', 'Fast CNPs handed to the builder'),
  row(31, 'egress.notified.long-haul-icmpv6', 'Long-haul CNPs over ICMPv6 handed to the builder'),
  row(32, 'egress.notified.long-haul-roce', 'Long-haul CNPs over RoCEv2 handed to the builder'),
  row(33, 'egress.record-lost', 'notification records lost because the agent did not read them in time'),
  row(
    34,
    'egress.format.no-route',
    'formats skipped because this router has no route to the proxy, the END.CON or the sender',
  ),
  row(35, 'egress.ecn.mpls', 'ECT packets above K_min left alone because a label stack is in front of their IP header'),
  row(
    36,
    'egress.opaque.mpls',
    'packets passed without inspection: no IP header is recognized behind the label stack (pseudowire)',
  ),
  row(
    37,
    'egress.opaque.gre',
    'packets passed without inspection: GRE of another version, or without IP, MPLS or Ethernet inside',
  ),
  row(38, 'egress.opaque.vxlan', 'packets passed without inspection: VXLAN without a network identifier'),
  row(39, 'egress.opaque.esp', 'packets passed without inspection: ESP, including ESP in UDP'),
  row(40, 'egress.opaque.geneve', 'packets passed without inspection: Geneve'),
  row(
    41,
    'egress.opaque.other',
    'packets passed without inspection: EtherIP, L2TP, GTP-U, VXLAN-GPE, VXLAN at port 8472',
  ),
  row(
    42,
    'egress.format.tenant',
    "formats skipped because the packet's tenant is unknown: a VPN behind MPLS, GRE or VXLAN, or outside its tunnel",
  ),
  row(43, 'egress.format.datagram', "formats skipped because a datagram names a connection's Queue Pair as its source"),
  row(
    44,
    'egress.format.not-advertised',
    "formats skipped because the sender's prefix is not advertised to understand them",
  ),
  row(64, 'notice.built', 'notices built'),
  row(65, 'notice.unparseable', 'clones that the builder could not parse'),
  row(66, 'notice.no-proxy', 'clones whose proxy vanished between trigger and builder'),
  row(
    67,
    'notice.checksum-partial',
    'triggers by packets with an unfinished checksum: transmit offload of a local sender is on',
  ),
  row(68, 'notice.resize-failed', 'clones that could not be resized'),
  row(69, 'notice.store-failed', 'clones that could not be read or written'),
  row(70, 'notice.foreign-mark', "packets on the loopback interface with the builder's mark but not its tag"),
  row(71, 'notice.no-route', 'IPv4 notices with a route that the program cannot use (tunnel, unreachable, MTU)'),
  row(72, 'notice.routed', "IPv4 notices sent to their next hop, IPv6 notices handed to the kernel's routing"),
  row(73, 'notice.not-forwarded', 'IPv4 notices for this router itself; lost if it is no proxy or there is no route'),
  row(74, 'notice.built.proxy', 'Congestion Notifications to Proxy built'),
  row(75, 'notice.built.fast-cnp', 'Fast CNPs built'),
  row(76, 'notice.built.long-haul-icmpv6', 'Long-haul CNPs built in ICMPv6 form'),
  row(77, 'notice.built.long-haul-roce', 'Long-haul CNPs built in RoCEv2 form'),
  row(78, 'notice.wrapped', 'notices sent to the END.CON of the tunnel that the packet was in'),
  row(79, 'notice.ioam.copied', 'Fast CNPs with option 2: the IOAM trace of the packet is copied'),
  row(
    80,
    'notice.ioam.unusable',
    'Fast CNPs with option 1 although the packet has an IOAM trace: too long for option 2, malformed, ' +
      'or no option type configured',
  ),
  row(81, 'notice.format-off', 'clones for a format that is not configured or does not exist'),
  row(82, 'notice.family', 'clones of IPv4 flows for a format of IPv6 only, or of a family without a loopback address'),
  row(83, 'notice.no-queue-pair', 'clones for a Long-haul CNP without the Queue Pair of the sender'),
  row(84, 'notice.tunnel', 'clones from inside a tunnel over IPv4, which has no END.CON'),
  row(96, 'guard.ingress.dropped', 'notices from outside dropped (PNC-6-c)'),
  row(97, 'guard.egress.dropped', 'notices leaving the domain dropped (PNC-6-d)'),
  row(98, 'guard.ingress.evasive', 'packets from outside dropped whose header chain hides the transport header'),
  row(99, 'guard.egress.evasive', 'leaving packets dropped whose header chain hides the transport header'),
  row(100, 'guard.unconfigured', 'packets on a border port without configuration; passed'),
  row(101, 'guard.ingress.fast-cnp.dropped', 'Fast CNPs from outside dropped (FCNP-5-d)'),
  row(102, 'guard.egress.fast-cnp.dropped', 'Fast CNPs leaving the domain dropped (FCNP-5-e)'),
  row(103, 'guard.ingress.long-haul-icmpv6.dropped', 'Long-haul CNPs in ICMPv6 from outside dropped (LHCNP-9-a)'),
  row(104, 'guard.egress.long-haul-icmpv6.dropped', 'Long-haul CNPs in ICMPv6 leaving the domain dropped'),
  row(105, 'guard.ingress.long-haul-roce.dropped', 'Long-haul CNPs in RoCEv2 from outside dropped (LHCNP-9-a)'),
  row(106, 'guard.egress.long-haul-roce.dropped', 'Long-haul CNPs in RoCEv2 leaving the domain dropped'),
  row(107, 'guard.ingress.allowed', 'notifications from outside passed because their source is on the allow-list'),
  row(
    108,
    'guard.egress.allowed',
    'notifications leaving the domain passed because their destination is on the allow-list',
  ),
  row(
    109,
    'guard.ingress.end-con.dropped',
    'packets from outside dropped: to an END.CON, End.MT or replication SID, or to the Proxy Address of a group',
  ),
  row(
    110,
    'guard.opaque.mpls',
    'packets passed in and out without inspection: no IP header is recognized behind the label stack (pseudowire)',
  ),
  row(
    111,
    'guard.opaque.gre',
    'packets passed without inspection: GRE of another version, or without IP, MPLS or Ethernet inside',
  ),
  row(112, 'guard.opaque.vxlan', 'packets passed without inspection: VXLAN without a network identifier'),
  row(113, 'guard.opaque.esp', 'packets passed without inspection: ESP, including ESP in UDP'),
  row(114, 'guard.opaque.geneve', 'packets passed without inspection: Geneve'),
  row(
    115,
    'guard.opaque.other',
    'packets passed without inspection: EtherIP, L2TP, GTP-U, VXLAN-GPE, VXLAN at port 8472',
  ),
  row(116, 'guard.ingress.arn.dropped', 'ARNs from outside dropped (FCN §4.1)'),
  row(117, 'guard.egress.arn.dropped', 'ARNs leaving the domain dropped (FCN §4.1)'),
  row(128, 'proxy.notice.received', 'notices addressed to the proxy'),
  row(129, 'proxy.cnp.sent', 'notices turned into a CNP'),
  row(130, 'proxy.cnp.failed', 'notices that the kernel could not resize or rewrite'),
  row(
    131,
    'proxy.notice.not-allowed',
    'notices from a source outside the allow-list, or decapsulated by END.CON from a tunnel outside it',
  ),
  row(132, 'proxy.notice.fragment', 'fragments of notices'),
  row(133, 'proxy.notice.extension-headers', 'notices with IP options or IPv6 extension headers'),
  row(
    134,
    'proxy.notice.truncated',
    'notices shorter than their length fields say, or than a five-tuple and an IP header',
  ),
  row(135, 'proxy.notice.too-long', 'notices longer than 576 (IPv4) or 1280 (IPv6) bytes'),
  row(136, 'proxy.notice.no-checksum', 'notices over IPv6 without a UDP checksum'),
  row(137, 'proxy.notice.bad-checksum', 'notices with a wrong UDP or IPv4 header checksum'),
  row(138, 'proxy.notice.tuple-not-found', 'notices whose five-tuple is not in the invoking packet'),
  row(139, 'proxy.notice.tuple-ambiguous', 'notices whose five-tuple matches both as IPv4 and as IPv6'),
  row(140, 'proxy.notice.not-roce', 'notices about flows that are not RoCEv2'),
  row(141, 'proxy.notice.bth-missing', 'notices whose invoking packet is cut before the end of the BTH'),
  row(142, 'proxy.notice.not-data', 'notices about CNPs, management packets or unknown BTH versions'),
  row(143, 'proxy.notice.sender-unknown', 'notices about senders outside the declared prefixes'),
  row(144, 'proxy.notice.qp-unknown', "notices about flows whose sender's Queue Pair is not known"),
  row(145, 'proxy.notice.flow-limited', "notices within the flow's interval"),
  row(146, 'proxy.notice.rate-limited', "notices refused by the node's token bucket"),
  row(147, 'proxy.notice.wrong-port', 'notices on a port to which the route back to their source does not lead'),
  row(
    148,
    'proxy.notice.qp-doubtful',
    "notices about flows whose requests remain unanswered: the sender's Queue Pair may have changed",
  ),
  row(
    150,
    'proxy.notice.deth-missing',
    'notices about datagrams whose invoking packet is cut before the end of the DETH',
  ),
  row(
    151,
    'proxy.notice.tenant-unknown',
    'notices about packets in a tunnel whose source is no END.CON SID of a known tenant',
  ),
  row(
    152,
    'proxy.notice.datagram-contradicted',
    "notices about datagrams that name a connection's Queue Pair as their source",
  ),
  row(153, 'proxy.fast-cnp.ordered', 'notices turned into a Fast CNP for the sender'),
  row(154, 'proxy.long-haul-icmpv6.ordered', 'notices turned into a Long-haul CNP in ICMPv6 for the sender'),
  row(155, 'proxy.long-haul-roce.ordered', 'notices turned into a Long-haul CNP in RoCEv2 for the sender'),
  row(
    156,
    'proxy.notice.tenant-unreachable',
    'notices about a flow of a table other than main whose sender cannot be reached from here',
  ),
  row(
    157,
    'proxy.notice.tunnel-unknown',
    'notices about packets whose tunnel comes from no router in accept-from and no END.CON SID, ' +
      'or is in another tunnel',
  ),
  row(
    158,
    'proxy.notice.not-built-here',
    'notices on the loopback interface that this router has not built: a local user sent them',
  ),
  row(160, 'proxy.qp.learned.cm', 'connections learned from a CM exchange'),
  row(161, 'proxy.qp.learned.reverse-traffic', 'connections learned from traffic in both directions'),
  row(162, 'proxy.qp.replaced', 'known connections replaced by newer evidence about one of their Queue Pairs'),
  row(163, 'proxy.qp.removed.disconnected', 'connections removed by a DREQ, DREP or REJ'),
  row(164, 'proxy.qp.removed.aged', 'connections removed because no packet came within the ageing time'),
  row(165, 'proxy.qp.removed.silent', 'connections removed because the supposed peer did not answer'),
  row(166, 'proxy.qp.removed.contradicted', "connections removed because answers did not fit the sender's PSNs"),
  row(167, 'proxy.qp.removed.orphaned', 'halves of connections removed because the other half was evicted'),
  row(168, 'proxy.qp.store-failed', 'connections that could not be stored'),
  row(169, 'proxy.qp.match', "answers that fit exactly one Queue Pair's recent PSN"),
  row(170, 'proxy.qp.ambiguous', 'answers whose PSN several Queue Pairs have sent recently'),
  row(171, 'proxy.qp.contradiction', 'answers that fit another Queue Pair than the previous ones'),
  row(
    172,
    'proxy.qp.wrong-port',
    'packets with evidence about a Queue Pair, on a port to which the route back to their source does not lead',
  ),
  row(173, 'proxy.qp.confirmed', 'connections from a CM exchange that traffic has confirmed'),
  row(174, 'proxy.qp.removed.displaced', 'unconfirmed connections displaced by another one of the same port'),
  row(175, 'proxy.qp.full', 'confirmed connections that did not fit the table; they stay unconfirmed'),
  row(
    176,
    'proxy.qp.doubtful',
    'times that a connection became doubtful: no answer for longer than a round trip, or for a number of CNPs',
  ),
  row(180, 'proxy.qp.tenant-unknown', 'packets that teach nothing because the tenant of their tunnel is unknown'),
  row(
    181,
    'proxy.qp.tunnel-unknown',
    'packets not learned from because their tunnel comes from no router in accept-from and no END.CON SID, ' +
      'or is in another tunnel',
  ),
  row(182, 'proxy.qp.sent.displaced', 'PSNs waiting for their answers that later ones of the same port displaced'),
  row(183, 'proxy.qp.candidate.displaced', 'supposed peers displaced by others of the same port'),
  row(192, 'proxy.cm.request', 'CM REQ seen'),
  row(193, 'proxy.cm.reply', 'CM REP seen'),
  row(194, 'proxy.cm.ready-to-use', 'CM RTU seen'),
  row(195, 'proxy.cm.reject', 'CM REJ seen'),
  row(196, 'proxy.cm.disconnect', 'CM DREQ and DREP seen'),
  row(197, 'proxy.cm.other', 'other management datagrams to Queue Pair 1'),
  row(198, 'proxy.cm.unmatched', 'REPs without a matching REQ, or with one that is too old'),
  row(
    199,
    'proxy.cm.malformed',
    'datagrams to Queue Pair 1 that are not a complete CM MAD, or name an impossible Queue Pair',
  ),
  row(200, 'proxy.cm.bad-icrc', 'CM MADs with a wrong ICRC'),
  row(201, 'proxy.cm.foreign', 'CM MADs between hosts outside the declared sender prefixes'),
  row(202, 'proxy.cm.other-host', 'REQs and LAPs whose GIDs are not the addresses of the packet'),
  row(203, 'proxy.cm.wrong-port', 'CM MADs on a port to which the route back to their source does not lead'),
  row(204, 'proxy.cm.displaced', 'REQs waiting for their REP that later ones of the same port displaced'),
  row(
    208,
    'srv6.encap.source',
    'RoCEv2 packets encapsulated here that got an END.CON SID as outer source (FCN-4.2.2-c)',
  ),
  row(209, 'srv6.encap.no-source', 'RoCEv2 packets encapsulated here for whose sender no END.CON SID is configured'),
  row(
    210,
    'srv6.encap.hmac',
    'RoCEv2 packets encapsulated here whose SRH has an HMAC, which covers the source; source left alone',
  ),
  row(
    211,
    'srv6.encap.traffic-class',
    'packets encapsulated here whose outer ECN or DSCP field was corrected (RFC 6040, RFC 2983)',
  ),
  row(212, 'srv6.encap.unparseable', 'packets encapsulated here whose header chain is truncated; passed untouched'),
  row(216, 'srv6.decap.forwarded', 'packets decapsulated and forwarded by the program'),
  row(217, 'srv6.decap.handed-up', 'packets decapsulated by the program and routed by the kernel'),
  row(218, 'srv6.decap.left', "packets whose inner ECN is right, left to the kernel's seg6local to decapsulate"),
  row(219, 'srv6.decap.ecn.ce', 'packets that carried CE out of the tunnel (FCN-4.2.1-f)'),
  row(220, 'srv6.decap.ecn.ect1', 'packets that carried ECT(1) out of the tunnel'),
  row(
    221,
    'srv6.decap.ecn.dropped',
    'packets dropped because a congested tunnel carried Not-ECT inside (RFC 6040 figure 4)',
  ),
  row(222, 'srv6.decap.ecn.unused', 'combinations of ECN fields that RFC 6040 calls currently unused'),
  row(223, 'srv6.decap.icmpv6-error', 'ICMPv6 errors to an END.CON SID, consumed'),
  row(224, 'srv6.decap.packet-too-big', 'of these, Packet Too Big: a tunnel is wider than its path'),
  row(225, 'srv6.decap.segments-left', 'packets to a decapsulation SID with segments left; left to the kernel'),
  row(
    226,
    'srv6.decap.unparseable',
    'packets to a decapsulation SID whose header chain is truncated, malformed or too deep; left to the kernel',
  ),
  row(
    227,
    'srv6.decap.failed',
    'packets to a decapsulation SID that the kernel did not let the program change; left to the kernel',
  ),
  row(
    228,
    'srv6.decap.no-ipv4',
    "of those left to the kernel, IPv4 packets to an END.CON SID: lost, because the kernel's action there is End.DT6",
  ),
  row(
    229,
    'srv6.decap.no-ipv4.hook',
    'of these, left because a netfilter hook or an IPsec policy of this router applies to them',
  ),
  row(
    230,
    'srv6.decap.no-ipv4.shared',
    'of these, left because they are not CNPs, and a proxy or Queue Pair learning inspects arriving packets',
  ),
  ...MULTICAST_COUNTERS,
  ...SOURCE_COUNTERS,
  ...HOLD_COUNTERS,
  ...FLOW_CONTROL_COUNTERS,
];

const NAME = new Map(COUNTERS.map((counter) => [counter.index, counter.name]));

/**
 * Counters with their names, in the order of the entries of the map; each value is one u64 a CPU. Indexes without a
 * name are left out.
 */
export function* decodeCounters(
  entries: Iterable<readonly [Uint8Array, Uint8Array]>,
): Generator<[name: string, value: bigint]> {
  for (const [key, value] of entries) {
    const name = NAME.get(readU32Key(key));
    if (name !== undefined) yield [name, sumOfWords(value)];
  }
}

const [LOW, HIGH] = LITTLE_ENDIAN ? [0, 4] : [4, 0];

/** The sum of u64 words. Their halves are added as numbers, exact for a million CPUs: cheaper than bigints. */
function sumOfWords(words: Uint8Array): bigint {
  const view = viewOf(words);
  let [low, high] = [0, 0];
  for (let at = 0; at + 8 <= words.length; at += 8) {
    low += view.getUint32(at + LOW, LITTLE_ENDIAN);
    high += view.getUint32(at + HIGH, LITTLE_ENDIAN);
  }
  return (BigInt(high) << 32n) + BigInt(low);
}
