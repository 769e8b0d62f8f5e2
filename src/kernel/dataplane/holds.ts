// Holds: which flows are put into a class of their own (bpf/lib/hold/layout.h). Bytes of keys and values. Times are
// nanoseconds of CLOCK_MONOTONIC, the clock of process.hrtime.bigint().
import type { QueuePairs } from '../../model/roce.ts';
import { LITTLE_ENDIAN, putMapped, structure, u32Key, unmappedAddressAt, viewOf } from './layout.ts';

/** In dist/bpf/hold.bpf.o: tc egress of a port that has classes for holds. */
export const HOLD_PROGRAM = 'hold';

export const HOLD_MAPS = {
  /** One entry: encodeHoldState. While it has no holds, the program looks at no packet. */
  state: 'hold_state',
  /** By the word of holdFilterBit: a bit for each value of the low 16 bits of a Queue Pair number. */
  filter: 'hold_filter',
  /** Written by the agent alone. Key encodeHoldKey, value encodeHold. */
  holds: 'holds',
  /** Written by the program alone while the hold exists. By the class's minor number less HOLD_FIRST_MINOR. */
  records: 'hold_records',
  /** Key holdPortKey, value encodeHoldPort. */
  ports: 'hold_ports',
} as const;

/** Classes have the minor numbers from here on. */
export const HOLD_FIRST_MINOR = 0x1000;
/** The most holds, and classes. */
export const HOLD_SLOTS = 16_384;
export const HOLD_FILTER_WORDS = 1024;

/** A flow as its packets name it: addresses and destination Queue Pair. */
export type HeldFlow = Omit<QueuePairs, 'senderQpn'>;

/** `held`: packets go into the class. `leaving`: they do until it is empty, and go straight from then on. */
export type HoldPhase = 'held' | 'leaving';
const PHASES: Readonly<Record<HoldPhase, number>> = { held: 1, leaving: 2 };

export interface Hold {
  /** Minor number of the class, the same at all ports. */
  readonly minor: number;
  readonly phase: HoldPhase;
  /** From then on the program ignores the hold. */
  readonly untilNs: bigint;
  /**
   * Packets of this hold that have left the class, dropped ones included: what the class has sent and dropped, less the
   * same, and what was in it, when it was given to the flow.
   */
  readonly drained: bigint;
}

/** struct hold_key, and the offsets in it. Of the kinds only flows exist. */
const KEY = { size: 40, source: 0, destination: 16, id: 32, kind: 36 } as const;
const KIND_FLOW = 1;
/** Offsets in struct hold. */
const HOLD = { size: 24, until: 0, drained: 8, minor: 16, phase: 18 } as const;
/** Offsets in struct hold_record. */
export const HOLD_RECORD_SIZE = 24;
const RECORD = { entered: 0, lastSeen: 8, longest: 16, released: 20 } as const;

export const encodeHoldKey = (flow: HeldFlow): Uint8Array =>
  structure(KEY.size, (view, bytes) => {
    putMapped(bytes, KEY.source, flow.sender);
    putMapped(bytes, KEY.destination, flow.receiver);
    view.setUint32(KEY.id, flow.receiverQpn, LITTLE_ENDIAN);
    bytes[KEY.kind] = KIND_FLOW;
  });

/** Undefined for a kind of hold that this version does not know. */
export function decodeHoldKey(key: Uint8Array): HeldFlow | undefined {
  if (key[KEY.kind] !== KIND_FLOW) return undefined;
  const view = viewOf(key);
  return {
    sender: unmappedAddressAt(view, KEY.source),
    receiver: unmappedAddressAt(view, KEY.destination),
    receiverQpn: view.getUint32(KEY.id, LITTLE_ENDIAN),
  };
}

/** @throws RangeError for a minor number outside the range of holds: the program would ignore the hold */
export function encodeHold(hold: Hold): Uint8Array {
  if (!isHoldMinor(hold.minor)) throw new RangeError(`0x${hold.minor.toString(16)} is no class of a hold`);
  return structure(HOLD.size, (view, bytes) => {
    view.setBigUint64(HOLD.until, hold.untilNs, LITTLE_ENDIAN);
    view.setBigUint64(HOLD.drained, hold.drained, LITTLE_ENDIAN);
    view.setUint16(HOLD.minor, hold.minor, LITTLE_ENDIAN);
    bytes[HOLD.phase] = PHASES[hold.phase];
  });
}

/** Undefined for a phase that this version does not know. */
export function decodeHold(value: Uint8Array): Hold | undefined {
  const view = viewOf(value);
  const phase = (Object.keys(PHASES) as HoldPhase[]).find((name) => PHASES[name] === value[HOLD.phase]);
  return (
    phase && {
      minor: view.getUint16(HOLD.minor, LITTLE_ENDIAN),
      phase,
      untilNs: view.getBigUint64(HOLD.until, LITTLE_ENDIAN),
      drained: view.getBigUint64(HOLD.drained, LITTLE_ENDIAN),
    }
  );
}

/** What the program has counted of a hold. */
export interface HoldRecord {
  /** Packets put into the class. */
  readonly entered: bigint;
  /** The latest of them; 0: none. */
  readonly lastSeen: bigint;
  /** Bytes of the longest frame so far, as the class counts it. */
  readonly longestFrame: number;
  /** While leaving, the class was found empty: no packet enters it any more. */
  readonly released: boolean;
}

export function decodeHoldRecord(value: Uint8Array): HoldRecord {
  const view = viewOf(value);
  return {
    entered: view.getBigUint64(RECORD.entered, LITTLE_ENDIAN),
    lastSeen: view.getBigUint64(RECORD.lastSeen, LITTLE_ENDIAN),
    longestFrame: view.getUint32(RECORD.longest, LITTLE_ENDIAN),
    released: value[RECORD.released] !== 0,
  };
}

export const isHoldMinor = (minor: number): boolean =>
  minor >= HOLD_FIRST_MINOR && minor < HOLD_FIRST_MINOR + HOLD_SLOTS;

/** Key of `hold_records`. */
export const holdSlot = (minor: number): Uint8Array => u32Key(minor - HOLD_FIRST_MINOR);

export const holdPortKey = (ifindex: number): Uint8Array => u32Key(ifindex);

/** `handle` of the port's HTB: `1:0` is 0x10000. */
export const encodeHoldPort = (handle: number): Uint8Array =>
  structure(4, (view) => view.setUint32(0, handle, LITTLE_ENDIAN));

export const encodeHoldState = (flows: number): Uint8Array =>
  structure(16, (view) => view.setUint32(4 * KIND_FLOW, flows, LITTLE_ENDIAN));

/** Index of the word in `hold_filter` that has the bit of a Queue Pair number, and the bit. */
export const holdFilterBit = (qpn: number): { readonly word: number; readonly bit: bigint } => ({
  word: (qpn >>> 6) & (HOLD_FILTER_WORDS - 1),
  bit: 1n << BigInt(qpn & 63),
});

export const encodeHoldFilter = (bits: bigint): Uint8Array =>
  structure(8, (view) => view.setBigUint64(0, bits, LITTLE_ENDIAN));
