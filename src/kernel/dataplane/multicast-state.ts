// What the programs of End.MT know of a group and of its branches (bpf/lib/multicast/layout.h). Only they write it; the
// agent reads it, and clears the record of a slot before it publishes a list.
import { LITTLE_ENDIAN, structure, viewOf } from './layout.ts';

/**
 * A word with a label: the low 10 bits of the epoch that it belongs to. Null: no packet or answer has set it. A word of
 * another epoch than the group's current one counts as unset.
 */
export interface Labeled<T> {
  readonly label: number;
  readonly value: T;
}

export interface MulticastProgress {
  /** Everything before this PSN is confirmed; 24 bits. */
  readonly nextPsn: number;
  readonly msn: number;
  readonly credits: number;
}

export interface MulticastNak {
  readonly psn: number;
  /** Of the AETH. */
  readonly syndrome: number;
}

/** Value of multicast_states; times are of the kernel's monotonic clock, in ns. */
export interface MulticastState {
  /** Null: no packet has come yet. */
  readonly current: { readonly epoch: number; readonly list: number; readonly parent: number } | null;
  /** Highest PSN forwarded + 1. */
  readonly high: Labeled<number> | null;
  /** The last answer that went up. */
  readonly sent: Labeled<MulticastProgress> | null;
  readonly nakPending: Labeled<MulticastNak> | null;
  /** A packet that was confirmed came again. */
  readonly repeat: number | null;
  /** Begin of the open CNP window; 0: none. */
  readonly windowNs: bigint;
  readonly dataNs: bigint;
  readonly tokensNs: bigint;
  readonly packets: bigint;
  readonly answers: bigint;
}

export const MULTICAST_STATE_SIZE = 104;
const STATE = {
  current: 0,
  high: 8,
  sent: 16,
  nakPending: 24,
  repeat: 32,
  window: 40,
  data: 48,
  tokens: 56,
  packets: 64,
  answers: 72,
} as const;

const SET = 1n << 53n;
const bits = (word: bigint, from: number, width: number): number =>
  Number((word >> BigInt(from)) & ((1n << BigInt(width)) - 1n));

const labelOf = (word: bigint): number | null => (word & SET ? bits(word, 54, 10) : null);

function labeled<T>(word: bigint, read: (word: bigint) => T): Labeled<T> | null {
  const label = labelOf(word);
  return label === null ? null : { label, value: read(word) };
}

const psnOf = (word: bigint): number => bits(word, 0, 24);
const progressOf = (word: bigint): MulticastProgress => ({
  nextPsn: psnOf(word),
  msn: bits(word, 24, 24),
  credits: bits(word, 48, 5),
});
const nakOf = (word: bigint): MulticastNak => ({ psn: psnOf(word), syndrome: bits(word, 24, 8) });

/** The label of an epoch's words. */
export const labelOfEpoch = (epoch: number): number => epoch & 0x3ff;

/** Value of multicast_states. */
export function decodeMulticastState(value: Uint8Array): MulticastState {
  const view = viewOf(value);
  const word = (at: number): bigint => view.getBigUint64(at, LITTLE_ENDIAN);
  const current = word(STATE.current);
  return {
    current:
      current === 0n
        ? null
        : { epoch: bits(current, 44, 20), list: bits(current, 22, 22), parent: bits(current, 0, 22) },
    high: labeled(word(STATE.high), psnOf),
    sent: labeled(word(STATE.sent), progressOf),
    nakPending: labeled(word(STATE.nakPending), nakOf),
    repeat: labelOf(word(STATE.repeat)),
    windowNs: word(STATE.window),
    dataNs: word(STATE.data),
    tokensNs: word(STATE.tokens),
    packets: word(STATE.packets),
    answers: word(STATE.answers),
  };
}

/** Of such a value only the number of the list in use; 0: none. Most states are of no group. */
export function listInUse(value: Uint8Array): number {
  const current = viewOf(value).getBigUint64(STATE.current, LITTLE_ENDIAN);
  return current === 0n ? 0 : bits(current, 22, 22);
}

/** Value of multicast_records, by slot. */
export interface MulticastRecord {
  readonly progress: Labeled<MulticastProgress> | null;
  readonly nak: Labeled<MulticastNak> | null;
  /** Of a receiver: it has had a packet that begins a message. Before that it gets none. */
  readonly joined: boolean;
  /** In the open window. */
  readonly cnps: bigint;
  /** Time of the last answer; 0: none. */
  readonly heardNs: bigint;
  readonly copies: bigint;
}

export const MULTICAST_RECORD_SIZE = 56;
const RECORD = { progress: 0, nak: 8, joined: 16, cnps: 24, heard: 32, copies: 40 } as const;

export function decodeMulticastRecord(value: Uint8Array): MulticastRecord {
  const view = viewOf(value);
  const word = (at: number): bigint => view.getBigUint64(at, LITTLE_ENDIAN);
  return {
    progress: labeled(word(RECORD.progress), progressOf),
    nak: labeled(word(RECORD.nak), nakOf),
    joined: (word(RECORD.joined) & SET) !== 0n,
    cnps: word(RECORD.cnps),
    heardNs: word(RECORD.heard),
    copies: word(RECORD.copies),
  };
}

/**
 * The record of a slot before its list is published. `joined`: the receiver is in a list in use and has joined there; a
 * message may be on its way to it.
 */
export const newMulticastRecord = (joined: boolean): Uint8Array =>
  structure(MULTICAST_RECORD_SIZE, (view) => view.setBigUint64(RECORD.joined, joined ? SET : 0n, LITTLE_ENDIAN));

/** The packet on which the program closeWindow is run, for one group state (multicastStateIndex). */
export const multicastWindowPacket = (state: number): Uint8Array =>
  structure(64, (view) => view.setUint32(14, state, LITTLE_ENDIAN));

/** Value of multicast_too_big, by multicastStateIndex: a packet was too big for a path from here, or further down. */
export interface MulticastTooBig {
  /** 8 octets each. */
  readonly membersDigest: Uint8Array;
  readonly treeDigest: Uint8Array;
  readonly epoch: number;
  /** Octets of a packet in the tree that would pass, its outer header included. */
  readonly mtu: number;
}

export const MULTICAST_TOO_BIG_SIZE = 24;
const TOO_BIG = { members: 0, tree: 8, epoch: 16, mtu: 20 } as const;

export function decodeMulticastTooBig(value: Uint8Array): MulticastTooBig {
  const view = viewOf(value);
  return {
    membersDigest: value.slice(TOO_BIG.members, TOO_BIG.tree),
    treeDigest: value.slice(TOO_BIG.tree, TOO_BIG.epoch),
    epoch: view.getUint32(TOO_BIG.epoch, LITTLE_ENDIAN),
    mtu: view.getUint32(TOO_BIG.mtu, LITTLE_ENDIAN),
  };
}
