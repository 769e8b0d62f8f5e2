// The table of PDU types (ISO/IEC 10589 §9): number, level, header length and the offset of PDU Length.
import type { IsisPdu, Level } from './types.ts';

export interface PduFormat {
  readonly type: number;
  readonly kind: IsisPdu['kind'];
  readonly level?: Level;
  /** The Length Indicator: TLVs begin here. */
  readonly headerLength: number;
  readonly lengthOffset: number;
}

const FORMATS: readonly PduFormat[] = [
  { type: 15, kind: 'lan-hello', level: 1, headerLength: 27, lengthOffset: 17 },
  { type: 16, kind: 'lan-hello', level: 2, headerLength: 27, lengthOffset: 17 },
  { type: 17, kind: 'p2p-hello', headerLength: 20, lengthOffset: 17 },
  { type: 18, kind: 'lsp', level: 1, headerLength: 27, lengthOffset: 8 },
  { type: 20, kind: 'lsp', level: 2, headerLength: 27, lengthOffset: 8 },
  { type: 24, kind: 'csnp', level: 1, headerLength: 33, lengthOffset: 8 },
  { type: 25, kind: 'csnp', level: 2, headerLength: 33, lengthOffset: 8 },
  { type: 26, kind: 'psnp', level: 1, headerLength: 17, lengthOffset: 8 },
  { type: 27, kind: 'psnp', level: 2, headerLength: 17, lengthOffset: 8 },
];

/** Bytes before the first TLV of an LSP. */
export const LSP_HEADER_LENGTH = 27;

export const PDU_BY_TYPE: ReadonlyMap<number, PduFormat> = new Map(FORMATS.map((format) => [format.type, format]));

export const isLsp = (pdu: Uint8Array): boolean => PDU_BY_TYPE.get(pdu[4]! & 0x1f)?.kind === 'lsp';

export const pduFormat = (kind: IsisPdu['kind'], level: Level | undefined): PduFormat =>
  FORMATS.find((format) => format.kind === kind && format.level === level)!;
