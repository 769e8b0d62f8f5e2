// IS-IS PDUs as values (ISO/IEC 10589 §9). pdu.ts encodes and decodes them; tlv/types.ts has their TLVs. Times are
// seconds, byte strings network order.
import type { DecodeError } from '../decode.ts';
import type { LspId } from './lsp-id.ts';
import type { IsisTlv } from './tlv/types.ts';

export type Level = 1 | 2;

/** 1: level 1, 2: level 2, 3: both (the low two bits of a hello's circuit type). */
export type CircuitType = 1 | 2 | 3;

export interface P2pHello {
  readonly kind: 'p2p-hello';
  readonly circuitType: CircuitType;
  /** 6 bytes. */
  readonly systemId: Uint8Array;
  /** Seconds, never 0. */
  readonly holdingTime: number;
  readonly localCircuitId: number;
  readonly tlvs: readonly IsisTlv[];
}

/**
 * Recognized so that it can be counted ("the other end is not point-to-point"); its TLVs are not parsed and it is never
 * sent.
 */
export interface LanHello {
  readonly kind: 'lan-hello';
  readonly level: Level;
  readonly circuitType: CircuitType;
  readonly systemId: Uint8Array;
  readonly holdingTime: number;
}

export interface Lsp {
  readonly kind: 'lsp';
  readonly level: Level;
  /** Seconds; 0 is a purge. */
  readonly remainingLifetime: number;
  readonly lspId: LspId;
  /** 1 … 2³²−1. */
  readonly sequence: number;
  /** As received; ignored and computed by the encoder. */
  readonly checksum: number;
  readonly partitionRepair: boolean;
  /** Any of the four ATT bits on receipt; 0x08 (default metric) when sent. */
  readonly attached: boolean;
  readonly overload: boolean;
  /** 1: level-1 router, 3: level-2 router; as on the wire. */
  readonly isType: number;
  /** Parsed at first use and kept: an LSP that is only flooded costs no parsing. */
  readonly tlvs: readonly IsisTlv[];
}

export interface Csnp {
  readonly kind: 'csnp';
  readonly level: Level;
  readonly systemId: Uint8Array;
  readonly start: LspId;
  readonly end: LspId;
  readonly tlvs: readonly IsisTlv[];
}

export interface Psnp {
  readonly kind: 'psnp';
  readonly level: Level;
  readonly systemId: Uint8Array;
  readonly tlvs: readonly IsisTlv[];
}

export type IsisPdu = P2pHello | LanHello | Lsp | Csnp | Psnp;

/** The fields that decodePdu adds to the PDU's own. */
export interface Received {
  /** The PDU without padding (cut at PDU Length), a copy that the receiver may keep; LSPs are flooded from it. */
  readonly raw: Uint8Array;
  /** Known TLVs and sub-TLVs with a malformed value. They are in `tlvs` too, as `unknown`, so that their bytes stay. */
  readonly badTlvs: readonly BadTlv[];
  /**
   * For an LSP whose header is sound but whose content is not: why it has no TLVs here. It is still stored,
   * acknowledged and flooded.
   */
  readonly unusable?: DecodeError;
}

export type ReceivedPdu = IsisPdu & Received;

/** A TLV that is skipped, while the PDU around it is used (a bad PDU is a DecodeError instead). */
export interface BadTlv {
  readonly type: number;
  /** Set when it is a sub-TLV of `type` that is bad; the TLV itself is used. */
  readonly subType?: number;
  /** `offset` counts from the start of the PDU. */
  readonly error: DecodeError;
}
