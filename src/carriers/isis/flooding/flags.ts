// What is owed to the neighbour in a level: LSPs to send (SRM flags), to acknowledge (SSN flags) and to ask for
// (ISO/IEC 10589 §7.3.15).
import type { LspEntry } from '../../../packet/isis/types.ts';

/** What a PSNP will say about an LSP received. */
export type Acknowledgement = LspEntry;

/** An LSP that the neighbour listed and we lack; `entry` is what the PSNP says: our version, or sequence number 0. */
interface Request {
  readonly entry: LspEntry;
  at: number;
  tries: number;
}

export interface FloodingFlags {
  /** LSPs to send (SRM flag), and when; the neighbour's acknowledgement removes them. */
  readonly srm: Map<string, number>;
  floodAt: number;
  /** LSPs to acknowledge (SSN flag). */
  readonly acks: Map<string, Acknowledgement>;
  ackAt: number;
  /** LSPs that the neighbour has and we lack. */
  readonly requests: Map<string, Request>;
  requestAt: number;
  /** Where the next CSNP starts while a set is being sent. */
  csnpFrom: Uint8Array | undefined;
  csnpAt: number;
}

export const newFlags = (): FloodingFlags => ({
  srm: new Map(),
  floodAt: Infinity,
  acks: new Map(),
  ackAt: Infinity,
  requests: new Map(),
  requestAt: Infinity,
  csnpFrom: undefined,
  csnpAt: Infinity,
});

export function setSrm(level: FloodingFlags, key: string, at: number): void {
  level.srm.set(key, at);
  level.floodAt = Math.min(level.floodAt, at);
}

/** The LSP has come, whatever version it is. */
export function answered(level: FloodingFlags, key: string): void {
  level.requests.delete(key);
}
