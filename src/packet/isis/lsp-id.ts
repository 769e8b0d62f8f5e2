// System IDs and LSP IDs: 6 and 8 bytes on the wire, `0000.0000.0001` and `0000.0000.0001.00-00` as text (ISO/IEC 10589
// §9.8).
export interface LspId {
  /** 6 bytes. */
  readonly systemId: Uint8Array;
  readonly pseudonode: number;
  readonly fragment: number;
}

export const SYSTEM_ID_LENGTH = 6;
const LSP_ID_LENGTH = 8;

const HEX: readonly string[] = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'));

/** `0000.0000.0001`. */
export function formatSystemId(id: Uint8Array): string {
  return `${HEX[id[0]!]}${HEX[id[1]!]}.${HEX[id[2]!]}${HEX[id[3]!]}.${HEX[id[4]!]}${HEX[id[5]!]}`;
}

/** Undefined unless the text is `hhhh.hhhh.hhhh`. */
export function parseSystemId(text: string): Uint8Array | undefined {
  const match = /^([0-9a-f]{4})\.([0-9a-f]{4})\.([0-9a-f]{4})$/i.exec(text);
  if (!match) return undefined;
  return Uint8Array.from(Buffer.from(match.slice(1).join(''), 'hex'));
}

/** `0000.0000.0001.00-00`: pseudonode, then fragment. Also the key under which maps hold an LSP. */
export function formatLspId(id: LspId): string {
  return `${formatSystemId(id.systemId)}.${HEX[id.pseudonode]}-${HEX[id.fragment]}`;
}

/** Undefined unless the text is `hhhh.hhhh.hhhh.hh-hh`. */
export function parseLspId(text: string): LspId | undefined {
  const match = /^(.{14})\.([0-9a-f]{2})-([0-9a-f]{2})$/i.exec(text);
  const systemId = match && parseSystemId(match[1]!);
  return match && systemId
    ? { systemId, pseudonode: parseInt(match[2]!, 16), fragment: parseInt(match[3]!, 16) }
    : undefined;
}

/** Reads 8 bytes at `offset`; the caller has checked that they are there. The system ID is a view of `bytes`. */
export function readLspId(bytes: Uint8Array, offset: number): LspId {
  return { systemId: bytes.subarray(offset, offset + 6), pseudonode: bytes[offset + 6]!, fragment: bytes[offset + 7]! };
}

/**
 * The text form of the LSP ID at `offset`, without the object between: for map look-ups over raw LSPs and SNP entries.
 */
export function lspIdTextAt(bytes: Uint8Array, offset: number): string {
  return `${formatSystemId(bytes.subarray(offset, offset + 6))}.${HEX[bytes[offset + 6]!]}-${HEX[bytes[offset + 7]!]}`;
}

/** 8 bytes. */
export function lspIdBytes(id: LspId): Uint8Array {
  const out = new Uint8Array(LSP_ID_LENGTH);
  out.set(id.systemId.subarray(0, SYSTEM_ID_LENGTH));
  out[6] = id.pseudonode;
  out[7] = id.fragment;
  return out;
}

/** Byte order, the ascending order of a CSNP. */
export function compareLspIds(a: LspId, b: LspId): number {
  return compareSystemIds(a.systemId, b.systemId) || a.pseudonode - b.pseudonode || a.fragment - b.fragment;
}

function compareSystemIds(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < SYSTEM_ID_LENGTH; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

export const sameSystemId = (a: Uint8Array, b: Uint8Array): boolean => compareSystemIds(a, b) === 0;

/** The range of a CSNP that covers the whole database. */
export const FIRST_LSP_ID: LspId = { systemId: new Uint8Array(6), pseudonode: 0, fragment: 0 };
export const LAST_LSP_ID: LspId = { systemId: new Uint8Array(6).fill(255), pseudonode: 255, fragment: 255 };
