// Acknowledgments of LSPs, which wait for a PSNP, and the capacity of an SNP.
import type { LspEntry } from '../../../packet/isis/tlv/types.ts';
import { authenticationSize, scopeOf } from '../auth.ts';
import { ACK_DELAY_MS } from '../constants.ts';
import type { LevelState, Speaker } from '../state.ts';

export const ENTRIES_PER_TLV = 15;

const ENTRY_LENGTH = 16;

export const PSNP_HEADER = 17;

/** The number of LSP entries in a PDU with a header of this many bytes. */
export function capacity(s: Speaker, level: LevelState, header: number): number {
  const headroom = s.config.mtu - 3 - header - authenticationSize(s, scopeOf(level.level));
  const full = Math.floor(headroom / (2 + ENTRIES_PER_TLV * ENTRY_LENGTH));
  const rest = headroom - full * (2 + ENTRIES_PER_TLV * ENTRY_LENGTH);
  return full * ENTRIES_PER_TLV + Math.max(0, Math.floor((rest - 2) / ENTRY_LENGTH));
}

export function acknowledge(s: Speaker, level: LevelState, key: string, lsp: LspEntry): void {
  const { remainingLifetime, lspId, sequence, checksum } = lsp;
  level.acks.set(key, { remainingLifetime, lspId, sequence, checksum });
  const full = level.acks.size >= capacity(s, level, PSNP_HEADER);
  level.ackAt = Math.min(level.ackAt, full ? s.now : s.now + ACK_DELAY_MS);
}
