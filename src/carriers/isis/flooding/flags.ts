// What must be sent to the neighbor in a level: LSPs (SRM flags), acknowledgments (SSN flags) and requests (ISO/IEC
// 10589 §7.3.15).
import type { LspEntry } from '../../../packet/isis/tlv/types.ts';

/** The entry of a received LSP in the next PSNP. */
export type Acknowledgment = LspEntry;

/** An LSP that the neighbor listed and we lack. `entry` is what the PSNP has: our version, or sequence number 0. */
interface Request {
  readonly entry: LspEntry;
  at: number;
  tries: number;
}

export interface FloodingFlags {
  /** LSPs to send (SRM flag), and when. The neighbor's acknowledgment removes them. */
  readonly srm: Map<string, number>;
  floodAt: number;
  /** LSPs to acknowledge (SSN flag). */
  readonly acks: Map<string, Acknowledgment>;
  ackAt: number;
  /** LSPs that the neighbor has and we lack. */
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

/** The LSP has arrived, in any version. */
export function answered(level: FloodingFlags, key: string): void {
  level.requests.delete(key);
}
