// Holds: which traffic is put into a class of its own (bpf/lib/hold/layout.h). Bytes of keys and values. Times are
// nanoseconds of CLOCK_MONOTONIC, the clock of process.hrtime.bigint().
import { HOLD_KIND, type HoldKind } from './hold-key.ts';
import { LITTLE_ENDIAN, structure, u32Key, viewOf } from './layout.ts';

/** In dist/bpf/hold.bpf.o: tc egress of a port at which single flows are held. */
export const HOLD_PROGRAM = 'hold';

export const HOLD_MAPS = {
  /** One entry: encodeHoldState. While it has no holds, programs look at no packet for them. */
  state: 'hold_state',
  /** By the word of holdFilterBit: a bit for each value of the low 16 bits of a Queue Pair number. */
  filter: 'hold_filter',
  /** Written by the agent alone. Key encodeHoldKey, value encodeHold. */
  holds: 'holds',
  /** Written by the program alone while the hold exists. By the class's minor number less HOLD_FIRST_MINOR. */
  records: 'hold_records',
  /** By the class's minor number less HOLD_FIRST_MINOR: encodeHoldPace. The source's program changes it, too. */
  paces: 'hold_paces',
  /** Key holdPortKey, value encodeHoldPort. */
  ports: 'hold_ports',
  /** Key holdPortKey, value a u64: bytes that have entered classes at the port. Written by the program alone. */
  portBytes: 'hold_port_bytes',
} as const;

/** Classes have the minor numbers from here on. */
export const HOLD_FIRST_MINOR = 0x1000;
/** The most holds, and classes. Slots count from 1. */
export const HOLD_SLOTS = 20_480;
/** What holds are for: `enforce` single flows (LHCNP §5.6), `flow-control` what a neighbor has asked for (FCN §4.1). */
export type HoldPurpose = 'enforce' | 'flow-control';
export const ENFORCE_SLOTS = 16_384;
export const FLOW_CONTROL_SLOTS = HOLD_SLOTS - ENFORCE_SLOTS;
/** The first slot of each. */
export const FIRST_SLOT: Readonly<Record<HoldPurpose, number>> = { enforce: 1, 'flow-control': ENFORCE_SLOTS + 1 };
export const HOLD_FILTER_WORDS = 1024;

/**
 * `held`: packets go into the class. `leaving`: they do until it is empty, and go straight from then on. `behind`: it
 * is held no longer, but others of it wait for their departure times.
 */
export type HoldPhase = 'held' | 'leaving' | 'behind';
const PHASES: Readonly<Record<HoldPhase, number>> = { held: 1, leaving: 2, behind: 3 };

export interface Hold {
  /** Minor number of the class, the same at all ports. */
  readonly minor: number;
  readonly phase: HoldPhase;
  /** From then on the program ignores the hold; `behind`: when the last of what waits has departed. */
  readonly untilNs: bigint;
  /**
   * Packets of this hold that have left the class, dropped ones included: what the class has sent and dropped, less the
   * same, and what was in it, when it was given to the flow.
   */
  readonly drained: bigint;
  /** Packets that enter the class are reported, so that the neighbor upstream is asked to pause them. */
  readonly full: boolean;
  /** `behind`: READ responses wait, so that what answers them has to. */
  readonly responses: boolean;
}

const HOLD_KINDS = 5;
/** Offsets in struct hold. */
const HOLD = { size: 24, until: 0, drained: 8, minor: 16, phase: 18, full: 19, responses: 20 } as const;
/** Offsets in struct hold_record. */
export const HOLD_RECORD_SIZE = 40;
const RECORD = { entered: 0, lastSeen: 8, longest: 16, released: 20, responses: 21, stamped: 24, next: 32 } as const;
/** Offsets in struct hold_pace. */
const PACE = { size: 56, rate: 0, told: 8, least: 16, earliest: 24, since: 32, ahead: 40, frame: 48 } as const;

