// Odd LSPs: those whose content cnpd cannot use, or not all of it, and purges with a wrong checksum. FRR is the only
// one who sends LSPs here, and whether it has taken such a one itself depends on its version: isisd refuses most of
// them, without a word, and keeps what it had. So one that would replace another is acknowledged and put aside. An
// acknowledgement of what FRR does not have makes it ask for that (ISO/IEC 10589 §7.3.15.2 b 4, 5), naming what it has:
// then the odd one is forgotten. If it is silent it has it too, and what the LSP advertised before no longer holds.
import { warnLimited } from '../../effects.ts';
import type { LspEntry } from '../../../packet/isis/types.ts';
import { lspChecksumValid } from '../../../packet/isis/checksum.ts';
import { DOUBT_LIMIT, DOUBT_MS } from '../constants.ts';
import type { ReceivedLsp } from '../lsdb/content.ts';
import { uninstall } from '../lsdb/install.ts';
import { type StoredLsp, compareVersions } from '../lsdb/lsdb.ts';
import type { LevelState, Speaker } from '../state.ts';

/**
 * A purge may be the header of what it purges, with its checksum, which isisd does not accept. Of an LSP that is alive
 * its content decides (readLsp).
 */
export const isOddPurge = ({ raw, checksum }: ReceivedLsp): boolean => checksum !== 0 && !lspChecksumValid(raw);

/** Puts it aside if it must prove itself. @returns whether it must */
export function doubt(s: Speaker, level: LevelState, key: string, pdu: ReceivedLsp, stored: StoredLsp): boolean {
  const { doubts } = level;
  if (stored.purged || stored.odd || (doubts.size >= DOUBT_LIMIT && !doubts.has(key))) return false;
  const known = doubts.get(key);
  if (known && compareVersions(pdu, known.pdu) !== 'newer') return true;
  warnLimited(s, 'lsp.doubted', { lsp: key }, 'an LSP with odd content is not used until FRR is known to have it too');
  doubts.delete(key);
  doubts.set(key, { pdu, until: s.now + DOUBT_MS });
  return true;
}

/** The neighbour has, or asks for, this version of an LSP: what is in doubt it refused, if it is older. */
export function heard(
  s: Speaker,
  level: LevelState,
  key: string,
  version: Pick<LspEntry, 'sequence' | 'checksum' | 'remainingLifetime'>,
): void {
  const aside = level.doubts.get(key);
  if (!aside || compareVersions(version, aside.pdu) !== 'older') return;
  level.doubts.delete(key);
  forgotten(s, key);
}

/** The neighbour does not have an odd LSP that is stored. */
export function forgetOdd(s: Speaker, level: LevelState, lsp: StoredLsp): void {
  level.srm.delete(lsp.key);
  uninstall(s, level, lsp);
  forgotten(s, lsp.key);
}

function forgotten(s: Speaker, key: string): void {
  warnLimited(s, 'lsp.refused-by-neighbor', { lsp: key }, 'an LSP with odd content is forgotten: FRR does not have it');
}

export function doubtAt({ doubts }: LevelState): number {
  for (const { until } of doubts.values()) return until;
  return Infinity;
}
