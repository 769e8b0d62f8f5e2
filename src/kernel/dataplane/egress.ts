// Maps of the congested node (bpf/lib/detector/layout.h): the bytes of their keys and values, both ways. Ports are kept
// by slot, which egress-ports.ts hides; flows have their own file, flows.ts.
import type { IpAddress } from '../../model/address.ts';
import type { LongHaulInstruction } from '../../model/notification.ts';
import { addressBytes, addressFromBytes } from '../../model/address.ts';
import type { Prefix } from '../../model/prefix.ts';
import { SENDER_FORMATS, type Understood, understood } from '../../model/understood.ts';
import { LITTLE_ENDIAN, putMapped, structure, unmappedAddress, viewOf } from './layout.ts';
import { ACTION_NUMBER, FORMAT_NUMBER, actionOf } from './notifications.ts';

/**
 * In dist/bpf/egress.bpf.o. `egress`: tc egress of a monitored port. `notice`: tc ingress of the loopback interface.
 * `age`: run, not attached.
 */
export const EGRESS_PROGRAMS = {
  egress: 'egress',
  notice: 'notice',
  age: 'egress_age',
  resume: 'egress_resume',
} as const;

export const EGRESS_MAPS = {
  ports: 'egress_ports',
  config: 'egress_config',
  senderProxies: 'sender_proxies',
  senderPolicies: 'sender_policies',
  senderCapabilities: 'sender_capabilities',
  endConSids: 'end_con_sids',
  /** Key mappedAddress of a replication SID, value mappedAddress of an END.CON SID. */
  replicationEndCons: 'replication_end_cons',
  ownAddresses: 'own_addresses',
  buckets: 'egress_buckets',
  peaks: 'egress_peaks',
  stats: 'egress_stats',
  measures: 'egress_measures',
  opaque: 'egress_opaque',
  notifications: 'notifications',
  flows: 'flows',
  /** Scratch memory, needs no pin. */
  buffer: 'notice_buffer',
} as const;

export const PORT_SLOTS = 256;
export const PORT_PROBES = 4;
export const CONGESTION_LEVELS = 8;
/**
 * skb->mark of clones on the loopback interface between trigger and notice; other programs there ignore these clones.
 */
export const MARK_TRIGGER = 0x434e5054;
export const MARK_NOTICE = 0x434e504e;
/** The first word of skb->cb of these clones. It distinguishes them from other packets with the same mark. */
export const CB_TAG = 0x9c6e7d31;
export const DEFAULT_FLOW_AGEING_NS = 60_000_000_000;

const OFF = 0xffff_ffff;
/** Queue depths are 32 bits in the kernel: a threshold that no queue can reach is off. */
const threshold = (bytes: number | null): number => (bytes === null ? OFF : Math.min(bytes, OFF));
const decodeThreshold = (bytes: number): number | null => (bytes === OFF ? null : bytes);

/**
 * A row of the instructions of Long-haul CNPs, which ascend in strictness; the first one is for triggers below K_max.
 */
export interface EgressInstruction extends LongHaulInstruction {
  /** Queue depth from which the row applies, bytes; null: only by escalation. */
  readonly fromBytes: number | null;
}

/** A monitored port. Depths in bytes; null: off. */
export interface EgressPort {
  readonly ifindex: number;
  readonly kMin: number | null;
  readonly kMax: number | null;
  /** 8 entries, ascending: level n is reported from levelBytes[n] upwards. */
  readonly levelBytes: readonly number[];
  readonly perFlowIntervalNs: number;
  readonly noticesPerSecond: number;
  /** Notices that may be sent back to back, at least 1. */
  readonly burst: number;
  /** V_ecn, parts per million of the packets of an interval (LHCNP-5.4-d). */
  readonly vEcnPpm?: number | null;
  /** V_growth, bytes an interval (LHCNP-5.4-e). */
  readonly vGrowthBytes?: number | null;
  readonly intervalNs?: number;
  /** RTT_est; null or absent: unknown, perFlowIntervalNs is used. */
  readonly rttNs?: number | null;
  /** 1 to 8 rows. */
  readonly instructions?: readonly EgressInstruction[];
  /** A flow's sender is notified when its share is at least this many 1/256 of the largest one; 0: always. */
  readonly contribution256?: number;
  /** A fall of the arrival rate by this many 1/256 is a reduction; 0: no deferral. */
  readonly deferral256?: number;
  /** Tenant of packets that leave here outside tunnels (tenants.ts); 0 or absent: the router's own address space. */
  readonly tenant?: number;
  /** Whether the depth is the sum over the transmit queues' qdiscs (mq); default: that of the root. */
  readonly multiqueue?: boolean;
}

export const DEFAULT_INTERVAL_NS = 10_000_000;
export const MAX_INSTRUCTIONS = 8;
/** The default instruction (LHCNP §5.5.1). */
const NOTIFY: EgressInstruction = { fromBytes: null, level: 100, action: 'notify', parameter: 0 };

