// TLV 9, LSP Entries (ISO/IEC 10589 §9.10, §9.11): what sequence number PDUs list.
import { ok } from '../../../model/result.ts';
import { put16, put32, u16, u32 } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { field } from '../../field.ts';
import { lspIdBytes, readLspId } from '../lsp-id.ts';
import type { LspEntries, LspEntry } from './types.ts';
import { type TlvCodec } from './codec.ts';

const ENTRY = 16;
/** Entries that one TLV holds. */
export const LSP_ENTRIES_PER_TLV = 15;

export const LSP_ENTRIES: TlvCodec<LspEntries> = {
  type: 9,
  name: 'lsp-entries',
  decode(value) {
    if (value.length % ENTRY !== 0)
      return malformed('bad-length', 0, `${value.length} bytes are not whole LSP entries`);
    const entries: LspEntry[] = [];
    for (let at = 0; at < value.length; at += ENTRY) {
      entries.push({
        remainingLifetime: u16(value, at),
        lspId: readLspId(value, at + 2),
        sequence: u32(value, at + 10),
        checksum: u16(value, at + 14),
      });
    }
    return ok({ kind: 'lsp-entries', entries });
  },
  encode({ entries }) {
    const out = new Uint8Array(entries.length * ENTRY);
    for (const [i, entry] of entries.entries()) {
      const at = i * ENTRY;
      put16(out, at, field('remaining lifetime', entry.remainingLifetime, 16));
      out.set(lspIdBytes(entry.lspId), at + 2);
      put32(out, at + 10, field('sequence', entry.sequence, 32));
      put16(out, at + 14, field('checksum', entry.checksum, 16));
    }
    return out;
  },
};
