// Maps of the proxy (bpf/lib/proxy/layout.h): its configuration, its prefixes, and how long CNPs take.
// What it learns is in queue-pairs.ts.
import { type IpAddress, sameAddress } from '../../model/address.ts';
import type { LongHaulInstruction } from '../../model/notification.ts';
import type { Prefix } from '../../model/prefix.ts';
import { LITTLE_ENDIAN, mappedAddress, structure, u32Key, unmappedAddress, viewOf } from './layout.ts';
import { ACTION_NUMBER, FORMAT_NUMBER } from './notifications.ts';

/**
 * In dist/bpf/proxy.bpf.o: tc ingress of the proxy's ports, and of the loopback interface for notices that this router
 * itself sends.
 */
export const PROXY_PROGRAM = 'proxy';

export const PROXY_MAPS = {
  config: 'proxy_config',
  /** Key prefixKey, value encodeProxySender. */
  senders: 'proxy_senders',
  /** Key prefixKey, value encodeProxySource. */
  sources: 'proxy_sources',
  /** Senders whose connections are learned though they are not served. Key prefixKey, value encodeLearnedSender. */
  learnedSenders: 'learned_senders',
  /** One u64; write 0 when the rate changes. */
  bucket: 'proxy_bucket',
  /** One entry: key PROXY_CONFIG_KEY, value encodeProxyInstructions. */
  instructions: 'proxy_instructions',
  latency: 'proxy_latency',
  /** Confirmed by traffic; never evicted. */
  queuePairs: 'queue_pairs',
  /** From CM exchanges, waiting for traffic; a share a port. */
  unconfirmedQueuePairs: 'unconfirmed_queue_pairs',
  staticQueuePairs: 'static_queue_pairs',
  /** The other end by the Queue Pair of this one. Key ownerKey, value encodePeer of queue-pairs.ts. */
  connectedQueuePairs: 'connected_queue_pairs',
  cmConnections: 'cm_connections',
  sentPsns: 'qp_sent_psns',
  candidates: 'qp_candidates',
  /** Keys and values in port-roles.ts. */
  portRoles: 'port_roles',
  doubtedPorts: 'doubted_ports',
} as const;

/** Scratch memory, needs no pin. */
export const PROXY_SCRATCH_MAPS = [
  'proxy_scratch',
  'proxy_headers',
  'queue_pair_scratch',
  'arrival_scratch',
  'beliefs',
  'notice_readings',
] as const;

/** How Queue Pairs are learned and forgotten. */
interface LearningLimits {
  /** Answers that must agree before a connection is learned from traffic; 0: none is. */
  readonly hits: number;
  /** A connection without packets is forgotten after this time. */
  readonly ageingNs: number;
  /**
   * An answer counts only if the PSN that it names was sent no longer ago than this, which exceeds any round-trip
   * time.
   */
  readonly recentNs: number;
  /** A connection is dropped when its requests remain unanswered for this time. */
  readonly silenceNs: number;
  /** And it is not used after this time, which exceeds any round-trip time. */
  readonly doubtNs: number;
  /** A REP counts only if its REQ is no older than this. */
  readonly handshakeNs: number;
  /** Whether learning, removal and notices require a port on the reverse path to the source. */
  readonly reversePathCheck: boolean;
}

export const DEFAULT_LEARNING_LIMITS: LearningLimits = {
  hits: 3,
  ageingNs: 300_000_000_000,
  recentNs: 1_000_000_000,
  silenceNs: 3_000_000_000,
  doubtNs: 400_000_000,
  handshakeNs: 60_000_000_000,
  reversePathCheck: true,
};

export interface ProxyConfig {
  readonly address: IpAddress;
  /** A second address for notices, of the other family. */
  readonly otherAddress?: IpAddress | undefined;
  readonly udpPort: number;
  /** Least time between two CNPs for one flow. */
  readonly perFlowIntervalNs: number;
  /** Limit for all flows together. */
  readonly noticesPerSecond: number;
  /** CNPs that may be sent back to back, at least 1. */
  readonly burst: number;
  readonly learning: LearningLimits;
}

