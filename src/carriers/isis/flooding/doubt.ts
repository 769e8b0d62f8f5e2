// Odd LSPs: LSPs whose content cnpd cannot use, or only in part, and purges with a wrong checksum. Only FRR sends us
// LSPs, and whether FRR has accepted an odd one depends on its version. isisd silently refuses most of them and keeps
// the version it had. Therefore an odd LSP that would replace another is acknowledged and set aside. If FRR lacks it,
// the acknowledgment makes FRR request it and name the version it has (ISO/IEC 10589 §7.3.15.2 b 4, 5): then the odd
// LSP is forgotten. If FRR sends no request it has the odd LSP too, and what the replaced LSP advertised is no longer
// valid.
import { warnLimited } from '../../effects.ts';
import type { LspEntry } from '../../../packet/isis/tlv/types.ts';
import { lspChecksumValid } from '../../../packet/isis/checksum.ts';
import { DOUBT_LIMIT, DOUBT_MS } from '../constants.ts';
import type { ReceivedLsp } from '../lsdb/content.ts';
import { uninstall } from '../lsdb/install.ts';
import { type StoredLsp, compareVersions } from '../lsdb/lsdb.ts';
import type { LevelState, Speaker } from '../state.ts';

/**
 * A purge may be the header of the LSP that it purges, with that LSP's checksum, which isisd does not accept. For an
 * LSP that is not a purge its content decides (readLsp).
 */
export const isOddPurge = ({ raw, checksum }: ReceivedLsp): boolean => checksum !== 0 && !lspChecksumValid(raw);

/** Sets an LSP aside if it must be confirmed. @returns whether it must */
export function doubt(s: Speaker, level: LevelState, key: string, pdu: ReceivedLsp, stored: StoredLsp): boolean {
  const { doubts } = level;
  if (stored.purged || stored.odd || (doubts.size >= DOUBT_LIMIT && !doubts.has(key))) return false;
  const known = doubts.get(key);
  if (known && compareVersions(pdu, known.pdu) !== 'newer') return true;
  warnLimited(s, 'lsp.doubted', { lsp: key }, 'LSP with odd content set aside until FRR is known to have it');
  doubts.delete(key);
  doubts.set(key, { pdu, until: s.now + DOUBT_MS });
  return true;
}

/** The neighbor has or requests this version of an LSP. If the one in doubt is newer, the neighbor refused it. */
export function neighborReported(
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

/** The neighbor does not have a stored odd LSP. */
export function forgetOdd(s: Speaker, level: LevelState, lsp: StoredLsp): void {
  level.srm.delete(lsp.key);
  uninstall(s, level, lsp);
  forgotten(s, lsp.key);
}

function forgotten(s: Speaker, key: string): void {
  warnLimited(s, 'lsp.refused-by-neighbor', { lsp: key }, 'LSP with odd content forgotten: FRR does not have it');
}

export function doubtAt({ doubts }: LevelState): number {
  for (const { until } of doubts.values()) return until;
  return Infinity;
}
