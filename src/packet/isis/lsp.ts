// Operations on encoded LSPs that need no parsing: aging and the purge form (ISO/IEC 10589 §7.3.16.4; RFC 6232; RFC
// 6233).
import { put16 } from '../bytes.ts';
import { field } from '../field.ts';
import { encodePdu } from './pdu.ts';
import type { LspId } from './lsp-id.ts';
import type { IsisTlv } from './tlv/types.ts';
import type { Level } from './types.ts';

/** Sets Remaining Lifetime in place; neither checksum nor digest cover it. */
export function setRemainingLifetime(raw: Uint8Array, seconds: number): void {
  put16(raw, 10, field('remaining lifetime', seconds, 16));
}

interface PurgeOptions {
  readonly level: Level;
  readonly lspId: LspId;
  readonly sequence: number;
  /** 1 or 3, as in the LSP purged. */
  readonly isType: number;
  /** Who purges, and whom it had the LSP from (TLV 13). */
  readonly originator?: Uint8Array;
  readonly receivedFrom?: Uint8Array;
  readonly hostname?: string;
}

/**
 * An encoded purge: lifetime 0 and no TLVs but those that RFC 6233 allows. Sign it with signPdu when the level is
 * authenticated.
 * @throws EncodeError
 */
export function encodePurge(options: PurgeOptions): Uint8Array {
  const { level, lspId, sequence, isType, originator, receivedFrom, hostname } = options;
  const tlvs: IsisTlv[] = [];
  if (originator) tlvs.push({ kind: 'purge-originator', originator, ...(receivedFrom && { receivedFrom }) });
  if (hostname) tlvs.push({ kind: 'hostname', name: hostname });
  return encodePdu({
    kind: 'lsp',
    level,
    remainingLifetime: 0,
    lspId,
    sequence,
    checksum: 0,
    partitionRepair: false,
    attached: false,
    overload: false,
    isType,
    tlvs,
  });
}