/** The one key of `proxy_config` and `proxy_bucket`. */
export const PROXY_CONFIG_KEY = u32Key(0);
/** Offsets in struct proxy_config. */
export const PROXY_CONFIG_SIZE = 104;
const CONFIG = {
  address: 0,
  udpPort: 16,
  hits: 18,
  reversePath: 19,
  interval: 24,
  spacing: 32,
  burst: 40,
  ageing: 48,
  recent: 56,
  silence: 64,
  doubt: 72,
  handshake: 80,
  otherAddress: 88,
} as const;

const putU64 = (view: DataView, at: number, value: bigint): void => view.setBigUint64(at, value, LITTLE_ENDIAN);

/**
 * A node that only learns Queue Pairs and accepts no notices.
 * @throws RangeError when hits are invalid
 */
export function encodeLearningConfig(learning: LearningLimits): Uint8Array {
  if (!Number.isInteger(learning.hits) || learning.hits < 0 || learning.hits > 100)
    throw new RangeError(`${learning.hits} agreeing answers`);
  return structure(PROXY_CONFIG_SIZE, (view, bytes) => {
    bytes[CONFIG.hits] = learning.hits;
    bytes[CONFIG.reversePath] = Number(learning.reversePathCheck);
    putU64(view, CONFIG.ageing, BigInt(learning.ageingNs));
    putU64(view, CONFIG.recent, BigInt(learning.recentNs));
    putU64(view, CONFIG.silence, BigInt(learning.silenceNs));
    putU64(view, CONFIG.doubt, BigInt(learning.doubtNs));
    putU64(view, CONFIG.handshake, BigInt(learning.handshakeNs));
  });
}

/** @throws RangeError when rate, burst or hits are invalid */
export function encodeProxyConfig({ learning, ...config }: ProxyConfig): Uint8Array {
  if (!(config.noticesPerSecond > 0) || !(config.burst >= 1))
    throw new RangeError(`no token bucket: ${config.noticesPerSecond}/s, burst ${config.burst}`);
  // Rounded up: never above the rate.
  const spacing = BigInt(Math.ceil(1e9 / config.noticesPerSecond));
  const bytes = encodeLearningConfig(learning);
  const view = viewOf(bytes);
  bytes.set(mappedAddress(config.address), CONFIG.address);
  bytes.set(mappedAddress(config.otherAddress ?? config.address), CONFIG.otherAddress);
  view.setUint16(CONFIG.udpPort, config.udpPort);
  putU64(view, CONFIG.interval, BigInt(Math.ceil(config.perFlowIntervalNs)));
  putU64(view, CONFIG.spacing, spacing);
  putU64(view, CONFIG.burst, BigInt(Math.floor(config.burst) - 1) * spacing);
  return bytes;
}

/** The inverse; undefined while this node accepts no notices. */
export function decodeProxyConfig(value: Uint8Array): ProxyConfig | undefined {
  const view = viewOf(value);
  const u64 = (at: number): number => Number(view.getBigUint64(at, LITTLE_ENDIAN));
  const udpPort = view.getUint16(CONFIG.udpPort);
  if (udpPort === 0) return undefined;
  const [address, other] = [CONFIG.address, CONFIG.otherAddress].map((at) => unmappedAddress(value.subarray(at))) as [
    IpAddress,
    IpAddress,
  ];
  return {
    address,
    ...(!sameAddress(address, other) && { otherAddress: other }),
    udpPort,
    perFlowIntervalNs: u64(CONFIG.interval),
    noticesPerSecond: 1e9 / u64(CONFIG.spacing),
    burst: u64(CONFIG.burst) / u64(CONFIG.spacing) + 1,
    learning: {
      hits: value[CONFIG.hits]!,
      ageingNs: u64(CONFIG.ageing),
      recentNs: u64(CONFIG.recent),
      silenceNs: u64(CONFIG.silence),
      doubtNs: u64(CONFIG.doubt),
      handshakeNs: u64(CONFIG.handshake),
      reversePathCheck: value[CONFIG.reversePath] !== 0,
    },
  };
}

