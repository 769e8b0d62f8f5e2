// Operations on encoded LSPs that need no parsing: header fields, ageing, the purge form (ISO/IEC 10589 §7.3.16.4, RFC 6232).
import type { Level, LspId } from './types.ts';

/** The fixed part of an LSP. */
export interface LspHeader {
  readonly level: Level;
  readonly lspId: LspId;
  readonly sequence: number;
  readonly checksum: number;
  readonly remainingLifetime: number;
}

/** Sets Remaining Lifetime in place; neither checksum nor digest cover it. */
export function setRemainingLifetime(_raw: Uint8Array, _seconds: number): void {
  throw new Error('being written');
}

export interface PurgeOptions {
  readonly level: Level;
  readonly lspId: LspId;
  readonly sequence: number;
  /** Byte 26 of the LSP purged, or of an ordinary one. */
  readonly isType: number;
  /** TLV 13. */
  readonly originator?: Uint8Array;
  readonly receivedFrom?: Uint8Array;
  readonly hostname?: string;
}

/** An encoded purge: lifetime 0, no TLVs but those of RFC 6233. Sign it with signPdu when the level is authenticated. */
export function encodePurge(_options: PurgeOptions): Uint8Array {
  throw new Error('being written');
}
