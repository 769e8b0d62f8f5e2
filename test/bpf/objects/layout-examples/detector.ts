// What the agent configures in the congested node, and its ports (example.ts).
import type * as egress from '../../../../src/kernel/dataplane/egress.ts';
import type { SlotMap } from '../../../../src/kernel/dataplane/egress-ports.ts';
import { address } from '../../../../src/model/address.ts';
import { prefix } from '../../../../src/model/prefix.ts';
import { A, A_HEX, type Dataplane, type Example, u32, wideNumber } from './example.ts';

const INSTRUCTIONS = [
  { fromBytes: null, level: 100, action: 'notify', parameter: 0x0102 },
  ...Array.from({ length: 6 }, (_, i) => ({
    fromBytes: u32(20 + i),
    level: 180 + i,
    action: 'rate-reduce',
    parameter: 0x0203,
  })),
  { fromBytes: u32(30), level: 255, action: 'pause', parameter: 0x0304 },
] as egress.EgressInstruction[];
const PORT: Required<egress.EgressPort> = {
  ifindex: u32(1),
  kMin: u32(2),
  kMax: u32(3),
  levelBytes: [11, 12, 13, 14, 15, 16, 17, 18].map(u32),
  perFlowIntervalNs: wideNumber(3),
  noticesPerSecond: 1e9 / wideNumber(4),
  burst: 3,
  vEcnPpm: u32(4),
  vGrowthBytes: u32(5),
  intervalNs: wideNumber(1),
  rttNs: wideNumber(2),
  contribution256: 0x0180,
  deferral256: 0x021a,
  tenant: u32(6),
  multiqueue: true,
  instructions: INSTRUCTIONS,
};
const CONFIG: Required<egress.EgressConfig> = {
  source4: address('192.0.2.1'),
  source6: A,
  udpPort: 0x1234,
  flowAgeingNs: wideNumber(5),
  flowSeed: 0x1234_5678_9abc_def0n,
  disclose: true,
};
const OFF = 0xffff_ffff;

const none = new Uint8Array();

/** A table over one port's slot, with these bytes; other maps are zero. What is written is left in `written`. */
function portTable(ts: Dataplane, bytes: { peaks?: Uint8Array }, written: Record<string, Uint8Array> = {}) {
  const map = (name: string, value: Uint8Array): SlotMap => ({
    lookup: () => value,
    update: (_, change) => void (written[name] = change),
  });
  return new ts.EgressPortTable({
    ports: map('ports', ts.encodeEgressPort({ ...PORT, ifindex: 7 })),
    stats: map('stats', none),
    measures: map('measures', none),
    opaque: map('opaque', none),
    peaks: map('peaks', bytes.peaks ?? none),
    buckets: map('buckets', none),
  });
}

/** What a port of another rate leaves in the map of token buckets. */
function openedBucket(ts: Dataplane): Uint8Array {
  const written: Record<string, Uint8Array> = {};
  portTable(ts, {}, written).update(ts.u32Key(7), ts.encodeEgressPort({ ...PORT, ifindex: 7, burst: 4 }));
  return written['buckets']!;
}