const { proxy: STANDARD_CNP, ...NOTIFICATIONS } = FORMAT_NUMBER;
/** enum notification_format, with the standard CNP in place of `proxy`. */
const FORMATS = { 'standard-cnp': STANDARD_CNP, ...NOTIFICATIONS };
export type SenderFormat = keyof typeof FORMATS;

/** struct proxy_prefix. */
export const PROXY_PREFIX_SIZE = 8;

/** Value of a declared sender prefix. */
export const encodeProxySender = (sender: { readonly prefix: Prefix; readonly format: SenderFormat }): Uint8Array =>
  Uint8Array.of(sender.prefix.address.family, FORMATS[sender.format], 0, 0, 0, 0, 0, 0);

export const decodeProxySender = (value: Uint8Array): SenderFormat | undefined =>
  (Object.keys(FORMATS) as SenderFormat[]).find((name) => FORMATS[name] === value[1]);

/** Levels of a notice (PNC §4). */
export const PNC_LEVELS = 8;
/** struct proxy_instructions. */
export const PROXY_INSTRUCTIONS_SIZE = 4 * PNC_LEVELS;

/**
 * Content of a Long-haul CNP to a sender behind this proxy, by the notice's level.
 * @throws RangeError unless there are eight
 */
export function encodeProxyInstructions(byLevel: readonly LongHaulInstruction[]): Uint8Array {
  if (byLevel.length !== PNC_LEVELS)
    throw new RangeError(`instructions for ${byLevel.length} levels, not ${PNC_LEVELS}`);
  return structure(PROXY_INSTRUCTIONS_SIZE, (view, bytes) =>
    byLevel.forEach(({ level, action, parameter }, n) => {
      view.setUint16(4 * n, parameter, LITTLE_ENDIAN);
      bytes.set([level, ACTION_NUMBER[action]], 4 * n + 2);
    }),
  );
}

/** Value of a prefix from which notices are accepted. */
export const encodeProxySource = (prefix: Prefix): Uint8Array =>
  Uint8Array.of(prefix.address.family, 0, 0, 0, 0, 0, 0, 0);

/** Value of a sender whose connections are learned. */
export const encodeLearnedSender = encodeProxySource;

/** CNPs by their processing time in the program. */
interface LatencyBucket {
  /** Lower bound, nanoseconds. */
  readonly fromNs: number;
  readonly toNs: number;
  readonly count: bigint;
}

/** Bounds of a bucket: four an octave. */
export function latencyBounds(index: number): { fromNs: number; toNs: number } {
  const octave = Math.floor(index / 4);
  const step = index % 4;
  if (octave < 2) return { fromNs: octave === 0 ? 0 : 2 ** octave, toNs: 2 ** (octave + 1) };
  return { fromNs: 2 ** octave + step * 2 ** (octave - 2), toNs: 2 ** octave + (step + 1) * 2 ** (octave - 2) };
}

/** From the entries of `proxy_latency`, one u64 a CPU each; empty buckets are left out. */
export function decodeLatency(entries: Iterable<readonly [Uint8Array, Uint8Array]>): LatencyBucket[] {
  const found: LatencyBucket[] = [];
  for (const [key, value] of entries) {
    let count = 0n;
    for (let at = 0; at + 8 <= value.length; at += 8) count += viewOf(value).getBigUint64(at, LITTLE_ENDIAN);
    if (count > 0n) found.push({ ...latencyBounds(viewOf(key).getUint32(0, LITTLE_ENDIAN)), count });
  }
  return found.sort((a, b) => a.fromNs - b.fromNs);
}

/** Upper bound of the bucket that holds the quantile `q` (0 … 1); undefined when nothing was measured. */
export function latencyQuantile(buckets: readonly LatencyBucket[], q: number): number | undefined {
  const total = Number(buckets.reduce((sum, { count }) => sum + count, 0n));
  let below = 0;
  for (const { toNs, count } of buckets) {
    below += Number(count);
    if (below >= q * total) return toNs;
  }
  return undefined;
}
