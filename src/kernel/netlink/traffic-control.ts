// Queueing disciplines and classes in rtnetlink messages (tc(8), include/uapi/linux/{pkt_sched,gen_stats}.h): the qdisc
// of a port, its fill level, and the rate of TBF and HTB. Pure. Of other kinds only name and counters are decoded.
import {
  type Attributes,
  type NetlinkMessage,
  attribute,
  concat,
  decodeAttributes,
  nested,
  readText,
  readU32,
  readU64,
  struct,
  text,
  u32,
  u64,
  viewOf,
} from './message.ts';

export const RTM_QDISC = { NEW: 36, DEL: 37, GET: 38 } as const;
export const RTM_CLASS = { NEW: 40, DEL: 41, GET: 42 } as const;
export const RTM_FILTER = { GET: 46 } as const;
export const TCA = { KIND: 1, OPTIONS: 2, STATS2: 7 } as const;
export const STATS = { BASIC: 1, QUEUE: 3, PACKETS64: 8 } as const;
const TBF = { PARMS: 1, RATE64: 4, BURST: 6 } as const;
export const HTB = { PARMS: 1, INIT: 2, RATE64: 6, CEIL64: 7 } as const;
export const TC_H = { ROOT: 0xffff_ffff, CLSACT: 0xffff_fff1, INGRESS: 0xffff_fff2, EGRESS: 0xffff_fff3 } as const;
export const LINKLAYER_ETHERNET = 1;
/**
 * Offsets of the fields in struct tc_tbf_qopt { rate, peakrate: tc_ratespec; limit, buffer, mtu: u32 }; tc_ratespec
 * ends with the rate.
 */
const TBF_OPTIONS = { size: 36, linkLayer: 1, rate: 8, limit: 24, buffer: 28 } as const;
/** struct tc_ratespec { cell_log, linklayer: u8; overhead, cell_align, mpu: u16; rate: u32 }. */
export const RATE_SPEC = { linkLayer: 1, mpu: 6, rate: 8 } as const;
/** struct tc_htb_opt { rate, ceil: tc_ratespec; buffer, cbuffer, quantum, level, prio: u32 }. */
export const HTB_OPTIONS = { size: 44, rate: 0, ceil: 12, buffer: 24, ceilBuffer: 28, quantum: 32, prio: 40 } as const;
/** The kernel counts token buffers in ticks of 64 ns (PSCHED_SHIFT 6). */
export const NS_A_TICK = 64;

interface QueueStats {
  readonly bytes: bigint;
  readonly packets: number;
  /** Queued now. */
  readonly backlogBytes: number;
  readonly backlogPackets: number;
  readonly drops: number;
  readonly overlimits: number;
}

export interface Qdisc {
  readonly ifindex: number;
  readonly kind: string;
  /** `1:0` is 0x10000. */
  readonly handle: number;
  /** TC_H.ROOT, or the parent class or qdisc. */
  readonly parent: number;
  readonly stats: QueueStats;
  /** rate in bytes/s; limit and burst in bytes. */
  readonly tbf: { readonly rate: bigint; readonly limit: number; readonly burst: number } | undefined;
  /** defaultClass: minor number of the class for unclassified packets. */
  readonly htb: { readonly defaultClass: number } | undefined;
}

export interface HtbClass {
  readonly ifindex: number;
  readonly handle: number;
  readonly parent: number;
  /** Bytes per second. */
  readonly rate: bigint;
  readonly ceil: bigint;
  readonly stats: QueueStats;
}

interface TcHeader {
  readonly ifindex: number;
  readonly handle?: number;
  readonly parent?: number;
}

/** struct tcmsg: family, index, handle, parent, info. */
export const tcHeader = (h: TcHeader): Uint8Array =>
  struct(20, (view) => {
    view.setInt32(4, h.ifindex, true);
    view.setUint32(8, h.handle ?? 0, true);
    view.setUint32(12, h.parent ?? 0, true);
  });

function decodeStats(attributes: Attributes): QueueStats {
  const stats = decodeAttributes(attributes.get(TCA.STATS2) ?? new Uint8Array(0));
  const basic = stats.get(STATS.BASIC);
  const queue = stats.get(STATS.QUEUE);
  const word = (i: number): number => readU32(queue?.subarray(i * 4)) ?? 0;
  return {
    bytes: readU64(basic) ?? 0n,
    packets: readU32(basic?.subarray(8)) ?? 0,
    backlogPackets: word(0),
    backlogBytes: word(1),
    drops: word(2),
    overlimits: word(4),
  };
}

function decodeTbf(options: Attributes): Qdisc['tbf'] {
  const parms = options.get(TBF.PARMS);
  if (!parms || parms.length < TBF_OPTIONS.size) return undefined;
  const view = viewOf(parms);
  const rate = readU64(options.get(TBF.RATE64)) ?? BigInt(view.getUint32(TBF_OPTIONS.rate, true));
  const bufferNs = view.getUint32(TBF_OPTIONS.buffer, true) * NS_A_TICK;
  return { rate, limit: view.getUint32(TBF_OPTIONS.limit, true), burst: Math.round((Number(rate) * bufferNs) / 1e9) };
}

