// What the congested node sees and reports, and how its builder of notices is configured (example.ts).
import { viewOf } from '../../../../src/kernel/dataplane/layout.ts';
import type { NoticeConfig } from '../../../../src/kernel/dataplane/notice-config.ts';
import { fromHex } from '../../../../src/packet/hex.ts';
import { A, A_HEX, B, B_HEX, C, C_HEX, type Example, halves, u32, wide, words } from './example.ts';

const STATS = {
  packets: ['packets', wide(1)],
  bytes: ['bytes', wide(2)],
  ce_marked: ['ceMarked', wide(3)],
  triggers: ['triggers', wide(4)],
  notifications: ['notifications', wide(5)],
  suppressed_flow: ['suppressedPerFlow', wide(6)],
  suppressed_port: ['suppressedPerPort', wide(7)],
  no_proxy: ['noProxy', wide(8)],
  left_with_ce: ['leftWithCe', wide(9)],
  not_contributing: ['notContributing', wide(10)],
  deferred: ['deferred', wide(11)],
  no_format: ['noFormat', wide(12)],
} as const;
const FLOW_NAME = {
  source: halves(A_HEX),
  destination: halves(B_HEX),
  tunnel: halves(C_HEX),
  qpn: 0x8012_3456,
  source_qpn: u32(31),
  context: u32(32),
};

const FLOW = {
  ...FLOW_NAME,
  tag: 0x0100_0000,
  packets: wide(1),
  bytes: wide(2),
  congested_bytes: wide(3),
  first_seen: wide(4),
  last_seen: wide(5),
  last_notice: wide(6),
  notices: wide(7),
  last_psn: u32(41),
  ifindex: u32(42),
  notified_at: wide(8),
  notified_source_qpn: u32(43),
  notified_depth: u32(44),
  notified_format: 4,
  notified_row: 3,
  notified_action: 2,
  notified_level: 230,
  notified_parameter: 0x0506,
  notified_pkey: 0x8123,
  ce_exempt_until: wide(9),
  share_window: wide(10),
  share_now: wide(11),
  share_before: wide(12),
  rate_start: wide(13),
  rate_start_bytes: wide(14),
  rate_before: wide(15),
  deferred_until: wide(16),
  deferred_depth: u32(45),
  notified_sport: 0xc001,
};
const FLOW_READ = {
  source: A,
  destination: B,
  destinationQpn: 0x12_3456,
  datagram: true,
  tunnel: C,
  ifindex: u32(42),
  packets: wide(1),
  bytes: wide(2),
  congestedBytes: wide(3),
  firstSeen: wide(4),
  lastSeen: wide(5),
  lastPsn: u32(41),
  notices: wide(7),
  lastNotification: {
    atNs: wide(8),
    format: 'long-haul-roce',
    action: 'rate-reduce',
    row: 3,
    level: 230,
    parameter: 0x0506,
    sourceQpn: u32(43),
    queueBytes: u32(44),
    endCon: C,
    sourcePort: 0xc001,
    pkey: 0x8123,
  },
};
const CLAIM = {
  source: A,
  destination: B,
  destinationQpn: 0x12_3456,
  sourceQpn: u32(31),
  datagram: true,
  endCon: C,
  ifindex: u32(33),
};
const RECORD = {
  time_ns: wide(1),
  source: A_HEX,
  destination: B_HEX,
  end_con: C_HEX,
  ifindex: u32(1),
  destination_qpn: u32(2),
  source_qpn: u32(3),
  queue_bytes: u32(4),
  format: 3,
  reason: 4,
  action: 2,
  level: 180,
  parameter: 0x0506,
  pkey: 0x8123,
  sport: 0xc001,
  datagram: 0x0100,
};
const RECORD_READ = {
  atNs: wide(1),
  format: 'long-haul-icmpv6',
  reason: 'escalation',
  ifindex: u32(1),
  source: A,
  destination: B,
  destinationQpn: u32(2),
  sourceQpn: u32(3),
  endCon: C,
  queueBytes: u32(4),
  level: 180,
  action: 'rate-reduce',
  parameter: 0x0506,
  sourcePort: 0xc001,
  pkey: 0x8123,
  datagram: true,
};
/** In front of a claim. */
const ETHERNET = 14;
const NOTICE: NoticeConfig = {
  fastCnp: { option: 0x9e, ioamOption: 0x9d, icrc: 'skip' },
  longHaul: {
    icmpv6Type: 200,
    objectClass: 247,
    timestamp: false,
    deviceId: null,
    pathId: 0x0102_0304,
    padToCnp: true,
  },
};

