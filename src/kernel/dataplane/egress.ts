// Maps of the congested node (bpf/lib/egress-maps.h): the bytes of their keys and values, both ways. Ports are kept by slot, which
// egress-ports.ts hides; flows have their own file, flows.ts.
import type { IpAddress } from '../../model/address.ts';
import { addressBytes, addressFromBytes } from '../../model/address.ts';
import type { Prefix } from '../../model/prefix.ts';
import { LITTLE_ENDIAN, mappedAddress, structure, sumOverCpus, unmappedAddress, viewOf } from './layout.ts';

/** In dist/bpf/egress.bpf.o. `egress`: tc egress of a monitored port. `notice`: tc ingress of the loopback interface. `age`: run, not attached. */
export const EGRESS_PROGRAMS = { egress: 'egress', notice: 'notice', age: 'egress_age' } as const;

export const EGRESS_MAPS = {
  ports: 'egress_ports',
  config: 'egress_config',
  senderProxies: 'sender_proxies',
  buckets: 'egress_buckets',
  peaks: 'egress_peaks',
  stats: 'egress_stats',
  flows: 'flows',
  /** Scratch, needs no pin. */
  buffer: 'notice_buffer',
} as const;

export const PORT_SLOTS = 256;
export const PORT_PROBES = 4;
export const CONGESTION_LEVELS = 8;
/** Of skb->mark, on clones on the loopback interface between trigger and notice; other programs there leave them alone. */
export const MARK_TRIGGER = 0x434e5054;
export const MARK_NOTICE = 0x434e504e;
export const DEFAULT_FLOW_AGEING_NS = 60_000_000_000;

const OFF = 0xffff_ffff;
/** Queue depths are 32 bits in the kernel: a threshold that no queue can reach is off. */
const threshold = (bytes: number | null): number => (bytes === null ? OFF : Math.min(bytes, OFF));
const decodeThreshold = (bytes: number): number | null => (bytes === OFF ? null : bytes);

/** A monitored port. Depths in bytes; null: off. */
export interface EgressPort {
  readonly ifindex: number;
  readonly kMin: number | null;
  readonly kMax: number | null;
  /** 8 entries, ascending: level n is reported from levelBytes[n] upwards. */
  readonly levelBytes: readonly number[];
  readonly perFlowIntervalNs: number;
  readonly noticesPerSecond: number;
  /** Notices that may follow each other at once, at least 1. */
  readonly burst: number;
}

export const EGRESS_PORT_SIZE = 72;
const PORT = { ifindex: 0, kMin: 4, kMax: 8, levels: 16, interval: 48, spacing: 56, burst: 64 } as const;

/** @throws RangeError when levels, rate or burst are impossible */
export function encodeEgressPort(port: EgressPort): Uint8Array {
  if (port.levelBytes.length !== CONGESTION_LEVELS) throw new RangeError(`${port.levelBytes.length} congestion levels, not ${CONGESTION_LEVELS}`);
  if (!(port.noticesPerSecond > 0) || !(port.burst >= 1)) throw new RangeError(`no token bucket: ${port.noticesPerSecond}/s, burst ${port.burst}`);
  // Rounded up: never above the rate.
  const spacing = BigInt(Math.ceil(1e9 / port.noticesPerSecond));
  return structure(EGRESS_PORT_SIZE, (view) => {
    view.setUint32(PORT.ifindex, port.ifindex, LITTLE_ENDIAN);
    view.setUint32(PORT.kMin, threshold(port.kMin), LITTLE_ENDIAN);
    view.setUint32(PORT.kMax, threshold(port.kMax), LITTLE_ENDIAN);
    port.levelBytes.forEach((bytes, level) => view.setUint32(PORT.levels + 4 * level, threshold(bytes), LITTLE_ENDIAN));
    view.setBigUint64(PORT.interval, BigInt(Math.ceil(port.perFlowIntervalNs)), LITTLE_ENDIAN);
    view.setBigUint64(PORT.spacing, spacing, LITTLE_ENDIAN);
    view.setBigUint64(PORT.burst, BigInt(Math.floor(port.burst) - 1) * spacing, LITTLE_ENDIAN);
  });
}

