// Walks over an encoded LSP without allocating: for large databases, where building every TLV as a value would cost more than using it.
import type { IpAddress } from '../../model/address.ts';
import type { Prefix } from '../../model/prefix.ts';

/** One prefix entry as positions in `bytes`. The same object is handed to every visit: copy what must outlive the call. */
export interface PrefixCursor {
  bytes: Uint8Array;
  /** 135, 235, 236 or 237. */
  tlv: number;
  family: 4 | 6;
  mtId: number;
  metric: number;
  down: boolean;
  external: boolean;
  prefixLength: number;
  /** Where ceil(prefixLength / 8) prefix bytes begin. */
  prefixOffset: number;
  /** Sub-TLV 4; −1 when absent. */
  flagsOffset: number;
  flagsLength: number;
  /** Values of sub-TLVs 11 and 12; −1 when absent. */
  source4Offset: number;
  source6Offset: number;
  /** The whole block of sub-TLVs (length 0 when none). */
  subTlvsOffset: number;
  subTlvsLength: number;
}

/** Visits every prefix of TLVs 135, 235, 236, 237 (MT with ID 0 skipped, RFC 5120). TLVs malformed anywhere are skipped whole. @returns how many were */
export function forEachPrefix(_lsp: Uint8Array, _visit: (cursor: PrefixCursor) => void): number {
  throw new Error('being written');
}

/** Bit 0 is the most significant bit of the first byte; bits beyond the end are clear. */
export function cursorFlag(_cursor: PrefixCursor, _bit: number): boolean {
  throw new Error('being written');
}
export function cursorPrefix(_cursor: PrefixCursor): Prefix {
  throw new Error('being written');
}
export function cursorSource4(_cursor: PrefixCursor): IpAddress | undefined {
  throw new Error('being written');
}
export function cursorSource6(_cursor: PrefixCursor): IpAddress | undefined {
  throw new Error('being written');
}

/** Visits the neighbours of TLVs 2, 22 and 222: 7 bytes (system ID, pseudonode) at `offset`. @returns how many TLVs were malformed and skipped */
export function forEachNeighbor(_lsp: Uint8Array, _visit: (bytes: Uint8Array, offset: number, metric: number, mtId: number) => void): number {
  throw new Error('being written');
}