export const DETECTOR: readonly Example[] = [
  {
    valuesOf: ['egress_ports'],
    fields: {
      ifindex: u32(1),
      k_min: u32(2),
      k_max: u32(3),
      v_ecn: u32(4),
      v_growth: u32(5),
      contribution: 0x0180,
      deferral: 0x021a,
      level_bytes: [11, 12, 13, 14, 15, 16, 17, 18].map(u32),
      instruction_count: 8,
      multiqueue: 1,
      tenant: u32(6),
      instructions: [
        { from_bytes: OFF, parameter: 0x0102, level: 100, action: 0 },
        ...Array.from({ length: 6 }, (_, i) => ({
          from_bytes: u32(20 + i),
          parameter: 0x0203,
          level: 180 + i,
          action: 2,
        })),
        { from_bytes: u32(30), parameter: 0x0304, level: 255, action: 1 },
      ],
      interval_ns: BigInt(wideNumber(1)),
      rtt_ns: BigInt(wideNumber(2)),
      flow_interval_ns: BigInt(wideNumber(3)),
      notice_spacing_ns: BigInt(wideNumber(4)),
      burst_ns: 2n * BigInt(wideNumber(4)),
    },
    narrow: ['instruction_count'],
    written: (ts) => [ts.encodeEgressPort(PORT)],
    size: (ts) => ts.EGRESS_PORT_SIZE,
    read: (ts, bytes) => ts.decodeEgressPort(bytes),
    is: PORT,
    partly: ['instruction_count'], // at most 8
  },
  {
    valuesOf: ['egress_config'],
    fields: {
      source4: 'c0000201',
      source6: A_HEX,
      has_source4: 1,
      has_source6: 1,
      udp_port: 0x1234,
      flow_ageing_ns: BigInt(wideNumber(5)),
      flow_seed: 0x1234_5678_9abc_def0n,
      disclose: 1,
    },
    written: (ts) => [ts.encodeEgressConfig(CONFIG)],
    size: (ts) => ts.EGRESS_CONFIG_SIZE,
    read: (ts, bytes) => ts.decodeEgressConfig(bytes),
    is: CONFIG,
  },
  {
    valuesOf: ['sender_proxies'],
    fields: { proxy: A_HEX, proxy_family: 6, prefix_family: 4, supports: 0b10100 },
    written: (ts) => [
      ts.encodeSenderProxy({ prefix: prefix('192.0.2.0/24'), proxy: A, supports: ['fast-cnp', 'long-haul-roce'] }),
    ],
    size: (ts) => ts.SENDER_PROXY_SIZE,
    read: (ts, bytes) => [ts.decodeSenderProxy(bytes), ts.decodeSupports(bytes)],
    is: [A, ['fast-cnp', 'long-haul-roce']],
    unread: ['prefix_family'],
  },
  {
    valuesOf: ['sender_policies'],
    fields: { order: '04030201', prefix_family: 6, mark_ce_with_fast_cnp: 1, only_advertised: 1 },
    written: (ts) => [
      ts.encodeSenderPolicy({
        prefix: prefix('::/0'),
        order: ['long-haul-roce', 'long-haul-icmpv6', 'fast-cnp', 'proxy'],
        markCeWithFastCnp: true,
        onlyAdvertised: true,
      }),
    ],
    size: (ts) => ts.SENDER_POLICY_SIZE,
    read: (ts, bytes) => ts.decodeSenderPolicy(bytes),
    is: {
      order: ['long-haul-roce', 'long-haul-icmpv6', 'fast-cnp', 'proxy'],
      markCeWithFastCnp: true,
      onlyAdvertised: true,
    },
    unread: ['prefix_family'],
  },
  {
    valuesOf: ['sender_capabilities'],
    fields: { lacks: 0b11100 },
    written: (ts) => [
      ts.encodeSenderCapability({ host: A, lacks: ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'] }),
    ],
    size: (ts) => ts.SENDER_CAPABILITY_SIZE,
    read: (ts, bytes) => ts.decodeSenderCapability(bytes),
    is: { lacks: ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'] },
  },
  { valuesOf: ['end_con_sids'], fields: u32(33), written: (ts) => [ts.encodeEndCon(u32(33))] },
  { valuesOf: ['multicast_notifiers'], fields: 1, narrow: [''], written: (ts) => [ts.MULTICAST_NOTIFIER] },
  { valuesOf: ['own_addresses'], fields: 1, written: (ts) => [ts.OWN_ADDRESS] },
  { valuesOf: ['egress_buckets'], fields: 0n, narrow: [''], written: (ts) => [openedBucket(ts)] },
  {
    valuesOf: ['egress_peaks'],
    fields: BigInt(wideNumber(6)),
    read: (ts, bytes) => portTable(ts, { peaks: bytes }).peakQueueBytes(7),
    is: wideNumber(6),
  },
];