/** undefined when the message is too short. */
export function decodeQdisc(message: NetlinkMessage): Qdisc | undefined {
  if (message.body.length < 20) return undefined;
  const view = viewOf(message.body);
  const attributes = decodeAttributes(message.body, 20);
  const kind = readText(attributes.get(TCA.KIND)) ?? '';
  const options = decodeAttributes(attributes.get(TCA.OPTIONS) ?? new Uint8Array(0));
  const init = kind === 'htb' ? options.get(HTB.INIT) : undefined;
  return {
    ifindex: view.getInt32(4, true),
    kind,
    handle: view.getUint32(8, true),
    parent: view.getUint32(12, true),
    stats: decodeStats(attributes),
    tbf: kind === 'tbf' ? decodeTbf(options) : undefined,
    // struct tc_htb_glob: version, rate2quantum, defcls, …
    htb: init && { defaultClass: readU32(init.subarray(8)) ?? 0 },
  };
}

/** undefined unless it is a class of an HTB. */
export function decodeHtbClass(message: NetlinkMessage): HtbClass | undefined {
  if (message.body.length < 20) return undefined;
  const view = viewOf(message.body);
  const attributes = decodeAttributes(message.body, 20);
  const options = decodeAttributes(attributes.get(TCA.OPTIONS) ?? new Uint8Array(0));
  const parms = options.get(HTB.PARMS);
  if (readText(attributes.get(TCA.KIND)) !== 'htb' || !parms || parms.length < HTB_OPTIONS.size) return undefined;
  const rates = viewOf(parms);
  return {
    ifindex: view.getInt32(4, true),
    handle: view.getUint32(8, true),
    parent: view.getUint32(12, true),
    rate: readU64(options.get(HTB.RATE64)) ?? BigInt(rates.getUint32(HTB_OPTIONS.rate + RATE_SPEC.rate, true)),
    ceil: readU64(options.get(HTB.CEIL64)) ?? BigInt(rates.getUint32(HTB_OPTIONS.ceil + RATE_SPEC.rate, true)),
    stats: decodeStats(attributes),
  };
}

export interface NewTbf {
  readonly ifindex: number;
  /** Bytes per second. */
  readonly rate: bigint;
  /** Bytes that may leave at once; at least one whole frame. */
  readonly burst: number;
  /** Bytes that may be queued. */
  readonly limit: number;
  /** Default: the kernel chooses it, and keeps that of an existing TBF. */
  readonly handle?: number | undefined;
}

/**
 * A TBF as root qdisc. Rates of 4 GB/s and more go into RATE64. Link layer Ethernet makes the rate table of the old
 * interface unnecessary.
 * @throws RangeError for a rate, burst or limit of zero: the kernel accepts them and the port stops sending
 */
export function encodeTbf(tbf: NewTbf): Uint8Array {
  if (tbf.rate <= 0n || tbf.burst <= 0 || tbf.limit <= 0)
    throw new RangeError('a TBF needs a rate, a burst and a limit above zero');
  const parms = struct(TBF_OPTIONS.size, (view) => {
    view.setUint8(TBF_OPTIONS.linkLayer, LINKLAYER_ETHERNET);
    view.setUint32(TBF_OPTIONS.rate, tbf.rate > 0xffff_ffffn ? 0xffff_ffff : Number(tbf.rate), true);
    view.setUint32(TBF_OPTIONS.limit, tbf.limit, true);
  });
  const rate64 = tbf.rate > 0xffff_ffffn ? [attribute(TBF.RATE64, u64(tbf.rate))] : [];
  return concat([
    tcHeader({ ifindex: tbf.ifindex, handle: tbf.handle ?? 0, parent: TC_H.ROOT }),
    attribute(TCA.KIND, text('tbf')),
    nested(TCA.OPTIONS, attribute(TBF.PARMS, parms), attribute(TBF.BURST, u32(tbf.burst)), ...rate64),
  ]);
}

/**
 * An HTB as root qdisc, without classes. struct tc_htb_glob: version 3, rate2quantum 10, default class, debug, direct
 * packets.
 */
export function encodeHtb(htb: { ifindex: number; defaultClass: number; handle?: number | undefined }): Uint8Array {
  const init = struct(20, (view) => [3, 10, htb.defaultClass].forEach((word, i) => view.setUint32(i * 4, word, true)));
  return concat([
    tcHeader({ ifindex: htb.ifindex, handle: htb.handle ?? 0, parent: TC_H.ROOT }),
    attribute(TCA.KIND, text('htb')),
    nested(TCA.OPTIONS, attribute(HTB.INIT, init)),
  ]);
}