/** @throws RangeError for a minor number outside the range of holds: the program would ignore the hold */
export function encodeHold(hold: Hold): Uint8Array {
  if (!isHoldMinor(hold.minor)) throw new RangeError(`0x${hold.minor.toString(16)} is no class of a hold`);
  return structure(HOLD.size, (view, bytes) => {
    view.setBigUint64(HOLD.until, hold.untilNs, LITTLE_ENDIAN);
    view.setBigUint64(HOLD.drained, hold.drained, LITTLE_ENDIAN);
    view.setUint16(HOLD.minor, hold.minor, LITTLE_ENDIAN);
    bytes[HOLD.phase] = PHASES[hold.phase];
    bytes[HOLD.full] = Number(hold.full);
    bytes[HOLD.responses] = Number(hold.responses);
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
      full: value[HOLD.full] !== 0,
      responses: value[HOLD.responses] !== 0,
    }
  );
}

/** What the program has counted of a hold. */
export interface HoldRecord {
  /** Packets put into the class, or given a departure time. */
  readonly entered: bigint;
  /** The latest of them; 0: none. */
  readonly lastSeen: bigint;
  /** Bytes of the longest frame so far, as the class counts it. */
  readonly longestFrame: number;
  /** While leaving, the class was found empty: no packet enters it any more. */
  readonly released: boolean;
  /** READ responses have entered: answers must not overtake them. */
  readonly responses: boolean;
  /** Of those that have entered, those given a departure time. */
  readonly stamped: bigint;
  /** When the one after the last of these may depart. */
  readonly nextNs: bigint;
}

export function decodeHoldRecord(value: Uint8Array): HoldRecord {
  const view = viewOf(value);
  return {
    entered: view.getBigUint64(RECORD.entered, LITTLE_ENDIAN),
    lastSeen: view.getBigUint64(RECORD.lastSeen, LITTLE_ENDIAN),
    longestFrame: view.getUint32(RECORD.longest, LITTLE_ENDIAN),
    released: value[RECORD.released] !== 0,
    responses: value[RECORD.responses] !== 0,
    stamped: view.getBigUint64(RECORD.stamped, LITTLE_ENDIAN),
    nextNs: view.getBigUint64(RECORD.next, LITTLE_ENDIAN),
  };
}

/** Of a hold that begins, while these of an earlier one of the flow may wait. */
export const encodeHoldRecord = ({ responses, nextNs }: Pick<HoldRecord, 'responses' | 'nextNs'>): Uint8Array =>
  structure(HOLD_RECORD_SIZE, (view, bytes) => {
    bytes[RECORD.responses] = Number(responses);
    view.setBigUint64(RECORD.next, nextNs, LITTLE_ENDIAN);
  });

/** A packet may wait for others no longer, whatever their bytes: what waits obeys no later instruction. */
export const HOLD_LONGEST_WAIT_NS = 100_000_000;

/** No packet gets a departure time further ahead: a pause, what waits behind it, as much again, and one long frame. */
export const HOLD_LONGEST_DEPARTURE_NS = 400_000_000;

/** How fast what is held departs at ports whose fq keeps departure times. */
export interface HoldPace {
  /** Bytes per second, above 0. */
  readonly rate: bigint;
  /** The source's program does not make it less by itself. */
  readonly least: bigint;
  /** Nothing departs before; 0: there is no pause. */
  readonly earliestNs: bigint;
  /**
   * Waiting counts from then on: from the end of a pause, also of one that was ended, or behind what waits at a former,
   * lower rate.
   */
  readonly sinceNs: bigint;
  /** A packet that would depart later after that is dropped. */
  readonly aheadNs: bigint;
  /** What each frame takes besides its length. */
  readonly frameNs: bigint;
}

/** @throws RangeError for a rate of zero: the program would not hold the flow */
export function encodeHoldPace(pace: HoldPace): Uint8Array {
  if (pace.rate <= 0n) throw new RangeError('a pace needs a rate above zero');
  return structure(PACE.size, (view) => {
    view.setBigUint64(PACE.rate, pace.rate, LITTLE_ENDIAN);
    view.setBigUint64(PACE.told, pace.rate, LITTLE_ENDIAN);
    view.setBigUint64(PACE.least, pace.least, LITTLE_ENDIAN);
    view.setBigUint64(PACE.earliest, pace.earliestNs, LITTLE_ENDIAN);
    view.setBigUint64(PACE.since, pace.sinceNs, LITTLE_ENDIAN);
    view.setBigUint64(PACE.ahead, pace.aheadNs, LITTLE_ENDIAN);
    view.setBigUint64(PACE.frame, pace.frameNs, LITTLE_ENDIAN);
  });
}

