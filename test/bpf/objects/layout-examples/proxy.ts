// The layouts of the proxy (example.ts).
import type { LongHaulInstruction } from '../../../../src/model/notification.ts';
import { prefix } from '../../../../src/model/prefix.ts';
import { A, A_HEX, B, B_HEX, type Example, u32, wide, wideNumber } from './example.ts';

const LEARNING = {
  hits: 100,
  ageingNs: wideNumber(4),
  recentNs: wideNumber(5),
  silenceNs: wideNumber(6),
  doubtNs: wideNumber(7),
  handshakeNs: wideNumber(8),
  reversePathCheck: true,
};
const CONFIG = {
  address: A,
  otherAddress: B,
  udpPort: 0x1234,
  perFlowIntervalNs: wideNumber(2),
  noticesPerSecond: 1e9 / wideNumber(4),
  burst: 3,
  learning: LEARNING,
};
const LEARNING_FIELDS = {
  hits: 100,
  reverse_path_check: 1,
  ageing_ns: BigInt(wideNumber(4)),
  recent_ns: BigInt(wideNumber(5)),
  silence_ns: BigInt(wideNumber(6)),
  doubt_ns: BigInt(wideNumber(7)),
  handshake_ns: BigInt(wideNumber(8)),
};
const INSTRUCTIONS: LongHaulInstruction[] = Array.from({ length: 8 }, (_, n) => ({
  level: 100 + n,
  action: n < 4 ? 'rate-reduce' : 'pause',
  parameter: 0x0101 + n,
}));
const PAIR_UNKNOWN = 0xffff_ffff;
const FLOW = { sender: A, receiver: B, receiverQpn: u32(1), tenant: u32(2) };
const NARROW_PAIR = 'last_cnp cnps packets bytes peer_tenant answers last_answer believed_at port place answers_then'
  .concat(' unanswered_cnps')
  .split(' ');
const PAIR_TABLES = ['queue_pairs', 'unconfirmed_queue_pairs', 'static_queue_pairs'];

