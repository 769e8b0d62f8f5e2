// The classes of an HTB (tc-htb(8), include/uapi/linux/pkt_sched.h), each with a bfifo for its packets, in rtnetlink
// messages. Pure. Rates are bytes per second, sizes bytes.
//
// A class owes time: a frame costs its length divided by the rate, and the class is silent until that is paid. Later
// changes of the rate do not shorten what is owed already. So a raised rate is in force after the present frame's time
// at the former rate, and a pause (pauseClassRequest) is a frame that costs as long as the pause lasts.
import { LONGEST_PAUSE_US } from '../../model/notification.ts';
import type { NetlinkRequest } from './client.ts';
import {
  NLM_F,
  type NetlinkMessage,
  attribute,
  concat,
  decodeAttributes,
  nested,
  readU32,
  readU64,
  struct,
  text,
  u32,
  u64,
  viewOf,
} from './message.ts';
import {
  HTB,
  HTB_OPTIONS,
  LINKLAYER_ETHERNET,
  NS_A_TICK,
  RATE_SPEC,
  RTM_CLASS,
  RTM_QDISC,
  STATS,
  TCA,
  TC_H,
  decodeHtbClass,
  encodeHtb,
  tcHeader,
} from './traffic-control.ts';

const NLM_F_ECHO = 0x8;
const MOST_U32 = 0xffff_ffff;
/** Every class may send this much before the next one of the same priority: no frame is longer. */
const QUANTUM = 16_384;
/** A frame that is counted as this long at least costs the whole pause, whatever its length. */
const LONGEST_MPU = 0xffff;

/** A class among others of a port. */
export interface ClassPlace {
  readonly ifindex: number;
  /** `1:10` is 0x10010. */
  readonly handle: number;
  /** The qdisc, `1:0`, or a class. */
  readonly parent: number;
  /**
   * The class sends only what its parent has left, so that both together stay within the parent's rate. Otherwise it
   * has its rate for itself.
   */
  readonly borrows: boolean;
}

export interface ClassRate {
  /** Bytes per second. */
  readonly rate: bigint;
  /** Bytes that may leave at once after a silence. */
  readonly burst: number;
}

/** Time that `bytes` take at a rate, in ticks, rounded up. */
function ticks(bytes: number, rate: bigint): number {
  const divisor = rate * BigInt(NS_A_TICK);
  return Math.min(MOST_U32, Number((BigInt(bytes) * 1_000_000_000n + divisor - 1n) / divisor));
}

interface ClassOptions extends ClassRate {
  /** Shorter frames count as this many bytes. */
  readonly mpu: number;
}

function classOptions(place: ClassPlace, opts: ClassOptions): Uint8Array {
  if (opts.rate <= 0n) throw new RangeError('a class needs a rate above zero');
  const low = Number(opts.rate > BigInt(MOST_U32) ? MOST_U32 : opts.rate);
  const own = place.borrows ? 1 : low;
  const buffer = ticks(opts.burst, opts.rate);
  const parms = struct(HTB_OPTIONS.size, (view) => {
    for (const [at, rate] of [
      [HTB_OPTIONS.rate, own],
      [HTB_OPTIONS.ceil, low],
    ] as const) {
      view.setUint8(at + RATE_SPEC.linkLayer, LINKLAYER_ETHERNET);
      view.setUint16(at + RATE_SPEC.mpu, opts.mpu, true);
      view.setUint32(at + RATE_SPEC.rate, rate, true);
    }
    view.setUint32(HTB_OPTIONS.buffer, place.borrows ? 0 : buffer, true);
    view.setUint32(HTB_OPTIONS.ceilBuffer, buffer, true);
    view.setUint32(HTB_OPTIONS.quantum, QUANTUM, true);
    view.setUint32(HTB_OPTIONS.prio, place.borrows ? LAST_PRIORITY : 0, true);
  });
  const wide = opts.rate > BigInt(MOST_U32);
  return nested(
    TCA.OPTIONS,
    attribute(HTB.PARMS, parms),
    ...(wide && !place.borrows ? [attribute(HTB.RATE64, u64(opts.rate))] : []),
    ...(wide ? [attribute(HTB.CEIL64, u64(opts.rate))] : []),
  );
}

/** Beside classes of others: theirs go first, so that a flow that enters its class overtakes nothing there. */
const LAST_PRIORITY = 7;

const classRequest = (operation: string, flags: number, place: ClassPlace, opts: ClassOptions): NetlinkRequest => ({
  operation: `${operation} ${formatHandle(place.handle)}`,
  type: RTM_CLASS.NEW,
  flags,
  body: concat([tcHeader(place), attribute(TCA.KIND, text('htb')), classOptions(place, opts)]),
});

/** Creates the class, or changes it. @throws RangeError for a rate of zero, which HTB does not have */
export const setClassRequest = (place: ClassPlace, rate: ClassRate): NetlinkRequest =>
  classRequest('set class', NLM_F.CREATE, place, { ...rate, mpu: 0 });

/** Changes an existing class; ENOENT when there is none. @throws RangeError for a rate of zero */
export const changeClassRequest = (place: ClassPlace, rate: ClassRate): NetlinkRequest =>
  classRequest('change class', 0, place, { ...rate, mpu: 0 });