/** Offsets in struct egress_port, and in one struct instruction of it. */
export const EGRESS_PORT_SIZE = 168;
const PORT = {
  ifindex: 0,
  kMin: 4,
  kMax: 8,
  vEcn: 12,
  vGrowth: 16,
  contribution: 20,
  deferral: 22,
  levels: 24,
  instructionCount: 56,
  multiqueue: 58,
  instructions: 64,
  intervalNs: 128,
  rtt: 136,
  interval: 144,
  spacing: 152,
  burst: 160,
  tenant: 60,
} as const;
const INSTRUCTION = { from: 0, parameter: 4, level: 6, action: 7, size: 8 } as const;
/** Offsets of the token bucket's rate in the value: a change of it opens the bucket again. */
export const EGRESS_PORT_RATE = { start: PORT.spacing, end: PORT.burst + 8 } as const;

/** @throws RangeError when levels, instructions, rate or burst are impossible */
export function encodeEgressPort(port: EgressPort): Uint8Array {
  const { instructions = [NOTIFY] } = port;
  if (port.levelBytes.length !== CONGESTION_LEVELS)
    throw new RangeError(`${port.levelBytes.length} congestion levels, not ${CONGESTION_LEVELS}`);
  if (instructions.length < 1 || instructions.length > MAX_INSTRUCTIONS)
    throw new RangeError(`${instructions.length} instructions, not 1 to ${MAX_INSTRUCTIONS}`);
  if (!(port.noticesPerSecond > 0) || !(port.burst >= 1))
    throw new RangeError(`no token bucket: ${port.noticesPerSecond}/s, burst ${port.burst}`);
  // Rounded up: never above the rate.
  const spacing = BigInt(Math.ceil(1e9 / port.noticesPerSecond));
  return structure(EGRESS_PORT_SIZE, (view) => {
    const u32 = (at: number, value: number): void => view.setUint32(at, value, LITTLE_ENDIAN);
    const u16 = (at: number, value: number): void => view.setUint16(at, value, LITTLE_ENDIAN);
    const u64 = (at: number, value: number | bigint): void =>
      view.setBigUint64(at, BigInt(typeof value === 'number' ? Math.ceil(value) : value), LITTLE_ENDIAN);
    u32(PORT.ifindex, port.ifindex);
    u32(PORT.kMin, threshold(port.kMin));
    u32(PORT.kMax, threshold(port.kMax));
    u32(PORT.vEcn, threshold(port.vEcnPpm ?? null));
    u32(PORT.vGrowth, threshold(port.vGrowthBytes ?? null));
    u16(PORT.contribution, port.contribution256 ?? 0);
    u16(PORT.deferral, port.deferral256 ?? 0);
    port.levelBytes.forEach((bytes, level) => u32(PORT.levels + 4 * level, threshold(bytes)));
    u16(PORT.instructionCount, instructions.length);
    view.setUint8(PORT.multiqueue, port.multiqueue ? 1 : 0);
    u32(PORT.tenant, port.tenant ?? 0);
    instructions.forEach((row, i) => {
      const at = PORT.instructions + i * INSTRUCTION.size;
      u32(at + INSTRUCTION.from, threshold(row.fromBytes));
      u16(at + INSTRUCTION.parameter, row.parameter);
      view.setUint8(at + INSTRUCTION.level, row.level);
      view.setUint8(at + INSTRUCTION.action, ACTION_NUMBER[row.action]);
    });
    u64(PORT.intervalNs, port.intervalNs ?? DEFAULT_INTERVAL_NS);
    u64(PORT.rtt, port.rttNs ?? port.perFlowIntervalNs);
    u64(PORT.interval, port.perFlowIntervalNs);
    u64(PORT.spacing, spacing);
    u64(PORT.burst, BigInt(Math.floor(port.burst) - 1) * spacing);
  });
}