export const WATCHED: readonly Example[] = [
  {
    valuesOf: ['egress_stats'],
    fields: Object.fromEntries(Object.entries(STATS).map(([field, [, value]]) => [field, value])),
    size: (ts) => ts.EGRESS_STATS_SIZE,
    read: (ts, bytes) => ts.decodeEgressStats(bytes),
    is: Object.fromEntries(Object.values(STATS)),
  },
  {
    valuesOf: ['egress_opaque'],
    fields: { packets: [0, 1, 2, 3, 4, 5, 6, 7].map(wide) },
    size: (ts) => ts.EGRESS_OPAQUE_SIZE,
    read: (ts, bytes) => ts.decodeOpaque(bytes),
    is: { mpls: wide(1), gre: wide(2), vxlan: wide(3), esp: wide(4), geneve: wide(5), other: wide(6) },
    partly: ['packets'],
  },
  {
    valuesOf: ['egress_measures'],
    fields: {
      interval_start: wide(1),
      start_packets: wide(2),
      start_left_with_ce: wide(3),
      start_depth: u32(4),
      growth: u32(5),
      ecn_ppm: u32(6),
      tick: u32(7),
      last_congested: wide(8),
      congested_since: wide(9),
      share_window: wide(10),
      largest_share: wide(11),
      largest_now: wide(12),
    },
    size: (ts) => ts.EGRESS_MEASURE_SIZE,
    read: (ts, bytes) => ts.decodeEgressMeasure(bytes),
    is: { measuredAt: wide(1), growthBytes: u32(5), ecnMarkingPpm: u32(6) },
    unread: [
      ...['start_packets', 'start_left_with_ce', 'start_depth', 'tick', 'last_congested', 'congested_since'],
      ...['share_window', 'largest_share', 'largest_now'],
    ],
  },
  {
    valuesOf: ['flows'],
    fields: { lock: { val: u32(1) }, evicted_notice: wide(2), ways: [FLOW, FLOW, FLOW, FLOW] },
    size: (ts) => ts.FLOW_SET_SIZE,
    read: (ts, bytes) => [...ts.decodeFlowSet(bytes)],
    is: [FLOW_READ, FLOW_READ, FLOW_READ, FLOW_READ],
    unread: [
      ...['lock.val', 'evicted_notice', 'ways.source_qpn', 'ways.context', 'ways.last_notice'],
      ...['ways.ce_exempt_until', 'ways.share_window', 'ways.share_now', 'ways.share_before', 'ways.rate_start'],
      ...['ways.rate_start_bytes', 'ways.rate_before', 'ways.deferred_until', 'ways.deferred_depth'],
    ],
    partly: ['ways.tag'], // whether it is 0
  },
  {
    struct: 'resume_claim',
    fields: { key: { ...FLOW_NAME, context: 0 }, ifindex: u32(33) },
    narrow: ['key.context'],
    written: (ts) => [ts.encodeResumeClaim(CLAIM).slice(ETHERNET, ETHERNET + 72)],
  },
  {
    struct: 'notification_record',
    fields: RECORD,
    size: (ts) => ts.NOTIFICATION_RECORD_SIZE,
    read: (ts, bytes) => ts.decodeNotification(viewOf(bytes), 0, bytes.length),
    is: RECORD_READ,
    partly: ['datagram'], // whether it is 0
  },
  {
    struct: 'notification_record',
    fields: { ...RECORD, datagram: 1 },
    read: (ts, bytes) => ts.decodeNotification(viewOf(bytes), 0, bytes.length),
    is: RECORD_READ,
    partly: ['datagram'],
  },
];

/** Extension Header and a path identifier (RFC 4884, LHCNP §6.1.1). */
const OBJECTS = '2000e4ed0008f70301020304';

export const BUILDER: readonly Example[] = [
  {
    valuesOf: ['notice_config'],
    fields: {
      fast_cnp_option: 0x9e,
      fast_cnp_ioam_option: 0x9d,
      icrc_skips_options: 1,
      long_haul_type: 200,
      pad_to_cnp: 1,
      has_timestamp: 0,
      objects_length: OBJECTS.length / 2,
      ntp_offset_ns: wide(20),
      objects: words(OBJECTS.padEnd(2 * 96, '0')),
    },
    narrow: ['objects'],
    written: (ts) => [ts.encodeNoticeConfig(NOTICE, wide(20))],
    size: (ts) => ts.NOTICE_CONFIG_SIZE,
    read: (ts, bytes) => ts.decodeNoticeConfig(bytes),
    is: { fastCnpOption: 0x9e, longHaulType: 200, objects: fromHex(OBJECTS), ntpOffsetNs: wide(20) },
    unread: ['fast_cnp_ioam_option', 'icrc_skips_options', 'pad_to_cnp', 'has_timestamp'],
    partly: ['objects'],
  },
  {
    valuesOf: ['notice_config'],
    fields: {
      fast_cnp_option: 0,
      fast_cnp_ioam_option: 0,
      icrc_skips_options: 0,
      long_haul_type: 200,
      pad_to_cnp: 0,
      has_timestamp: 1,
      objects_length: 16,
      ntp_offset_ns: wide(20),
      objects: words('2000e8f1' + '000cf701' + '00'.repeat(96 - 8)),
    },
    narrow: ['objects'],
    written: (ts) => [
      ts.encodeNoticeConfig(
        { longHaul: { ...NOTICE.longHaul!, timestamp: true, pathId: null, padToCnp: false } },
        wide(20),
      ),
    ],
  },
];