/**
 * From the next frame on, which still leaves, the class is silent for `microseconds` after every frame, of whatever
 * length. That lasts until the rate is set again; a silence that has begun lasts as long as it was to.
 * @throws RangeError for a time outside 1 to LONGEST_PAUSE_US
 */
export function pauseClassRequest(place: ClassPlace, microseconds: number): NetlinkRequest {
  if (!(microseconds >= 1 && microseconds <= LONGEST_PAUSE_US))
    throw new RangeError(`a class pauses for 1 to ${LONGEST_PAUSE_US} µs, not ${microseconds}`);
  const rate = (BigInt(LONGEST_MPU) * 1_000_000n) / BigInt(Math.ceil(microseconds));
  return classRequest('pause class', 0, place, { rate, burst: 0, mpu: LONGEST_MPU });
}

/**
 * The class's queue: `limit` bytes, beyond which packets are dropped. Its major number is the class's minor one, by
 * which cnpd recognizes its classes. Keeps what is queued when only the limit changes.
 */
export const setQueueRequest = (place: ClassPlace, limit: number): NetlinkRequest => ({
  operation: `set queue of class ${formatHandle(place.handle)}`,
  type: RTM_QDISC.NEW,
  flags: NLM_F.CREATE | NLM_F.REPLACE,
  body: concat([
    tcHeader({ ifindex: place.ifindex, handle: queueOf(place.handle), parent: place.handle }),
    attribute(TCA.KIND, text('bfifo')),
    attribute(TCA.OPTIONS, u32(limit)),
  ]),
});

/** Handle of the queue of a class: `1:1000` has `1000:0`. */
export const queueOf = (handle: number): number => ((handle & 0xffff) << 16) >>> 0;

/** What is queued in the class is dropped. ENOENT when there is none. */
export const deleteClassRequest = (ifindex: number, handle: number): NetlinkRequest => ({
  operation: `delete class ${formatHandle(handle)}`,
  type: RTM_CLASS.DEL,
  body: tcHeader({ ifindex, handle }),
});

/** One class with its counters (decodeClass). ENOENT when there is none. */
export const readClassRequest = (ifindex: number, handle: number): NetlinkRequest => ({
  operation: `read class ${formatHandle(handle)}`,
  type: RTM_CLASS.GET,
  // The kernel answers this request as it announces a change: to listeners, and to who asks only with this flag.
  flags: NLM_F_ECHO,
  body: tcHeader({ ifindex, handle }),
});

/** An HTB whose unclassified packets go straight, ahead of all classes. EEXIST when the port has a root qdisc. */
export const addRootRequest = (ifindex: number, handle: number): NetlinkRequest => ({
  operation: `add HTB ${formatHandle(handle)}`,
  type: RTM_QDISC.NEW,
  flags: NLM_F.CREATE | NLM_F.EXCL,
  body: encodeHtb({ ifindex, defaultClass: 0, handle }),
});

/** Removes the root qdisc with this handle and all its classes; the default one takes its place. */
export const deleteRootRequest = (ifindex: number, handle: number): NetlinkRequest => ({
  operation: `delete HTB ${formatHandle(handle)}`,
  type: RTM_QDISC.DEL,
  body: tcHeader({ ifindex, handle, parent: TC_H.ROOT }),
});

export interface ClassCounters {
  /** Packets that have left the class. */
  readonly sent: bigint;
  readonly sentBytes: bigint;
  /** Packets dropped because the queue was full. Wraps at 2³². */
  readonly dropped: bigint;
  /** In the queue now. */
  readonly backlogPackets: number;
  readonly backlogBytes: number;
}

export interface FoundClass {
  readonly handle: number;
  readonly parent: number;
  /** Handle of its queue; 0: the kernel's own. */
  readonly queue: number;
  readonly counters: ClassCounters;
}

/** Undefined unless it is a class of an HTB. */
export function decodeClass(message: NetlinkMessage): FoundClass | undefined {
  const found = decodeHtbClass(message);
  if (!found) return undefined;
  const stats = decodeAttributes(decodeAttributes(message.body, 20).get(TCA.STATS2) ?? new Uint8Array(0));
  const basic = stats.get(STATS.BASIC);
  const queue = stats.get(STATS.QUEUE);
  const word = (i: number): number => readU32(queue?.subarray(4 * i)) ?? 0;
  return {
    handle: found.handle,
    parent: found.parent,
    queue: viewOf(message.body).getUint32(16, true),
    counters: {
      sentBytes: readU64(basic) ?? 0n,
      sent: readU64(stats.get(STATS.PACKETS64)) ?? BigInt(readU32(basic?.subarray(8)) ?? 0),
      backlogPackets: word(0),
      backlogBytes: word(1),
      dropped: BigInt(word(2)),
    },
  };
}

/** `6e70:1000`, as tc(8) prints it; of a qdisc `6e70:`. */
export const formatHandle = (handle: number): string =>
  `${(handle >>> 16).toString(16)}:${(handle & 0xffff) === 0 ? '' : (handle & 0xffff).toString(16)}`;