/** Undefined for a free slot. */
export function decodeEgressPort(value: Uint8Array): Required<EgressPort> | undefined {
  const view = viewOf(value);
  const u32 = (at: number): number => view.getUint32(at, LITTLE_ENDIAN);
  const u16 = (at: number): number => view.getUint16(at, LITTLE_ENDIAN);
  const u64 = (at: number): number => Number(view.getBigUint64(at, LITTLE_ENDIAN));
  if (u32(PORT.ifindex) === 0) return undefined;
  return {
    ifindex: u32(PORT.ifindex),
    kMin: decodeThreshold(u32(PORT.kMin)),
    kMax: decodeThreshold(u32(PORT.kMax)),
    levelBytes: Array.from({ length: CONGESTION_LEVELS }, (_, level) => u32(PORT.levels + 4 * level)),
    perFlowIntervalNs: u64(PORT.interval),
    noticesPerSecond: 1e9 / u64(PORT.spacing),
    burst: u64(PORT.burst) / u64(PORT.spacing) + 1,
    vEcnPpm: decodeThreshold(u32(PORT.vEcn)),
    vGrowthBytes: decodeThreshold(u32(PORT.vGrowth)),
    intervalNs: u64(PORT.intervalNs),
    rttNs: u64(PORT.rtt),
    contribution256: u16(PORT.contribution),
    deferral256: u16(PORT.deferral),
    tenant: u32(PORT.tenant),
    multiqueue: value[PORT.multiqueue] === 1,
    instructions: Array.from({ length: Math.min(MAX_INSTRUCTIONS, u16(PORT.instructionCount)) }, (_, i) => {
      const at = PORT.instructions + i * INSTRUCTION.size;
      const parameter = u16(at + INSTRUCTION.parameter);
      return {
        fromBytes: decodeThreshold(u32(at)),
        level: value[at + INSTRUCTION.level]!,
        action: actionOf(value[at + INSTRUCTION.action]!),
        parameter,
      };
    }),
  };
}

/** How notices are built, and the flow table's parameters. */
export interface EgressConfig {
  readonly source4: IpAddress | null;
  readonly source6: IpAddress | null;
  readonly udpPort: number;
  readonly flowAgeingNs: number;
  /**
   * Random; constant for the life of the flow table, or its entries are no longer found: read it back before writing.
   * 0: none yet.
   */
  readonly flowSeed: bigint;
  /** Whether Long-haul CNPs disclose the metric (LHCNP §6.1). */
  readonly disclose?: boolean;
}

/** Offsets in struct egress_config. */
export const EGRESS_CONFIG_SIZE = 48;
const CONFIG = {
  source4: 0,
  source6: 4,
  hasSource4: 20,
  hasSource6: 21,
  udpPort: 22,
  ageing: 24,
  seed: 32,
  disclose: 40,
} as const;

export function encodeEgressConfig(config: EgressConfig): Uint8Array {
  return structure(EGRESS_CONFIG_SIZE, (view, bytes) => {
    if (config.source4) bytes.set(addressBytes(config.source4), CONFIG.source4);
    if (config.source6) bytes.set(addressBytes(config.source6), CONFIG.source6);
    bytes[CONFIG.hasSource4] = config.source4 ? 1 : 0;
    bytes[CONFIG.hasSource6] = config.source6 ? 1 : 0;
    view.setUint16(CONFIG.udpPort, config.udpPort);
    view.setBigUint64(CONFIG.ageing, BigInt(config.flowAgeingNs), LITTLE_ENDIAN);
    view.setBigUint64(CONFIG.seed, config.flowSeed, LITTLE_ENDIAN);
    bytes[CONFIG.disclose] = config.disclose ? 1 : 0;
  });
}

export function decodeEgressConfig(value: Uint8Array): Required<EgressConfig> {
  const view = viewOf(value);
  return {
    source4: value[CONFIG.hasSource4] ? addressFromBytes(value.subarray(CONFIG.source4, CONFIG.source4 + 4)) : null,
    source6: value[CONFIG.hasSource6] ? addressFromBytes(value.subarray(CONFIG.source6, CONFIG.source6 + 16)) : null,
    udpPort: view.getUint16(CONFIG.udpPort),
    flowAgeingNs: Number(view.getBigUint64(CONFIG.ageing, LITTLE_ENDIAN)),
    flowSeed: view.getBigUint64(CONFIG.seed, LITTLE_ENDIAN),
    disclose: value[CONFIG.disclose] === 1,
  };
}

/**
 * Entry of the longest-match table, whose key is layout.ts's prefixKey. `proxy` null: explicitly none (decision D5).
 */
interface SenderProxy {
  readonly prefix: Prefix;
  readonly proxy: IpAddress | null;
  readonly supports?: Understood | undefined;
}

/** struct sender_proxy. */
export const SENDER_PROXY_SIZE = 24;

export function encodeSenderProxy({ prefix, proxy, supports }: SenderProxy): Uint8Array {
  // Without a view, which structure() makes: it would dominate the cost, and this table is the largest.
  const bytes = new Uint8Array(SENDER_PROXY_SIZE);
  if (proxy) putMapped(bytes, 0, proxy);
  bytes[16] = proxy?.family ?? 0;
  bytes[17] = prefix.address.family;
  if (supports) bytes[18] = supports.reduce((bits, format) => bits | (1 << FORMAT_NUMBER[format]), 0);
  return bytes;
}

/** What the senders of an entry understand. */
export const decodeSupports = (value: Uint8Array): Understood | undefined =>
  understood(SENDER_FORMATS.filter((format) => (value[18]! >> FORMAT_NUMBER[format]) & 1));

/** The proxy of an entry; null: none. */
export const decodeSenderProxy = (value: Uint8Array): IpAddress | null => (value[16] ? unmappedAddress(value) : null);