/** Undefined for a free slot. */
export function decodeEgressPort(value: Uint8Array): EgressPort | undefined {
  const view = viewOf(value);
  const u32 = (at: number): number => view.getUint32(at, LITTLE_ENDIAN);
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
  };
}

/** How notices are built, and the flow table's parameters. */
export interface EgressConfig {
  readonly source4: IpAddress | null;
  readonly source6: IpAddress | null;
  readonly udpPort: number;
  readonly flowAgeingNs: number;
  /** Random; must stay what it is for the life of the flow table, or entries are no longer found: read it back before writing. 0: none yet. */
  readonly flowSeed: bigint;
}

export const EGRESS_CONFIG_SIZE = 40;
const CONFIG = { source4: 0, source6: 4, hasSource4: 20, hasSource6: 21, udpPort: 22, ageing: 24, seed: 32 } as const;

export function encodeEgressConfig(config: EgressConfig): Uint8Array {
  return structure(EGRESS_CONFIG_SIZE, (view, bytes) => {
    if (config.source4) bytes.set(addressBytes(config.source4), CONFIG.source4);
    if (config.source6) bytes.set(addressBytes(config.source6), CONFIG.source6);
    bytes[CONFIG.hasSource4] = config.source4 ? 1 : 0;
    bytes[CONFIG.hasSource6] = config.source6 ? 1 : 0;
    view.setUint16(CONFIG.udpPort, config.udpPort);
    view.setBigUint64(CONFIG.ageing, BigInt(config.flowAgeingNs), LITTLE_ENDIAN);
    view.setBigUint64(CONFIG.seed, config.flowSeed, LITTLE_ENDIAN);
  });
}

export function decodeEgressConfig(value: Uint8Array): EgressConfig {
  const view = viewOf(value);
  return {
    source4: value[CONFIG.hasSource4] ? addressFromBytes(value.subarray(CONFIG.source4, CONFIG.source4 + 4)) : null,
    source6: value[CONFIG.hasSource6] ? addressFromBytes(value.subarray(CONFIG.source6, CONFIG.source6 + 16)) : null,
    udpPort: view.getUint16(CONFIG.udpPort),
    flowAgeingNs: Number(view.getBigUint64(CONFIG.ageing, LITTLE_ENDIAN)),
    flowSeed: view.getBigUint64(CONFIG.seed, LITTLE_ENDIAN),
  };
}

/** Entry of the longest-match table, whose key is layout.ts's prefixKey. `proxy` null: explicitly none (decision D5). */
export interface SenderProxy {
  readonly prefix: Prefix;
  readonly proxy: IpAddress | null;
}

export const SENDER_PROXY_SIZE = 24;

export const encodeSenderProxy = ({ prefix, proxy }: SenderProxy): Uint8Array =>
  structure(SENDER_PROXY_SIZE, (_, bytes) => {
    if (proxy) bytes.set(mappedAddress(proxy), 0);
    bytes[16] = proxy?.family ?? 0;
    bytes[17] = prefix.address.family;
  });

/** The proxy of an entry; null: none. */
export const decodeSenderProxy = (value: Uint8Array): IpAddress | null => (value[16] ? unmappedAddress(value) : null);

/** What passed a port since its slot was assigned: RoCEv2 data packets, and what became of them. */
export interface EgressStats {
  readonly packets: bigint;
  readonly bytes: bigint;
  readonly ceMarked: bigint;
  readonly triggers: bigint;
  readonly notifications: bigint;
  readonly suppressedPerFlow: bigint;
  readonly suppressedPerPort: bigint;
  readonly noProxy: bigint;
}

const STATS_FIELDS = 8;
/** Of one CPU. */
export const EGRESS_STATS_SIZE = 8 * STATS_FIELDS;

/** From the values of all CPUs, one behind the other. */
export function decodeEgressStats(value: Uint8Array): EgressStats {
  const sums = sumOverCpus(value, STATS_FIELDS);
  const [packets, bytes, ceMarked, triggers, notifications, suppressedPerFlow, suppressedPerPort, noProxy] = sums as [
    bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint,
  ];
  return { packets, bytes, ceMarked, triggers, notifications, suppressedPerFlow, suppressedPerPort, noProxy };
}