export function decodeHoldPace(value: Uint8Array): HoldPace {
  const view = viewOf(value);
  const at = (offset: number): bigint => view.getBigUint64(offset, LITTLE_ENDIAN);
  return {
    ...{ rate: at(PACE.rate), least: at(PACE.least), earliestNs: at(PACE.earliest), sinceNs: at(PACE.since) },
    ...{ aheadNs: at(PACE.ahead), frameNs: at(PACE.frame) },
  };
}

export const isHoldMinor = (minor: number): boolean =>
  minor >= HOLD_FIRST_MINOR && minor < HOLD_FIRST_MINOR + HOLD_SLOTS;

/** The class of a slot, of those that count from 1 for each purpose. */
export const minorOf = (purpose: HoldPurpose, slot: number): number =>
  HOLD_FIRST_MINOR + FIRST_SLOT[purpose] + slot - 2;

export const purposeOf = (minor: number): HoldPurpose =>
  minor < HOLD_FIRST_MINOR + ENFORCE_SLOTS ? 'enforce' : 'flow-control';

/** Key of `hold_records`. */
export const holdSlot = (minor: number): Uint8Array => u32Key(minor - HOLD_FIRST_MINOR);

export const holdPortKey = (ifindex: number): Uint8Array => u32Key(ifindex);

/** What programs know of a port. */
export interface HoldPort {
  /** Of the port's HTB: `1:0` is 0x10000. 0: nothing is held there; or HOLD_EDT. */
  readonly handle: number;
  /** Bytes in the port's queue, held ones not included, above which packets are reported; 0: it is not watched. */
  readonly above: number;
  /** Bytes that were in classes at the port. */
  readonly held: bigint;
  /** Value of `hold_port_bytes` before these were looked at. */
  readonly entered: bigint;
}

/** In place of a handle: the port's fq keeps departure times. */
export const HOLD_EDT = 1;

/** struct hold_port. */
const PORT = { size: 24, handle: 0, above: 4, held: 8, entered: 16 } as const;

export const encodeHoldPort = (port: HoldPort): Uint8Array =>
  structure(PORT.size, (view) => {
    view.setUint32(PORT.handle, port.handle, LITTLE_ENDIAN);
    view.setUint32(PORT.above, port.above, LITTLE_ENDIAN);
    view.setBigUint64(PORT.held, port.held, LITTLE_ENDIAN);
    view.setBigUint64(PORT.entered, port.entered, LITTLE_ENDIAN);
  });

export function decodeHoldPort(value: Uint8Array): HoldPort {
  const view = viewOf(value);
  return {
    handle: view.getUint32(PORT.handle, LITTLE_ENDIAN),
    above: view.getUint32(PORT.above, LITTLE_ENDIAN),
    held: view.getBigUint64(PORT.held, LITTLE_ENDIAN),
    entered: view.getBigUint64(PORT.entered, LITTLE_ENDIAN),
  };
}

/** Value of `hold_port_bytes`. */
export const decodePortBytes = (value: Uint8Array): bigint => viewOf(value).getBigUint64(0, LITTLE_ENDIAN);

/** How many holds there are of each kind. */
export const encodeHoldState = (holds: Readonly<Record<HoldKind, number>>): Uint8Array =>
  structure(4 * HOLD_KINDS, (view) => {
    for (const kind of Object.keys(HOLD_KIND) as HoldKind[])
      view.setUint32(4 * HOLD_KIND[kind], holds[kind], LITTLE_ENDIAN);
  });

/** Index of the word in `hold_filter` that has the bit of a Queue Pair number, and the bit. */
export const holdFilterBit = (qpn: number): { readonly word: number; readonly bit: bigint } => ({
  word: (qpn >>> 6) & (HOLD_FILTER_WORDS - 1),
  bit: 1n << BigInt(qpn & 63),
});

export const encodeHoldFilter = (bits: bigint): Uint8Array =>
  structure(8, (view) => view.setBigUint64(0, bits, LITTLE_ENDIAN));