export const PROXY: readonly Example[] = [
  {
    valuesOf: ['proxy_config'],
    fields: {
      ...LEARNING_FIELDS,
      address: A_HEX,
      udp_port: 0x1234,
      flow_interval_ns: BigInt(wideNumber(2)),
      notice_spacing_ns: BigInt(wideNumber(4)),
      burst_ns: 2n * BigInt(wideNumber(4)),
      other_address: B_HEX,
    },
    written: (ts) => [ts.encodeProxyConfig(CONFIG)],
    size: (ts) => ts.PROXY_CONFIG_SIZE,
    read: (ts, bytes) => ts.decodeProxyConfig(bytes),
    is: CONFIG,
  },
  {
    valuesOf: ['proxy_config'],
    fields: {
      ...LEARNING_FIELDS,
      address: '00'.repeat(16),
      udp_port: 0,
      flow_interval_ns: 0n,
      notice_spacing_ns: 0n,
      burst_ns: 0n,
      other_address: '00'.repeat(16),
    },
    narrow: ['address', 'udp_port', 'flow_interval_ns', 'notice_spacing_ns', 'burst_ns', 'other_address'],
    written: (ts) => [ts.encodeLearningConfig(LEARNING)],
  },
  {
    valuesOf: ['proxy_senders'],
    fields: { prefix_family: 6, format: 4 },
    written: (ts) => [ts.encodeProxySender({ prefix: prefix('::/0'), format: 'long-haul-roce' })],
    size: (ts) => ts.PROXY_PREFIX_SIZE,
    read: (ts, bytes) => ts.decodeProxySender(bytes),
    is: 'long-haul-roce',
    unread: ['prefix_family'],
  },
  {
    valuesOf: ['proxy_sources', 'learned_senders'],
    fields: { prefix_family: 4, format: 0 },
    written: (ts) => [ts.encodeProxySource(prefix('0.0.0.0/0')), ts.encodeLearnedSender(prefix('0.0.0.0/0'))],
  },
  {
    valuesOf: ['proxy_instructions'],
    fields: {
      of: INSTRUCTIONS.map(({ level, action, parameter }) => ({
        parameter,
        level,
        action: action === 'rate-reduce' ? 2 : 1,
      })),
    },
    written: (ts) => [ts.encodeProxyInstructions(INSTRUCTIONS)],
    size: (ts) => ts.PROXY_INSTRUCTIONS_SIZE,
  },
  {
    valuesOf: ['proxy_latency'],
    fields: wide(5),
    read: (ts, bytes) => ts.decodeLatency([[ts.u32Key(40), bytes]]),
    is: [{ fromNs: 1024, toNs: 1280, count: wide(5) }],
  },
  {
    keysOf: PAIR_TABLES,
    fields: { sender: A_HEX, receiver: B_HEX, receiver_qpn: u32(1), tenant: u32(2) },
    written: (ts) => [ts.encodeFlowKey(FLOW)],
    size: (ts) => ts.FLOW_KEY_SIZE,
    read: (ts, bytes) => ts.decodeFlowKey(bytes),
    is: FLOW,
  },
  {
    valuesOf: PAIR_TABLES,
    fields: {
      sender_qpn: u32(3),
      starting_psn: u32(4),
      psn: u32(5),
      source: 2,
      strikes: 6,
      waiting: 7,
      doubtful: 1,
      learned_at: wide(8),
      last_seen: wide(9),
      checked_at: wide(10),
      unanswered_since: wide(11),
      last_cnp: wide(12),
      cnps: wide(13),
      packets: wide(14),
      bytes: wide(15),
      peer_tenant: u32(16),
      answers: u32(17),
      last_answer: wide(18),
      believed_at: wide(19),
      port: u32(20),
      place: 0,
      answers_then: u32(22),
      unanswered_cnps: u32(23),
    },
    size: (ts) => ts.QUEUE_PAIR_SIZE,
    read: (ts, bytes) => ts.decodeQueuePair(ts.encodeFlowKey(FLOW), bytes),
    is: {
      ...FLOW,
      peerTenant: u32(16),
      senderQpn: u32(3),
      source: 'reverse-traffic',
      startingPsn: u32(4),
      lastPsn: u32(5),
      learnedAt: wide(8),
      lastSeen: wide(9),
      cnps: wide(13),
      packets: wide(14),
      bytes: wide(15),
      confirmed: true,
      doubtful: true,
    },
    unread: [
      ...['strikes', 'waiting', 'checked_at', 'unanswered_since', 'last_cnp', 'answers', 'last_answer'],
      ...['believed_at', 'port', 'answers_then', 'unanswered_cnps'],
    ],
  },
  {
    valuesOf: PAIR_TABLES,
    fields: {
      ...Object.fromEntries(NARROW_PAIR.map((field) => [field, 0])),
      ...{ last_cnp: 0n, cnps: 0n, packets: 0n, bytes: 0n, last_answer: 0n, believed_at: 0n },
      sender_qpn: u32(3),
      starting_psn: PAIR_UNKNOWN,
      psn: PAIR_UNKNOWN,
      source: 3,
      strikes: 0,
      waiting: 0,
      doubtful: 0,
      learned_at: wide(8),
      last_seen: wide(8),
      checked_at: wide(8),
      unanswered_since: wide(8),
    },
    narrow: NARROW_PAIR,
    written: (ts) => [ts.encodeStaticQueuePair({ senderQpn: u32(3), now: wide(8) })],
  },
  {
    keysOf: ['connected_queue_pairs'],
    fields: { host: A_HEX, qpn: u32(1), tenant: u32(2) },
    written: (ts) => [ts.ownerKey({ sender: A, senderQpn: u32(1), tenant: u32(2) })],
  },
  {
    valuesOf: ['connected_queue_pairs'],
    fields: { host: B_HEX, qpn: u32(1) },
    written: (ts) => [ts.encodePeer(FLOW)],
    read: (ts, bytes) => ts.namesPeer(bytes, FLOW),
    is: true,
  },
  {
    valuesOf: ['port_roles'],
    fields: { link: u32(1), is_core: 1, share: 63 },
    written: (ts) => [ts.encodePortRole({ ifindex: 1, link: u32(1), isCore: true, share: 127 })],
    size: (ts) => ts.PORT_ROLE_SIZE,
  },
  { valuesOf: ['tenant_sids', 'tenant_ports'], fields: u32(3), written: (ts) => [ts.encodeTenant(u32(3))] },
  {
    valuesOf: ['tenant_config'],
    fields: { known: 1, has_rows: 0 },
    narrow: ['known', 'has_rows'],
    written: (ts) => [ts.encodeTenantConfig({ known: true, hasRows: false })],
    size: (ts) => ts.TENANT_CONFIG_SIZE,
    read: (ts, bytes) => ts.knowsTenants(bytes),
    is: true,
    unread: ['has_rows'],
    partly: ['known'],
  },
  {
    valuesOf: ['tenant_config'],
    fields: { known: 0, has_rows: 1 },
    narrow: ['known', 'has_rows'],
    written: (ts) => [ts.encodeTenantConfig({ known: false, hasRows: true })],
  },
];
