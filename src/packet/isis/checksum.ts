// The checksum of LSPs (ISO/IEC 10589 §7.3.11): Fletcher's, over the LSP from the LSP ID to its end, so that the
// Remaining Lifetime before it can be aged without recomputing.
import { type FletcherRegion, fletcherChecksum, fletcherValid } from '../fletcher.ts';

const LSP: FletcherRegion = { start: 12, checksumAt: 24 };

/** The checksum for bytes 24 and 25 of the LSP (a whole PDU), whatever they hold now. Neither byte is ever 0. */
export const lspChecksum = (lsp: Uint8Array): number => fletcherChecksum(lsp, LSP);

/** Whether bytes 24 and 25 are right. A checksum with a zero byte is never right (RFC 3719 §7). */
export const lspChecksumValid = (lsp: Uint8Array): boolean => fletcherValid(lsp, LSP);
