// For tests: the content of one LSP, by kind.
import { type CodePointValues, DEFAULT_CODE_POINTS } from '../../../model/code-points.ts';
import { type ReadLsp, type ReceivedLsp, readLsp } from '../lsdb/content.ts';
import type { Found, ReadEntry } from './kind.ts';
import type { PrefixEntry, ReadPrefix } from './sender-prefix-reader.ts';
import type { SidEntry } from './sid.ts';
import { ISIS_KINDS } from './table.ts';

export interface ReadByKind extends Pick<ReadLsp, 'content' | 'badTlvs'> {
  readonly prefixes: readonly ReadPrefix[];
  /** Leakable prefixes with the P-flag. */
  readonly flagged: readonly PrefixEntry[];
  readonly sids: readonly SidEntry[];
  /** Prefixes that the LSP lists both with and without the P-flag. */
  readonly contradictions: number;
}

export function readByKind(
  lsp: ReceivedLsp,
  keepLeakable: boolean,
  codePoints: Partial<CodePointValues> = {},
): ReadByKind {
  const options = { codePoints: { ...DEFAULT_CODE_POINTS, ...codePoints } };
  const { content, badTlvs, found } = readLsp(lsp, ISIS_KINDS, options, keepLeakable);
  const of = (kind: string): Found<ReadEntry> | undefined => found[ISIS_KINDS.rows.findIndex((r) => r.kind === kind)];
  const prefixes = of('sender-prefix');
  return {
    content,
    badTlvs,
    prefixes: (prefixes?.entries ?? []) as readonly ReadPrefix[],
    flagged: (prefixes?.leakable ?? []) as readonly PrefixEntry[],
    sids: (of('sid')?.entries ?? []) as readonly SidEntry[],
    contradictions: (prefixes?.warnings ?? []).reduce((sum, { times }) => sum + times, 0),
  };
}
